"""Laws of the search for one goal of any kind: what can be reached is found, and the answer is the one asked for."""

import math
from dataclasses import replace

import numpy as np
import pytest

from oracle import exp_rotation
from oracle_search import followed, missing, there
from random_goals import limited
from random_trees import axes, places, random_tree
from supple import Frame, Goal, Joint, Linkage, Outcome, Tolerance, analysis, models, solve
from supple.joint import Kind, Mimic

HANDS = {
    "planar2": "tip",
    "planar3": "tip",
    "panda": "panda_hand_tcp",
    "ur5": "tool0",
    "ur10": "tool0",
    "iiwa14": "tool0",
    "puma560": "tool",
    "so101": "gripper_frame_link",
    "kraft": "tool",
    "baxter": "left_gripper",
    "g1": "left_rubber_hand",
    "human": "left_hand",
    "puppet": "left_hand",
}
PANDA, HAND = models.panda(), "panda_hand_tcp"
TAU = math.tau


def judged(arm, goals, found, lost=0.0):
    """The arrived of many solves; all that the search says of them holds, and at most that share is lost."""
    assert np.isfinite(found.q).all()
    assert np.all(arm.inside(found.q, 1e-12))
    true = there(arm, goals, found.q)
    # the last step of a budget is not measured again
    ended = np.asarray(found.outcomes) == Outcome.OUT_OF_BUDGET.value
    wrong = np.where(ended, found.arrived, true != found.arrived)
    assert not wrong.any(), f"{wrong.sum()} are said to be what they are not"
    for i, goal in enumerate(goals):
        assert found.error[..., i, :] == pytest.approx(missing(arm, goal, found.q), abs=1e-9)
    missed = np.logical_not(found.arrived)
    assert missed.mean() <= lost, f"{missed.sum()} of {missed.size} are lost"
    return found.arrived


# -- what can be reached is found -------------------------------------------------------------------------------


def test_the_search_knows_every_bundled_linkage():
    assert set(HANDS) == set(models.names())


@pytest.mark.parametrize("name", HANDS)
def test_every_frame_that_a_bundled_arm_can_reach_is_found(name):
    arm, link = models.get(name), HANDS[name]
    goal = Goal(link, arm.frame(arm.random(2000, seed=1), link))
    judged(arm, [goal], solve(arm, goal), 0.0005)
    judged(arm, [goal], solve(arm, goal, arm.random(2000, seed=2)), 0.0005)


@pytest.mark.parametrize("name", ["panda", "ur5", "puma560", "so101"])
def test_frames_at_limits_and_singular_places_are_found(name):
    arm, link = models.get(name), HANDS[name]
    rng = np.random.default_rng(3)
    q = arm.random(1000, seed=4)
    side = rng.integers(0, 8, q.shape)
    q = np.where(side == 0, arm.lower, np.where(side == 1, arm.upper, np.where(side == 2, arm.clamp(0 * q), q)))
    goal = Goal(link, arm.frame(q, link))
    judged(arm, [goal], solve(arm, goal), 0.005)


def test_frames_in_corners_of_the_limits_are_found():
    """Four of seven joints at limits: where the search ends at one end of a range, the other end is often meant."""
    lost = 0
    for seed in (0, 1, 5):
        rng, joints = np.random.default_rng(seed), []
        for i in range(7):
            tilt = Frame.rotvec([rng.choice([-1, 1]) * rng.uniform(0.4, 1.57) if i else 0, 0, 0])
            at = Frame.at(rng.uniform(-0.1, 0.1, 3) + np.array([0, 0, 0.3 * (i % 2 == 0)])) @ tilt
            most = 2 if i % 2 else 3.05
            joints.append(Joint.revolute(f"j{i}", f"l{i}", f"l{i + 1}", at=at, axis=(0, 0, 1), lower=-most, upper=most))
        arm = Linkage("corner", [*joints, Joint.fixed("end", "l7", "tip", at=Frame.at([0, 0, 0.1]))])
        rng = np.random.default_rng(100 + seed)
        q = rng.uniform(arm.lower, arm.upper, (3000, 7))
        at_limit = np.argsort(rng.random(q.shape), axis=1) < 4
        q = np.where(at_limit, np.where(rng.random(q.shape) < 0.5, arm.lower, arm.upper), q)
        goal = Goal("tip", arm.frame(q, "tip"))
        lost += np.sum(~judged(arm, [goal], solve(arm, goal), 0.005))
    assert lost <= 34, f"{lost} of 9000 are lost"


def chain(seed):
    """A random chain of 2 to 20 hinges and slides within limits, some of which mimic the first."""
    rng = np.random.default_rng(seed)
    n = 2 + seed % 19
    at, axis = Frame(places(rng, n + 1)), axes(rng, n)
    slides = rng.random(n) < 0.2
    slides[0] = seed % 3 == 0
    limits = np.sort(rng.uniform(-1, 1, (2, n)), axis=0) * np.where(slides, 0.4, rng.choice([np.pi, np.pi / 2]))
    follows = (rng.random(n) < (0.3 if seed % 4 == 1 else 0)) & (np.arange(n) > 0)
    joints = []
    for i in range(n):
        own = {"lower": tuple(limits[:1, i].tolist()), "upper": tuple(limits[1:, i].tolist())}
        mimic = Mimic("j0", float(rng.choice([-1, 0.5, 1.3])), 0.1)
        kind = Kind.PRISMATIC if slides[i] else Kind.REVOLUTE
        more = {"mimic": mimic} if follows[i] else own
        joints.append(Joint(f"j{i}", kind, f"l{i}", f"l{i + 1}", at[i], tuple(axis[i]), **more))
    return Linkage(f"chain{seed}", [*joints, Joint.fixed("end", f"l{n}", "tip", at=at[n])])


@pytest.mark.slow
def test_whatever_a_random_chain_can_reach_is_found():
    lost = count = 0
    for seed in range(57):
        arm = chain(seed)
        frames = arm.frame(arm.random(60, seed=seed), "tip")
        for goal in (Goal("tip", frames), Goal("tip", position=frames.position)):
            for start in (None, arm.random(60, seed=seed + 1)):
                found = judged(arm, [goal], solve(arm, goal, start), 0.05)
                lost, count = lost + np.sum(~found), count + 60
    assert lost <= 0.001 * count


def test_whatever_a_random_tree_can_reach_is_found():
    for seed in range(40):
        tree = random_tree(seed, 2 + seed % 19)
        tree = limited(tree, seed) if seed % 2 else tree
        link = tree.links[-1].name
        if tree.dof and tree.jacobian(tree.rest, link).any():
            goal = Goal(link, tree.frame(tree.random(40, seed=seed), link))
            judged(tree, [goal], solve(tree, goal), 0.025)


def hinge(name, parent, child, x=1.0, **limits):
    return Joint.revolute(name, parent, child, at=Frame.at([x, 0, 0]), **limits)


ODD = {
    "one hinge": [hinge("a", "base", "l", lower=-1, upper=2)],
    "one slide without limits": [Joint.prismatic("a", "base", "l", axis=[1, 0, 0])],
    "limits on one side": [
        Joint.prismatic("a", "base", "b", axis=[1, 0, 0], lower=0),
        Joint.prismatic("c", "b", "d", axis=[0, 1, 0], upper=0),
        Joint.revolute("e", "d", "l", lower=1),
    ],
    "a joint that cannot move": [hinge("a", "base", "b", lower=0.3, upper=0.3), hinge("c", "b", "l")],
    "three slides and a wrist": [
        Joint.prismatic("x", "base", "a", axis=[1, 0, 0], lower=0, upper=2),
        Joint.prismatic("y", "a", "b", axis=[0, 1, 0], lower=0, upper=1),
        Joint.prismatic("z", "b", "c", lower=-0.5, upper=0),
        *Joint.ball_from_revolutes("w", "c", "l"),
    ],
    "a ball and a hinge": [Joint.ball("a", "base", "b", swing=1.0, twist=(-1, 1)), hinge("c", "b", "l")],
    "a plane and a slide": [Joint.planar("a", "base", "b"), Joint.prismatic("c", "b", "l", lower=0, upper=1)],
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_linkages_are_no_exception(kind):
    arm = Linkage("odd", [*ODD[kind], Joint.fixed("end", "l", "tip", at=Frame.at([1, 0, 0]))])
    goal = Goal("tip", arm.frame(arm.random(200, seed=0), "tip"))
    judged(arm, [goal], solve(arm, goal))
    judged(arm, [goal], solve(arm, goal, arm.random(200, seed=1)))


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e-3])
def test_as_near_as_the_tolerance_says_and_no_nearer_is_asked(size):
    goal = Goal(HAND, PANDA.frame(PANDA.random(300, seed=1), HAND))
    found = solve(PANDA, goal, tolerance=Tolerance(size, 2 * size))
    assert found.arrived.all()
    assert there(PANDA, [goal], found.q, size, 2 * size).all()
    assert not there(PANDA, [goal], found.q, size / 1e3, size / 1e3).all()


# -- any goal ---------------------------------------------------------------------------------------------------

AXIS, POINT = np.array([0.6, 0, 0.8]), np.array([0.05, -0.02, 0.1])
KINDS = {
    "position": lambda f: {"position": f.position},
    "position of a point": lambda f: {"position": f.apply(POINT), "point": POINT},
    "orientation": lambda f: {"orientation": f},
    "axis": lambda f: {"axis": AXIS, "direction": f.rotation @ AXIS},
    "position and axis": lambda f: {"position": f.position, "axis": AXIS, "direction": f.rotation @ AXIS},
    "frame at a point": lambda f: {"position": f.apply(POINT), "point": POINT, "orientation": f},
    "frame with weights": lambda f: {"frame": f, "weight": (1, 3, 0.5), "turn_weight": (0.2, 1, 2)},
    "some rows": lambda f: {"frame": f, "weight": (1, 0, 2), "turn_weight": (1, 0.5, 0)},
    "two rows": lambda f: {"frame": f, "weight": (0, 0, 1), "turn_weight": (0, 0, 1)},
    "box": lambda f: {"frame": f, "slack": (0.01, 0, 0.05), "turn_slack": (0.1, 0, 0.2)},
    "box about one axis": lambda f: {"frame": f, "turn_slack": (1.0, 0, 0)},
    "box and free rows": lambda f: {"frame": f, "weight": (1, 1, 0), "slack": 0.02, "turn_slack": (0.5, 0.5, 0)},
    "position in a box": lambda f: {"position": f.position, "slack": 0.02},
    "cone": lambda f: {"axis": AXIS, "direction": f.rotation @ AXIS, "turn_slack": 0.2},
    "position and cone": lambda f: {"position": f.position, **KINDS["cone"](f)},
}


@pytest.mark.parametrize("kind", KINDS)
def test_goals_of_every_kind_are_found_and_their_error_is_measured(kind):
    for name in ("panda", "ur5", "so101", "planar3"):
        arm, link = models.get(name), HANDS[name]
        goal = Goal(link, **KINDS[kind](arm.frame(arm.random(400, seed=5), link)))
        judged(arm, [goal], solve(arm, goal), 0.0025)
        judged(arm, [goal], solve(arm, goal, arm.random(400, seed=6)), 0.0025)


@pytest.mark.parametrize("turn", [[np.pi, 0, 0], [0, np.pi, 0], [0, 0, np.pi], [np.pi - 1e-7, 0, 0]])
def test_half_a_turn_away_is_not_there(turn):
    half = exp_rotation(np.array(turn))
    half = np.round(half) if np.linalg.norm(turn) == np.pi else half
    for name in ("planar3", "panda", "ur5"):
        arm, link = models.get(name), HANDS[name]
        starts = np.stack([arm.rest, *arm.random(20, seed=1)])
        frames = arm.frame(starts, link)
        for goal in (
            Goal(link, position=frames.position, orientation=half @ frames.rotation),
            Goal(link, orientation=half @ frames.rotation),
            Goal(link, orientation=half @ frames.rotation, turn_slack=(0.1, 0, 0)),
            Goal(link, axis=[0, 1, 0], direction=half @ frames.rotation @ [0, 1, 0]),
            Goal(link, axis=[0, 1, 0], direction=half @ frames.rotation @ [0, 1, 0], turn_slack=0.1),
        ):
            for start in (None, starts):
                judged(arm, [goal], solve(arm, goal, start), 1.0)


def test_a_zero_weight_leaves_that_axis_free():
    frames = PANDA.frame(PANDA.random(200, seed=8), HAND)
    away = frames.position + np.array([0, 0, 5.0])  # far above, where it does not matter
    found = solve(PANDA, Goal(HAND, position=away, weight=(1, 1, 0)))
    assert found.arrived.all()
    assert np.abs(missing(PANDA, Goal(HAND, position=away), found.q)[:, 2]).min() > 1
    turned = Goal(HAND, frame=frames, turn_weight=0)
    assert np.linalg.norm(missing(PANDA, Goal(HAND, frames), solve(PANDA, turned).q)[:, 3:], axis=1).max() > 0.1


def test_a_box_is_as_good_as_its_middle_and_not_more():
    rng = np.random.default_rng(9)
    arm = models.planar3()  # 30 m long
    angle, beyond, slack = rng.uniform(-3, 3, 200), rng.uniform(0.1, 5, 200), 2.0
    along = np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1)
    place = (30 + beyond)[:, None] * along
    # along x and y the box has corners: what is left is the distance of the disc from the box
    box = Goal("tip", position=place, slack=(slack, slack, 0))
    corner = np.maximum(np.abs(place[:, :2]) - slack, 0)
    left = np.maximum(np.linalg.norm(corner, axis=1) - 30, 0)
    found = solve(arm, box)
    assert np.array_equal(found.arrived, left <= 1e-6)
    assert found.arrived.any()
    assert not found.arrived.all()
    assert found.distance[:, 0] == pytest.approx(left, abs=1e-4)
    assert found.error[:, 0] == pytest.approx(missing(arm, box, found.q), abs=1e-9)


def test_a_cone_is_as_good_as_its_axis_and_not_more():
    ball = Linkage("ball", [Joint.ball("b", "base", "tip", swing=1.0)])  # swings by 1 rad from z
    lean = np.random.default_rng(10).uniform(0, 2.5, 200)
    along = np.stack([np.sin(lean), 0 * lean, np.cos(lean)], -1)
    found = solve(ball, Goal("tip", axis=[0, 0, 1], direction=along, turn_slack=0.4))
    left = np.maximum(lean - 1.4, 0)
    assert np.array_equal(found.arrived, left <= 1e-6)
    assert 20 < found.arrived.sum() < 180
    assert found.angle[:, 0] == pytest.approx(left, abs=1e-4)
    free = solve(ball, Goal("tip", axis=[0, 0, 1], direction=along, turn_slack=np.pi))
    assert free.arrived.all()


# -- which answer -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HANDS)
def test_a_start_that_is_at_the_goal_is_the_answer(name):
    arm, link = models.get(name), HANDS[name]
    q = arm.random(300, seed=1)
    frames = arm.frame(q, link)
    for goal in (Goal(link, frames), Goal(link, position=frames.position), Goal(link, frames, slack=0.1)):
        assert np.array_equal(solve(arm, goal, q).q, q)


def free_turns(arm):
    """The same arm, and its joints that turn all around without limits."""
    wide = ~(arm.upper - arm.lower < TAU)
    endless = [
        replace(joint, lower=(-np.inf,), upper=(np.inf,))
        if joint.kind is Kind.REVOLUTE and joint.mimic is None and joint.upper[0] - joint.lower[0] >= TAU
        else joint
        for joint in arm.joints
    ]
    return Linkage(arm.name, endless, arm.links, arm.base), wide


def unwound(arm, wide, q, start):
    """q with its wide joints turned as near to the start as their limits allow."""
    near = q - TAU * np.round((q - start) / TAU)
    near = np.where(near < arm.lower, near + TAU, np.where(near > arm.upper, near - TAU, near))
    return np.where(wide, near, q)


@pytest.mark.parametrize("name", ["planar3", "panda", "ur5", "puma560", "so101", "iiwa14"])
def test_no_answer_is_farther_from_the_start_than_where_the_start_itself_leads(name):
    arm, link = models.get(name), HANDS[name]
    start = arm.random(300, seed=6)
    goal = Goal(link, arm.frame(arm.random(300, seed=5), link))
    endless, wide = free_turns(arm)
    end, kept = followed(endless, [goal], start)
    end = unwound(arm, wide, end, start)
    arrives = kept & there(arm, [goal], end) & arm.inside(end, 1e-9)
    assert arrives.sum() > 100
    found = solve(arm, goal, start)
    judged(arm, [goal], found, 0.0034)
    far, near = (np.linalg.norm(q - start, axis=1) for q in (found.q, end))
    assert np.mean((far > near + 1e-3)[arrives]) <= 0.01  # where the way forks rounding may choose


@pytest.mark.parametrize("name", ["panda", "ur5", "puma560", "so101"])
def test_from_a_start_near_an_answer_the_answer_is_near(name):
    arm, link = models.get(name), HANDS[name]
    q = arm.random(3000, seed=5)
    start = arm.clamp(q + np.random.default_rng(1).uniform(-0.03, 0.03, q.shape))
    found = solve(arm, Goal(link, arm.frame(q, link)), start)
    assert found.arrived.all()
    assert np.mean(np.abs(found.q - start).max(axis=1) > 0.3) <= 0.002


def test_the_answer_is_nearer_to_its_start_than_to_others():
    arm = models.ur5()
    goal = Goal("tool0", arm.frame(arm.random(500, seed=1), "tool0"))
    start = arm.random(500, seed=2)
    near, first = solve(arm, goal, start).q, solve(arm, goal).q
    assert np.mean(np.linalg.norm(near - start, axis=1)) < 0.6 * np.mean(np.linalg.norm(first - start, axis=1))


def test_joints_without_limits_unwind_towards_the_start():
    rng = np.random.default_rng(2)
    joints = [Joint.continuous("a", "base", "b"), *(hinge(x, x, chr(ord(x) + 1)) for x in "bc")]
    arm = Linkage("arm", [*joints, Joint.fixed("end", "d", "tip", at=Frame.at([0.5, 0, 0]))])
    start = rng.uniform(-60, 60, (500, 3))
    goal = Goal("tip", arm.frame(rng.uniform(-60, 60, (500, 3)), "tip"))
    found = solve(arm, goal, start)
    assert found.arrived.all()
    assert np.abs(found.q - start).max() <= np.pi + 1e-9
    # within limits as near as they allow
    ur5 = models.ur5()
    start = ur5.random(500, seed=3)
    found = solve(ur5, Goal("tool0", ur5.frame(ur5.random(500, seed=4), "tool0")), start)
    other = unwound(ur5, np.ones(6, bool), found.q, start)
    assert np.abs(found.q - other).max() < 1e-9


def test_two_branches_of_a_planar_arm_are_those_of_its_triangle():
    arm = models.planar3()
    q = arm.random(200, seed=1)
    goal = Goal("tip", arm.frame(q, "tip"))
    found = solve(arm, goal, solutions=8)
    assert found.q.shape == (200, 8, 3)
    # the wrist is where it is; the elbow is on either side [K fig. 5.15, mended]
    lean = q.sum(axis=1)
    wrist = goal.position[:, :2] - 5 * np.stack([np.cos(lean), np.sin(lean)], -1)
    bend = np.arccos(np.clip((np.sum(wrist**2, axis=1) - 15**2 - 10**2) / (2 * 15 * 10), -1, 1))
    for row, ((x, y), b, turn) in enumerate(zip(wrist, bend, lean, strict=True)):
        branches = [[math.atan2(y, x) - math.atan2(10 * math.sin(s), 15 + 10 * math.cos(s)), s, 0] for s in (b, -b)]
        branches = [[first, second, turn - first - second] for first, second, _ in branches]
        mine = found.q[row][found.arrived[row]]
        assert len(mine) == (2 if b > 0.02 and b < np.pi - 0.02 else len(mine))
        for branch in branches:
            gap = np.abs(np.exp(1j * mine) - np.exp(1j * np.array(branch))).max(axis=1)
            assert gap.min() < (1e-4 if b > 0.02 else 0.05)


def test_two_branches_of_two_links_are_those_of_the_formula():
    arm = models.planar2()
    closed = analysis.TwoLink(arm, "tip")
    points = arm.frame(arm.random(200, seed=2), "tip").position
    for i, branches in enumerate(closed.solve(points).q):
        found = solve(arm, Goal("tip", position=points[i], weight=(1, 1, 0)), solutions=5)
        assert found.arrived.all()
        gaps = [np.abs(np.exp(1j * found.q) - np.exp(1j * branch)).max(axis=1).min() for branch in branches]
        assert max(gaps) < 1e-3
        assert len(found) == 2


@pytest.mark.parametrize("name", ["ur5", "puma560", "panda"])
@pytest.mark.parametrize("started", [False, True])
def test_several_answers_differ_arrive_and_are_sorted(name, started):
    arm, link = models.get(name), HANDS[name]
    q, start = arm.random(100, seed=7), arm.random(100, seed=8)
    goal = Goal(link, arm.frame(q, link))
    found = solve(arm, goal, start if started else None, solutions=12)
    assert found.q.shape == (100, 12, arm.dof)
    assert arm.inside(found.q, 0).all()
    assert found.arrived[:, 0].all()
    deep = Goal(link, arm.frame(q, link)[:, None])
    assert np.array_equal(there(arm, [deep], found.q) & found.arrived, found.arrived)
    moved = arm.jacobian(arm.rest, link).any(axis=0)
    middle = (arm.lower + arm.upper) / 2
    for i in range(100):
        mine = found.q[i][found.arrived[i]]
        assert (np.flatnonzero(found.arrived[i]) == np.arange(len(mine))).all()  # those found come first
        beyond = found[i][len(mine) :]
        assert (beyond.outcomes == Outcome.NO_MORE.value).all()
        assert (beyond.q == mine[0]).all()
        far = np.linalg.norm((mine - (start[i] if started else middle))[:, moved], axis=1)
        assert (np.diff(far) >= -1e-9).all()
        gaps = np.abs(np.exp(1j * mine[:, None]) - np.exp(1j * mine))
        assert (gaps.max(axis=-1) + np.eye(len(mine)) > 0.009).all()
        one = Goal(link, arm.frame(q[i], link))
        assert np.array_equal(solve(arm, one, start[i] if started else None, solutions=12).q, mine)


def test_a_turn_that_a_ball_can_say_in_two_ways_is_one_answer():
    ball = Linkage("ball", [Joint.ball("b", "base", "tip")])
    for half in np.diag([1.0, -1, -1]), np.diag([-1.0, -1, 1]), exp_rotation(np.array([1.0, 0.5, 0.3])):
        found = solve(ball, Goal("tip", orientation=half), solutions=6)
        assert len(found) == 1
        assert found.arrived.all()


def test_of_six_joints_most_branches_are_found():
    # a wrist that meets in a point has two ways, an elbow two and a shoulder two: what limits allow of eight
    arm = models.puma560()
    q = arm.random(60, seed=9)
    few = solve(arm, Goal("tool", arm.frame(q, "tool")), solutions=16)
    known = 0
    for i in range(60):
        more = [solve(arm, Goal("tool", arm.frame(q[i], "tool")), start).q for start in arm.random(60, seed=10 + i)]
        mine = few.q[i][few.arrived[i]]
        gaps = np.abs(np.exp(1j * np.array(more)[:, None]) - np.exp(1j * mine)).max(axis=-1).min(axis=1)
        known += np.mean(gaps < 0.02)
    assert known / 60 >= 0.99
