"""The page drives a simulated arm in a real Chromium: drag, gripper, stop from a second browser, unplugged, reset."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import PATIENCE, patient
from drawn_frames import drawn_frames
from driven_page import PAD, SIZE, Browser, browsed, plainly
from supple import models
from supple.teleop import SimulatedArm, robot, soft_start
from supple.teleop.page import serve, session

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

    def ready(self) -> None:
        """What a test that failed may have left: an arm that is unplugged or stopped, keys that are down."""
        self.arm.plug()
        if self.page.session.loop.stopped:
            self.rearmed()
        for key in ("Shift", "I"):
            self.tab.tab.keyboard.up(key)
        self.tab.ready()
        assert self.until(lambda: self.held == "")

    def held_where(self) -> np.ndarray:
        """Where a stopped arm stands (dof,), once it does: it may be far behind the loop when it is held."""
        assert self.until(lambda: self.arm.state == "held" and np.abs(self.arm._velocity).max() < 1e-4)
        return self.arm.q

    def stands(self) -> bool:
        """Whether the arm comes to rest where it is led."""
        assert self.tab.still()
        return self.until(lambda: self.apart < MEASURED)

    @property
    def apart(self) -> float:
        """How far the farthest joint is from where it is led; the gripper is not led by the tracker."""
        return float(np.abs(self.arm.q - self.page.session.q)[:5].max())

    def goes_on(self, ticks: int = 100) -> None:
        """Waits for so many ticks of the loop, and for the arm's thread: what was to happen by itself has happened."""
        session = self.page.session
        number, cycles = session.newest.number, session.robot.cycles
        assert self.until(lambda: session.newest.number > number + ticks and session.robot.cycles > cycles + ticks // 5)

    def rearmed(self) -> None:
        button = self.tab.button("re-arm")
        button.click()
        assert self.until(lambda: not self.page.session.loop.stopped and self.held == "")
        assert self.until(button.is_disabled)  # the browser knows it too


def age_counts(patched: pytest.MonkeyPatch, counts: bool) -> None:
    """Whether the arm is held when its readings are old. A busy machine reads late, which is no failure of an arm."""
    patched.setattr(robot, "MAX_AGE", 0.1 if counts else PATIENCE)


@pytest.fixture(scope="module")
def opened(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driven]:
    arm = SimulatedArm(LINKAGE, START)
    folder = tmp_path_factory.mktemp("drives")
    with patient() as patched:
        age_counts(patched, False)
        yield from _opened(chromium, folder, arm)


def _opened(chromium: Any, folder: Path, arm: SimulatedArm) -> Iterator[Driven]:
    with serve(LINKAGE, port=0, folder=folder, arm=arm) as page:
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


@pytest.fixture
def driven(opened: Driven) -> Driven:
    """The page of the arm, whatever the test before has left."""
    opened.ready()
    return opened


@browsed
def test_the_page_begins_where_the_arm_is(driven: Driven) -> None:
    assert np.abs(driven.page.session.q - START)[:5].max() < MEASURED
    assert driven.until(lambda: len(driven.arm.targets) > 0)
    first = driven.arm.targets[0][1]
    assert np.abs(first - START).max() < MEASURED
    tab = driven.tab.tab
    for absent in ("your own URDF", "tour", "arm"):  # only this arm, and no tour
        assert driven.until(tab.get_by_text(absent, exact=True).is_hidden), absent
    assert driven.tab.complaints == []


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
def test_a_measured_arm_that_is_elsewhere_is_drawn_beside_the_commanded_one(driven: Driven) -> None:
    view, names = driven.page._actions.view, list(LINKAGE.names)
    pan = names.index("shoulder_pan")
    sagged = np.zeros(LINKAGE.dof)
    sagged[pan] = 0.2  # far enough to be seen, and less than what counts as an arm that is elsewhere

    def shown() -> list[bool]:
        return [node.visible for node in view._ghost.nodes]

    read = driven.arm.read
    assert driven.stands()
    for share in np.linspace(0.1, 1.0, 10):  # slowly: a reading that jumps is dropped
        driven.arm.read = lambda share=share: read() + share * sagged
        count = driven.page.session.robot.cycles
        assert driven.until(lambda count=count: driven.page.session.robot.cycles > count + 2)
    try:
        assert driven.until(lambda: view._ghost and all(shown()))
        tip = [link.name for link in LINKAGE.links].index("gripper_frame_link")

        def drawn_where_it_is_measured() -> bool:
            place = LINKAGE.frame(driven.arm.read(), "gripper_frame_link").position
            return bool(np.linalg.norm(drawn_frames(view._ghost.nodes)[tip].position - place) < 0.01)

        assert driven.until(drawn_where_it_is_measured)
    finally:
        for share in np.linspace(0.9, 0.0, 10):
            driven.arm.read = lambda share=share: read() + share * sagged
            count = driven.page.session.robot.cycles
            assert driven.until(lambda count=count: driven.page.session.robot.cycles > count + 2)
        del driven.arm.read
    assert driven.until(lambda: not any(shown()))


@browsed
def test_buttons_of_a_gamepad_close_and_open_the_gripper_of_the_arm(driven: Driven) -> None:
    jaw = list(LINKAGE.names).index("gripper")
    low, high = LINKAGE.lower[jaw], LINKAGE.upper[jaw]
    for button, opening in ((0, 0.0), (1, 1.0)):  # A closes, B opens
        driven.tab.tab.evaluate(PAD, [[0, 0, 0, 0], [button]])
        wanted = low + opening * (high - low)
        assert driven.until(lambda wanted=wanted: abs(driven.arm.q[jaw] - wanted) < 0.03 * (high - low)), button
    driven.tab.tab.evaluate("() => { navigator.getGamepads = () => []; }")


@browsed
def test_a_second_browser_stops_the_arm_and_only_the_driver_arms_it_again(
    driven: Driven, chromium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    reset = driven.page._actions.reset
    monkeypatch.setattr(driven.page._actions, "reset", lambda: (reset(), done.append("reset")))
    second = Browser(driven.page, chromium, {"width": 500, "height": 400})
    try:
        driven.tab.drag_ball((60, 30), hold=True)
        second.button("emergency stop").click()
        assert driven.until(lambda: driven.held.startswith("stopped"))
        assert driven.until(lambda: not driven.page.session.newest.step.velocity.any())
        stood = driven.held_where()
        q = driven.page.session.q
        for k in range(3):  # the operator drags on, and presses keys
            driven.tab.tab.mouse.move(300 + 10 * k, 300)
            driven.tab.drawn()
        driven.tab.tab.mouse.up()
        driven.tab.tab.mouse.click(60, 500)
        driven.tab.tab.keyboard.press("l")
        driven.tab.button("recentre").click()
        driven.tab.button("reset").click()
        assert driven.until(lambda: done)  # the server has heard of all of it, in this order
        driven.goes_on()
        assert np.array_equal(driven.page.session.q, q)
        second.tab.get_by_text("until the browser that drives presses re-arm").wait_for()
        assert second.button("re-arm").is_hidden()
        driven.rearmed()
        driven.goes_on()
        assert np.abs(driven.arm.q - stood).max() < MEASURED  # nothing moves by itself
        second.tab.mouse.click(60, 500)
        second.tab.keyboard.press("Escape")  # the key, from a browser that only watches
        assert driven.until(lambda: driven.held.startswith("stopped"))
        driven.rearmed()
    finally:
        second.context.close()


@browsed
@pytest.mark.parametrize("size", [(900, 560), (390, 844)])
def test_a_stop_moves_no_control_under_the_finger_that_presses_it(driven: Driven, size: tuple[int, int]) -> None:
    tab, actions = driven.tab.tab, driven.page._actions
    tab.set_viewport_size({"width": size[0], "height": size[1]})
    buttons = [driven.tab.button(name) for name in ("emergency stop", "re-arm", "record")]
    try:
        driven.tab.drawn()
        before = [button.bounding_box() for button in buttons]
        buttons[0].click()
        actions.rearm()  # as a second press that hits the other button
        assert driven.until(lambda: driven.held.startswith("stopped"))
        assert driven.until(buttons[1].is_enabled)
        assert driven.page.session.loop.stopped
        driven.tab.drawn()
        assert [button.bounding_box() for button in buttons] == before
        driven.rearmed()
    finally:
        tab.set_viewport_size(SIZE)


@browsed
@pytest.mark.parametrize("focus", ["field", "shift"])
def test_escape_stops_also_from_a_field_and_with_a_key_held_which_moves_nothing_after_re_arming(
    driven: Driven, focus: str
) -> None:
    keyboard, session = driven.tab.tab.keyboard, driven.page.session
    if focus == "field":
        field = driven.tab.tab.get_by_role("textbox").last
        field.focus()
        field.press("Escape")
        assert driven.until(lambda: driven.held.startswith("stopped"))
        driven.rearmed()
        return
    driven.tab.tab.mouse.click(60, 500)
    with driven.tab.watched() as seen:
        keyboard.down("Shift")
        keyboard.down("I")  # turns
        assert driven.until(lambda: any(np.abs(tick.step.velocity).max() > 1e-3 for _, tick in seen))
        keyboard.press("Escape")
        assert driven.until(lambda: driven.held.startswith("stopped"))
    stood = driven.held_where()
    keyboard.down("I")  # as a keyboard repeats it
    rearm = driven.tab.button("re-arm")
    rearm.click()
    assert driven.until(lambda: keyboard.down("I") or (not session.loop.stopped and driven.held == ""))
    for pause in (40, 40, 400, 40):  # ms; a busy browser repeats a key late
        keyboard.down("I")
        driven.tab.tab.wait_for_timeout(pause)
    driven.goes_on()
    assert np.abs(session.q - stood)[:5].max() < MEASURED
    assert np.abs(driven.arm.q - stood)[:5].max() < MEASURED
    keyboard.up("I")
    keyboard.up("Shift")
    assert driven.until(rearm.is_disabled)
    place = driven.tab.handle().position
    keyboard.press("u")  # released and pressed again
    assert driven.until(lambda: driven.tab.handle().position[2] > place[2] + 1e-3)


@browsed
def test_after_re_arming_the_goal_starts_softly_however_fast_the_handle_is(driven: Driven) -> None:
    driven.tab.button("emergency stop").click()
    assert driven.until(lambda: driven.held.startswith("stopped"))
    driven.held_where()
    driven.rearmed()
    with driven.tab.watched() as seen:
        driven.tab.drag_ball((-60, -60))
        handle = driven.tab.handle().position
        assert driven.until(lambda: np.linalg.norm(seen[-1][1].goals[0, :3, 3] - handle) < 1e-9)
    driving = [tick for _, tick in seen if not tick.held]
    places = np.array([tick.goals[0, :3, 3] for tick in driving])
    dt = np.array([tick.dt for tick in driving])[1:]
    way = np.linalg.norm(np.diff(places, axis=0), axis=1)
    first = int(np.argmax(way > 0))
    grown = np.cumsum(dt[first:]) / soft_start.SECONDS
    slow, fast = soft_start.SPEEDS
    bound = driven.page.session.arm.size * (slow + grown * (fast - slow)) * dt[first:]
    assert (way[first:] <= bound + 1e-9)[grown < 1].all()
    assert (way[first : first + 20] > 0.5 * bound[:20]).any()  # the handle was faster than that


@browsed
def test_a_stop_during_a_reset_ends_it(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "REAL_SPEED", 0.02)  # so slow that the stop comes in the middle
    driven.tab.drag_ball((-40, -30))
    assert driven.stands()
    driven.tab.button("reset").dispatch_event("click")
    assert driven.until(lambda: driven.held == "moving to the start")
    driven.tab.button("emergency stop").dispatch_event("click")
    assert driven.until(lambda: driven.held.startswith("stopped"))
    stood = driven.held_where()
    assert np.abs(stood - LINKAGE.rest)[:5].max() > 3 * MEASURED
    driven.rearmed()
    driven.goes_on()
    assert np.abs(driven.arm.q - stood)[:5].max() < MEASURED  # the reset does not go on


@browsed
def test_an_unplugged_arm_is_held_named_and_taken_over_where_it_is_then(
    driven: Driven, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven.tab.drag_ball((-30, 0), hold=True)
    driven.arm.unplug()
    assert driven.until(lambda: "unplugged" in driven.page.session.robot._error)
    age_counts(monkeypatch, True)
    assert driven.until(lambda: "OSError: the arm is unplugged" in driven.held)
    driven.tab.tab.get_by_text("the arm is unplugged").first.wait_for()
    assert driven.until(lambda: driven.page.session.loop.stopped)  # after a second it must be armed again
    age_counts(monkeypatch, False)
    push = np.array([0.3, 0.1, -0.2, 0.1, 0.2, 0.0])
    inward = np.where(driven.arm.q + push > LINKAGE.upper - 0.05, -push, push)  # beyond a limit it would be led back
    moved = LINKAGE.clamp(driven.arm.q + inward)
    assert LINKAGE.inside(moved)
    driven.arm.push(moved)  # someone moves it meanwhile
    count = len(driven.arm.targets)
    driven.arm.plug()
    driven.tab.tab.mouse.up()
    assert driven.until(lambda: driven.page.session.robot.cycles and driven.page.session.robot._error == "")
    driven.goes_on()
    assert len(driven.arm.targets) == count  # nothing is written before it is armed again
    with driven.tab.watched() as seen:
        driven.rearmed()
        assert driven.until(lambda: len(driven.arm.targets) > count)
        driven.goes_on()
    assert np.abs(driven.arm.targets[count][1] - moved)[:5].max() < MEASURED
    driving = [tick.step.q for _, tick in seen if not tick.held]
    assert np.abs(np.array(driving) - moved)[:, :5].max() < MEASURED, "it stays where it is"


@browsed
def test_a_bus_that_hangs_holds_the_arm_and_not_the_loop(driven: Driven, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robot, "LATCH_AFTER", PATIENCE)  # it goes on by itself after so short a time
    free, read = threading.Event(), driven.arm.read
    monkeypatch.setattr(driven.arm, "read", lambda: (free.wait(PATIENCE), read())[1])
    age_counts(monkeypatch, True)
    with driven.tab.watched() as seen:
        assert driven.until(lambda: sum(tick.held.startswith("the arm does not answer") for _, tick in seen) > 60)
        free.set()
        assert driven.until(lambda: driven.held == "")
    assert not driven.page.session.loop.stopped


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
    assert driven.until(lambda: driven.held == "")
