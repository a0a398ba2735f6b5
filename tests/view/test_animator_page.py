"""The page for animation in a real Chromium: a person drags, keys, plays and exports."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from browser import PATIENCE, launched
from driven_page import VISER_ERRORS
from supple import models
from supple.view import animator

pytestmark = pytest.mark.browser
CORNERS = 1200, 760


@pytest.fixture(scope="module")
def page() -> Iterator[SimpleNamespace]:
    """The human figure's page in a browser, and what the browser complained about."""
    errors: list[str] = []
    with animator.serve(models.human(), port=0) as served, launched() as browser:
        tab = browser.new_page(viewport={"width": CORNERS[0], "height": CORNERS[1]})
        tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(served.url)
        tab.get_by_text("key pose").first.wait_for(timeout=PATIENCE * 1000)
        tab.wait_for_timeout(1500)
        yield SimpleNamespace(tab=tab, served=served, errors=errors)


def until(page: SimpleNamespace, happened: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            return False
        page.tab.wait_for_timeout(50)
    return True


def pixel(page: SimpleNamespace, point: np.ndarray) -> tuple[float, float]:
    """Where the browser draws a point of the world."""
    camera = next(iter(page.served._server.get_clients().values())).camera
    from supple import Frame

    seen = Frame.at(camera.position, Frame.quaternion(camera.wxyz)).inverse().apply(point)
    scale = CORNERS[1] / 2 / np.tan(camera.fov / 2)
    return CORNERS[0] / 2 + scale * seen[0] / seen[2], CORNERS[1] / 2 + scale * seen[1] / seen[2]


def drag(page: SimpleNamespace, name: str, right: float, down: float) -> None:
    x, y = pixel(page, page.served.rig.grip(name))
    mouse = page.tab.mouse
    mouse.move(x, y)
    page.tab.wait_for_timeout(300)
    mouse.down()
    for part in np.linspace(0, 1, 12):
        mouse.move(x + part * right, y + part * down)
        page.tab.wait_for_timeout(30)
    mouse.up()


def test_a_person_drags_a_hand_keys_it_plays_and_exports(page: SimpleNamespace) -> None:
    served, tab = page.served, page.tab
    rest = served.rig.linkage.rest
    tab.get_by_role("button", name="key pose").click(timeout=PATIENCE * 1000)
    assert until(page, lambda: served.keys.times == [0.0])
    served._worker.put(lambda: served._scrub(1.0))
    assert until(page, lambda: served.time == 1.0)
    drag(page, "right hand", -60, -180)
    assert until(page, lambda: "right hand" in served.rig.pins)
    feet = [served.rig.linkage.frame(served.q, f"{side}_foot").position for side in ("left", "right")]
    still = [served.rig.linkage.frame(rest, f"{side}_foot").position for side in ("left", "right")]
    assert np.abs(np.array(feet) - still).max() < 2e-3
    hand = served.rig.linkage.frame(served.q, "right_hand").position
    assert hand[2] > served.rig.linkage.frame(rest, "right_hand").position[2] + 0.15
    tab.get_by_role("button", name="key pose").click(timeout=PATIENCE * 1000)
    assert until(page, lambda: served.keys.times == [0.0, 1.0])

    tab.get_by_role("button", name="play").click(timeout=PATIENCE * 1000)
    assert until(page, lambda: served.playing)
    times = set[float]()
    assert until(page, lambda: times.add(round(served.time, 2)) or len(times) > 3)  # type: ignore[func-returns-value]
    tab.get_by_role("button", name="pause").click(timeout=PATIENCE * 1000)
    assert until(page, lambda: not served.playing)

    with tab.expect_download(timeout=PATIENCE * 1000) as got:
        tab.get_by_role("button", name="download").click(timeout=PATIENCE * 1000)
    assert got.value.suggested_filename == "human.glb"
    with open(got.value.path(), "rb") as file:
        assert file.read(4) == b"glTF"


def test_a_mistake_is_told_on_the_page(page: SimpleNamespace) -> None:
    served, tab = page.served, page.tab
    served._worker.put(lambda: served._scrub(0.5))
    assert until(page, lambda: served.time == 0.5)
    tab.get_by_role("button", name="delete key").click(timeout=PATIENCE * 1000)
    tab.get_by_text("there is no key at 0.50 s").wait_for(timeout=PATIENCE * 1000)


def test_the_browser_has_no_complaint(page: SimpleNamespace) -> None:
    assert [error for error in page.errors if not error.startswith(VISER_ERRORS)] == []
