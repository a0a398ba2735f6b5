"""Weights of goals: only their ratio counts, however small they are."""

import numpy as np
import pytest

import supple
from supple import BadInput, Goal, Solver, UnknownName, models

PANDA, TIP = models.panda(), "panda_hand_tcp"


@pytest.mark.parametrize("scale", [1e-4, 1e-6, 1e-9, 1e-100, 1e-200, 1e9])
def test_reachable_goals_are_reached_whatever_the_size_of_all_weights(scale):
    frames = PANDA.frame(PANDA.random(200, seed=3), TIP)
    found = supple.solve(PANDA, Goal(TIP, frames, weight=3.5 * scale, turn_weight=scale))
    assert found.arrived.all()


def test_a_tracker_follows_a_goal_of_small_weight():
    start = PANDA.frame(PANDA.rest, TIP).matrix.copy()
    start[2, 3] -= 0.02
    plain, small = (
        Solver().track(PANDA, Goal(TIP, start)),
        Solver().track(PANDA, Goal(TIP, start, weight=3.5e-200, turn_weight=1e-200)),
    )
    for _ in range(30):
        plain.step(start, 0.01)
        small.step(start, 0.01)
    assert np.allclose(plain.q, small.q, atol=1e-3)


def test_weights_that_have_no_ratio_are_refused():
    goal = Goal(TIP, position=[0.4, 0, 0.4], weight=5e-324)
    for call in (lambda: supple.solve(PANDA, goal), lambda: Solver().track(PANDA, goal)):
        with pytest.raises(BadInput, match="at least 1e-300"):
            call()


def test_a_tracker_refuses_a_goal_relative_to_an_unknown_link():
    with pytest.raises(UnknownName, match="panda_link4"):
        Solver().track(PANDA, Goal(TIP, position=[0.1, 0, 0.1], relative_to="panda_link_4"))
