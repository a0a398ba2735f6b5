"""A real arm never moves by surprise: beyond its limits, in wrong units, or by a program's mistake."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_robot import ARM, Kept, Operator, driven, tick_of, until

from stepped import Stepped
from supple import BadInput, Frame, Solver, models
from supple.teleop import Command, Connection, Loop, Mapping, SimulatedArm
from supple.teleop.beyond import TURN_SPEED, Beyond
from supple.teleop.page.arm import Arm
from supple.teleop.page.handles import Script
from supple.teleop.page.session import Session
from supple.teleop.servo import Calibration, Motor, ServoArm, SimulatedBus

SO101 = models.so101()
TIP = "gripper_frame_link"
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("ages")]  # threads in real time


def so101_driven(arm: Any) -> tuple[Loop, Kept, Operator, Connection]:
    kept, operator = Kept(), Operator()
    connection = Connection(arm, SO101, [TIP])
    return Loop(operator, Mapping(), Solver().track(SO101, TIP), kept, arm=connection), kept, operator, connection


@pytest.mark.parametrize("joint", [1, 5])
def test_an_arm_beyond_a_limit_stays_while_it_is_held_and_comes_back_slowly_while_it_is_driven(joint: int) -> None:
    start = SO101.rest.copy()
    start[joint] = SO101.upper[joint] + 0.3
    arm = SimulatedArm(SO101, start, noise=0)
    loop, kept, operator, _ = so101_driven(arm)
    operator.silent = True
    with loop:
        assert until(lambda: len(arm.targets) > 60)
        assert all(np.array_equal(target, start) for _, target in list(arm.targets))
        assert f"{SO101.names[joint]} is 17° beyond its limit" in kept.held
        operator.silent = False
        assert until(lambda: kept.held == "")
        assert until(lambda: arm.q[joint] < SO101.upper[joint] + 1e-3)
    times, targets = (np.array(part) for part in zip(*list(arm.targets), strict=True))
    back = targets[:, joint] > SO101.upper[joint] + 0.05
    speeds = np.abs(np.diff(targets[back][:, joint])) / np.maximum(np.diff(times[back]), 1e-3)
    assert np.median(speeds[speeds > 0]) < 2 * TURN_SPEED  # the tracker moves the joint too
    assert arm.outside == 0


def test_an_arm_within_the_margin_of_its_tracker_stays_too_while_it_is_held() -> None:
    start = SO101.rest.copy()
    start[1] = SO101.upper[1] - 0.05
    arm, operator = SimulatedArm(SO101, start, noise=0), Operator()
    operator.silent = True
    tracker = Solver().track(SO101, TIP, margin=0.2)
    with Loop(operator, Mapping(), tracker, lambda tick: None, arm=Connection(arm, SO101, [TIP])):
        assert until(lambda: len(arm.targets) > 60)
    assert np.abs(np.array([target for _, target in list(arm.targets)]) - start).max() < 1e-9


def test_the_way_back_keeps_its_speed_and_stops_while_held() -> None:
    measured = SO101.rest.copy()
    measured[2] = SO101.lower[2] - 0.3
    beyond = Beyond(SO101, measured, SO101.clamp(measured))
    dt, ways = 0.01, [beyond.way[2]]
    for _ in range(100):
        beyond.step(dt, driven=False)
    assert beyond.way[2] == pytest.approx(-0.3)
    assert beyond.text == "elbow_flex is 17° beyond its limit"
    while not beyond.ended:
        beyond.step(dt, driven=True)
        ways.append(beyond.way[2])
    speeds = np.diff(ways) / dt
    assert (speeds >= 0).all()
    assert speeds.max() <= TURN_SPEED + 1e-9
    assert speeds[0] < 0.1 * TURN_SPEED
    assert beyond.text == ""


@pytest.mark.parametrize("made", [False, True])
def test_a_first_reading_in_degrees_is_refused(made: bool) -> None:
    class Degrees(SimulatedArm):
        def read(self) -> Any:
            return np.degrees(super().read())

    arm = Degrees(SO101, SO101.rest + 0.5)
    loop, *_ = so101_driven((lambda: arm) if made else arm)
    with pytest.raises(BadInput, match=r"looks like degrees: return numpy\.radians"):
        loop.run(60.0)
    assert not arm.targets


@pytest.mark.parametrize(("unit", "number"), [("ticks", 12.0), ("degrees", 2048.0)])
def test_a_bus_that_counts_in_another_unit_than_the_calibration_is_refused(unit: Any, number: float) -> None:
    offset = 2048.0 if unit == "ticks" else 0.0
    motors = tuple(Motor(name, name, offset, unit=unit, low=offset - 900, high=offset + 900) for name in SO101.names)
    bus = SimulatedBus(SO101.names, number)
    loop, *_ = so101_driven(ServoArm(bus, SO101, Calibration(motors)))
    with pytest.raises(BadInput, match="elbow_flex") as refused:
        loop.run(60.0)
    assert "unit (degrees or ticks), offset" in str(refused.value)
    assert set(bus.positions.values()) == {number}  # not even by hold at the end


def test_a_motor_outside_its_limits_is_not_moved_by_that_and_one_at_its_limit_says_so() -> None:
    def motor(name: str) -> Motor:
        return Motor(name, name, offset=2048, unit="ticks", low=1900, high=2200)

    bus = SimulatedBus(SO101.names, 2048)
    bus.positions["elbow_flex"] = 2600
    servos = ServoArm(bus, SO101, Calibration(tuple(map(motor, SO101.names))))
    q = servos.read()
    servos.write(q)
    assert bus.positions["elbow_flex"] == 2600
    servos.write(q + 0.3)
    assert bus.positions["elbow_flex"] == 2600  # never farther out
    assert "elbow_flex is at the limit of its motor: high of elbow_flex is 2600" in servos.limited
    q[2] = motor("elbow_flex").to_joint(2400)
    servos.write(q)
    assert bus.positions["elbow_flex"] == 2400
    assert servos.limited == ""
    q[2] = motor("elbow_flex").to_joint(2600)
    servos.write(q)
    assert bus.positions["elbow_flex"] == 2400  # and never out again
    servos.hold()
    assert bus.positions["elbow_flex"] == 2400


def test_the_limit_of_a_motor_is_the_reason_of_a_tick() -> None:
    wide = {"unit": "ticks", "offset": 2048}
    motors = tuple(Motor(name, name, **wide, high=2060 if name == "shoulder_pan" else math.inf) for name in SO101.names)  # type: ignore[arg-type]
    servos = ServoArm(SimulatedBus(SO101.names, 2048), SO101, Calibration(motors))
    loop, kept, *_ = so101_driven(servos)
    with loop:
        assert until(lambda: any("shoulder_pan is at the limit of its motor" in tick.why for tick in kept.ticks))


def test_an_arm_may_change_the_array_that_is_written_to_it() -> None:
    class Greedy(SimulatedArm):
        def write(self, q: Any) -> None:
            super().write(np.array(q))
            q *= 180 / math.pi

    arm = Greedy(ARM, noise=0)
    loop, _, operator, _ = driven(arm)
    operator.silent = True
    with loop:
        assert until(lambda: len(arm.targets) > 20)
    assert np.abs(np.array([target for _, target in arm.targets]) - ARM.rest).max() < 1e-9


def test_a_real_arm_is_not_reset() -> None:
    loop, *_ = driven(SimulatedArm(ARM))
    with pytest.raises(BadInput, match=r"use move\(q\)"):
        loop.reset(ARM.rest)
    loop.stop()


def test_a_hold_that_fails_is_tried_again_told_and_does_not_keep_the_arm_from_being_armed(
    monkeypatch: pytest.MonkeyPatch, ages: Callable[..., None]
) -> None:
    ages(True)
    clock = Stepped(monkeypatch)

    class Failing(SimulatedArm):
        fails, asked = True, 0

        def hold(self) -> None:
            self.asked += 1
            if self.fails:
                raise OSError("no answer")
            super().hold()

    arm = Failing(ARM, clock=clock.now)
    said = dict[float, str]()
    hands = iter(lambda: Command(Frame.at([0, 0.1 * np.sin(clock.t), 0]), stamp=clock.t), None)
    events = {1.0: lambda: loop.stop_arm("enough"), 2.5: lambda: loop.rearm(), 4.0: lambda: loop.stop_arm("again")}

    def sink(tick: Any) -> None:
        said[tick.t] = tick.held
        for t in [t for t in events if tick.t >= t]:
            events.pop(t)()
        arm.fails = tick.t < 4.5

    connection = clock.connect(arm, ARM, ["tool0"])
    loop = Loop(hands, Mapping(), Solver().track(ARM, "tool0"), sink, arm=connection, clock=clock)
    loop.run(6.0)
    begin = clock.t - 6.0
    written = np.array([t for t, _ in arm.targets]) - begin
    assert not ((written > 1.3) & (written < 2.5)).any()
    assert ((written > 2.6) & (written < 4.0)).any()
    assert not (written > 4.3).any()
    texts = {text for t, text in said.items() if 1.6 < t < 2.4}
    assert texts == {"enough; the arm does not answer: hold() failed: OSError: no answer"}
    assert {text for t, text in said.items() if 5.5 < t < 5.9} == {"again"}
    assert arm.state == "held"
    assert arm.asked > 5


def test_a_clock_that_is_coarse_writes_no_nan_to_an_arm_without_speed_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    planar = models.planar3()
    clock = Stepped(monkeypatch)
    arm = SimulatedArm(planar, noise=0, clock=clock.now)
    connection = clock.connect(arm, planar, [planar.links[-1].name])
    for _ in range(60):
        clock.t += 0.01
        clock.cycle()
    assert connection.start() is not None
    step = Solver().track(planar, planar.links[-1].name).step(np.full((4, 4), np.nan), 1 / 300)
    connection.write(tick_of(step))
    for _ in range(5):  # the time stands still between two writes, as for 15 ms on Windows
        clock.cycle()
    assert connection.errors == arm.outside == 0
    assert len(arm.targets) == 5


@pytest.mark.parametrize("before", [True, False])
def test_a_method_that_is_chosen_about_a_stop_is_the_one_that_drives_after_it(
    before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Stepped(monkeypatch)
    arm, chosen = SimulatedArm(ARM, clock=clock.now), Solver().track(ARM, "tool0", smooth=0.5)
    hands = iter(lambda: Command(Frame.at([0, 0.1 * np.sin(clock.t), 0]), stamp=clock.t), None)
    begun = list[float]()

    def stop() -> None:
        loop.stop_arm("enough")
        loop.cancel_moves()

    def choose() -> None:
        loop.use(chosen)
        loop.move(None, lambda: begun.append(clock.t))  # as a recording that begins where the arm stands

    events = [(1.0, choose if before else stop), (1.0, stop if before else choose), (2.0, lambda: loop.rearm())]

    def sink(tick: Any) -> None:
        while events and tick.t >= events[0][0]:
            events.pop(0)[1]()

    connection = clock.connect(arm, ARM, ["tool0"])
    loop = Loop(hands, Mapping(), Solver().track(ARM, "tool0"), sink, arm=connection, clock=clock)
    loop.run(3.0)
    assert loop._ticker.tracker is chosen
    assert len(begun) == 1
    assert not loop.moves


class Silent(SimulatedArm):
    """An arm whose driver gives zeros while it has no answer, as one that begins with ``self.q = np.zeros(6)``."""

    answers = False

    def read(self) -> np.ndarray:
        q = super().read()
        return q if self.answers else np.zeros(len(q))


@pytest.mark.parametrize("later", [0.3, 1.0, 1.9, np.inf])
def test_zeros_before_the_first_answer_of_an_arm_do_not_lead_it_to_its_zero_pose(
    later: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, said = Stepped(monkeypatch), dict[float, str]()
    truly = later == np.inf
    arm = Silent(SO101, 0 * SO101.rest if truly else SO101.rest + 0.3, noise=0, clock=clock.now)
    hands = iter(lambda: Command(Frame(), stamp=clock.t), None)
    connection = clock.connect(arm, SO101, [TIP])

    def sink(tick: Any) -> None:
        said[tick.t] = tick.held
        arm.answers = tick.t > later

    loop = Loop(hands, Mapping(), Solver().track(SO101, TIP), sink, arm=connection, clock=clock)
    loop.run(4.0)
    start = arm.targets[0][1]
    assert np.abs(np.array([target for _, target in arm.targets]) - start).max() < 1e-9
    assert np.abs(start - arm.q).max() < 1e-9  # it stays where it is
    assert "exactly 0, as before its first answer" in said[min(t for t in said if t > 0.2)]
    assert not list(said.values())[-100]  # an arm that stands in its zero pose is driven too
    assert not loop.stopped


def test_zeros_of_an_arm_that_was_elsewhere_are_never_taken_for_a_pose_though_it_is_armed_again(
    monkeypatch: pytest.MonkeyPatch, ages: Callable[..., None]
) -> None:
    ages(True, latched=True)
    clock = Stepped(monkeypatch)
    arm = Silent(SO101, SO101.rest + 0.3, noise=0, clock=clock.now)
    arm.answers, seen = True, list[str]()
    hands = iter(lambda: Command(Frame(), stamp=clock.t), None)
    connection = clock.connect(arm, SO101, [TIP])

    def sink(tick: Any) -> None:
        arm.answers = not 1.0 < tick.t < 6.0
        seen.append(tick.held)
        if loop.stopped:
            loop.rearm()

    loop = Loop(hands, Mapping(), Solver().track(SO101, TIP), sink, arm=connection, clock=clock)
    loop.run(8.0)
    assert np.abs(np.array([target for _, target in arm.targets]) - SO101.rest - 0.3).max() < 1e-9
    assert any("every joint value is exactly 0, and the arm was elsewhere before" in held for held in seen)
    assert not seen[-100]
    assert connection.starts > 1


@pytest.mark.parametrize("asked", ["reset", "joint", "replay"])
def test_a_button_that_was_pressed_before_the_arm_was_plugged_in_does_not_move_it_then(asked: str) -> None:
    """A person may still have a hand on the cable."""
    arm = SimulatedArm(SO101, SO101.rest + 0.3, noise=0)
    arm.unplug()
    connection = Connection(arm, SO101, [TIP])
    session = Session(Arm.of(SO101), robot=connection)
    session.source.alive = True
    session.loop.start()
    try:
        assert until(lambda: "the arm is unplugged" in session.loop.held)
        script = Script(np.broadcast_to(np.eye(4), (2, 1, 4, 4)), np.array([0.0, 1.0]))
        ask = {
            "reset": session.reset,
            "joint": lambda: session.jog(0, 0.5),
            "replay": lambda: session.start_script(script, SO101.rest, lambda: None),
        }[asked]
        with pytest.raises(BadInput, match=r"not driven yet: .*the arm is unplugged"):
            ask()
        arm.plug()
        assert until(lambda: session.loop.held == "")
        ticks = session.newest.number  # type: ignore[union-attr]
        assert until(lambda: session.newest.number > ticks + 60)  # type: ignore[union-attr]
        assert np.abs(arm.q - SO101.rest - 0.3).max() < 1e-6
        assert not session.source.scripted
        ask()
        assert until(lambda: np.abs(arm.q - SO101.rest - 0.3).max() > 0.01)
    finally:
        session.loop.stop()
