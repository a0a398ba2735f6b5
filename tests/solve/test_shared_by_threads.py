"""Threads may share linkages, goals, solvers and compiled solvers: the results are those of one thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from supple import Goal, Solver, damping, method, models, prefer

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
