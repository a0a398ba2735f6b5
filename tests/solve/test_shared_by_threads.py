"""Threads may share linkages, goals, solvers and compiled solvers: the results are those of one thread."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest

from supple import Frame, Goal, Joint, Linkage, Solver, _core, damping, method, models, prefer

PANDA, TIP = models.panda(), "panda_hand_tcp"
FRAMES = PANDA.frame(PANDA.random(300, seed=3), TIP).matrix
DAMPED = method.damped()
SOLVERS = [
    Solver(),
    Solver(prefer=prefer.centre()),
    Solver(method=DAMPED, damping=1e-3),
    Solver(method=DAMPED, damping=damping.schinstock()),
    Solver(method=DAMPED, damping=lambda q, e, J, dt: 1e-3),
    Solver(method=method.coordinate_descent()),
]


def in_threads(function, count):
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(function, range(count)))


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: repr(solver)[:50])
def test_single_goals_solved_by_several_threads(solver):
    goals = [Goal(TIP, frame) for frame in FRAMES[:40]]
    alone = [solver.solve(PANDA, goal).q for goal in goals]
    assert np.array_equal(in_threads(lambda i: solver.solve(PANDA, goals[i]).q, len(goals)), alone)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: repr(solver)[:50])
def test_batches_solved_by_several_threads(solver):
    goal = Goal(TIP, FRAMES)
    alone = solver.solve(PANDA, goal).q
    for q in in_threads(lambda _: solver.solve(PANDA, goal).q, 8):
        assert np.array_equal(q, alone)


def test_a_compiled_solver_called_by_several_threads():
    find = Solver().compile(PANDA, TIP)
    alone = [find(frame) for frame in FRAMES]
    assert np.array_equal(in_threads(lambda i: find(FRAMES[i]), len(FRAMES)), alone)


class Calls:
    """Numbers whose conversion runs Python: it calls a function first."""

    def __init__(self, values, function):
        self.values, self.function = values, function

    def __array__(self, *_, **__):
        self.function()
        return np.array(self.values)


def test_a_conversion_that_calls_the_same_solver_changes_no_goal():
    find = Solver().compile(PANDA, TIP)
    starts = PANDA.random(len(FRAMES), seed=4)
    for mine, other, start in zip(FRAMES[:40], FRAMES[40:80], starts, strict=False):
        expected = find(mine, start)
        assert np.array_equal(find(mine, Calls(start, lambda other=other: find(other))), expected)
        assert np.array_equal(find(Calls(mine, lambda other=other: find(other)), start), expected)


def test_each_of_eight_threads_is_answered_for_its_own_goal():
    """One compiled solver and one linkage; starts are converted by Python, which lets other threads in."""
    find, switch = Solver().compile(PANDA, TIP), sys.getswitchinterval()
    starts = PANDA.random(len(FRAMES), seed=4)
    unreachable = np.eye(4)
    unreachable[:3, 3] = [0.2, 0.3, 9.0]

    def work(thread):
        wrong = 0
        for i in range(thread, len(FRAMES), 2):
            start = Calls(starts[i], lambda: time.sleep(0)) if i % 3 else None
            q = find(FRAMES[i], start, np.empty(8) if i % 2 else None)
            wrong += q is None or not np.allclose(PANDA.frame(q, TIP).matrix, FRAMES[i], atol=1e-4)
            if i % 16 == 0:
                wrong += find(unreachable) is not None
        return wrong

    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(work, range(8))) == 0
    finally:
        sys.setswitchinterval(switch)


def test_a_long_search_lets_other_threads_run():
    joints = [
        Joint.revolute(f"j{i}", f"l{i}", f"l{i + 1}", axis=[i % 2, 1 - i % 2, 0], at=Frame.at([0, 0, 0.05]))
        for i in range(40)
    ]
    find = Solver().compile(Linkage("snake", joints), ["l20", "l40"])
    unreachable = np.stack([np.eye(4)] * 2)  # takes tens of milliseconds
    unreachable[:, :3, 3] = 5
    solves, counted, ended = 10, 0, threading.Event()

    def search():
        for _ in range(solves):
            find(unreachable)
        ended.set()

    switch = sys.getswitchinterval()
    sys.setswitchinterval(60.0)  # no thread is asked to give up the interpreter lock: it must do so itself
    try:
        thread = threading.Thread(target=search)
        thread.start()
        while not ended.is_set():
            counted += 1
            time.sleep(0)
        thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert find(unreachable) is None
    assert counted > solves / 2


def test_a_tracker_takes_a_conversion_that_calls_it_again():
    """The tick within comes first; the outer one goes on from there, as if both came one after the other."""
    once, twice = (Solver().track(PANDA, TIP) for _ in range(2))
    first, second = FRAMES[0], FRAMES[1]
    got = once.step(Calls(second, lambda: once.step(first, 0.01)), 0.01, measured=Calls(PANDA.rest, lambda: None))
    twice.step(first, 0.01)
    assert np.array_equal(got.q, twice.step(second, 0.01, measured=PANDA.rest).q)


def test_one_tracker_used_by_two_threads_is_refused_or_whole():
    """At 64 arms and more a tick releases the interpreter lock."""
    arms = 1024
    tracker = Solver().track(PANDA, TIP, start=np.tile(PANDA.rest, (arms, 1)))
    goals = np.tile(PANDA.frame(PANDA.rest, TIP).matrix, (arms, 1, 1))
    goals[:, 2, 3] -= 0.05
    done = []

    def work(_):
        for _ in range(20):
            with suppress(RuntimeError):
                assert np.isfinite(tracker.step(goals, 0.01).q).all()
                assert np.isfinite(tracker.q).all()
                tracker.reset(np.tile(PANDA.rest, (arms, 1)))
                done.append(1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert done
    assert np.isfinite(tracker.step(goals, 0.01).q).all()


def test_a_call_within_a_tick_is_refused():
    """A tick of many arms runs without the interpreter lock; whoever calls meanwhile is told."""
    arms = 20_000
    tracker = Solver().track(PANDA, TIP, start=np.tile(PANDA.rest, (arms, 1)))
    goals = np.tile(FRAMES[0], (arms, 1, 1))
    thread = threading.Thread(target=lambda: tracker.step(goals, 0.01))
    said = set()
    thread.start()
    while thread.is_alive():
        try:
            tracker.limits(speed_scale=0.5)
        except RuntimeError as error:  # noqa: PERF203
            said.add(str(error))
    thread.join()
    assert said == {"this tracker is in use by another thread; give each thread its own"}


def test_the_instruction_set_may_change_while_solves_run():
    """Memory of one instruction set is never used by another."""
    names, ended = _core.instruction_sets(), threading.Event()
    frames = PANDA.frame(PANDA.random(3000, seed=5), TIP)
    find, solvers = Solver().compile(PANDA, TIP), (Solver(), Solver(method=DAMPED))
    trackers = [Solver().track(PANDA, TIP), Solver().track(PANDA, TIP, start=np.tile(PANDA.rest, (100, 1)))]

    def change():
        k = 0
        while not ended.is_set():
            _core.use(names[k % len(names)])
            k += 1
            time.sleep(1e-4)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for solver in solvers:
            found = solver.solve(PANDA, Goal(TIP, frames))
            q = found.q[found.arrived]
            assert np.allclose(PANDA.frame(q, TIP).position, frames.position[found.arrived], atol=1e-4)
        for frame in frames.matrix[:300]:
            assert np.allclose(PANDA.frame(find(frame), TIP).matrix, frame, atol=1e-4)
            trackers[0].step(frame, 0.01)
            trackers[1].step(np.tile(frame, (100, 1, 1)), 0.01)
            trackers[0].reset(PANDA.rest)
    finally:
        ended.set()
        thread.join()
        _core.use(None)
