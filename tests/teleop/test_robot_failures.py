"""A real arm that fails in odd ways while it is driven: it never moves by surprise."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_robot import ARM, checked, driven, follows, until

from stepped import Stepped
from supple import Frame, Solver, models
from supple.teleop import Command, Loop, Mapping, SimulatedArm
from supple.teleop.beyond import TURN_SPEED
from supple.teleop.readings import AWAY, JUMP, Jumped, Reading, Readings

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("ages")]  # threads in real time
Ages = Callable[..., None]


class Failing(SimulatedArm):
    """An arm whose parts fail on demand."""

    broken, slow, glitches, offset = "", 0.0, 0, 0.0
    shove: Any = None
    """Joint values (dof,) to which someone moves it before it is read again, not between a read and a write."""

    def __init__(self) -> None:
        super().__init__(ARM, gripper=True)
        assert self.gripper is not None
        read, write = self.gripper.read, self.gripper.write
        self.gripper.read = lambda: self._checked("gripper.read") or read()  # type: ignore[method-assign]
        self.gripper.write = lambda opening: self._checked("gripper.write") or write(opening)  # type: ignore[method-assign]

    def _checked(self, part: str) -> None:
        if self.broken == part:
            raise OSError(f"{part} failed")

    def read(self) -> Any:
        self._checked("read")
        if self.shove is not None:
            self.push(self.shove)
            self.shove = None
        q = super().read()
        if self.glitches > 0:
            self.glitches -= 1
            q = q + self.offset
        return q

    def write(self, q: Any) -> None:
        self._checked("write")
        time.sleep(self.slow)
        super().write(q)


@pytest.mark.parametrize("part", ["read", "write", "gripper.read", "gripper.write"])
def test_a_part_that_raises_again_and_again_stops_the_arm_until_it_is_armed_again(part: str, ages: Ages) -> None:
    arm = Failing()
    loop, kept, operator, connection = driven(arm)
    operator.gripper = 0.7
    with loop:
        assert until(lambda: len(arm.targets) > 20)
        arm.broken = part
        assert until(lambda: part in connection._error)
        ages(True, latched=True)
        assert until(lambda: loop.stopped)
        assert f"OSError: {part} failed" in loop.stopped
        ages(False)
        arm.broken = ""
        count, stood = len(arm.targets), arm.q
        time.sleep(0.6)
        assert len(arm.targets) == count  # however good it is now
        assert np.abs(arm.q - stood).max() < 0.01
        loop.rearm()
        assert until(lambda: kept.held == "" and len(arm.targets) > count + 5)
        assert np.abs(arm.targets[count][1] - stood).max() < 0.02
    checked(arm)


def test_an_arm_that_still_fails_when_it_is_armed_again_is_stopped_again(ages: Ages) -> None:
    arm = Failing()
    loop, kept, _, connection = driven(arm)
    with loop:
        assert until(lambda: len(arm.targets) > 20)
        arm.broken = "write"
        assert until(lambda: "write" in connection._error)
        ages(True, latched=True)
        assert until(lambda: "OSError: write failed" in loop.stopped)
        for _ in range(2):
            assert until(lambda: kept.held == loop.stopped)
            ticks, why = len(kept.ticks), loop.stopped
            loop.rearm()
            assert until(lambda ticks=ticks, why=why: any(tick.held != why for tick in kept.ticks[ticks:]))
            assert until(lambda: "OSError: write failed" in loop.stopped)


def test_a_bus_that_is_too_slow_holds_the_arm_without_letting_it_go_now_and_then(ages: Ages) -> None:
    arm = Failing()
    loop, kept, _, _ = driven(arm)
    with loop:
        assert until(lambda: len(arm.targets) > 20)
        ages(True)
        arm.slow = 0.14  # each reading is older than 0.1 s before the next one comes
        assert until(lambda: kept.held.startswith("the arm does not answer"))
        ticks = len(kept.ticks)
        assert until(lambda: len(kept.ticks) > ticks + 300)
        assert all(tick.held for tick in kept.ticks[ticks:])
        arm.slow = 0.0
        assert until(lambda: kept.held == "")
        assert not loop.stopped
    checked(arm)


def test_a_single_wrong_reading_is_dropped() -> None:
    arm = Failing()
    loop, kept, _, connection = driven(arm)
    with loop:
        assert until(lambda: len(arm.targets) > 20)
        errors = connection.errors
        ticks = len(kept.ticks)
        arm.offset, arm.glitches = 50.0, 1  # rad: farther than any arm moves, however late it is read
        assert until(lambda: connection.errors == errors + 1)
        count = len(kept.ticks)
        assert until(lambda: len(kept.ticks) > count + 100)
        assert all(np.abs(tick.measured - tick.step.q).max() < 5.0 for tick in kept.ticks[ticks:])
        assert until(lambda: kept.held == "")


@pytest.mark.parametrize("moving", [False, True])
def test_an_arm_that_is_suddenly_elsewhere_is_not_driven_back(moving: bool) -> None:
    arm = Failing()
    loop, kept, operator, _ = driven(arm)
    with loop:
        assert until(lambda: len(arm.targets) > 20 and follows(arm, kept))
        operator.silent = not moving
        assert until(lambda: moving or kept.held.startswith("silent"))
        pushed = arm.q + np.array([0.0, 1.2, 0.0, 0.0, 0.0, 0.0])
        arm.shove = pushed  # as by a plug that was pulled out and in again
        assert until(lambda: loop.stopped)
        assert "shoulder_lift_joint" in loop.stopped
        assert "away from where it was" in loop.stopped
        assert until(lambda: arm.state == "held")
        count = len(arm.targets)
        time.sleep(0.3)
        assert len(arm.targets) == count
        assert np.abs(arm.q - pushed).max() < 1e-6  # it did not go back
        operator.silent = False
        loop.rearm()
        assert until(lambda: kept.held == "" and len(arm.targets) > count)
        assert np.abs(arm.targets[count][1] - pushed).max() < 0.02


def test_an_arm_that_is_armed_again_begins_by_readings_that_were_made_after_that() -> None:
    class Late(Failing):
        def read(self) -> Any:
            q = super().read()
            time.sleep(0.05)
            return q

    arm = Late()
    loop, kept, operator, _ = driven(arm)
    with loop:
        assert until(lambda: len(arm.targets) > 5)
        operator.silent = True
        for k in range(4):
            loop.stop_arm("enough")
            assert until(lambda: arm.state == "held" and kept.held == "enough")
            time.sleep(0.1 + 0.012 * k)  # between two readings
            count, pushed = len(arm.targets), arm.q + 0.3 * (-1) ** k
            arm.push(pushed)
            loop.rearm()
            assert until(lambda count=count: len(arm.targets) > count)
            assert np.abs(arm.targets[count][1] - pushed).max() < 0.02


@pytest.mark.parametrize("rate", [11.0, 100.0, 1000.0, 4000.0])
def test_an_arm_stands_at_any_rate_and_with_noise_but_not_while_it_comes_back_to_its_limits(rate: float) -> None:
    linkage, rng = models.so101(), np.random.default_rng(0)
    still, moving = Readings(linkage, []), Readings(linkage, [])
    for k in range(int(1 + 0.3 * rate)):
        t = k / rate
        still.add(Reading(t, linkage.rest + rng.uniform(-0.002, 0.002, linkage.dof), np.nan, t), False)
        moving.add(Reading(t, linkage.rest - TURN_SPEED * t, np.nan, t), False)
    assert still.standing(-1.0) is still.newest
    assert moving.standing(-1.0) is None


def test_readings_that_are_late_are_no_jump() -> None:
    linkage = models.so101()
    assert JUMP + 2 * linkage.speed[0] * 0.01 < 0.5 < linkage.speed[0] * 0.31
    readings = Readings(linkage, [])
    readings.begin(Reading(0.0, linkage.rest, np.nan, 0.0))
    readings.add(Reading(0.3, linkage.rest, np.nan, 0.0), True)  # read at 0 s, and told at 0.3 s
    moved = linkage.rest.copy()
    moved[0] += 0.5
    assert readings.add(Reading(0.31, moved, np.nan, 0.31), True) == ""


def test_an_arm_that_slowly_leaves_what_it_was_sent_is_stopped_and_a_gripper_is_not() -> None:
    linkage = models.so101()
    readings = Readings(linkage, [5])
    readings.begin(Reading(0.0, linkage.rest, np.nan, 0.0))
    readings.add(Reading(0.0, linkage.rest, np.nan, 0.0), True)
    said = ""
    for k in range(1, 200):
        q = linkage.rest + 0.01 * k * np.array([0, 0, 1, 0, 0, 20])
        said = readings.add(Reading(0.01 * k, q, np.nan, 0.01 * k), True)
        if said:
            break
    assert "elbow_flex is 58° away from where it was sent" in said
    assert 0.01 * k == pytest.approx(AWAY + 0.01)


def test_an_arm_that_repeats_its_readings_does_not_jump_and_one_without_limits_may_count_from_any_turn() -> None:
    linkage = models.ur5()
    readings = Readings(linkage, [])
    q = linkage.rest.copy()
    readings.begin(Reading(0.0, q, np.nan, 0.0))
    for k in range(200):  # 100 readings a second of an arm that measures itself ten times a second, at full speed
        readings.wrote(0.01 * k, q)
        moved = q + linkage.speed * 0.1 * (k // 10) * (1 if k < 100 else 0)
        readings._written[-1] = (0.01 * k, moved)
        assert readings.add(Reading(0.01 * k, moved, np.nan, 0.01 * k), k < 100) == ""
    free = models.get("ur5").locked({})
    turning = Readings(free, [])
    turning._turns = np.ones(6, dtype=bool)
    turning.begin(Reading(0.0, q, np.nan, 0.0))
    turning.add(Reading(0.0, q, np.nan, 0.0), True)
    assert turning.add(Reading(0.01, q + 2 * np.pi, np.nan, 0.01), True) == ""


def test_two_readings_that_agree_are_where_the_arm_is() -> None:
    readings = Readings(ARM, [])
    q = ARM.rest
    readings.begin(Reading(0.0, q, np.nan, 0.0))
    readings.add(Reading(0.0, q, np.nan, 0.0), True)
    with pytest.raises(Jumped, match="a single reading"):
        readings.add(Reading(0.01, q + 1, np.nan, 0.01), True)
    with pytest.raises(Jumped):
        readings.add(Reading(0.02, q - 1, np.nan, 0.02), True)  # it agrees with none
    assert readings.add(Reading(0.03, q, np.nan, 0.03), True) == ""
    with pytest.raises(Jumped):
        readings.add(Reading(0.04, q + 1, np.nan, 0.04), True)
    assert readings.add(Reading(0.05, q + 1, np.nan, 0.05), True).endswith("away from where it was")
    assert readings.newest is not None
    assert readings.newest.q[0] == q[0] + 1


def test_an_arm_that_is_always_too_slow_has_one_reason(monkeypatch: pytest.MonkeyPatch, ages: Ages) -> None:
    ages(True)
    clock, seen = Stepped(monkeypatch), list[str]()

    class Slow(SimulatedArm):
        def read(self) -> Any:
            clock.t += 0.15
            return super().read()

    connection = clock.connect(Slow(ARM, clock=clock.now), ARM, ["tool0"])
    hands = iter(lambda: Command(Frame(), stamp=clock.t), None)
    loop = Loop(
        hands,
        Mapping(),
        Solver().track(ARM, "tool0"),
        lambda tick: seen.append(tick.held),
        arm=connection,
        clock=clock,
    )
    loop.run(4.0)
    assert len(seen) > 20
    said = {re.sub(r"\d+ ms", "", held) for held in seen[len(seen) // 4 : -1]}
    assert said == {"the arm does not answer: its read() and write() take ; at least 11 readings per second are needed"}
