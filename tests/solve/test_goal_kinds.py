"""Laws of goals for real work: relative to another link, on random linkages with joints of every kind."""

import numpy as np
import pytest

from random_goals import small_tree
from random_trees import random_q
from supple import Frame, Goal, Solver, UnknownName, method, models, solve
from supple._solve import batch, compilation, encoding
from supple._solve.goal_error import goal_error, goal_frame, goal_jacobian
from supple.errors import BadInput

DAMPED = Solver(method=method.damped())
BAXTER, LEFT, RIGHT = models.baxter(), "left_gripper", "right_gripper"
CASES = 300


def evaluated(tree, goals, q):
    """The weighted error (rows,) and Jacobian (rows, dof) of goals at q (dof,), as the core has them."""
    local_solver = compilation.compiled(tree, goals, DAMPED)
    return local_solver.evaluate(q, batch.goal_numbers(goals, ())[0], False)[:2]


def slopes(tree, goals, q, h=1e-6):
    """The derivative (rows, dof) of the goals' weighted error along each joint value, by differences."""
    steps = h * np.eye(tree.dof)
    above = [evaluated(tree, goals, tree.integrate(q, step))[0] for step in steps]
    below = [evaluated(tree, goals, tree.integrate(q, -step))[0] for step in steps]
    return (np.array(above) - np.array(below)).T / (2 * h)


def error_size(tree, goals, q):
    return 0.5 * float(np.sum(evaluated(tree, goals, q)[0] ** 2))


def gradient(tree, goals, q, h=1e-6):
    steps = h * np.eye(tree.dof)
    return np.array(
        [
            (error_size(tree, goals, tree.integrate(q, x)) - error_size(tree, goals, tree.integrate(q, -x))) / (2 * h)
            for x in steps
        ]
    )


def moves(tree, goal):
    """Whether some joint moves the link of a goal as the goal sees it."""
    return bool(np.abs(goal_jacobian(tree, goal, tree.random(8, seed=0))).max() > 1e-9)


def relative_goal(tree, q, rng):
    """A goal of a random link relative to another that q meets, or None if no joint is between them."""
    links = [link.name for link in tree.links]
    if len(links) < 2:
        return None
    link, other = rng.choice(links, 2, replace=False).tolist()
    point = rng.uniform(-0.3, 0.3, 3) if rng.random() < 0.3 else np.zeros(3)
    frame = tree.frame(q, other).inverse() @ tree.frame(q, link)
    place, axis = {"position": frame.apply(point), "point": point}, rng.normal(size=3)
    goal = [
        lambda: Goal(link, orientation=frame, relative_to=other, **place),
        lambda: Goal(link, relative_to=other, **place),
        lambda: Goal(link, orientation=frame, relative_to=other),
        lambda: Goal(link, axis=axis, direction=frame.rotation @ axis, relative_to=other, **place),
    ][rng.integers(4)]()
    return goal if moves(tree, goal) else None


MAKERS = {"relative": relative_goal}


def cases(kind, count=CASES):
    """Random linkages, each with joint values (dof,) and a goal of that kind that they meet."""
    found = []
    for seed in range(20 * count):
        tree, rng = small_tree(seed), np.random.default_rng([seed, 7])
        q = None if tree is None else random_q(tree, seed + 1)
        goal = None if q is None else MAKERS[kind](tree, q, rng)
        if goal is not None:
            found.append((tree, q, goal))
        if len(found) == count:
            break
    return found


@pytest.mark.parametrize("kind", MAKERS)
def test_joint_values_that_meet_a_goal_leave_no_error(kind):
    for tree, q, goal in cases(kind):
        assert np.abs(goal_error(tree, goal, q, ())).max() < 1e-9
        assert np.abs(evaluated(tree, [goal], q)[0]).max() < 1e-8


@pytest.mark.parametrize("kind", MAKERS)
def test_the_jacobian_is_the_derivative_of_the_error_where_the_goal_is_met(kind):
    for tree, q, goal in cases(kind, 100):
        jacobian = evaluated(tree, [goal], q)[1]
        assert np.abs(jacobian + slopes(tree, [goal], q)).max() < 1e-6 * max(1.0, np.abs(jacobian).max())


@pytest.mark.parametrize("kind", MAKERS)
def test_the_jacobian_gives_the_gradient_of_the_squared_error_anywhere(kind):
    for tree, q, goal in cases(kind, 100):
        near = tree.integrate(q, 0.3 * np.random.default_rng(1).uniform(-1, 1, tree.dof))
        error, jacobian = evaluated(tree, [goal], near)
        if np.linalg.norm(error[-3:]) > 2.5:
            continue  # half a turn away the error has a corner
        wanted = -error @ jacobian
        assert np.abs(wanted - gradient(tree, [goal], near)).max() < 1e-6 * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("kind", MAKERS)
def test_reachable_goals_are_reached(kind):
    reached = [bool(solve(tree, goal).arrived) for tree, _, goal in cases(kind)]
    assert np.mean(reached) >= 0.99


# -- relative to another link -----------------------------------------------------------------------------------


def test_joints_that_move_both_links_alike_take_no_part():
    tree = models.baxter()
    goal = Goal("l_gripper_l_finger_tip", Frame.at([0.01, 0, 0]), relative_to="left_wrist")
    found = solve(tree, goal, tree.rest)
    changed = found.q != tree.rest
    assert changed.any()
    assert all(name.startswith(("left_w2", "l_gripper")) for name, c in zip(tree.names, changed, strict=True) if c)


def test_a_goal_relative_to_a_link_that_does_not_move_is_a_goal_in_its_axes():
    tree = BAXTER
    fixed, q = "pedestal", tree.random(200, seed=4)
    seen = tree.frame(tree.rest, fixed).inverse() @ tree.frame(q, LEFT)
    found = solve(tree, Goal(LEFT, seen, relative_to=fixed))
    assert found.arrived.all()
    away = (tree.frame(q, LEFT).inverse() @ tree.frame(found.q, LEFT)).matrix - np.eye(4)
    assert np.abs(away).max() < 1e-5


def test_both_hands_hold_a_box_where_one_hand_leads_it():
    q = BAXTER.random(300, seed=1)
    between = BAXTER.frame(q, RIGHT).inverse() @ BAXTER.frame(q, LEFT)
    box = Goal(LEFT, between, relative_to=RIGHT)
    for priority in (0, 1):
        found = solve(BAXTER, [box, Goal(RIGHT, BAXTER.frame(q, RIGHT), priority=priority)])
        assert found.arrived.mean() >= 0.99
    seen = goal_frame(BAXTER, box, found.q).matrix
    assert np.abs(seen - between.matrix)[found.arrived].max() < 1e-5


@pytest.mark.parametrize("chosen", [method.damped(), method.transpose(), method.coordinate_descent()])
def test_local_methods_reach_goals_relative_to_another_link(chosen):
    q = BAXTER.random(50, seed=5)
    near = BAXTER.clamp(q + np.random.default_rng(1).uniform(-0.1, 0.1, q.shape))
    goal = Goal(LEFT, goal_frame(BAXTER, Goal(LEFT, Frame(), relative_to=RIGHT), q), relative_to=RIGHT)
    before = goal_error(BAXTER, goal, near, (50,))
    found = Solver(method=chosen, max_iterations=2000).solve(BAXTER, goal, near)
    assert (np.linalg.norm(found.error[:, 0], axis=-1) < 0.2 * np.linalg.norm(before, axis=-1)).mean() > 0.9


def test_the_reach_between_two_links_bounds_their_distance():
    for tree, _, goal in cases("relative", 100):
        reach, base = encoding.goal_reach(tree, goal)
        if not np.isfinite(reach):
            continue
        away = goal_frame(tree, goal, tree.clamp(tree.random(50, seed=2))).position
        assert not base.any()
        assert np.linalg.norm(away, axis=-1).max() <= reach + 1e-9


def test_a_relative_goal_that_is_too_far_says_so_in_the_axes_of_the_other_link():
    far = solve(BAXTER, Goal(LEFT, position=[5, 0, 0], relative_to=RIGHT))
    assert far.why.startswith("left_gripper is out of reach of right_gripper by ")
    assert "along +x of right_gripper" in far.why


def test_a_relative_goal_that_makes_no_sense_is_refused():
    with pytest.raises(BadInput, match="relative_to must be another link"):
        Goal("hand", Frame(), relative_to="hand")
    for wrong in ("", 3, Frame()):
        with pytest.raises(BadInput, match="relative_to must be the name of a link"):
            Goal("hand", Frame(), relative_to=wrong)
    with pytest.raises(UnknownName, match="right_griper"):
        solve(BAXTER, Goal(LEFT, Frame(), relative_to="right_griper"))
    with pytest.raises(BadInput, match="no joint moves"):
        solve(BAXTER, Goal("left_hand_camera_link", Frame(), relative_to="left_hand_range_link"))
