"""The viewer in a real Chromium: it draws the arm, and people can move it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import supple.view
from browser import PATIENCE, changed_part, differing, patient, until
from supple import models

pytestmark = pytest.mark.browser
SIZE = {"width": 800, "height": 500}
MIDDLE = {"x": 130, "y": 155, "width": 265, "height": 330}  # of the page, clear of the panel and of notices


@pytest.fixture(scope="module")
def page(chromium: Any) -> Iterator[SimpleNamespace]:
    """The Panda's page in a browser, its viewer on the server, and what the browser complained about."""
    errors: list[str] = []
    with (
        patient(),
        supple.view.serve(models.panda(), port=0) as viewer,
        closing(chromium.new_page(viewport=SIZE)) as tab,
    ):
        tab.set_default_timeout(PATIENCE * 1000)
        tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("requestfailed", lambda request: errors.append(f"{request.url} failed"))
        tab.goto(viewer.url)
        tab.get_by_text("panda_joint1 (rad)").wait_for()
        yield SimpleNamespace(tab=tab, viewer=viewer, errors=errors)


def picture(page: SimpleNamespace) -> np.ndarray:
    from PIL import Image

    data = page.tab.screenshot(clip=MIDDLE, animations="disabled", timeout=PATIENCE * 1000)
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)


def steady(page: SimpleNamespace) -> np.ndarray:
    """The picture once it has stopped changing."""
    last = [picture(page)]

    def same() -> bool:
        last.append(picture(page))
        return differing(last[-1], last[-2]) == 0

    assert until(page.tab, same)
    return last[-1]


def covers(one: np.ndarray, other: np.ndarray, height: float, width: float) -> bool:
    """Whether the changed part of a picture has at least this height and width, as shares of the picture."""
    part = changed_part(one, other)
    return part[0] >= height and part[1] >= width


def test_the_arm_is_drawn_in_the_middle_of_the_page(page: SimpleNamespace) -> None:
    nodes = page.viewer._scene._nodes
    for node in nodes:
        node.visible = False
    empty = steady(page)
    for node in nodes:
        node.visible = True
    # at rest the arm is most of the height of the picture; ground and grid do not change
    assert until(page.tab, lambda: covers(picture(page), empty, 0.5, 0.3))


def test_a_slider_moved_in_the_page_moves_the_arm(page: SimpleNamespace) -> None:
    before, start = steady(page), page.viewer.q
    thumb = page.tab.get_by_role("slider").nth(1)
    thumb.focus()
    thumb.press("Home")  # the joint's lower limit
    arm = page.viewer.linkage
    assert until(page.tab, lambda: abs(page.viewer.q[1] - arm.lower[1]) < 1e-3)
    assert np.array_equal(np.delete(page.viewer.q, 1), np.delete(start, 1))
    assert until(page.tab, lambda: covers(picture(page), before, 0.3, 0.3))


def test_joint_values_set_in_the_program_move_the_sliders_of_the_page(page: SimpleNamespace) -> None:
    page.viewer.q = page.viewer.linkage.q(panda_joint1=1.25)
    thumb = page.tab.get_by_role("slider").first
    assert until(page.tab, lambda: float(thumb.get_attribute("aria-valuenow") or 0) == 1.25)


def test_the_frames_switch_changes_the_picture(page: SimpleNamespace) -> None:
    before = steady(page)
    page.tab.get_by_role("checkbox").first.click()
    assert until(page.tab, lambda: covers(picture(page), before, 0.3, 0.1))  # axes at every link
    assert until(page.tab, lambda: page.viewer._scene.frames)


def test_the_rest_button_brings_the_arm_back(page: SimpleNamespace) -> None:
    page.tab.get_by_role("button", name="zero", exact=True).click()
    arm = page.viewer.linkage
    zero = arm.clamp(np.zeros(arm.dof))
    assert until(page.tab, lambda: np.array_equal(page.viewer.q, zero))
    page.tab.get_by_role("button", name="rest", exact=True).click()
    assert until(page.tab, lambda: np.array_equal(page.viewer.q, arm.rest))


def test_the_browser_has_no_complaint(page: SimpleNamespace) -> None:
    # nothing is filtered: neither errors on the console, nor exceptions, nor requests that fail
    assert page.errors == []
