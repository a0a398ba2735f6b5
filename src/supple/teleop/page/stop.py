"""StopPanel: the stop of a real arm, in every browser, whether it drives or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

STOP, REARM = "emergency stop", "re-arm"
# Viser ignores keys while a field has the focus, or with Shift down. Escape counts there too.
_ESCAPE = """(() => {
  if (window.suppleEscape) return;
  window.suppleEscape = true;
  window.addEventListener("keydown", (event) => {
    const field = event.target && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    const modified = event.shiftKey || event.ctrlKey || event.altKey || event.metaKey;
    if (event.isTrusted && event.key === "Escape" && (field || modified || event.target.isContentEditable))
      document.documentElement.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", code: "Escape"}));
  }, true);
})();"""
# A key that is down during a stop moves nothing until it is released, however slowly a busy browser repeats it; nor
# does one that was pressed elsewhere: its repeats come without a press.
_HELD_KEYS = """(() => {
  if (window.suppleStopped) return;
  const down = new Set(), held = new Set();
  let stopped = false;
  window.suppleStopped = (now) => {
    stopped = now;
    if (now) down.forEach((key) => held.add(key));
  };
  window.addEventListener("keydown", (event) => {
    if (!event.code.startsWith("Key") || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (stopped || (event.repeat && !down.has(event.code))) held.add(event.code);
    down.add(event.code);
    if (held.has(event.code)) event.stopImmediatePropagation();
  }, true);
  window.addEventListener("keyup", (event) => [down, held].forEach((keys) => keys.delete(event.code)), true);
  window.addEventListener("blur", () => [down, held].forEach((keys) => keys.clear()));
})();"""


class StopPanel:
    """A button and a key (Escape) that stop the arm, and in the browser that drives a button to arm it again."""

    def __init__(
        self,
        client: Any,
        stop: Callable[[], None],
        rearm: Callable[[], None],
        stopped: Callable[[], str],
        can_rearm: Callable[[], bool],
        drives: Callable[[], bool],
    ) -> None:
        """Adds them to a client of viser.

        ``stopped`` returns why the arm is stopped, empty if it is not; ``can_rearm`` whether it can be armed again now;
        ``drives`` whether this browser drives.
        """
        self._client, self._rearm_arm = client, rearm
        self._stopped, self._can_rearm, self._drives = stopped, can_rearm, drives
        gui = client.gui
        self._run(_ESCAPE + _HELD_KEYS)
        self._folder = gui.add_folder(None, order=5)
        with self._folder:
            self._button = gui.add_button(STOP, color="red", hint="the arm brakes and stays; key: Escape")
            # always there: a panel that grew would put it where the stop was, under a finger that taps twice
            self._rearm = gui.add_button(
                REARM, color="gray", disabled=True, visible=drives(), hint="drive again, from where the arm is"
            )
        self._button.on_click(lambda _: stop())
        self._rearm.on_click(lambda _: self._click_rearm())
        self._key = gui.add_command(STOP, hotkey="escape")
        self._key.on_trigger(lambda _: stop())
        self._shown = (False, False, drives())

    def refresh(self) -> None:
        """Shows whether the arm is stopped."""
        state = stopped, can_rearm, drives = bool(self._stopped()), self._can_rearm(), self._drives()
        if state == self._shown:
            return
        if stopped != self._shown[0]:
            self._run(f"window.suppleStopped({'true' if stopped else 'false'});")
        self._rearm.disabled, self._rearm.visible = not can_rearm, drives
        self._shown = state

    def _run(self, script: str) -> None:
        from viser import _messages

        self._client._websock_connection.queue_message(_messages.RunJavascriptMessage(script))

    def _click_rearm(self) -> None:
        if self._drives():
            self._rearm_arm()
