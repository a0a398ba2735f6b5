"""The page for animation in a real Chromium: a person drags, keys, plays and exports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from browser import PATIENCE, patient, plain, until
from driven_page import VISER_ERRORS
from supple import models
from supple.view import animator

pytestmark = pytest.mark.browser
CORNERS = 1200, 760


@pytest.fixture(scope="module")
def page(chromium: Any) -> Iterator[SimpleNamespace]:
    """The human figure's page in a browser, and what the browser complained about."""
    errors: list[str] = []
    size = {"width": CORNERS[0], "height": CORNERS[1]}
    with (
        patient(),
        animator.serve(models.human(), port=0) as served,
        closing(chromium.new_page(viewport=size)) as tab,
    ):
        tab.set_default_timeout(PATIENCE * 1000)
        plain(served._server)
        tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(served.url)
        tab.get_by_text("key pose").first.wait_for()
        yield SimpleNamespace(tab=tab, served=served, errors=errors)


def pixel(page: SimpleNamespace, point: np.ndarray) -> tuple[float, float]:
    """Where the browser draws a point of the world."""
    camera = next(iter(page.served._server.get_clients().values())).camera
    from supple import Frame

    seen = Frame.at(camera.position, Frame.quaternion(camera.wxyz)).inverse().apply(point)
    scale = CORNERS[1] / 2 / np.tan(camera.fov / 2)
    return CORNERS[0] / 2 + scale * seen[0] / seen[2], CORNERS[1] / 2 + scale * seen[1] / seen[2]


def drag(page: SimpleNamespace, name: str, right: float, down: float) -> None:
    mouse, pins = page.tab.mouse, page.served.rig.pins
    for k in range(12):  # again if a busy browser had not yet seen the pointer over the handle
        x, y = pixel(page, page.served.rig.grip(name))
        mouse.move(x, y)
        page.tab.wait_for_timeout(150 * (k + 1))
        mouse.down()
        mouse.move(x + right / 11, y + down / 11)
        if until(page.tab, lambda: name in pins, 2 + k):
            break
        mouse.move(x, y)  # what moved was the camera
        mouse.up()
    else:
        raise AssertionError(f"{name} could not be dragged at {x}, {y}")
    for part in np.linspace(0, 1, 12)[2:]:
        mouse.move(x + part * right, y + part * down)
        page.tab.wait_for_timeout(25)
    mouse.up()


def test_a_person_drags_a_hand_keys_it_plays_and_exports(page: SimpleNamespace) -> None:
    served, tab = page.served, page.tab
    rest = served.rig.linkage.rest
    tab.get_by_role("button", name="key pose").click()
    assert until(page.tab, lambda: served.keys.times == [0.0])
    served._worker.put(lambda: served._scrub(1.0))
    assert until(page.tab, lambda: served.time == 1.0)
    drag(page, "right hand", -60, -180)
    raised = served.rig.linkage.frame(rest, "right_hand").position[2] + 0.15
    assert until(page.tab, lambda: served.rig.linkage.frame(served.q, "right_hand").position[2] > raised)
    feet = [served.rig.linkage.frame(served.q, f"{side}_foot").position for side in ("left", "right")]
    still = [served.rig.linkage.frame(rest, f"{side}_foot").position for side in ("left", "right")]
    assert np.abs(np.array(feet) - still).max() < 2e-3
    tab.get_by_role("button", name="key pose").click()
    assert until(page.tab, lambda: served.keys.times == [0.0, 1.0])

    tab.get_by_role("button", name="play").click()
    assert until(page.tab, lambda: served.playing)
    times = set[float]()
    assert until(page.tab, lambda: times.add(round(served.time, 2)) or len(times) > 3)  # type: ignore[func-returns-value]
    tab.get_by_role("button", name="pause").click()
    assert until(page.tab, lambda: not served.playing)

    with tab.expect_download() as got:
        tab.get_by_role("button", name="download").click()
    assert got.value.suggested_filename == "human.glb"
    with open(got.value.path(), "rb") as file:
        assert file.read(4) == b"glTF"


def test_a_mistake_is_told_on_the_page(page: SimpleNamespace) -> None:
    served, tab = page.served, page.tab
    served._worker.put(lambda: served._scrub(0.5))
    assert until(page.tab, lambda: served.time == 0.5)
    tab.get_by_role("button", name="delete key").click()
    tab.get_by_text("there is no key at 0.50 s").wait_for()


def test_the_browser_has_no_complaint(page: SimpleNamespace) -> None:
    assert [error for error in page.errors if not error.startswith(VISER_ERRORS)] == []
