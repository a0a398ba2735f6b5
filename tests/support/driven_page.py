"""A page that drives an arm, and the tab of a real Chromium that shows it."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from browser import PATIENCE
from supple import Frame
from supple.teleop.command import Tick
from supple.teleop.page.arm import Arm

SIZE = {"width": 900, "height": 560}
VISER_ERRORS = (
    "Unable to preventDefault inside passive event listener invocation.",  # when a ball is pressed
    "Tried to update non-existent component",  # data of a plot that was just replaced
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
    def arm(self) -> Arm:
        return self.page.session.arm

    def until(self, happened: Callable[[], Any], seconds: float = PATIENCE) -> bool:
        end = time.monotonic() + seconds
        while not happened():
            if time.monotonic() > end:
                return False
            self.tab.wait_for_timeout(40)
        return True

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

    def press(self, place: np.ndarray, patience: float = 150) -> None:
        self.tab.mouse.move(*place)
        self.tab.wait_for_timeout(patience)  # the pointer must be seen to be over the handle
        self.tab.mouse.down()

    def drag(self, start: np.ndarray, end: np.ndarray, *, hold: bool = False) -> None:
        """From one place on the screen to another, in some steps, as a hand does."""
        for k in range(8):  # again if a busy browser had not yet seen the pointer over the handle
            self.press(start, 150 * (k + 1))
            self.tab.mouse.move(*(start + (end - start) / 7))
            if self.until(lambda: any(handle.dragged for handle in self.page.session.source.handles), 2 + k):
                break
            self.tab.mouse.move(*start)  # what moved was the camera
            self.tab.mouse.up()
        for u in np.linspace(0, 1, 8)[2:]:
            self.tab.mouse.move(*(start + u * (end - start)))
            self.tab.wait_for_timeout(25)
        if not hold:
            self.tab.mouse.up()

    def drag_ball(self, by: tuple[float, float], *, hold: bool = False) -> None:
        """The ball of the first handle, by so many pixels."""
        start = self.on_screen(self.handle().position)
        self.drag(start, start + np.array(by), hold=hold)

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
        """Whether the arm comes to rest."""
        return self.until(lambda: not self.dragged and np.abs(self.page.session.newest.step.velocity).max() < 1e-6)

    @property
    def dragged(self) -> bool:
        return any(hand.moving for hand in self.page.session.source.handles)

    def fresh(self) -> None:
        """The arm at rest, by the button."""
        self.button("reset").click()
        rest = self.arm.linkage.rest
        assert self.until(lambda: np.abs(self.page.session.q - rest).max() < 1e-9 and not self.dragged)

    def picture(self) -> np.ndarray:
        from PIL import Image

        clip = {"x": 20, "y": 160, "width": 520, "height": 380}  # clear of the panel and of notices
        data = self.tab.screenshot(clip=clip, animations="disabled", timeout=PATIENCE * 1000)
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)


def plainly(page: Any) -> None:
    """Without shadows and with the plots put away: drawn by the processor, they cost the tests their time."""
    page._actions.plots.panel.minimize()
    page._server.scene.configure_default_lights(cast_shadow=False)


def browsed(test: Any) -> Any:
    """Marks a test that needs Chromium, and with it some seconds and a machine that is not too busy."""
    return pytest.mark.browser(pytest.mark.slow(pytest.mark.alone(test)))
