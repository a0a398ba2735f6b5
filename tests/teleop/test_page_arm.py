"""The page drives a simulated arm in a real Chromium: drag, gripper, stop from a second browser, unplugged, reset."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from browser import PATIENCE
from driven_page import VISER_ERRORS, Browser, browsed, plainly
from supple import models
from supple.teleop import SimulatedArm
from supple.teleop.page import heartbeat, serve

LINKAGE = models.so101()
START = LINKAGE.rest + np.array([0.2, -0.1, 0.1, 0.0, 0.3, 0.2])
MEASURED = 4e-3  # rad: noise and friction of the arm


class Driven:
    """The page of an SO-101 that is attached, the tab that drives it, and the arm."""

    def __init__(self, page: Any, tab: Browser, arm: SimulatedArm) -> None:
        self.page, self.tab, self.arm = page, tab, arm

    @property
    def held(self) -> str:
        return str(self.page.session.newest.held)

    def until(self, happened: Callable[[], Any]) -> bool:
        return self.tab.until(happened)

    def stands(self) -> bool:
        """Whether the arm comes to rest where it is led."""
        assert self.tab.still()
        return self.until(lambda: self.apart < MEASURED)

    @property
    def apart(self) -> float:
        """How far the farthest joint is from where it is led; the gripper is not led by the tracker."""
        return float(np.abs(self.arm.q - self.page.session.q)[:5].max())

    def rearmed(self) -> None:
        self.tab.button("re-arm").click()
        assert self.until(lambda: not self.page.session.loop.stopped and self.held == "")


@pytest.fixture(scope="module")
def driven(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driven]:
    arm = SimulatedArm(LINKAGE, START)
    folder = tmp_path_factory.mktemp("drives")
    with pytest.MonkeyPatch.context() as patched, serve(LINKAGE, port=0, folder=folder, arm=arm) as page:
        patched.setattr(heartbeat, "PATIENCE", PATIENCE)
        patched.setattr(heartbeat, "SEAT_SECONDS", PATIENCE)
        plainly(page)
        tab = Browser(page, chromium)
        tab.tab.get_by_text("method", exact=True).wait_for()
        yield Driven(page, tab, arm)
        tab.context.close()
        # whatever the browsers did: every target was near the last one, within the limits, and finite
        period = 1 / page.session.robot.rate
    assert arm.outside == 0
    assert arm.state == "held"  # on_exit
    assert (arm.step <= LINKAGE.speed * 2 * period + 1e-9).all()
    assert all(np.isfinite(target).all() for _, target in arm.targets)


@browsed
def test_the_page_begins_where_the_arm_is(driven: Driven) -> None:
    assert driven.until(lambda: driven.held == "")
    assert np.abs(driven.page.session.q - START)[:5].max() < MEASURED
    first = driven.arm.targets[0][1]
    assert np.abs(first - START).max() < MEASURED
    tab = driven.tab.tab
    for absent in ("your own URDF", "tour", "arm"):  # only this arm, and no tour
        assert driven.until(tab.get_by_text(absent, exact=True).is_hidden), absent
    assert [error for error in driven.tab.errors if not error.startswith(VISER_ERRORS)] == []


@browsed
def test_dragging_the_handle_moves_the_measured_arm(driven: Driven) -> None:
    before = driven.tab.hand()
    driven.tab.drag_ball((-40, -50))
    assert driven.stands()
    place = LINKAGE.frame(driven.arm.q, "gripper_frame_link").position
    assert np.linalg.norm(place - before) > 0.02
    assert np.allclose(place, driven.tab.handle().position, atol=4e-3)


@browsed
def test_slider_and_keys_open_the_gripper_within_its_speed(driven: Driven) -> None:
    names = list(LINKAGE.names)
    jaw, low, high = names.index("gripper"), LINKAGE.lower[5], LINKAGE.upper[5]

    def opening() -> float:
        return float((driven.arm.q[jaw] - low) / (high - low))

    thumb = driven.tab.tab.get_by_role("slider").nth(1)
    assert thumb.is_visible()
    thumb.focus()
    with driven.tab.watched() as seen:
        thumb.press("End")
        assert driven.until(lambda: opening() > 0.97)
        driven.tab.tab.mouse.click(60, 500)
        for _ in range(4):
            driven.tab.tab.keyboard.press("n")
        assert driven.until(lambda: abs(opening() - 0.6) < 0.02)
    steps = np.abs(np.diff([tick.grippers[0] for _, tick in seen]))
    assert (steps <= 2.0 * np.array([tick.dt for _, tick in seen])[1:] + 1e-9).all()  # two openings a second


@browsed
def test_a_second_browser_stops_the_arm_and_only_the_driver_arms_it_again(driven: Driven, chromium: Any) -> None:
    second = Browser(driven.page, chromium, {"width": 500, "height": 400})
    try:
        driven.tab.drag_ball((60, 30), hold=True)
        second.button("emergency stop").click()
        assert driven.until(lambda: driven.held.startswith("stopped"))
        assert driven.until(lambda: np.abs(driven.page.session.newest.step.velocity).max() < 1e-6)
        assert driven.until(lambda: driven.arm.state == "held")
        q = driven.page.session.q
        for _ in range(3):  # the operator drags on, and presses keys
            driven.tab.tab.mouse.move(300, 300)
            driven.tab.tab.wait_for_timeout(60)
        driven.tab.tab.mouse.up()
        driven.tab.tab.mouse.click(60, 500)
        driven.tab.tab.keyboard.press("l")
        driven.tab.button("recentre").click()
        driven.tab.button("reset").click()
        driven.tab.tab.wait_for_timeout(300)
        assert np.array_equal(driven.page.session.q, q)
        second.tab.get_by_text("Only the browser that drives").wait_for()
        assert second.button("re-arm").is_hidden()
        before = driven.arm.q
        driven.rearmed()
        driven.tab.tab.wait_for_timeout(200)
        assert np.abs(driven.arm.q - before).max() < MEASURED  # nothing moves by itself
        second.tab.mouse.click(60, 500)
        second.tab.keyboard.press("Escape")  # the key, from a browser that only watches
        assert driven.until(lambda: driven.held.startswith("stopped"))
        driven.rearmed()
    finally:
        second.context.close()


@browsed
def test_an_unplugged_arm_is_held_named_and_taken_over_where_it_is_then(driven: Driven) -> None:
    driven.tab.drag_ball((-30, 0), hold=True)
    driven.arm.unplug()
    assert driven.until(lambda: "OSError: the arm is unplugged" in driven.held)
    driven.tab.tab.get_by_text("the arm is unplugged").first.wait_for()
    assert driven.until(lambda: driven.page.session.loop.stopped)  # after a second it must be armed again
    moved = driven.arm.q + np.array([0.3, 0.1, -0.2, 0.1, 0.2, 0.0])
    driven.arm.push(moved)  # someone moves it meanwhile
    count = len(driven.arm.targets)
    driven.arm.plug()
    driven.tab.tab.mouse.up()
    assert driven.until(lambda: driven.page.session.robot.cycles and driven.page.session.robot._error == "")
    driven.tab.tab.wait_for_timeout(300)
    assert len(driven.arm.targets) == count  # nothing is written before it is armed again
    driven.rearmed()
    assert driven.until(lambda: len(driven.arm.targets) > count)
    assert np.abs(driven.arm.targets[count][1] - moved)[:5].max() < MEASURED
    assert np.abs(driven.page.session.q - moved)[:5].max() < MEASURED


@browsed
def test_a_bus_that_hangs_holds_the_arm_and_not_the_loop(driven: Driven) -> None:
    ticks = driven.page.session.newest.number
    driven.arm.block(0.6)
    assert driven.until(lambda: driven.held.startswith("the arm does not answer"))
    assert driven.until(lambda: driven.held == "")  # it goes on by itself after so short a time
    assert driven.page.session.newest.number > ticks + 60


@browsed
def test_reset_moves_there_within_bounds(driven: Driven) -> None:
    with driven.tab.watched() as seen:
        driven.tab.button("reset").click()
        assert driven.until(lambda: np.abs(driven.page.session.q - LINKAGE.rest).max() < 1e-9)
    q = np.array([tick.step.q for _, tick in seen])
    dt = np.array([tick.dt for _, tick in seen])[1:, None]
    velocity = np.diff(q, axis=0) / dt
    assert (np.abs(velocity) <= 0.25 * LINKAGE.speed + 1e-9).all()
    between = (dt[1:] + dt[:-1]) / 2  # from the middle of a tick to that of the next
    assert np.abs(np.diff(velocity, axis=0) / between).max() <= 0.25 * 15 + 1e-6
    assert driven.stands()
    assert any(tick.held == "moving to the start" for _, tick in seen)
    assert driven.held == ""
