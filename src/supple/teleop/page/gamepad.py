"""Gamepad: one that is connected to the machine of the driving browser moves a handle."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import secrets
import time
from collections.abc import Callable
from typing import Any

from supple.teleop.devices import Reading

MAX_GAP = 0.1
"""Longest time between two samples that counts, in seconds."""
_PAUSE = 0.005  # s; samples are not read faster
_LONGEST = 400  # characters of a sample
_VALUES = 9
# Viser has no gamepad, so a script reads it and sends samples on a WebSocket of its own: six axes, whether a shoulder
# button is down, which way the gripper moves, whether a button of the middle (back, start) is down. A page that hangs
# sends none, and the handle stands.
_SCRIPT = """(() => {
  const socket = new WebSocket(location.origin.replace(/^http/, "ws") + "%s");
  const pad = () => [...(navigator.getGamepads ? navigator.getGamepads() : [])]
    .find((one) => one && one.connected && one.mapping === "standard");
  let timer = 0, last = "";
  const poll = () => {
    const found = pad();
    if (found && !document.hidden) {
      const axis = found.axes, down = (k) => found.buttons[k] ? found.buttons[k].value : 0;
      const values = [-axis[1], -axis[0], down(7) - down(6), down(15) - down(14), -axis[3], -axis[2],
        Math.max(down(4), down(5)), down(1) - down(0), Math.max(down(8), down(9))];
      const text = JSON.stringify(values.map((x) => Math.round(1000 * x) / 1000));
      if (text !== last || values.some((x) => Math.abs(x) > 0.05)) socket.send(text);
      last = text;
    }
    timer = setTimeout(poll, found ? 20 : 500);
  };
  socket.onopen = poll;
  socket.onclose = () => clearTimeout(timer);
})();"""


class PageGamepad:
    """The gamepad of one browser, on a WebSocket of its own."""

    def __init__(self, client: Any, moved: Callable[[Reading, float], None], stop: Callable[[], None]) -> None:
        """For a client of viser.

        ``moved`` is called with the state of the gamepad and the seconds since the last one, ``stop`` when a button in
        its middle is pressed; both in the thread of the server, so they must be quick.
        """
        from viser import _messages

        self._path = f"/gamepad/{secrets.token_hex(16)}"
        self._moved, self._stop = moved, stop
        self._server, self._connection = client._viser_server, None
        self._last, self._stopping = time.monotonic(), False
        self._server.gate.channels[self._path] = self.listen
        client._websock_connection.queue_message(_messages.RunJavascriptMessage(_SCRIPT % self._path))

    def close(self) -> None:
        """Ends the connection."""
        self._server.gate.channels.pop(self._path, None)
        with contextlib.suppress(RuntimeError):  # the server has ended
            self._server.get_event_loop().call_soon_threadsafe(
                lambda: self._connection and self._connection.transport.abort()
            )

    async def listen(self, connection: Any) -> None:
        """Takes the samples of the browser until it disconnects."""
        from websockets.exceptions import ConnectionClosed

        self._connection = connection
        with contextlib.suppress(ConnectionClosed, ValueError):  # it has disconnected, or sends something else
            async for message in connection:
                self.hear(*sample(message))
                await asyncio.sleep(_PAUSE)
        self._connection = None

    def hear(self, state: Reading, stops: bool) -> None:
        """A sample has arrived: the state of the gamepad, and whether a button in its middle is down."""
        now = time.monotonic()
        dt, self._last = min(now - self._last, MAX_GAP), now
        if stops and not self._stopping:
            self._stop()
        self._stopping = stops
        self._moved(state, dt)


def sample(message: str | bytes) -> tuple[Reading, bool]:
    """The state in a sample, and whether a button in the middle is down; raises ValueError if it is no sample.

    >>> from supple.teleop.page.gamepad import sample
    >>> sample("[1, 0, 0, 0, 0, -0.5, 1, -1, 0]")[0].grip
    -1
    """
    values = json.loads(message) if isinstance(message, str) and len(message) < _LONGEST else None
    if not isinstance(values, list) or len(values) != _VALUES or not all(map(_is_deflection, values)):
        raise ValueError("a sample of a gamepad has nine numbers from -1 to 1")
    *axes, engaged, grip, stops = (min(max(float(value), -1.0), 1.0) for value in values)
    return Reading(tuple(axes), 0, engaged > 0.5, grip=round(grip)), stops > 0.5


def _is_deflection(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and abs(value) < 1.1
