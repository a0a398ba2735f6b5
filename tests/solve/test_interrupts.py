"""Long solves hear Ctrl-C and keep to their time limit, also where one step of the search takes long."""

import functools
import os
import signal
import threading
import time

import numpy as np
import pytest

from supple import Frame, Goal, Interrupted, Joint, Linkage, Outcome, Solver, method, models
from supple._solve import explanation

pytestmark = pytest.mark.alone


@functools.cache
def chain(n):
    axes = [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    at = Frame.at([0.05, 0, 0])
    joints = [
        Joint.revolute(f"j{i}", f"l{i}", f"l{i + 1}", axis=axes[i % 3], at=at, lower=-2, upper=2) for i in range(n)
    ]
    return Linkage("chain", joints)


def far_goals(arm):
    n = arm.dof
    return [Goal(f"l{k}", position=[100.0, 50, 20]) for k in (n // 3, n // 2, n)]


def interrupted_after(seconds, call):
    """Seconds of processor time of a call in which Ctrl-C is pressed after some of them, however long they take."""
    began, ended = time.process_time(), threading.Event()

    def press():
        while time.process_time() - began < seconds:
            if ended.wait(0.005):
                return
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    try:
        thread.start()
        call()
    except KeyboardInterrupt:
        return time.process_time() - began
    finally:
        ended.set()
        thread.join()
    raise AssertionError("Ctrl-C was not heard")


@pytest.mark.parametrize(
    ("solver", "rows"),
    [(Solver(), ()), (Solver(method=method.coordinate_descent()), (200,))],  # a descent ends soon: many of them
    ids=["search", "descent"],
)
def test_ctrl_c_ends_a_solve_over_many_joints(solver, rows):
    arm = chain(400)
    goals = [Goal(goal.link, position=np.broadcast_to([100.0, 50, 20], (*rows, 3)).copy()) for goal in far_goals(arm)]
    solver.solve(arm, [Goal(goal.link, arm.frame(arm.rest, goal.link)) for goal in goals])  # compiles
    assert interrupted_after(0.2, lambda: solver.solve(arm, goals)) < 5


def test_ctrl_c_in_a_batch_keeps_what_is_done():
    arm, caught = chain(150), []
    goals = [Goal(f"l{k}", position=np.tile([100.0, 50, 20], (200, 1))) for k in (75, 150)]
    Solver().solve(
        arm, [Goal(goal.link, position=arm.frame(arm.rest, goal.link).position) for goal in goals]
    )  # compiles

    def call():
        try:
            Solver().solve(arm, goals)
        except Interrupted as error:
            caught.append(error.found)
            raise

    assert interrupted_after(0.5, call) < 5
    assert caught[0].q.shape == (200, 150)
    assert np.isfinite(caught[0].q).all()


def test_ctrl_c_ends_a_compiled_solve():
    arm = chain(400)
    find = Solver().compile(arm, [goal.link for goal in far_goals(arm)])
    frames = np.tile(np.eye(4), (3, 1, 1))
    frames[:, :3, 3] = 100
    assert interrupted_after(0.2, lambda: find(frames)) < 5


@pytest.mark.parametrize("rows", [(), (3,)])
def test_a_time_limit_holds_where_one_step_takes_longer(rows):
    """One step over 400 joints for three goals takes a quarter of a second."""
    arm = chain(400)
    solver = Solver(timeout=1e-3)
    goals = [Goal(goal.link, position=np.broadcast_to([100.0, 50, 20], (*rows, 3)).copy()) for goal in far_goals(arm)]
    solver.compile(arm, goals)
    began = time.process_time()
    found = solver.solve(arm, goals)
    assert time.process_time() - began < 0.5
    assert (found.outcomes == Outcome.OUT_OF_BUDGET.value).all()
    assert np.isfinite(found.q).all()


def test_a_replay_hears_ctrl_c():
    arm, link = models.panda(), "panda_hand_tcp"
    tracker = Solver().track(arm, link)
    commands = np.tile(arm.frame(arm.rest, link).matrix, (1_000_000, 1, 1))
    assert interrupted_after(0.3, lambda: tracker.replay(commands, 0.01)) < 5
    assert np.isfinite(tracker.q).all()


def test_the_message_of_an_interrupted_solve_solves_nothing(monkeypatch):
    arm = models.planar3()
    found = Solver(max_iterations=1).solve(arm, Goal("tip", position=[50, 0, 0]))
    assert not found.arrived

    def refused(*_):
        raise AssertionError("a search for a reason")

    monkeypatch.setattr(explanation, "solution_reasons", refused)
    interrupted = Interrupted(found)
    assert interrupted.found is found
    assert str(interrupted) == f"interrupted: out of budget after {found.iterations} iterations"
