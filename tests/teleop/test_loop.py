"""Laws of the timed loop: its deadlines, its watchdog, its ends. Time is simulated, so they are quick and exact."""

from __future__ import annotations

import math
import signal
import sys
import threading

import numpy as np
import pytest

import supple
from supple import BadInput, Frame, Goal, Solver, TrackingStatus, damping, method
from supple.teleop import Command, Loop, Mapping, Statistics, Tick, callback, drive, frames, tee
from supple.teleop.clock import Clock

RATE = 300.0
ARM = supple.models.ur5()
HOME = ARM.frame(ARM.rest, "tool0")
SPEED, ACCELERATION = ARM.speed, np.minimum(ARM.acceleration, 15.0)


class Simulated:
    """A clock that passes only in `wait`, and where a test makes it pass."""

    def __init__(self, over=lambda: 0.0):
        self.t, self.over = 1000.0, over

    def now(self):
        return self.t

    def wait(self, until):
        self.t = max(self.t, until) + self.over()


class Kept:
    """A sink that keeps its ticks, and does something at some of them."""

    def __init__(self, do=lambda tick: None):
        self.ticks, self.do, self.closed = [], do, 0

    def write(self, tick):
        self.ticks.append(tick)
        self.do(tick)

    def close(self):
        self.closed += 1


class Scripted:
    """A source that says what a function of the tick's number says, and ends after some ticks."""

    def __init__(self, say, count):
        self.say, self.count, self.k, self.closed = say, count, 0, 0

    def read(self):
        if self.k >= self.count:
            raise StopIteration
        self.k += 1
        said = self.say(self.k - 1)
        if isinstance(said, Exception):
            raise said
        return said

    def close(self):
        self.closed += 1


def tracker(**how):
    return Solver(**how).track(ARM, "tool0")


def swing(k, rate=RATE):
    """A hand that swings gently, in tick k."""
    t = k / rate
    return Frame.at([0.03 * math.sin(2 * t), 0.05 * math.sin(3 * t), 0], Frame.turn([0, 0, 1], 0.2 * math.sin(t)))


def said(k, **more):
    return Command(swing(k), stamp=5 + k / RATE, **more)


def driven(say, count, do=lambda tick: None, clock=None, mapping=None, **more):
    sink = Kept(do)
    statistics = drive(
        Scripted(say, count), mapping or Mapping(), tracker(), sink, RATE, clock=clock or Simulated(), **more
    )
    assert sink.closed == 1
    return sink.ticks, statistics


def frame_of(tick):
    return ARM.frame(tick.step.q, "tool0")


def keeps_bounds(ticks):
    """No joint outruns its limits, its speed or its acceleration; and q is the sum of what it was told to go."""
    before, speed = ARM.rest, np.zeros(ARM.dof)
    for tick in ticks:
        if tick.begin is not None:
            before, speed = tick.begin, np.zeros(ARM.dof)
        q, v, dt = tick.step.q, tick.step.velocity, min(tick.dt, 0.25)
        assert ARM.inside(q)
        assert (np.abs(q - before) <= SPEED * dt * (1 + 1e-9)).all()
        assert (np.abs(v - speed) <= ACCELERATION * dt * (1 + 1e-9) + 1e-12).all()
        before, speed = q, v


# -- time ---------------------------------------------------------------------------------------------------------


def test_ticks_are_due_at_whole_multiples_and_never_drift():
    rng = np.random.default_rng(1)
    clock = Simulated(lambda: rng.uniform(0, 0.2 / RATE))  # every sleep is too long
    ticks, statistics = driven(said, 3000, lambda _: setattr(clock, "t", clock.t + 0.5 / RATE), clock)
    assert [tick.number for tick in ticks] == list(range(len(ticks)))
    assert all(tick.t == tick.number / RATE and tick.dt == 1 / RATE for tick in ticks)
    assert max(tick.late for tick in ticks) < 0.21 / RATE
    assert np.mean([t.late for t in ticks[-500:]]) == pytest.approx(np.mean([t.late for t in ticks[:500]]), rel=0.2)
    assert statistics.missed == statistics.skipped == 0
    assert statistics.work_share == pytest.approx(0.5, abs=0.01)


def test_a_late_loop_skips_whole_ticks_and_loses_no_time():
    rng = np.random.default_rng(2)
    clock = Simulated()

    def work(_):
        clock.t += rng.choice([0.1, 0.9, 1.5, 2.5, 7.2], p=[0.6, 0.3, 0.05, 0.03, 0.02]) / RATE

    ticks, statistics = driven(said, 2000, work, clock)
    numbers = np.array([tick.number for tick in ticks])
    gaps = np.diff(numbers, prepend=-1)
    assert np.allclose([tick.dt for tick in ticks], gaps / RATE, rtol=1e-12, atol=0)
    assert sum(tick.dt for tick in ticks) == pytest.approx((numbers[-1] + 1) / RATE)
    assert all(0 <= tick.late < (1 + 1e-6) / RATE for tick in ticks)
    assert statistics.skipped == (gaps - 1).sum() > 50
    assert statistics.ticks + statistics.skipped == numbers[-1] + 1
    keeps_bounds(ticks)


def test_a_missed_deadline_is_a_tick_not_done_when_the_next_is_due():
    clock = Simulated()
    work = {100: 1.5, 200: 3.5, 300: 0.99}  # in ticks
    _, statistics = driven(
        said, 500, lambda tick: setattr(clock, "t", clock.t + work.get(tick.number, 0) / RATE), clock
    )
    assert (statistics.missed, statistics.skipped) == (1 + 3, 2)  # 100; 200 and the skipped 201 and 202
    assert statistics.latest == pytest.approx(2.5 / RATE)


def test_a_loop_that_is_always_too_slow_takes_every_second_tick_and_does_not_race():
    clock = Simulated()
    ticks, statistics = driven(said, 300, lambda _: setattr(clock, "t", clock.t + 1.5 / RATE), clock, patience=9.0)
    gaps = np.diff([tick.number for tick in ticks])
    assert set(gaps) == {1, 2}
    assert np.mean(gaps) == pytest.approx(1.5, abs=0.01)
    assert statistics.missed_share == pytest.approx(1.0, abs=0.01)


def test_statistics_do_not_grow_and_their_quantiles_are_right():
    rng = np.random.default_rng(3)
    statistics = Statistics(RATE)
    size = sum(map(sys.getsizeof, vars(statistics).values()))
    late = np.exp(rng.normal(-9, 2, 50_000))
    for one in late:
        statistics.count(one)
    assert sum(map(sys.getsizeof, vars(statistics).values())) <= size + 100  # numbers grow digits
    for share in (0.5, 0.99, 0.999):
        assert statistics.jitter(share) == pytest.approx(np.quantile(late, share), rel=0.03)
    assert statistics.jitter(1.0) == statistics.latest == late.max()
    assert "50,000 ticks, 0 missed (0.00 %)" in str(statistics)


def test_the_clock_never_wakes_too_early():
    clock = Clock()
    for wait in (0, 1e-5, 3e-4, 2e-3, 1e-2, -1):
        until = clock.now() + wait
        clock.wait(until)
        assert clock.now() >= until


def test_in_real_time_the_arm_follows():
    ticks = []
    statistics = drive(map(said, range(100)), Mapping(), tracker(), ticks.append, 200, patience=60)
    assert statistics.ticks == len(ticks) >= 100
    assert statistics.ticks + statistics.skipped == ticks[-1].number + 1
    assert all(tick.late >= 0 for tick in ticks)
    assert 0 < statistics.tracker_share < statistics.work_share
    assert any(tick.step.status is TrackingStatus.FOLLOWING for tick in ticks)
    keeps_bounds(ticks)


# -- hand and arm -------------------------------------------------------------------------------------------------


def test_the_arm_follows_the_hand_from_where_it_is():
    ticks, _ = driven(said, 600, mapping=Mapping(0.5))
    assert np.allclose(ticks[0].goals[0], HOME.matrix, atol=1e-12)
    way = 0.5 * (swing(599).position - swing(0).position)
    assert np.allclose(ticks[599].goals[0, :3, 3], HOME.position + way)
    assert {tick.step.status for tick in ticks[:600]} == {TrackingStatus.FOLLOWING}
    assert all(tick.stamp == 5 + tick.number / RATE for tick in ticks[:600])


def test_letting_go_and_taking_hold_elsewhere_does_not_move_the_goal_by_a_bit():
    def say(k):
        hand = Frame.at([0.3, 0.2, 0.1]) @ swing(k) if k >= 500 else swing(k)
        return Command(hand, engaged=not 400 <= k < 550, stamp=k / RATE)

    ticks, _ = driven(say, 900)
    left = ticks[399].goals
    assert all(np.array_equal(tick.goals, left) for tick in ticks[400:551])
    assert not np.array_equal(ticks[560].goals, left)
    assert {tick.held for tick in ticks[:900]} == {""}
    assert {tick.step.status for tick in ticks[:900]} <= {
        TrackingStatus.FOLLOWING,
        TrackingStatus.LAGGING,
    }  # it stops at once


def test_a_sign_of_life_moves_nothing_and_keeps_the_stamp_of_the_hand():
    ticks, _ = driven(lambda k: said(k) if k % 5 == 0 else Command(stamp=5 + k / RATE), 400)
    for tick in ticks[:400]:
        assert tick.held == ""
        assert tick.stamp == 5 + tick.number // 5 * 5 / RATE
    assert np.array_equal(ticks[101].goals, ticks[100].goals)
    ticks, _ = driven(lambda k: said(k) if k < 100 else Command(), 400)
    assert {tick.held for tick in ticks[:400]} == {""}


def test_a_jump_of_a_metre_is_followed_within_all_bounds():
    ticks, _ = driven(lambda k: Command(Frame.at([0, 1.0 * (k // 150 % 2), 0]), stamp=k / RATE), 900)
    assert {tick.held for tick in ticks[:900]} == {""}
    assert any(tick.step.status is TrackingStatus.LAGGING for tick in ticks)
    keeps_bounds(ticks)


def test_two_hands_drive_two_links_each_for_itself():
    baxter = supple.models.baxter()
    links = ["left_gripper", "right_gripper"]
    start = [baxter.frame(baxter.rest, link) for link in links]
    up, still = Frame.at([0, 0, 0.05]), Frame()
    script = [[still, still], [up, still], [up, None], [up, up], [up, up @ up]]
    sink = Kept()
    source = frames(Command(hands=hands, stamp=k / RATE) for k, hands in enumerate(script))
    drive(source, [Mapping(), Mapping(2.0)], Solver().track(baxter, links), sink, RATE, clock=Simulated())
    rise = np.array([tick.goals[:, 2, 3] for tick in sink.ticks[:5]]) - [one.position[2] for one in start]
    assert np.allclose(rise, [[0, 0], [0.05, 0], [0.05, 0], [0.05, 0], [0.05, 0.1]])
    with pytest.raises(BadInput, match="2 links, 1 mappings"):
        Loop([], Mapping(), Solver().track(baxter, links), print)
    with pytest.raises(BadInput, match="of its own"):
        Loop([], [Mapping()] * 2, Solver().track(baxter, links), print)


def test_a_goal_at_a_point_of_a_link_is_engaged_there():
    point = [0.1, 0.0, 0.2]
    pen = Solver().track(ARM, Goal("tool0", position=[0, 0, 0], point=point))
    sink = Kept()
    drive([Frame(), Frame()], Mapping(), pen, sink, RATE, clock=Simulated())
    assert np.allclose(sink.ticks[0].goals[0, :3, 3], HOME.apply(point))
    assert sink.ticks[0].step.status is TrackingStatus.FOLLOWING


# -- the watchdog -------------------------------------------------------------------------------------------------

NAN = np.full((4, 4), math.nan)
TROUBLE = {
    "silent": lambda k: None,
    "the same stamp again": lambda k: Command(swing(k), stamp=5 + 299 / RATE),
    "stale": lambda k: Command(swing(k), stamp=4 + k / RATE) if k > 600 else None,
    "a flood of old ones": lambda k: Command(swing(k), stamp=5 + (300 + 1.5 * (k - 700)) / RATE) if k > 700 else None,
    "not finite": lambda k: Command(NAN, stamp=5 + k / RATE),
    "far": lambda k: Command(np.diag([1, 1, 1, 1.0]) + 1e200 * np.eye(4, k=3), stamp=5 + k / RATE),
    "a mirror": lambda k: Command(np.diag([1, 1, -1, 1.0]), stamp=5 + k / RATE),
    "no rotation": lambda k: Command(np.diag([2, 1, 1, 1.0]), stamp=5 + k / RATE),
    "two hands": lambda k: Command(hands=[swing(k)] * 2, stamp=5 + k / RATE),
    "raising": lambda k: OSError("unplugged"),
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_an_operator_in_trouble_holds_the_arm_and_a_good_command_lets_it_go_on_without_a_jump(trouble):
    away = Frame.at([0.5, -0.4, 0.3])  # where the hand is when it comes back

    def say(k):
        if 300 <= k < 900:
            return TROUBLE[trouble](k)
        return said(k) if k < 900 else Command(away @ swing(k), stamp=5 + k / RATE)

    ticks, statistics = driven(say, 1500)
    assert {tick.held for tick in ticks[:300]} == {""}
    held = [tick for tick in ticks[300:900] if tick.held]
    assert len(held) >= 600 - 0.25 * RATE - 2
    assert all(tick.step.status is TrackingStatus.HELD and np.isnan(tick.goals).all() for tick in held)
    assert all(not tick.step.velocity.any() for tick in ticks[700:900])  # at rest
    assert statistics.holds == 1
    # the goal begins anew where the arm is, the hand where it is
    assert ticks[900].held == ""
    assert np.allclose(ticks[900].goals[0], frame_of(ticks[899]).matrix, atol=1e-12)
    way = swing(1400).position - swing(900).position
    assert np.allclose(ticks[1400].goals[0, :3, 3], ticks[900].goals[0, :3, 3] + way)
    assert {tick.step.status for tick in ticks[901:1500]} == {TrackingStatus.FOLLOWING}
    keeps_bounds(ticks)


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("silent", "silent for more than 0.25 s"),
        ("not finite", "position of hand 0 is not finite"),
        ("a mirror", "rotation of hand 0"),
        ("two hands", "2 hands for 1 links"),
        ("raising", "the source failed: OSError: unplugged"),
        ("stale", "stale: commands come more than 0.25 s late"),
    ],
)
def test_the_reason_is_said(trouble, words):
    ticks, statistics = driven(lambda k: said(k) if k < 300 else TROUBLE[trouble](k), 700)
    assert words in ticks[699].held
    assert statistics.failures == (400 if trouble == "raising" else 0)


def test_before_the_first_command_the_arm_is_held():
    ticks, _ = driven(lambda k: said(k) if k >= 50 else None, 100)
    assert {tick.held for tick in ticks[:50]} == {"no command yet"}
    assert {tick.held for tick in ticks[50:100]} == {""}


def test_patience_is_measured_in_seconds():
    ticks, _ = driven(lambda k: said(k) if k < 100 else None, 700, patience=1.0)
    assert [tick.held != "" for tick in ticks[:700]].index(True) == 99 + RATE + 1


def test_a_drifting_operator_clock_does_not_hold_the_arm():
    ticks, _ = driven(lambda k: Command(swing(k), stamp=(1 + 5e-4 * (-1) ** (k // 5000)) * k / RATE), 15_000)
    assert {tick.held for tick in ticks[:15_000]} == {""}


def test_an_operator_who_restarts_is_engaged_again():
    ticks, _ = driven(lambda k: Command(Frame.at([k // 500, 0, 0]) @ swing(k), stamp=k % 500 / RATE), 2000)
    assert [tick.number for tick in ticks[:2000] if tick.held] == [500, 1000, 1500]
    assert all(np.linalg.norm(tick.goals[0, :3, 3] - HOME.position) < 0.5 for tick in ticks[:2000] if not tick.held)


@pytest.mark.parametrize("lasting", [True, False])
@pytest.mark.parametrize("wrong", [0.3, 0.9, -0.9, 20.0, -20.0])
def test_a_clock_that_is_set_or_wrong_once_holds_the_arm_for_three_seconds_at_most(wrong, lasting):
    ticks, _ = driven(lambda k: Command(swing(k), stamp=k / RATE + wrong * (k >= 500 if lasting else k == 500)), 2000)
    assert {tick.held for tick in ticks[:500]} == {""}
    assert {tick.held for tick in ticks[500 + 3 * int(RATE) + 5 : 2000]} == {""}


def test_a_backlog_that_comes_quicker_than_it_was_made_is_not_obeyed():
    def say(k):
        if 300 <= k < 3300:
            return None
        return said(k) if k < 300 else Command(swing(k), stamp=5 + (300 + 1.5 * (k - 3300)) / RATE)

    ticks, _ = driven(say, 5100)
    assert all(tick.held for tick in ticks[400:5100])


def test_old_commands_are_passed_over():
    rng = np.random.default_rng(4)
    order = np.arange(2000) + rng.integers(-8, 9, 2000)
    ticks, _ = driven(lambda k: said(max(int(order[k]), 0)), 2000)
    stamps = [tick.stamp for tick in ticks[:2000]]
    assert (np.diff(stamps) >= 0).all()
    assert {tick.held for tick in ticks[:2000]} == {""}


def test_any_operator_at_all_breaks_no_bound():
    rng = np.random.default_rng(5)
    kinds = list(TROUBLE.values())
    silent = 0

    def say(k):
        nonlocal silent
        if rng.random() < 0.002:
            silent = k + 600
        if k < silent or rng.random() < 0.2:
            return None
        if rng.random() < 0.02:
            return kinds[rng.integers(len(kinds))](k)
        jump = Frame.at(rng.normal(size=3)) if rng.random() < 0.01 else Frame()
        return Command(jump @ swing(k), engaged=rng.random() < 0.98, stamp=5 + (k - rng.integers(0, 3)) / RATE)

    clock = Simulated(lambda: rng.exponential(0.2 / RATE))
    ticks, statistics = driven(say, 6000, clock=clock)
    assert statistics.holds > 10
    keeps_bounds(ticks)


def test_a_real_arm_that_cannot_be_read_holds():
    felt = {k: [math.nan] * 6 if k < 20 else [0.0] for k in (*range(10, 20), *range(30, 40))}
    count = iter(range(10_000))

    def measured():
        k = next(count)
        if k in range(50, 60):
            raise OSError("no answer")
        return felt.get(k, ARM.rest if k < 70 else None)

    ticks, statistics = driven(said, 100, measured=measured)
    held = [tick.number for tick in ticks[:100] if tick.held]
    assert held == [*range(10, 20), *range(30, 40), *range(50, 60)]
    assert statistics.failures == 30
    assert np.array_equal(ticks[5].measured, ARM.rest)
    assert ticks[80].measured is None


# -- pause, reset, stop -------------------------------------------------------------------------------------------


def looped(say, count, at, **more):
    """A loop to which something is done at some ticks: a dict of number to function of the loop."""
    sink = Kept(lambda tick: at.get(tick.number, lambda loop: None)(loop))
    loop = Loop(Scripted(say, count), Mapping(), tracker(), sink, RATE, clock=Simulated(), **more)
    statistics = loop.run()
    return sink.ticks, statistics


def test_a_pause_holds_and_resume_goes_on_without_a_jump():
    ticks, _ = looped(said, 900, {300: Loop.pause, 600: Loop.resume})
    assert {tick.held for tick in ticks[301:601]} == {"paused"}
    assert all(not tick.step.velocity.any() for tick in ticks[450:601])
    assert np.allclose(ticks[601].goals[0], frame_of(ticks[600]).matrix, atol=1e-12)
    assert {tick.held for tick in ticks[601:900]} == {""}
    keeps_bounds(ticks)


def test_reset_puts_the_arm_elsewhere_and_the_hand_takes_hold_there():
    q = ARM.rest + 0.3
    ticks, _ = looped(said, 300, {99: lambda loop: loop.reset(q)})
    assert np.array_equal(ticks[0].begin, ARM.rest)
    assert np.array_equal(ticks[100].begin, q)
    assert [tick.number for tick in ticks if tick.begin is not None] == [0, 100]
    assert np.allclose(ticks[100].goals[0], ARM.frame(q, "tool0").matrix, atol=1e-12)
    assert {tick.step.status for tick in ticks[100:300]} == {TrackingStatus.FOLLOWING}


@pytest.mark.parametrize(
    "other", [{"method": method.damped(), "damping": damping.schinstock()}, {"method": method.pseudoinverse()}]
)
def test_another_tracker_takes_over_where_the_arm_is(other):
    ticks, _ = looped(said, 600, {299: lambda loop: loop.use(tracker(**other))})
    assert np.array_equal(ticks[300].begin, ticks[299].step.q)
    assert np.allclose(ticks[300].goals[0], ticks[299].goals[0], atol=1e-3)  # the goal goes on
    assert np.abs(ticks[300].step.q - ticks[299].step.q).max() < 0.02
    assert ticks[599].step._tracker is not ticks[0].step._tracker


def test_a_loop_brakes_before_it_ends():
    ticks, _ = driven(lambda k: Command(Frame.at([0, k / RATE, 0]), stamp=k / RATE), 60)
    assert ticks[59].step.velocity.any()
    assert not ticks[-1].step.velocity.any()
    assert {tick.held for tick in ticks[60:]} == {"stopping"}
    keeps_bounds(ticks)


def test_seconds_are_ticks():
    ticks, statistics = driven(lambda k: Command(stamp=k / RATE), 10_000, seconds=2.0)
    assert len(ticks) == 600
    assert statistics.seconds == pytest.approx(599 / RATE)


def test_a_loop_in_its_own_thread_starts_pauses_and_stops():
    seen = threading.Event()
    sink, source = Kept(lambda _: seen.set()), Scripted(said, 10**9)
    with Loop(source, Mapping(), tracker(), sink, RATE, patience=60) as loop:
        assert seen.wait(30)
        assert loop.running
        loop.pause("a visitor")
        while loop.held != "a visitor":
            seen.clear()
            assert seen.wait(30)
        statistics = loop.stop()
    assert not loop.running
    assert statistics.ticks == len(sink.ticks)
    assert source.closed == sink.closed == 1
    assert loop.stop() is statistics  # as often as wanted
    with pytest.raises(BadInput, match="once"):
        loop.start()
    with pytest.raises(BadInput, match="once"):
        loop.run()


def test_a_loop_that_never_began_closes_its_ends_too():
    sink, source = Kept(), Scripted(said, 1)
    Loop(source, Mapping(), tracker(), sink).stop()
    assert source.closed == sink.closed == 1


def test_ctrl_c_brakes_closes_both_ends_and_returns_the_statistics():
    before = signal.getsignal(signal.SIGINT)
    sink = Kept(lambda tick: signal.raise_signal(signal.SIGINT) if tick.number == 100 else None)
    source = Scripted(said, 10**9)
    statistics = drive(source, Mapping(), tracker(), sink, RATE, clock=Simulated())
    assert 101 < statistics.ticks == len(sink.ticks) < 200
    assert source.closed == sink.closed == 1
    assert not sink.ticks[-1].step.velocity.any()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_ends_it_at_once():
    sink = Kept(lambda tick: signal.raise_signal(signal.SIGINT) if tick.number >= 100 else None)
    with pytest.raises(KeyboardInterrupt):
        drive(Scripted(said, 10**9), Mapping(), tracker(), sink, RATE, clock=Simulated())
    assert sink.ticks[-1].number == 101
    assert sink.closed == 1


def test_a_sink_that_fails_ends_the_loop_and_both_ends_are_closed():
    def fail(tick):
        if tick.number == 10:
            raise OSError("the arm is gone")

    sink, source = Kept(fail), Scripted(said, 100)
    with pytest.raises(OSError, match="the arm is gone"):
        drive(source, Mapping(), tracker(), sink, RATE, clock=Simulated())
    assert source.closed == sink.closed == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_sink_that_fails_in_the_loops_own_thread_is_told_of_at_stop():
    failing = threading.Event()

    def fail(_):
        failing.set()
        raise OSError("the arm is gone")

    loop = Loop(Scripted(said, 100), Mapping(), tracker(), callback(fail))
    loop.start()
    assert failing.wait(30)
    with pytest.raises(OSError, match="the arm is gone"):
        loop.stop()


# -- the record of a tick -----------------------------------------------------------------------------------------


def test_what_a_tick_tells_is_enough_to_repeat_it_bit_for_bit():
    rng = np.random.default_rng(7)
    clock = Simulated()

    def late(tick):
        clock.t += rng.choice([0, 0, 0, 1.7]) / RATE
        if tick.number == 400:
            loop.reset(ARM.rest + 0.1)

    def say(k):
        return None if 600 < k < 900 or k % 3 else Command(swing(k), engaged=k % 200 < 150, stamp=k / RATE)

    sink = Kept(late)
    loop = Loop(
        Scripted(say, 1200),
        Mapping(0.7),
        tracker(),
        sink,
        clock=clock,
        measured=lambda: ARM.rest if rng.random() < 0.5 else None,
    )
    loop.run()
    again = tracker()
    for tick in sink.ticks:
        if tick.begin is not None:
            again.reset(tick.begin)
        stamp = None if math.isnan(tick.stamp) else tick.stamp
        assert np.array_equal(again.step(tick.goals[0], tick.dt, stamp, tick.measured).q, tick.step.q)


def test_ends_are_made_of_iterables_and_functions():
    first, second, kept = [], [], Kept()
    hands = np.stack([Frame.at([0, 0, 0.001 * k]).matrix for k in range(20)])
    drive(hands, Mapping(), tracker(), tee(first.append, callback(second.append), kept), clock=Simulated())
    assert first == second == kept.ticks
    assert kept.closed == 1
    assert all(isinstance(tick, Tick) for tick in first)
    assert first[19].goals[0, 2, 3] == pytest.approx(HOME.position[2] + 0.019)
    assert first[0].command.engaged
    assert math.isnan(first[0].stamp)


def test_all_sinks_are_closed_even_if_one_fails_to():
    class Bad(Kept):
        def close(self):
            super().close()
            raise OSError("full disk")

    sinks = [Bad(), Kept(), Kept()]
    with pytest.raises(OSError, match="full disk"):
        tee(*sinks).close()
    assert [sink.closed for sink in sinks] == [1, 1, 1]


def test_bad_arguments_are_named_before_any_work():
    for rate in (0, -1, math.nan, math.inf, "300"):
        with pytest.raises(BadInput, match="rate"):
            Loop([], Mapping(), tracker(), print, rate)
    for patience in (0, math.nan):
        with pytest.raises(BadInput, match="patience"):
            Loop([], Mapping(), tracker(), print, patience=patience)
    with pytest.raises(BadInput, match="seconds"):
        drive([], Mapping(), tracker(), print, seconds=0)
    with pytest.raises(BadInput, match="source"):
        Loop(7, Mapping(), tracker(), print)
    with pytest.raises(BadInput, match="sink"):
        Loop([], Mapping(), tracker(), 7)
    with pytest.raises(BadInput, match="tracker"):
        Loop([], Mapping(), "ur5", print)
    with pytest.raises(BadInput, match="one arm"):
        Loop([], Mapping(), Solver().track(ARM, "tool0", start=[ARM.rest] * 2), print)
    with pytest.raises(BadInput, match="not both"):
        Command(Frame(), hands=[Frame()])
    for hand in ([1, 2], "hand", np.eye(3)):
        with pytest.raises(BadInput, match="hand"):
            Command(hand)
    loop = Loop([], Mapping(), tracker(), print)
    with pytest.raises(BadInput):
        loop.reset([0.0])
    panda = supple.models.panda()
    with pytest.raises(BadInput, match="same linkage"):
        loop.use(Solver().track(panda, panda.links[-1].name))
