"""A page that drives an arm, and the tab of a real Chromium that shows it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import browser
from browser import PATIENCE
from supple import Frame
from supple.teleop.command import Tick
from supple.teleop.page.arm import Arm

SIZE = {"width": 900, "height": 560}
_TWO_FRAMES = """() => new Promise((done) => {
  setTimeout(done, 5000);
  requestAnimationFrame(() => requestAnimationFrame(done));
})"""
# puts a gamepad with these axes and pressed buttons into a page
PAD = """([axes, pressed]) => {
  const buttons = [...Array(17).keys()].map((k) => ({value: pressed.includes(k) ? 1 : 0}));
  const pad = {connected: true, mapping: "standard", axes, buttons};
  navigator.getGamepads = () => [null, pad];
}"""
VISER_ERRORS = (
    "Unable to preventDefault inside passive event listener invocation.",  # when a ball is pressed
    "Tried to update non-existent component",  # of a plot or panel that was replaced before a busy browser made it
)


class Browser:
    """A page that is served, the tab that drives it, and what the tab complained about."""

    def __init__(self, page: Any, chromium: Any, size: dict[str, int] = SIZE) -> None:
        self.page, self.errors = page, []
        self.context = chromium.new_context(viewport=size)
        self.tab = self.context.new_page()
        self.tab.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("requestfailed", lambda request: self.errors.append(f"{request.url} failed"))
        self.tab.set_default_timeout(PATIENCE * 1000)
        before = set(page._server.get_clients())
        self.tab.goto(page.url)
        assert self.until(lambda: set(page._server.get_clients()) - before)
        (self.id,) = set(page._server.get_clients()) - before

    @property
    def complaints(self) -> list[str]:
        """What the tab complained about, but for known lines of viser."""
        return [error for error in self.errors if not error.startswith(VISER_ERRORS)]

    @property
    def arm(self) -> Arm:
        return self.page.session.arm

    def until(self, happened: Callable[[], Any], seconds: float = PATIENCE) -> bool:
        return browser.until(self.tab, happened, seconds)

    def says(self, status: str) -> bool:
        """Whether the status word comes to be this."""
        return self.until(lambda: self.tab.locator(f"[data-status={status}]").count())

    def button(self, name: str) -> Any:
        return self.tab.get_by_role("button", name=name, exact=True)

    def choose(self, label: str, option: str) -> None:
        self.tab.locator(f"//*[text()='{label}']/ancestor::*[.//input][1]//input").first.click()
        self.tab.get_by_role("option", name=option, exact=True).click()

    def more(self) -> None:
        """Open the folder with the rarer controls."""
        if not self.button("stop driving").is_visible():
            # as an event: a click would first scroll there and wait until two drawn frames are alike
            self.tab.get_by_text("more", exact=True).dispatch_event("click")
            self.button("stop driving").wait_for()

    def hand(self, k: int = 0) -> np.ndarray:
        """Where the arm's hand is (3,), by its joint values."""
        return self.arm.frames(self.page.session.q)[k].position

    def handle(self, k: int = 0) -> Frame:
        return self.page.session.source.handles[k].frame

    def on_screen(self, point: np.ndarray) -> np.ndarray:
        """Where a point (3,) of the world is in the tab, in pixels (2,)."""
        camera = self.page._server.get_clients()[self.id].camera
        seen = Frame.quaternion(camera.wxyz).rotation.T @ (point - camera.position)
        scale = camera.image_height / 2 / np.tan(camera.fov / 2)
        return np.array([camera.image_width, camera.image_height]) / 2 + scale * seen[:2] / seen[2]

    def drawn(self) -> None:
        """Waits until the page has drawn what it knows now."""
        self.tab.evaluate(_TWO_FRAMES)

    def press(self, place: np.ndarray, patience: float = 150) -> None:
        self.tab.mouse.move(*place)
        self.tab.wait_for_timeout(patience)  # the pointer must be seen to be over the handle
        self.drawn()
        self.tab.mouse.down()

    def drag(self, place: Callable[[], np.ndarray], by: np.ndarray, *, hold: bool = False) -> None:
        """From a place on the screen by so many pixels (2,), in some steps, as a hand does.

        A busy browser may not yet draw the handle where the program has put it. Then what moves is the camera, and it
        is tried again.
        """
        for k in range(12):
            assert self.until(lambda: not self._taken)  # by the try before
            start = place()
            self.press(start, 150 * (k + 1))
            self.tab.mouse.move(*(start + by / 7))
            if self.until(lambda: self._taken, 2 + k):
                break
            self.tab.mouse.move(*start)
            self.tab.mouse.up()
        else:
            raise AssertionError(f"no handle could be dragged at {start}")
        for u in np.linspace(0, 1, 8)[2:]:
            self.tab.mouse.move(*(start + u * by))
            self.tab.wait_for_timeout(25)
        if not hold:
            self.tab.mouse.up()

    def drag_ball(self, by: tuple[float, float], *, hold: bool = False) -> None:
        """The ball of the first handle, by so many pixels."""
        self.drag(lambda: self.on_screen(self.handle().position), np.array(by), hold=hold)

    @property
    def _taken(self) -> bool:
        return any(handle.dragged for handle in self.page.session.source.handles)

    @contextlib.contextmanager
    def watched(self) -> Iterator[list[tuple[str, Tick]]]:
        """Every tick in this block, with the title of the message that is shown: nothing is missed between polls."""
        session, actions, seen = self.page.session, self.page._actions, []
        write = session.write

        def note(tick: Tick) -> None:
            seen.append((actions._message[0], tick))
            write(tick)

        session.write = note
        try:
            yield seen
        finally:
            session.write = write

    def went(self, seen: list[tuple[str, Tick]], start: np.ndarray) -> float:
        """How far the end effector was from a point at most, in metres."""
        q = np.array([tick.step.q for _, tick in seen])
        places = self.arm.linkage.frame(q, self.arm.links[0]).position
        return float(np.linalg.norm(places - start, axis=-1).max())

    def still(self) -> bool:
        """Whether the arm comes to rest, by ticks after the last command of a handle."""
        if not self.until(lambda: not self.dragged):
            return False
        session = self.page.session
        last = session.newest.number
        return self.until(
            lambda: session.newest.number > last + 1 and np.abs(session.newest.step.velocity).max() < 1e-6
        )

    @property
    def dragged(self) -> bool:
        return any(hand.moving for hand in self.page.session.source.handles)

    def ready(self) -> None:
        """What a test that failed may have left: a button that is down, no seat, another scale."""
        if self._taken:
            self.tab.mouse.up()
        if self.page.drivers.driver != self.id:
            self.button("drive").click()
            assert self.until(lambda: self.page.drivers.driver == self.id)
        self.page._actions.set_scale(1.0)

    def fresh(self) -> None:
        """The arm at rest, by the button."""
        session, actions = self.page.session, self.page._actions
        before, rest = self.handle(), self.arm.linkage.rest
        self.button("reset").click()

        def done() -> bool:
            with actions.lock:  # an arm that is at rest already is reset too, and its handles are placed anew
                ended = self.handle() is not before and not session.loop.moves
            return ended and bool(np.abs(session.q - rest).max() < 1e-9) and not self.dragged

        assert self.until(done)

    def idle(self) -> bool:
        """Whether the page takes the next upload: it has not answered before, though the last one is shown."""
        return self.until(lambda: self.page._clients[self.id][1]._uploads._count == 0)

    def picture(self) -> np.ndarray:
        from PIL import Image

        clip = {"x": 20, "y": 160, "width": 520, "height": 380}  # clear of the panel and of notices
        data = self.tab.screenshot(clip=clip, animations="disabled", timeout=PATIENCE * 1000)
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)


def plainly(page: Any) -> None:
    """Without shadows and reflections, and with the plots put away: they cost the tests their time."""
    browser.plain(page._server)
    page._actions.plots.panel.minimize()


def browsed(test: Any) -> Any:
    """Marks a test that needs Chromium, and with it some seconds and a machine that is not too busy."""
    return pytest.mark.browser(pytest.mark.slow(pytest.mark.alone(test)))
