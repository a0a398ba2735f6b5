"""Laws of what a solve returns: arrived is true of the returned q, limits hold for every joint, numbers stay finite."""

import math

import numpy as np
import pytest

import oracle
from supple import Frame, Goal, Joint, Linkage, Mimic, Solver, Tolerance, method, models, solve
from supple.errors import BadLinkage

TOOL = "panda_hand_tcp"
LARGE = [1e3, 1e5, 1e6, 1e8, 1e12, 1e15, 1e16, 1e18, 1e100]


def off(linkage, link, q, wanted):
    """Distance and angle between the frames of a link at q, by the slow oracle, and those wanted (..., 4, 4)."""
    frames = oracle.traverse(linkage, q)[0][link]
    distance = np.linalg.norm(frames[..., :3, 3] - wanted[..., :3, 3], axis=-1)
    chord = np.linalg.norm(frames[..., :3, :3] - wanted[..., :3, :3], axis=(-2, -1))
    return distance, 2 * np.arcsin(np.minimum(chord / math.sqrt(8), 1))


def six_continuous():
    axes = [[0, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0]]
    return Linkage(
        "six",
        [
            Joint.continuous(f"j{i}", f"l{i}", f"l{i + 1}", axis=axis, at=Frame.at([0.02 * i, 0, 0.2 + 0.05 * i]))
            for i, axis in enumerate(axes)
        ],
    )


def widened(arm, upper):
    """The arm with other upper limits for its revolute joints."""
    data = arm.to_dict()
    for joint in data["joints"]:
        if joint["kind"] == "revolute":
            joint["upper"] = [upper]
    return Linkage.from_dict(data)


ARMS = {
    "continuous": (six_continuous, "l6"),
    "ur5": (models.ur5, "tool0"),
    "upper 2**70": (lambda: widened(models.panda(), 2.0**70), TOOL),
    "upper 1e7": (lambda: widened(models.panda(), 1e7), TOOL),
}


@pytest.mark.parametrize("options", [{}, {"method": method.search(nearest=True)}, {"method": method.damped()}])
@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_arrived_is_true_of_the_returned_q_however_large_the_start(name, options, tolerance):
    make, link = ARMS[name]
    arm = make()
    rng = np.random.default_rng(7)
    rows = 150 if options else 400
    goals = arm.frame(arm.random(rows, seed=2), link)
    start = rng.choice([0.0, 1.0, *LARGE], (rows, arm.dof)) * rng.normal(size=(rows, arm.dof))
    within = Tolerance(position=tolerance, angle=tolerance)
    for begin in (start, None):
        found = solve(arm, Goal(link, goals), begin, tolerance=within, **options)
        at = found.arrived
        distance, angle = off(arm, link, found.q[at], goals.matrix[at])
        assert distance.max() <= tolerance + 2e-12
        assert angle.max() <= tolerance + 2e-11  # the arc sine of a chord has no more digits
        assert options or at.all()


def test_one_solve_and_a_batch_agree_on_large_starts():
    arm = six_continuous()
    goals = arm.frame(arm.random(40, seed=1), "l6")
    start = np.random.default_rng(0).choice(LARGE, (40, 6))
    batch = solve(arm, Goal("l6", goals), start).q
    assert all(np.array_equal(solve(arm, Goal("l6", goals[i]), start[i]).q, batch[i]) for i in range(40))


def test_a_start_below_a_million_radians_keeps_its_turns():
    arm = six_continuous()
    goal = arm.frame(arm.random(1, seed=3)[0], "l6")
    start = np.full(6, 999_999.0)
    assert np.abs(solve(arm, Goal("l6", goal), start).q - start).max() < 7


def test_limits_that_leave_no_exact_angle_are_refused():
    for low, high in ((1e15, 1e15 + 100), (-3e6, -2e6), (1e7, math.inf)):
        with pytest.raises(BadLinkage, match=r"leave no angle within 1.04858e\+06 rad"):
            Joint.revolute("j", "a", "b", lower=low, upper=high)


@pytest.mark.parametrize("options", [{}, {"method": method.search(nearest=True)}, {"method": method.damped()}])
def test_every_joint_of_a_solution_is_within_its_limits(options):
    arm, rng = models.panda(), np.random.default_rng(3)
    goals = arm.frame(arm.random(60, seed=1), TOOL)
    start = arm.random(60, seed=2) + rng.normal(size=(60, 8))
    for margin in (0.0, 0.005):
        found = solve(arm, Goal(TOOL, goals), start, margin=margin, **options)
        assert arm.inside(found.q).all()
        assert (found.q[:, 7] >= margin).all()
        assert (found.q[:, 7] <= 0.04 - margin).all()
    one = solve(arm, Goal(TOOL, goals[0]), [*arm.rest[:7], 1.0], **options)
    assert one.q[7] == 0.04
    free = solve(arm, Goal(TOOL, goals[0]), [*arm.rest[:7], 1.0], keep_limits=False, **options)
    assert free.q[7] == 1.0


def test_a_ball_that_no_goal_needs_is_brought_into_its_cone():
    arm = Linkage(
        "arm",
        [
            Joint.revolute("a", "world", "upper"),
            Joint.revolute("b", "upper", "tip", at=Frame.at([1, 0, 0])),
            Joint.ball("head", "world", "eyes", axis=[0, 0, 1], swing=0.3),
        ],
    )
    found = solve(arm, Goal("tip", position=[0.5, math.sqrt(0.75), 0]), [0, 0, 1.2, 0, 0])
    assert found.arrived
    assert arm.inside(found.q)


def test_a_locked_joint_stays_at_its_start():
    arm = models.panda()
    start = [*arm.rest[:7], 1.0]
    found = solve(arm, Goal(TOOL, position=[0.4, 0, 0.5]), start, joint_weights={"panda_finger_joint1": 0})
    assert found.q[7] == 1.0


# -- mimics -----------------------------------------------------------------------------------------------------


def follower(gain, offset, limit, shared):
    """Three revolute joints of which the second follows a value of its own branch, or the first joint."""
    at = Frame.at([1, 0, 0])
    source = Joint.revolute("s", "world", "side", lower=-limit, upper=limit)
    first = "a" if shared else "s"
    return Linkage(
        "arm",
        [
            source,
            Joint.revolute("a", "world", "one", lower=-2, upper=2),
            Joint.revolute("b", "one", "two", at=at, mimic=Mimic(first, gain, offset)),
            Joint.revolute("c", "two", "three", at=at),
            Joint.fixed("d", "three", "tip", at=at),
        ],
    )


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("limit", [1.0, 4.0, math.inf])
def test_mimics_of_any_gain_give_finite_values_within_limits(shared, limit):
    rng = np.random.default_rng(5)
    sizes = [0.0, 1e-300, 1e-30, 1e-12, 1e-10, 1e-8, 1e-3, 0.5, 1.0, 30.0, 1e3, 1e6]
    arrived = 0
    for gain in [*sizes, *(-size for size in sizes)]:
        arm = follower(gain, rng.normal(), limit, shared)
        q = arm.random(20, seed=4)
        frames = arm.frame(q, "tip")
        for options in ({}, {"method": method.damped()}):
            found = solve(arm, Goal("tip", position=frames.position), **options)
            assert np.isfinite(found.q).all()
            assert arm.inside(found.q).all()
            assert options or np.abs(found.q).max() <= 2 * math.pi / max(abs(gain), 1e-9) + 20
            distance = off(arm, "tip", found.q, frames.matrix)[0]
            assert (distance[found.arrived] <= 1e-6 + 1e-9).all()
            arrived += 0 if options else int(found.arrived.sum())
    assert arrived > 400  # of 480


def test_a_gain_of_zero_leaves_the_source_where_it_is():
    arm = follower(0.0, 0.5, math.inf, False)
    found = solve(arm, Goal("tip", position=[2.0, 1.0, 0.0]), start=[0.25, 0, 0])
    assert found.arrived
    assert found.q[0] == 0.25


# -- goals far away -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "link"), [("panda", TOOL), ("ur5", "tool0"), ("iiwa14", "tool0")])
def test_the_nearest_pose_does_not_depend_on_how_far_the_goal_is(name, link):
    arm = getattr(models, name)()
    rng = np.random.default_rng(11)
    out = rng.normal(size=(25, 3))
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    reach = arm.reach(link)
    at = {}
    for far in (2.0, 10.0, 1e3, 1e6, 1e9):
        at[far] = arm.frame(solve(arm, Goal(link, position=far * out)).q, link).position
    for far in at:
        # how much farther than the best of all from the same goal: |p - far u| - far, exact for large numbers
        miss = [(np.sum(p * p, -1) - 2 * far * np.sum(p * out, -1)) / (2 * far) for p in at.values()]
        own = (np.sum(at[far] ** 2, -1) - 2 * far * np.sum(at[far] * out, -1)) / (2 * far)
        assert (own - np.min(miss, axis=0)).max() < 1e-3 * reach


# -- long chains --------------------------------------------------------------------------------------------------


def chain(n, alternating=False):
    """n equal links, 1 m together."""
    return Linkage(
        "chain",
        [
            Joint.revolute(
                f"j{i}",
                f"l{i}",
                f"l{i + 1}",
                axis=[0, 1, 0] if alternating and i % 2 else [0, 0, 1],
                at=Frame.at([1 / n if i else 0, 0, 0]),
            )
            for i in range(n)
        ]
        + [Joint.fixed("end", f"l{n}", "tip", at=Frame.at([1 / n, 0, 0]))],
    )


@pytest.mark.parametrize("n", [2, 3, 7, 12, 13, 40, 150, pytest.param(2000, marks=pytest.mark.gate)])
@pytest.mark.parametrize("alternating", [False, True])
def test_long_chains_arrive_near_full_stretch(n, alternating):
    if n == 2 and alternating:
        return  # two joints do not reach every direction
    arm = chain(n, alternating)
    for share in (0.9, 0.99, 0.999, 0.9999, 0.99999):
        for angle in (0.0, 0.7, -2.0, 3.1):
            goal = [share * math.cos(angle), share * math.sin(angle), 0]
            found = solve(arm, Goal("tip", position=goal))
            assert found.arrived, (share, angle, found.why)


# -- reasons ------------------------------------------------------------------------------------------------------


def test_reasons_never_name_a_shortfall_within_the_tolerance():
    arm = models.panda().locked("panda_finger_joint1")
    short = Solver(max_iterations=1)
    goals = arm.frame(arm.random(40, seed=8), TOOL)
    for i in range(40):
        found = short.solve(arm, Goal(TOOL, goals[i]))
        assert "short" not in found.why


def test_a_goal_at_the_full_reach_is_not_called_out_of_reach():
    for n in (2, 5, 9):
        arm = chain(n)
        for angle in np.linspace(-3, 3, 13):
            found = solve(arm, Goal("tip", position=[math.cos(angle), math.sin(angle), 0]), max_iterations=1)
            assert "out of reach" not in found.why


@pytest.mark.slow
def test_reachable_goals_next_to_a_decoy_are_found():
    """Rows of `random(3_000_000, seed=1)` where joint 5 at its limit comes within 31 um of the goal."""
    arm = models.panda().locked("panda_finger_joint1")
    q = [
        [-0.3521503, -1.742918, -0.1781658, -0.4651861, 0.2276841, 2.6212202, 1.3881581],
        [-0.6503858, 1.6929018, 2.6113278, -0.4993438, 0.0794079, 1.3190864, -2.6759699],
        [2.4621357, 1.748052, 2.5608718, -0.4424784, 0.1243529, 2.3553831, 0.6007159],
    ]
    assert solve(arm, Goal(TOOL, arm.frame(q, TOOL))).arrived.all()
