"""What goes wrong beside a real arm: moves, ends, sources, sinks, grippers, connections; each is waited for or told."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_robot import ARM, LINK, Kept, Operator, driven, until

from supple import BadInput, Frame, Solver, models
from supple.teleop import Command, Connection, Loop, Mapping, SimulatedArm, Tick, drive, robot
from supple.teleop.readings import Reading, Readings

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("ages")]  # threads in real time
Ages = Callable[..., None]


def sent(arm: SimulatedArm) -> np.ndarray:
    """The targets so far (n, dof)."""
    return np.array([target for _, target in list(arm.targets)])


# -- moves -------------------------------------------------------------------------------------------------------------


def test_a_move_asked_before_the_arm_has_started_is_done_when_the_arm_is_there() -> None:
    class Late(SimulatedArm):
        ready = False

        def read(self) -> Any:
            if not self.ready:
                raise OSError("no bus yet")
            return super().read()

    arm, there = Late(ARM, ARM.rest + 0.2, noise=0), list[np.ndarray]()
    loop, kept, *_ = driven(arm)
    end = ARM.rest + 0.3
    with loop:
        assert until(lambda: "no bus yet" in kept.held)
        loop.move(end, lambda: there.append(arm.q))
        time.sleep(0.2)
        assert not there
        arm.ready = True
        assert until(lambda: there)
    assert np.abs(there[0] - end).max() < 0.1


def test_a_move_to_where_the_loop_is_waits_for_the_measured_arm() -> None:
    arm, there = SimulatedArm(ARM, noise=0), list[np.ndarray]()
    loop, kept, operator, _ = driven(arm)
    with loop:
        assert until(lambda: kept.held == "")
        operator.silent = True
        assert until(lambda: kept.held.startswith("silent"))
        loop.move(loop.q, lambda: there.append(arm.q))
        ticks = len(kept.ticks)
        assert until(lambda: len(kept.ticks) > ticks + 30)
        assert not there  # it is held for another reason
        operator.silent = False
        assert until(lambda: there)


def test_a_move_after_arming_again_is_not_lost() -> None:
    arm, there = SimulatedArm(ARM, noise=0), list[int]()
    loop, kept, *_ = driven(arm)
    with loop:
        assert until(lambda: kept.held == "")
        loop.stop_arm("enough")
        assert until(lambda: arm.state == "held")
        loop.rearm()
        loop.move(ARM.rest, lambda: there.append(1))
        assert until(lambda: there)


def test_a_stop_ends_a_move_though_the_arm_is_armed_again_while_it_brakes() -> None:
    arm, there = SimulatedArm(ARM, noise=0), list[int]()
    loop, kept, *_ = driven(arm)
    with loop:
        assert until(lambda: kept.held == "")
        loop.move(ARM.rest + 0.8, lambda: there.append(1))
        assert until(lambda: np.abs(arm.q - ARM.rest).max() > 0.1)
        loop.stop_arm("enough")
        loop.rearm()
        assert until(lambda: kept.held == "" and not loop.stopped)
        assert not loop.moves
        assert not there


def test_arming_an_arm_that_is_driven_changes_nothing() -> None:
    arm = SimulatedArm(ARM, noise=0)
    loop, kept, *_ = driven(arm)
    with loop:
        assert until(lambda: kept.held == "")
        starts, ticks = loop._arm.starts, len(kept.ticks)  # type: ignore[union-attr]
        loop.rearm()
        assert until(lambda: len(kept.ticks) > ticks + 30)
        assert loop._arm.starts == starts  # type: ignore[union-attr]


# -- ends --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["sink", "source"])
def test_the_arm_brakes_when_a_sink_raises_or_a_source_gives_something_else(part: str) -> None:
    arm, kept, operator = SimulatedArm(ARM, noise=0), Kept(), Operator()
    wrong: list[bool] = []

    class Broken(Operator):
        def read(self) -> Any:
            return 7 if wrong and part == "source" else operator.read()

    def write(tick: Tick) -> None:
        kept.write(tick)
        if wrong and part == "sink":
            raise RuntimeError("the sink is full")
        if not tick.held and np.abs(tick.step.velocity).max() > 0.2:
            wrong.append(True)

    connection = Connection(arm, ARM, [LINK])
    loop = Loop(Broken(), Mapping(), Solver().track(ARM, LINK), write, arm=connection)
    loop.start()
    assert until(lambda: wrong)
    if part == "source":
        assert until(lambda: "the source failed: BadInput: an item of a source" in kept.held)
        loop.stop()
    else:
        with pytest.raises(RuntimeError, match="the sink is full"):
            loop.stop()
        assert np.abs(np.diff(sent(arm)[-2:], axis=0)).max() < 0.004  # at rest, not at 0.2 rad/s and more


def test_a_source_that_returns_a_frame_drives() -> None:
    class Hand:
        def read(self) -> Any:
            return Frame()

        def close(self) -> None:
            pass

    kept = Kept()
    drive(Hand(), Mapping(), Solver().track(ARM, LINK), kept, seconds=0.1)
    assert kept.held in ("", "stopping")
    assert any(tick.held == "" for tick in kept.ticks)


@pytest.mark.parametrize("real", [False, True])
def test_what_a_generator_raised_comes_out_of_drive(real: bool) -> None:
    def hands() -> Any:
        for _ in range(20):
            yield Frame()
        raise RuntimeError("the device is gone")

    arm = SimulatedArm(ARM) if real else None
    with pytest.raises(RuntimeError, match="the device is gone"):
        drive(hands(), Mapping(), Solver().track(ARM, LINK), lambda tick: None, arm=arm, seconds=30.0)


@pytest.mark.parametrize("on_exit", ["hold", "release"])
def test_an_end_that_fails_is_told_and_an_arm_that_cannot_be_released_is_held(on_exit: Any) -> None:
    class Stuck(SimulatedArm):
        def release(self) -> None:
            raise OSError("no torque command")

        def hold(self) -> None:
            if on_exit == "hold":
                raise OSError("no hold command")
            super().hold()

        def close(self) -> None:
            raise OSError("no port")

    arm = Stuck(ARM)
    loop, _, _, connection = driven(arm, on_exit=on_exit)
    with pytest.warns(RuntimeWarning, match=f"{on_exit}"), loop:
        assert until(lambda: len(arm.targets) > 3)
    said = loop.statistics.arm_end
    assert said == connection.end_failure
    assert f"{on_exit}() failed: OSError: no " in said
    assert "close() failed: OSError: no port" in said
    assert said in str(loop.statistics)
    if on_exit == "release":
        assert arm.state == "held"
        assert "the arm is held instead" in said


def test_a_connection_serves_one_loop() -> None:
    connection = Connection(SimulatedArm(ARM), ARM, [LINK])
    tracker = Solver().track(ARM, LINK)
    drive([Frame()], Mapping(), tracker, lambda tick: None, arm=connection)
    with pytest.raises(BadInput, match="this connection is closed"):
        drive([Frame()], Mapping(), tracker, lambda tick: None, arm=connection)


# -- losses ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system does not suspend programs by a signal")
def test_an_arm_is_armed_again_after_the_program_was_suspended(tmp_path: Path) -> None:
    code = """
        import time
        from pathlib import Path
        from supple import Frame, Solver, models
        from supple.teleop import Command, Loop, Mapping, SimulatedArm, robot
        robot.MAX_AGE = robot.LATCH_AFTER = 2.0
        arm = models.ur5()
        hands = iter(lambda: Command(Frame(), stamp=time.monotonic()), None)
        real = SimulatedArm(arm)
        with Loop(hands, Mapping(), Solver().track(arm, "tool0"), lambda tick: None, arm=real) as loop:
            while loop.held: time.sleep(0.01)
            Path("drives").touch()
            while not loop.stopped: time.sleep(0.01)
            Path("stopped").write_text(loop.stopped)
    """
    program = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path)
    try:
        assert until(lambda: (tmp_path / "drives").exists())
        os.kill(program.pid, signal.SIGSTOP)
        time.sleep(3.0)
        os.kill(program.pid, signal.SIGCONT)
        assert program.wait(60) == 0
    finally:
        program.kill()
    said = (tmp_path / "stopped").read_text()
    assert said.startswith("the arm was lost")
    assert said.endswith("to go on call loop.rearm(), or press re-arm on the page")


def test_an_arm_is_armed_again_after_the_machine_slept(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = SimulatedArm(ARM)
    loop, kept, *_ = driven(arm)
    with loop:
        assert until(lambda: kept.held == "")
        count = len(arm.targets)
        awake = robot.awake
        monkeypatch.setattr(robot, "awake", lambda: awake() + 3000.0)  # the other clocks stood still
        assert until(lambda: loop.stopped)
        assert "was not read for 3000" in loop.stopped
        assert len(arm.targets) >= count


def test_a_machine_that_slept_is_noticed_though_its_first_reading_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    class Waking(SimulatedArm):
        fails = 0

        def read(self) -> Any:
            if self.fails:
                self.fails -= 1
                raise OSError("the bus wakes up")
            return super().read()

    arm = Waking(ARM)
    loop, kept, *_ = driven(arm)
    with loop:
        assert until(lambda: kept.held == "")
        awake = robot.awake
        arm.fails = 2
        monkeypatch.setattr(robot, "awake", lambda: awake() + 3000.0)
        assert until(lambda: loop.stopped)
        assert "was not read for 3000" in loop.stopped


@pytest.mark.parametrize("push", [0.35, 0.6, 0.7])
def test_a_standing_arm_that_is_pushed_is_not_driven_back_though_its_readings_repeat(push: float) -> None:
    readings = Readings(ARM, [])
    q = ARM.rest
    readings.begin(Reading(0.0, q, np.nan, 0.0))
    for k in range(100):  # at 50 readings per second, all the same
        readings.wrote(0.02 * k, q)
        assert readings.add(Reading(0.02 * k, q, np.nan, 0.02 * k), True) == ""
    pushed = q + push * np.eye(6)[1]  # more than 0.1 rad and twice the way at full speed in 0.02 s, 0.23 rad in all
    with pytest.raises(Exception, match="a single reading"):
        readings.add(Reading(2.0, pushed, np.nan, 2.0), True)
    assert "shoulder_lift_joint" in readings.add(Reading(2.02, pushed, np.nan, 2.02), True)


def test_a_closed_arm_is_closed_once_and_not_read_until_another_is_connected(
    monkeypatch: pytest.MonkeyPatch, ages: Ages
) -> None:
    monkeypatch.setattr(robot, "RETRY", 0.05)
    ages(True)
    attempts: list[int] = []

    class Port(SimulatedArm):
        closed, after = 0, 0

        def read(self) -> Any:
            self.after += self.closed > 0
            return super().read()

        def close(self) -> None:
            self.closed += 1

    made: list[Port] = []

    def connect() -> Port:
        attempts.append(1)
        if made and len(attempts) < 6:
            raise OSError(f"no port {len(attempts)}")
        made.append(Port(ARM))
        return made[-1]

    connection = Connection(connect, ARM, [LINK])
    try:
        assert until(lambda: connection.reading is not None)
        made[0].unplug()
        assert until(lambda: "no port 5" in connection.state)
        made[0].plug()
        assert until(lambda: len(made) == 2 and connection._error == "")
        assert (made[0].closed, made[0].after) == (1, 0)
    finally:
        connection.close()


@pytest.mark.parametrize("error", [SystemExit("over"), KeyboardInterrupt("stop")])
def test_whatever_a_reading_raises_is_told(error: BaseException) -> None:
    class Ending(SimulatedArm):
        def read(self) -> Any:
            raise error

    connection = Connection(Ending(ARM), ARM)
    assert until(lambda: connection.errors > 2)
    assert type(error).__name__ in connection.state
    connection.close()


def test_an_arm_that_is_too_slow_is_told_so(ages: Ages) -> None:
    class Slow(SimulatedArm):
        def read(self) -> Any:
            time.sleep(0.15)
            return super().read()

    ages(True)
    loop, kept, *_ = driven(Slow(ARM))
    with loop:
        assert until(lambda: "read() and write() take" in kept.held)
        assert "at least 11 readings per second are needed" in kept.held
    loop, kept, *_ = driven(SimulatedArm(ARM), rate=5.0)
    with loop:
        assert until(lambda: "its rate is 5 readings per second; at least 11 readings" in kept.held)


# -- readings and grippers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"elbow": 0.0}, r"not a dict: return \[values\[name\] for name in"),
        (None, "got None: is a return missing"),
        (np.array([0, 0, math.nan, 0, 0, 0]), "got nan for elbow_joint"),
    ],
)
def test_what_is_no_reading_is_told(answer: Any, said: str) -> None:
    class Odd(SimulatedArm):
        def read(self) -> Any:
            return answer

    connection = Connection(Odd(ARM), ARM)
    assert until(lambda: connection.mistake or connection.errors)
    with pytest.raises(BadInput, match=said):
        raise BadInput(connection.mistake or connection.state)
    assert "Mistake" not in connection.state
    assert bool(connection.mistake) == isinstance(answer, dict)
    connection.close()


@pytest.mark.parametrize("opening", [55.0, 2048.0, -1.0, "open"])
def test_a_gripper_that_reads_anything_but_0_to_1_is_refused(opening: Any) -> None:
    arm = SimulatedArm(ARM, gripper=True)
    arm.gripper.read = lambda: opening  # type: ignore[method-assign, union-attr]
    loop, *_ = driven(arm)
    with pytest.raises(BadInput, match=r"gripper\.read\(\) must"):
        loop.run(60.0)
    assert not arm.targets


def test_a_gripper_moves_within_its_speed_after_it_was_not_read() -> None:
    arm = SimulatedArm(ARM, gripper=True)
    assert arm.gripper is not None
    opened, read, write = list[float](), arm.gripper.read, arm.gripper.write
    unknown: list[int] = []
    arm.gripper.read = lambda: math.nan if unknown else read()  # type: ignore[method-assign]
    arm.gripper.write = lambda opening: (write(opening), opened.append(opening))[0]  # type: ignore[method-assign]
    loop, kept, operator, _ = driven(arm)
    operator.gripper = 0.5
    with loop:
        assert until(lambda: kept.held == "")
        loop.stop_arm("enough")
        assert until(lambda: arm.state == "held")
        unknown.append(1)
        operator.gripper = 1.0
        loop.rearm()
        assert until(lambda: opened and opened[-1] == 1.0)
    begins = max(k for k, tick in enumerate(kept.ticks) if tick.begin is not None)
    grippers = np.array([tick.grippers[0] for tick in kept.ticks])[begins:]
    dt = np.array([tick.dt for tick in kept.ticks])[begins + 1 :]
    assert (np.abs(np.diff(grippers)) <= 2.0 * dt + 1e-9).all()


def test_a_failure_of_the_gripper_names_it() -> None:
    arm = SimulatedArm(ARM, gripper=True)

    def broken() -> float:
        raise OSError("no answer")

    arm.gripper.read = broken  # type: ignore[method-assign, union-attr]
    connection = Connection(arm, ARM)
    assert until(lambda: connection.state == "the gripper: OSError: no answer")
    connection.close()


def test_joint_values_of_a_move_are_named_q() -> None:
    loop = Loop([Command()], Mapping(), Solver().track(models.ur5(), LINK), lambda tick: None)
    with pytest.raises(BadInput, match="q must be finite"):
        loop.move(np.full(6, np.nan))
    loop.stop()
