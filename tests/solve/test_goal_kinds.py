"""Laws of goals for real work, on random linkages: relative to another link, looks, distances, centres of mass."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from random_goals import small_tree
from random_trees import random_q
from supple import Frame, Goal, Linkage, Solver, UnknownName, method, models, solve
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


def some_link(tree, q, rng):
    """A random link, its frame at q, a point of it, and the link that its goal is relative to, or None."""
    link = rng.choice([link.name for link in tree.links])
    point = rng.uniform(-0.3, 0.3, 3) if rng.random() < 0.5 else np.zeros(3)
    others = [other.name for other in tree.links if other.name != link]
    other = rng.choice(others) if others and rng.random() < 0.25 else None
    seen = Goal(link, Frame(), relative_to=other)
    return {"link": link, "point": point, "relative_to": other}, goal_frame(tree, seen, q)


def changes(tree, goal):
    """Whether some joint changes the error of a goal, near and far from it."""
    try:
        return any(np.abs(evaluated(tree, [goal], q)[1]).max() > 1e-6 for q in tree.random(4, seed=0))
    except BadInput:
        return False


def look(tree, q, rng):
    """A goal that looks at a point, which q meets, or None if no joint changes it."""
    at, frame = some_link(tree, q, rng)
    axis, far = rng.normal(size=3), rng.uniform(0.1, 2)
    seen = frame.apply(at["point"]) + far * frame.rotation @ (axis / np.linalg.norm(axis))
    goal = Goal(**at, axis=axis, look_at=seen, turn_slack=rng.choice([0.0, 0.0, 0.2]))
    return goal if moves(tree, goal) and changes(tree, goal) else None


def round_a_point(tree, q, rng):
    at, frame = some_link(tree, q, rng)
    center, slack = frame.apply(at["point"]) + rng.uniform(-0.5, 0.5, 3), rng.choice([0.0, 0.0, 0.02])
    far = np.linalg.norm(center - frame.apply(at["point"]))
    goal = Goal(**at, position=center, distance=far, slack=slack)
    return goal if moves(tree, goal) and changes(tree, goal) else None


def round_a_line(tree, q, rng):
    at, frame = some_link(tree, q, rng)
    line, way = rng.normal(size=3), rng.uniform(-0.5, 0.5, 3)
    far = np.linalg.norm(np.cross(way, line)) / np.linalg.norm(line)
    goal = Goal(**at, position=frame.apply(at["point"]) + way, line=line, distance=far)
    return goal if moves(tree, goal) and changes(tree, goal) else None


def on_a_line(tree, q, rng):
    at, frame = some_link(tree, q, rng)
    line = rng.normal(size=3)
    goal = Goal(**at, position=frame.apply(at["point"]) + rng.normal() * line, line=line)
    return goal if moves(tree, goal) and changes(tree, goal) else None


def weighed(tree, rng):
    """The same linkage, most of its links with a mass."""
    heavy = [
        replace(link, mass=float(rng.uniform(0.1, 3)), center_of_mass=tuple(rng.uniform(-0.3, 0.3, 3).tolist()))
        if rng.random() < 0.8
        else link
        for link in tree.links
    ]
    return Linkage(tree.name, tree.joints, heavy, tree.base)


def center_of_mass(tree, q, rng):
    """A goal for the centre of mass, which q meets, or None if no joint moves it or no link has a mass."""
    if not tree.mass:
        return None
    where, kind = tree.center_of_mass(q), rng.integers(3)
    goal = [
        lambda: Goal.center_of_mass(where),
        lambda: Goal.center_of_mass(where, weight=(1, 2, 0)),
        lambda: Goal.center_of_mass(where + np.array([0.1, 0.2, 0]), distance=np.hypot(0.1, 0.2)),
    ][kind]()
    return goal if changes(tree, goal) else None


MAKERS = {"relative": relative_goal, "look": look, "sphere": round_a_point, "cylinder": round_a_line, "line": on_a_line}
MAKERS["center of mass"] = center_of_mass


def depth(tree, goal, q):
    """How far a goal's point is from where its error has a corner, in metres."""
    way = (
        (goal.position if goal.look_at is None else goal.look_at) if goal.distance or goal.look_at is not None else None
    )
    if way is None:
        return np.inf
    way = way - goal_frame(tree, goal, q).apply(goal.point)
    return np.linalg.norm(way if goal.line is None else np.cross(goal.line, way))


def cases(kind, count=CASES):
    """Random linkages, each with joint values (dof,) and a goal of that kind that they meet."""
    found = []
    for seed in range(20 * count):
        tree, rng = small_tree(seed), np.random.default_rng([seed, 7])
        if tree is not None and kind == "center of mass":
            tree = weighed(tree, rng)
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
        if max(goal.slack + goal.turn_slack) or depth(tree, goal, q) < 0.05:
            continue  # inside its slack a goal has no rows
        assert np.abs(jacobian + slopes(tree, [goal], q)).max() < 1e-6 * max(1.0, np.abs(jacobian).max())


@pytest.mark.parametrize("kind", MAKERS)
def test_the_jacobian_gives_the_gradient_of_the_squared_error_anywhere(kind):
    for tree, q, goal in cases(kind, 100):
        near = tree.integrate(q, 0.3 * np.random.default_rng(1).uniform(-1, 1, tree.dof))
        error, jacobian = evaluated(tree, [goal], near)
        rotation = np.linalg.norm(goal_error(tree, goal, near, ())[3:])
        if rotation > 2.5 or not depth(tree, goal, near) > 0.05:
            continue  # half a turn away, and at the centre of a distance or a look, the error has a corner
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


# -- look at a point --------------------------------------------------------------------------------------------

HEAD = models.panda()
TOOL = "panda_hand_tcp"


def angle_off(arm, goal, q):
    """The angle between a goal's axis and the way to the point that it looks at, in radians."""
    frame = goal_frame(arm, goal, q)
    way = goal.look_at - frame.apply(goal.point)
    cosine = np.sum(frame.rotation @ goal.axis * way, axis=-1) / np.linalg.norm(way, axis=-1)
    return np.arccos(np.clip(cosine, -1, 1))


def test_a_link_looks_at_points_ahead_of_it():
    points = np.random.default_rng(0).uniform(-1.5, 1.5, (500, 3))
    goal = Goal(TOOL, axis=[0, 0, 1], look_at=points)
    found = solve(HEAD, goal)
    assert found.arrived.mean() >= 0.99
    assert angle_off(HEAD, goal, found.q)[found.arrived].max() < 1e-5


def test_a_cone_around_a_point_is_enough():
    points = np.random.default_rng(1).uniform(-1.5, 1.5, (200, 3))
    goal = Goal(TOOL, axis=[0, 0, 1], look_at=points, turn_slack=0.2)
    found = solve(HEAD, goal, HEAD.rest)
    assert found.arrived.mean() >= 0.99
    off = angle_off(HEAD, goal, found.q)[found.arrived]
    assert off.max() < 0.2 + 1e-5
    assert off.max() > 0.15


def test_a_point_to_look_at_that_is_passed_through_makes_no_jump():
    place = HEAD.frame(HEAD.rest, TOOL).position
    for way in np.random.default_rng(2).normal(size=(6, 3)):
        along = np.linspace(-0.02, 0.02, 4001)[:, None] * way / np.linalg.norm(way)
        rows = np.array([evaluated(HEAD, [Goal(TOOL, axis=[0, 0, 1], look_at=place + x)], HEAD.rest)[0] for x in along])
        assert np.isfinite(rows).all()
        assert np.abs(np.diff(rows, axis=0)).max() < 0.02
    there = Goal(TOOL, axis=[0, 0, 1], look_at=place)
    error, jacobian = evaluated(HEAD, [there], HEAD.rest)
    assert not error.any()
    assert np.isfinite(jacobian).all()
    assert solve(HEAD, there, HEAD.rest).arrived


# -- distances --------------------------------------------------------------------------------------------------


def distance_from(goal, points):
    way = goal.position - points
    return np.linalg.norm(way if goal.line is None else np.cross(goal.line, way), axis=-1)


def test_a_distance_from_a_point_or_a_line_is_kept():
    places = HEAD.frame(HEAD.random(300, seed=3), TOOL).position
    for options in ({"distance": 0.2}, {"distance": 0.1, "line": [0, 0, 1]}, {"line": [1, 1, 0]}):
        goal = Goal(TOOL, position=places, **options)
        found = solve(HEAD, goal)
        assert found.arrived.mean() >= 0.99
        far = distance_from(goal, HEAD.frame(found.q, TOOL).position)[found.arrived]
        assert np.abs(far - options.get("distance", 0)).max() < 2e-6


def test_slack_of_a_distance_is_between_two_distances():
    places = HEAD.frame(HEAD.random(300, seed=4), TOOL).position
    goal = Goal(TOOL, position=places, distance=0.2, slack=0.05)
    found = solve(HEAD, goal, HEAD.rest)
    assert found.arrived.mean() >= 0.99
    far = distance_from(goal, HEAD.frame(found.q, TOOL).position)[found.arrived]
    assert far.min() > 0.15 - 2e-6
    assert far.max() < 0.25 + 2e-6
    assert far.max() - far.min() > 0.05


def test_distance_zero_with_slack_is_inside_a_ball_or_a_cylinder():
    places = HEAD.frame(HEAD.random(200, seed=5), TOOL).position
    for options in ({"distance": 0}, {"line": [0, 0, 1]}):
        goal = Goal(TOOL, position=places, slack=0.05, **options)
        found = solve(HEAD, goal)
        assert found.arrived.mean() >= 0.99
        assert distance_from(goal, HEAD.frame(found.q, TOOL).position)[found.arrived].max() < 0.05 + 2e-6


def test_the_centre_of_a_distance_is_left():
    place = HEAD.frame(HEAD.rest, TOOL).position
    for options in ({"distance": 0.1}, {"distance": 0.1, "line": [0, 0, 1]}):
        goal = Goal(TOOL, position=place, **options)
        error, jacobian = evaluated(HEAD, [goal], HEAD.rest)
        assert np.isfinite(error).all()
        assert np.isfinite(jacobian).all()
        found = solve(HEAD, goal, HEAD.rest)
        assert found.arrived
        assert distance_from(goal, HEAD.frame(found.q, TOOL).position) == pytest.approx(0.1, abs=2e-6)


def test_a_distance_goes_with_an_orientation_or_an_axis():
    q = HEAD.random(200, seed=6)
    frames = HEAD.frame(q, TOOL)
    center = frames.position + 0.1 * frames.rotation[..., 0]
    turned = Goal(TOOL, position=center, distance=0.1, orientation=frames)
    pointed = Goal(TOOL, position=center, distance=0.1, axis=[0, 0, 1], direction=frames.rotation[..., 2])
    for goal in (turned, pointed):
        assert solve(HEAD, goal).arrived.mean() >= 0.99


@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        (Goal(TOOL, position=[3, 0, 0.3], distance=0.5), "panda_hand_tcp is out of reach by "),
        (Goal(TOOL, position=[0, 0, 0.3], distance=3), "panda_hand_tcp not found there: "),
        (Goal(TOOL, position=[3, 0, 0], line=[0, 0, 1]), "panda_hand_tcp not found there: "),
    ],
)
def test_a_distance_that_cannot_be_kept_says_why(goal, reason):
    found = solve(HEAD, goal)
    assert not found.arrived
    assert found.why.startswith(reason)
    assert "too far from the line" in found.why if goal.line is not None else True
    assert "too near the point" in found.why if goal.distance == 3 else True


@pytest.mark.parametrize("chosen", [method.alternative_jacobian(), method.coordinate_descent()])
def test_methods_without_a_formula_refuse_looks_and_distances(chosen):
    for goal in (Goal(TOOL, axis=[0, 0, 1], look_at=[1, 0, 0]), Goal(TOOL, position=[1, 0, 0], distance=0.3)):
        with pytest.raises(BadInput, match="takes no goals with"):
            Solver(method=chosen).solve(HEAD, goal)


@pytest.mark.parametrize("chosen", [method.damped(), method.pseudoinverse(), method.selectively_damped()])
def test_local_methods_meet_looks_and_distances(chosen):
    q = HEAD.random(60, seed=7)
    near = HEAD.clamp(q + np.random.default_rng(3).uniform(-0.05, 0.05, q.shape))
    frames = HEAD.frame(q, TOOL)
    seen = Goal(TOOL, axis=[0, 0, 1], look_at=frames.apply([0, 0, 0.7]))
    ball = Goal(TOOL, position=frames.apply([0.1, 0.2, 0]), distance=np.hypot(0.1, 0.2))
    for goal in (seen, ball):
        assert Solver(method=chosen).solve(HEAD, goal, near).arrived.mean() > 0.9


# -- centre of mass ---------------------------------------------------------------------------------------------

G1 = models.g1()


def test_the_centre_of_mass_of_a_humanoid_is_put_where_it_shall_be():
    q = G1.random(200, seed=1)
    goal = Goal.center_of_mass(G1.center_of_mass(q))
    found = solve(G1, goal)
    assert found.arrived.mean() >= 0.99
    assert np.abs(G1.center_of_mass(found.q) - goal.position)[found.arrived].max() < 2e-6


def test_a_humanoid_reaches_with_its_hands_and_keeps_its_balance():
    q = G1.random(100, seed=2)
    hands = [
        Goal(f"{side}_rubber_hand", position=G1.frame(q, f"{side}_rubber_hand").position) for side in ("left", "right")
    ]
    over = Goal.center_of_mass(G1.center_of_mass(q), weight=(1, 1, 0), slack=(0.02, 0.02, 0))
    found = solve(G1, [*hands, over], G1.rest)
    assert found.arrived.mean() >= 0.99
    away = np.abs(G1.center_of_mass(found.q) - over.position)[found.arrived]
    assert away[:, :2].max() < 0.02 + 2e-6


def test_a_leading_axis_of_centres_gives_the_answers_of_each():
    goal = Goal.center_of_mass(G1.center_of_mass(G1.random(20, seed=3)))
    many = solve(G1, goal)
    for i in range(20):
        assert np.array_equal(solve(G1, Goal.center_of_mass(goal.position[i])).q, many.q[i])


def test_a_linkage_without_masses_has_no_centre_to_move():
    bare = Linkage("bare", G1.joints, [replace(link, mass=0.0) for link in G1.links], G1.base)
    with pytest.raises(BadInput, match="'bare' has no masses, so it has no centre of mass"):
        solve(bare, Goal.center_of_mass([0, 0, 1]))
    with pytest.raises(BadInput, match="has no masses"):
        Solver().track(bare, Goal.center_of_mass([0, 0, 1]))


def test_a_centre_of_mass_that_cannot_be_reached_says_so():
    found = solve(G1, Goal.center_of_mass([2, 0, 1]))
    assert not found.arrived
    assert found.why.startswith("centre of mass not found there: ")
    assert "centre of mass" in str(found)


def test_a_goal_for_the_centre_of_mass_is_a_value():
    goal = Goal.center_of_mass([0, 0, 1], line=[0, 0, 1], slack=0.1)
    assert pickle.loads(pickle.dumps(goal)) == goal
    assert goal != Goal(goal.link, position=[0, 0, 1], line=[0, 0, 1], slack=0.1)
    assert repr(goal).startswith("Goal.center_of_mass(position=(0, 0, 1), line=(0, 0, 1), distance=0, slack=")
    for chosen in (method.alternative_jacobian(), method.coordinate_descent()):
        with pytest.raises(BadInput, match="takes no goals with a centre of mass"):
            Solver(method=chosen).solve(G1, goal)
