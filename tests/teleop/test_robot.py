"""A real arm behind a connection: what is written to it, when nothing is, and what is left at the end."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from patience import PATIENCE, until
from stepped import Paused, Stepped
from supple import BadInput, Frame, Solver, models
from supple.teleop import Command, Connection, Loop, Mapping, SimulatedArm, Tick, robot
from supple.teleop.soft_start import SoftStart

ARM = models.ur5()
LINK = "tool0"
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("ages")]  # threads in real time


class Operator:
    """A hand that swings, 10 cm to each side, and a gripper."""

    def __init__(self) -> None:
        self.gripper: float | None = None
        self.begin = time.monotonic()
        self.silent = False

    def read(self) -> Command | None:
        t = time.monotonic()
        if self.silent:
            return None
        y = 0.1 * np.sin(3 * (t - self.begin))
        return Command(Frame.at([0, y, 0]), stamp=t, gripper=self.gripper)

    def close(self) -> None:
        pass


class Kept:
    """A sink that keeps the newest tick."""

    def __init__(self) -> None:
        self.ticks: list[Tick] = []

    def write(self, tick: Tick) -> None:
        self.ticks.append(tick)

    def close(self) -> None:
        pass

    @property
    def held(self) -> str:
        return self.ticks[-1].held if self.ticks else "not begun"


def driven(arm: Any, **options: Any) -> tuple[Loop, Kept, Operator, Connection]:
    kept, operator = Kept(), Operator()
    connection = Connection(arm, ARM, [LINK], **options)
    tracker = Solver().track(ARM, LINK)
    return Loop(operator, Mapping(), tracker, kept, arm=connection), kept, operator, connection


def follows(arm: SimulatedArm, kept: Kept) -> bool:
    q = kept.ticks[-1].step.q
    return kept.held == "" and float(np.abs(arm.q - q).max()) < 0.2


def held_where(arm: SimulatedArm) -> np.ndarray:
    """Where a stopped arm stands (dof,), once it does: it may be far behind the loop when it is held."""
    assert until(lambda: arm.state == "held" and np.abs(arm._velocity).max() < 1e-4)
    return arm.q


def checked(arm: SimulatedArm, rate: float = 100.0) -> None:
    """Every target was finite, within the limits, and as near to the last one as the speed limits ask."""
    assert arm.outside == 0
    targets = np.array([target for _, target in arm.targets])
    assert np.isfinite(targets).all()
    assert (np.abs(np.diff(targets, axis=0)) <= ARM.speed * 2 / rate + 1e-9).all()


def test_the_loop_begins_where_the_arm_is_and_the_arm_follows_within_bounds() -> None:
    start = ARM.rest + 0.4
    arm = SimulatedArm(ARM, start, gripper=True)
    assert arm.gripper is not None
    opened, write = list[float](), arm.gripper.write
    arm.gripper.write = lambda opening: (write(opening), opened.append(opening))[0]  # type: ignore[method-assign]
    loop, kept, operator, _ = driven(arm)
    operator.gripper = 0.5
    with loop:
        assert until(lambda: kept.held == "")
        assert until(lambda: len(arm.targets) > 100)
        assert np.abs(arm.targets[0][1] - start).max() < 0.02
        assert until(lambda: follows(arm, kept))
        operator.gripper = 1.0
        assert until(lambda: arm.gripper.read() > 0.99)
    grippers = np.array([tick.grippers[0] for tick in kept.ticks])
    dt = np.array([tick.dt for tick in kept.ticks])[1:]
    begins = max(k for k, tick in enumerate(kept.ticks) if tick.begin is not None)
    assert (np.abs(np.diff(grippers)) <= 2.0 * dt + 1e-9)[begins:].all()  # two openings a second
    assert set(opened) <= set(grippers.tolist())
    checked(arm)
    begins = [tick.begin for tick in kept.ticks if tick.begin is not None]
    assert np.abs(begins[-1] - start).max() < 0.01
    assert arm.state == "held"


def test_a_motion_that_begins_long_after_the_arm_was_connected_is_slow_too() -> None:
    dt, soft = 0.01, SoftStart(1.0)
    still, moved = np.eye(4)[None], np.eye(4)[None].copy()
    moved[0, 0, 3] = 1.0
    rng = np.random.default_rng(0)
    for k in range(500):  # a hand that is taken and not moved gives the same goal but for rounding
        same = still + (k > 250) * 1e-15 * rng.standard_normal((1, 4, 4))
        assert np.array_equal(soft.limited(same, dt), same)
    places = np.array([0.0, *(soft.limited(moved, dt)[0, 0, 3] for _ in range(200))])
    speeds = np.diff(places) / dt
    assert speeds[0] <= 0.05
    assert (speeds <= 0.05 + np.arange(1, 201) * dt / 2).all()


def test_the_first_motions_are_slow() -> None:
    arm = SimulatedArm(ARM)
    loop, kept, *_ = driven(arm)
    with loop:
        assert until(lambda: sum(tick.held == "" for tick in kept.ticks) > 300)
    free = [tick for tick in kept.ticks if not tick.held]
    places = np.array([tick.goals[0, :3, 3] for tick in free])
    dt = np.array([tick.dt for tick in free])[1:]
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1) / dt
    t = np.cumsum(dt)
    reach = ARM.reach(LINK)
    assert (speeds <= reach * (0.05 + np.minimum(t / 2 + 0.02, 1.0))).all()
    assert (speeds[t < 0.1] < 0.5 * 0.3).all()  # the hand itself moves at 0.3 m/s


def test_nothing_is_written_before_a_valid_reading() -> None:
    class Shy(SimulatedArm):
        answers: Any = "nothing"

        def read(self) -> Any:
            said = super().read()
            if isinstance(self.answers, Exception):
                raise self.answers
            return said if self.answers == "truth" else self.answers

    arm = Shy(ARM)
    loop, kept, _, connection = driven(arm)
    with loop:
        for answer in ("nothing", [], np.full(6, np.nan), np.full(6, 1e9), OSError("no bus"), None):
            arm.answers = answer
            errors = connection.errors
            assert until(lambda errors=errors: connection.errors > errors + 2)
            assert until(lambda: kept.held.startswith("no reading of the arm yet"))
        assert len(arm.targets) == 0
        arm.answers = "truth"
        assert until(lambda: len(arm.targets) > 10)
    checked(arm)


def test_an_exception_holds_the_arm_names_the_error_and_the_arm_is_taken_over_anew(ages: Callable[..., None]) -> None:
    arm = SimulatedArm(ARM)
    loop, kept, _, connection = driven(arm)
    with loop:
        assert until(lambda: len(arm.targets) > 20)
        arm.unplug()
        assert until(lambda: "unplugged" in connection._error)
        ages(True, latched=True)
        assert until(lambda: "OSError: the arm is unplugged" in kept.held)
        assert until(lambda: loop.stopped.startswith("the arm was lost"))
        ages(False)
        moved = arm.q + 0.3
        arm.push(moved)
        count = len(arm.targets)
        arm.plug()
        time.sleep(0.3)
        assert loop.stopped
        assert len(arm.targets) == count
        loop.rearm()
        assert until(lambda: len(arm.targets) > count + 5)
        assert np.abs(arm.targets[count][1] - moved).max() < 0.02
        assert until(lambda: kept.held == "")
    assert arm.outside == 0
    targets = np.array([target for _, target in arm.targets])
    steps = np.abs(np.diff(targets, axis=0))
    assert (np.delete(steps, count - 1, axis=0) <= ARM.speed * 0.02 + 1e-9).all()


def test_a_bus_that_blocks_holds_the_arm_but_not_the_loop_and_short_gaps_pass(ages: Callable[..., None]) -> None:
    arm = SimulatedArm(ARM)
    loop, kept, _, _ = driven(arm)
    with loop:
        assert until(lambda: len(arm.targets) > 20)
        ages(True)
        arm.block(0.5)
        silent = "the arm does not answer"
        assert until(lambda: any(tick.held.startswith(silent) for tick in kept.ticks))
        assert until(lambda: kept.held == "")
        free, read = threading.Event(), arm.read
        arm.read = lambda: (free.wait(PATIENCE), read())[1]  # type: ignore[method-assign]
        ticks = len(kept.ticks)
        assert until(lambda: sum(tick.held.startswith(silent) for tick in kept.ticks[ticks:]) > 100)
        free.set()
        assert until(lambda: kept.held == "")
        assert not loop.stopped
    checked(arm)


def test_a_stop_latches_until_it_is_armed_again() -> None:
    arm = SimulatedArm(ARM)
    loop, kept, operator, _ = driven(arm)
    with loop:
        assert until(lambda: len(arm.targets) > 20)
        loop.stop_arm("enough")
        stood = held_where(arm)
        assert kept.held == "enough"
        q, count = loop.q, len(arm.targets)
        loop.pause()
        loop.resume()
        with pytest.warns(UserWarning, match=r"stopped \(enough\), and does not move: call rearm"):
            loop.move(ARM.rest)
        operator.gripper = 1.0
        time.sleep(0.3)
        assert np.array_equal(loop.q, q)
        loop.rearm()
        assert until(lambda: kept.held == "" and len(arm.targets) > count)
        assert np.abs(arm.targets[count][1] - stood).max() < 0.02
    checked(arm)


def test_a_stop_just_after_re_arming_is_not_lost_and_re_arming_is_never_lost() -> None:
    arm = SimulatedArm(ARM)
    loop, kept, _, connection = driven(arm)
    with loop:
        assert until(lambda: kept.held == "")
        for _ in range(20):
            connection.latched = "the arm was lost"  # as after more than a second without a reading
            assert until(lambda: loop.stopped)
            loop.rearm()
            assert until(lambda: not loop.stopped)
            loop.stop_arm("enough")
            loop.rearm()
            loop.stop_arm("enough")
            ticks = len(kept.ticks)
            assert until(lambda ticks=ticks: len(kept.ticks) > ticks + 3)
            assert kept.held == "enough"
            loop.rearm()
            assert until(lambda: not loop.stopped)


def test_a_silent_operator_stops_joints_and_gripper() -> None:
    arm = SimulatedArm(ARM, gripper=True)
    loop, kept, operator, _ = driven(arm)
    with loop:
        assert until(lambda: kept.held == "")
        operator.gripper = 0.0
        assert until(lambda: kept.ticks[-1].grippers[0] < 0.4)
        operator.silent = True
        assert until(lambda: kept.held.startswith("silent"))
        ticks = len(kept.ticks)
        assert until(lambda: len(kept.ticks) > ticks + 200)
        stopped = kept.ticks[ticks + 1 :]
        assert len({tuple(tick.grippers) for tick in stopped}) == 1
    checked(arm)


class Late(SimulatedArm):
    """An arm on a machine that may stand still at any moment, and a bus that sometimes fails for up to 0.25 s."""

    def __init__(self, start: Any, clock: Stepped, late: Callable[[str], float], broken: Callable[[], float]) -> None:
        super().__init__(ARM, start, noise=0, clock=clock.now)
        self._stepped, self._late, self._broken, self._until = clock, late, broken, 0.0

    def read(self) -> np.ndarray:
        self._stepped.t += self._late("before")
        q = super().read()
        self._stepped.t += self._late("after")
        if len(self.targets) > 20 and self._stepped.t >= self._until:
            self._until = self._stepped.t + self._broken()
        if self._stepped.t < self._until:
            raise OSError("the bus fails")
        return q


def coming_back(
    seed: int, outside: float, monkeypatch: pytest.MonkeyPatch, late: float, broken: float
) -> tuple[Late, Connection, Loop]:
    """An arm that begins outside its limits, driven for 4 s, with shares of late moments and broken readings."""
    rng = np.random.default_rng(seed)
    stall = lambda what: rng.choice([0.005, 0.02, 0.1, 0.3, 0.6]) if rng.random() < late else 0.0  # noqa: E731
    clock = Stepped(monkeypatch, stall)
    start = ARM.rest.copy()
    start[2] = (ARM.upper if outside > 0 else ARM.lower)[2] + outside
    arm = Late(start, clock, stall, lambda: rng.uniform(0, 0.25) if rng.random() < broken else 0.0)
    hands = iter(lambda: Command(Frame.at([0, 0.1 * np.sin(3 * clock.t), 0]), stamp=clock.t), None)
    connection = clock.connect(arm, ARM, [LINK])
    loop = Loop(hands, Mapping(), Solver().track(ARM, LINK), lambda tick: None, arm=connection, clock=clock)
    loop.run(4.0)
    return arm, connection, loop


@pytest.mark.parametrize("late", [0.0, 0.03, 0.1])
@pytest.mark.parametrize("outside", [0.3, -0.3])
def test_an_arm_that_begins_outside_its_limits_is_never_written_farther_out(
    outside: float, late: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(4):
        arm, connection, loop = coming_back(seed, outside, monkeypatch, late, 0.0)
        assert arm.outside == connection.errors == 0
        assert not loop.stopped  # a machine that is late is not an arm that is elsewhere
        beyond = np.sign(outside) * np.array([target[2] for _, target in arm.targets])
        assert len(beyond) > 20
        assert (np.diff(np.maximum(beyond, ARM.upper[2])) <= 0).all()
        assert beyond[-1] < beyond[0]  # it is brought back


class Pausing(SimulatedArm):
    """An arm whose thread may stand still before and after each of its calls."""

    def __init__(self, start: Any, clock: Paused) -> None:
        super().__init__(ARM, start, noise=0, clock=clock.now)
        self._stands = clock.stand_still

    def read(self) -> np.ndarray:
        self._stands("before")
        q = super().read()
        self._stands("after")
        return q

    def write(self, q: Any) -> None:
        self._stands("before")
        super().write(q)
        self._stands("after")


@pytest.mark.parametrize("outside", [0.3, -0.3])
def test_a_thread_that_stands_still_while_the_loop_goes_on_neither_writes_outward_nor_finds_the_arm_elsewhere(
    outside: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = ARM.rest.copy()
    start[2] = (ARM.upper if outside > 0 else ARM.lower)[2] + outside
    for seed in range(6):
        rng = np.random.default_rng(seed)
        late = (0.01, 0.05)[seed % 2]
        clock = Paused(
            monkeypatch,
            lambda what, rng=rng, late=late: rng.choice([0.003, 0.05, 0.2, 0.6]) if rng.random() < late else 0.0,  # type: ignore[misc]
        )
        arm = Pausing(start, clock)
        hands = iter(lambda clock=clock: Command(Frame.at([0, 0.1 * np.sin(3 * clock.t), 0]), stamp=clock.t), None)  # type: ignore[misc]
        connection = clock.connect(arm, ARM, [LINK])
        loop = Loop(hands, Mapping(), Solver().track(ARM, LINK), lambda tick: None, arm=connection, clock=clock)
        loop.run(4.0)
        clock.end()
        assert arm.outside == connection.errors == 0
        assert not loop.stopped
        beyond = np.sign(outside) * np.array([target[2] for _, target in arm.targets])
        assert len(beyond) > 20
        assert (np.diff(np.maximum(beyond, ARM.upper[2])) <= 0).all()
        assert beyond[-1] < beyond[0]  # it is brought back


@pytest.mark.parametrize("outside", [0.3, -0.3])
def test_an_arm_that_is_lost_on_its_way_back_is_not_written_outward_of_where_it_is(
    outside: float, monkeypatch: pytest.MonkeyPatch, ages: Callable[..., None]
) -> None:
    ages(True)
    starts = 0
    for seed in range(15):
        arm, connection, _ = coming_back(seed, outside, monkeypatch, 0.0, 0.02)
        assert arm.outside == 0
        starts += connection.starts
    assert starts > 20


@pytest.mark.parametrize("outside", [0.3, -0.3])
def test_an_arm_on_its_way_back_to_its_limits_is_never_written_outward(outside: float) -> None:
    side, limit = np.sign(outside), (ARM.upper if outside > 0 else ARM.lower)[2]
    start = ARM.rest.copy()
    start[2] = limit + outside
    arm = SimulatedArm(ARM, start, noise=0, lag=0.01)
    connection = Connection(arm, ARM, [LINK], rate=400)
    tracker = Solver().track(ARM, LINK)
    assert until(lambda: connection.start() is not None if connection.reading else False)
    step = tracker.step(np.full((4, 4), np.nan), 1 / 300)
    for far in np.abs(np.linspace(-0.2, 0.2, 81)) - 0.2:  # the loop leads 0.2 rad inward, then outward again
        led: Any = np.array(step._result)
        led[:6] = np.concatenate([start[:2], [limit + side * far], start[3:]])
        connection.write(tick_of(type(step)(led, tracker, 1 / 300)))
        cycles = connection.cycles
        assert until(lambda cycles=cycles: connection.cycles > cycles + 1)  # type: ignore[misc]
    connection.close()
    targets = side * np.array([target for _, target in arm.targets])[:, 2]
    assert targets.min() < abs(start[2]) - 0.19
    assert (np.diff(targets) <= 0).all()
    assert arm.outside == connection.errors == 0


def tick_of(step: Any) -> Tick:
    return Tick(0, 0.0, 0.0, 0.0, None, False, np.zeros((1, 4, 4)), 0.0, None, step, "", None, np.array([0.5]))


def test_what_is_written_is_near_the_last_whatever_the_ticks_say() -> None:
    rng = np.random.default_rng(0)
    arm = SimulatedArm(ARM, lag=0.01)
    connection = Connection(arm, ARM, [LINK], rate=400)
    tracker = Solver().track(ARM, LINK)
    assert until(lambda: connection.reading is not None)
    assert until(lambda: connection.start() is not None)
    step = tracker.step(np.full((4, 4), np.nan), 1 / 300)
    for _ in range(400):
        wild: Any = np.array(step._result)
        wild[:6] = rng.choice([np.nan, np.inf, 0.0, 1.0, 1e6], size=6) * rng.normal(size=6)
        connection.write(tick_of(type(step)(wild, tracker, 1 / 300)))
        time.sleep(0.001)
    connection.close()
    assert len(arm.targets) > 5
    checked(arm, rate=400)


def test_a_connection_that_cannot_be_is_refused() -> None:
    with pytest.raises(BadInput, match=r"read\(\) and write"):
        Connection(7, ARM)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="release"):
        Connection(type("Stiff", (), {"read": lambda self: 0, "write": lambda self, q: 0})(), ARM, on_exit="release")
    with pytest.raises(BadInput, match="not both"):
        Loop([], Mapping(), Solver().track(ARM, LINK), print, arm=SimulatedArm(ARM), measured=lambda: ARM.rest)


def test_a_function_connects_and_is_called_again_after_a_loss(
    monkeypatch: pytest.MonkeyPatch, ages: Callable[..., None]
) -> None:
    ages(True)
    monkeypatch.setattr(robot, "RETRY", 0.05)
    made: list[SimulatedArm] = []

    def connect() -> SimulatedArm:
        if not made:
            made.append(SimulatedArm(ARM))
            raise OSError("no such port")
        made.append(SimulatedArm(ARM))
        return made[-1]

    connection = Connection(connect, ARM, [LINK])
    try:
        assert until(lambda: connection.reading is not None)
        assert len(made) == 2
        made[-1].unplug()
        assert until(lambda: len(made) == 3)
        assert until(lambda: connection._error == "")
        assert connection.needs_start
    finally:
        connection.close()


@pytest.mark.parametrize("on_exit", ["hold", "release"])
@pytest.mark.parametrize("ending", ["return", "raise", "SIGTERM"])
def test_a_program_that_ends_leaves_the_arm_as_chosen(tmp_path: Path, on_exit: str, ending: str) -> None:
    code = f"""
        import os, signal, sys, time
        from pathlib import Path
        from supple import Frame, Solver, models
        from supple.teleop import Command, Connection, Loop, Mapping, SimulatedArm, drive, robot
        robot.LATCH_AFTER = 60.0
        arm = models.ur5()
        class Real(SimulatedArm):
            def hold(self): Path("said").write_text("hold"); super().hold()
            def release(self): Path("said").write_text("release")
        real = Real(arm)
        link = Connection(real, arm, ["tool0"], on_exit={on_exit!r})
        hands = iter(lambda: Command(Frame(), stamp=time.monotonic()), None)
        def end(tick):
            if len(real.targets) > 3:
                if {ending!r} == "SIGTERM": os.kill(os.getpid(), signal.SIGTERM)
                else: raise SystemExit(3) if {ending!r} == "raise" else KeyboardInterrupt
        if {ending!r} == "return":
            loop = Loop(hands, Mapping(), Solver().track(arm, "tool0"), print if False else lambda tick: None, arm=link)
            loop.start()
            while len(real.targets) < 3: time.sleep(0.01)
        else:
            drive(hands, Mapping(), Solver().track(arm, "tool0"), end, arm=link)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, timeout=120, check=False)
    expected = {"return": 0, "raise": 3, "SIGTERM": 128 + signal.SIGTERM}
    assert done.returncode == expected[ending]
    assert (tmp_path / "said").read_text() == on_exit


# -- arms that misbehave ----------------------------------------------------------------------------------------------


class Mute(Exception):
    """An error that cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Odd:
    """An arm whose rate, or whose reading, is odd."""

    def __init__(self, rate: object, error: type[Exception] | None = None) -> None:
        self._rate, self._error, self.held = rate, error, 0

    @property
    def rate(self) -> Any:
        if isinstance(self._rate, Exception):
            raise self._rate
        return self._rate

    def read(self) -> Any:
        if self._error is not None:
            raise self._error
        return ARM.rest

    def write(self, q: Any) -> None:
        pass

    def hold(self) -> None:
        self.held += 1


@pytest.mark.parametrize("rate", [1e-320, 1e300, -1, 0, "fast", float("nan")])
def test_a_rate_of_an_arm_that_is_no_rate_is_refused(rate: object) -> None:
    with pytest.raises(BadInput, match="rate of the arm"):
        Connection(Odd(rate), ARM)
    connection = Connection(lambda: Odd(rate), ARM)
    assert until(lambda: connection.mistake)
    assert "rate of the arm" in connection.mistake
    connection.close()


@pytest.mark.parametrize("rate", [OSError("unplugged"), None, 1e-320, 1e300, -1, "fast", float("nan")])
def test_an_odd_rate_does_not_end_the_thread_of_an_arm(rate: object) -> None:
    odd = Odd(100.0)
    connection = Connection(odd, ARM)
    odd._rate = rate  # found odd only later
    assert until(lambda: connection.cycles > 3)
    assert connection.rate == robot.RATE
    connection.close()
    assert odd.held == 1


def test_an_error_that_cannot_be_printed_does_not_end_the_thread_of_an_arm() -> None:
    odd = Odd(100.0, Mute)
    connection = Connection(odd, ARM)
    assert until(lambda: connection.errors > 1)
    assert "Mute" in repr(connection)
    connection.close()
    assert odd.held == 1


@pytest.mark.parametrize("rate", [1e-3, 1e6, 5e-324, 1e300])
def test_a_rate_that_no_clock_can_keep_is_refused(rate: float) -> None:
    with pytest.raises(BadInput, match=r"from 0\.01 to 100,000"):
        Connection(Odd(100.0), ARM, rate=rate)
    tracker = Solver().track(ARM, LINK)
    with pytest.raises(BadInput, match=r"from 0\.01 to 100,000"):
        Loop([Frame()], Mapping(), tracker, print, rate)
