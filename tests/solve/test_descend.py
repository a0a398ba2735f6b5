"""Descents of many rows in lanes, each from where the row before ended: as if they ran one after another."""

import numpy as np
import pytest

from supple import Goal, Solver, models
from supple._solve import batch, search

PART, STEPS = 0.15, 20


def path(arm, tip, count, far=1.0):
    """Frames of a smooth path of joint values, and its joint values (count, dof)."""
    low, high = np.maximum(arm.lower, -2.0), np.minimum(arm.upper, 2.0)
    time = np.linspace(0, 3, count)[:, None]
    q = 0.5 * (low + high) + 0.3 * (high - low) * np.sin(time * np.linspace(0.5, 1.5, arm.dof) + np.arange(arm.dof))
    frames = arm.frame(q, tip)
    return [Goal(tip, position=far * frames.position), Goal(tip, orientation=frames.rotation)], q


@pytest.mark.parametrize("far", [1.0, 1.6])
def test_lanes_give_what_one_row_after_another_gives(far):
    arm, count = models.ur5(), 150
    goals, q = path(arm, "tool0", count, far)
    solver = search.compiled(arm, goals, Solver())
    numbers, start = batch.goal_numbers(goals, (count,)), np.tile(q[0], (count, 1))
    found, arrived = solver.descend(numbers, start, PART, STEPS)
    before, one_by_one = None, []
    for i in range(count):
        seed = start[i] if before is None else before + PART * (start[i] - before)
        before = solver.descend(numbers[i : i + 1], seed[None], -1.0, STEPS)[0][0]
        one_by_one.append(before)
    if far == 1.0:
        assert arrived.all()
        assert np.abs(found - one_by_one).max() < 1e-6
        assert np.abs(arm.frame(found, "tool0").position - goals[0].position).max() < 1e-6
    else:
        assert not arrived.all()
        assert np.abs(np.diff(found, axis=0)).max() < 0.5
    assert arm.inside(found).all()


def test_a_descent_never_ends_farther_away_than_it_began():
    figure = models.human()
    q = figure.random(200, seed=3)
    goals = [Goal("right_hand", figure.frame(q, "right_hand")), Goal("left_foot", figure.frame(q, "left_foot"))]
    goals = [Goal(goal.link, position=1.5 * goal.position) for goal in goals]
    solver, start = search.compiled(figure, goals, Solver()), figure.random(200, seed=4)
    found, _ = solver.descend(batch.goal_numbers(goals, (200,)), start, -1.0, 5)

    def squared(values):
        return sum(np.sum((figure.frame(values, g.link).position - g.position) ** 2, axis=-1) for g in goals)

    assert (squared(found) <= squared(figure.clamp(start)) * (1 + 1e-9)).all()
    assert figure.inside(found, 1e-9).all()


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_results_have_a_row_for_each_goal(rows):
    arm = models.panda()
    goals, q = path(arm, "panda_hand", rows)
    solver = search.compiled(arm, goals, Solver())
    found, arrived = solver.descend(batch.goal_numbers(goals, (rows,)), q, PART, STEPS)
    assert found.shape == (rows, arm.dof)
    assert arrived.shape == (rows,)
