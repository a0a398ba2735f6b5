"""Laws of answers by analysis: the two-link arm in closed form, its annulus, and ranks of goals."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from supple import BadInput, Frame, Goal, Joint, Linkage, Mimic, UnknownName, models
from supple.analysis import Annulus, Constraint, TwoLink, constraint

PI = math.pi


def random_frame(rng: np.random.Generator, size: float = 1.0) -> Frame:
    return Frame.at(size * rng.normal(size=3)) @ Frame.quaternion(rng.normal(size=4))


def random_arm(rng: np.random.Generator, lower: float = -math.inf, upper: float = math.inf) -> Linkage:
    """Two parallel turns in any plane, of either sense, with offsets along the axes, among fixed joints and others."""
    axis = rng.normal(size=3)
    turn = Frame.quaternion(rng.normal(size=4))
    sense = rng.choice([-1.0, 1.0])
    limits = {"lower": lower, "upper": upper}
    return Linkage(
        "any",
        [
            Joint.fixed("stand", "ground", "base", at=random_frame(rng)),
            Joint.prismatic("aside", "ground", "other"),
            Joint.revolute("one", "base", "upper", at=random_frame(rng), axis=axis, **limits),
            Joint.fixed("bone", "upper", "end", at=Frame()),
            Joint.revolute(
                "two",
                "end",
                "fore",
                at=Frame.at(rng.normal(size=3), turn),
                axis=sense * (turn.rotation.T @ axis),
                **limits,
            ),
            Joint.fixed("wrist", "fore", "hand", at=random_frame(rng)),
            Joint.ball("fingers", "hand", "finger"),
        ],
        base=random_frame(rng),
    )


def in_plane(arm: TwoLink, radius: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Points (n, 3) of the plane at a distance from the centre."""
    along = np.cross(arm.annulus.normal, [0.3, 0.5, 0.7])
    along /= np.linalg.norm(along)
    across = np.cross(arm.annulus.normal, along)
    out: np.ndarray = arm.annulus.centre + radius[:, None] * (
        np.cos(angle)[:, None] * along + np.sin(angle)[:, None] * across
    )
    return out


def test_both_elbows_reach_any_goal_in_any_plane_and_quadrant() -> None:
    rng = np.random.default_rng(1)
    worst, apart = 0.0, math.inf
    for _ in range(500):
        linkage = random_arm(rng)
        arm = TwoLink(linkage, "hand")
        ring = arm.annulus
        radius = ring.inner + (ring.outer - ring.inner) * rng.uniform(0.001, 0.999, 20)
        points = in_plane(arm, radius, PI / 10 * np.arange(20) + rng.uniform(0, 0.3))  # every quadrant
        found = arm.solve(points)
        reached = linkage.frame(found.q, "hand").position
        worst = max(worst, float(np.abs(reached - points[:, None]).max()))
        change = found.q[:, 0] - found.q[:, 1]
        apart = min(apart, float(np.abs(np.sin(change / 2)).max(axis=-1).min()))
        assert found.arrived.all()
        assert found.inside.all()
        assert not found.free.any()
        assert np.abs(found.distance).max() < 1e-12
        np.testing.assert_allclose(found.nearest, points, atol=1e-11)
    assert worst < 1e-12
    assert apart > 1e-3


def test_the_closed_form_is_exact_to_rounding_for_the_planar_arm() -> None:
    linkage = models.planar2()
    rng = np.random.default_rng(2)
    q = rng.uniform(-PI, PI, (10_000, 2))
    points = linkage.frame(q, "tip").position
    found = TwoLink(linkage, "tip").solve(points)
    # one of the two elbows is the one the point was made with
    off = np.abs(np.sin((found.q - q[:, None]) / 2)).max(axis=-1).min(axis=-1)
    clear = np.abs(np.sin(q[:, 1])) > 1e-3
    assert off[clear].max() < 1e-10
    assert np.abs(linkage.frame(found.q, "tip").position - points[:, None]).max() < 1e-12


@pytest.mark.parametrize(
    ("x", "y"), [(12, 7), (-12, 7), (-12, -7), (12, -7), (0, 20), (0, -20), (20, 0), (-20, 0), (-20, -0.0)]
)
def test_the_elbow_has_the_outer_angle_and_its_shoulder_goes_with_it(x: float, y: float) -> None:
    """Two errata of the book: theta2 is not the inner angle, and each theta1 has its own theta2."""
    found = TwoLink(models.planar2(), "tip").solve([x, y, 0])
    for (one, two), sign in zip(found.q, (1, -1), strict=True):
        assert two * sign > 0
        assert math.isclose(math.cos(two), (x * x + y * y - 15**2 - 10**2) / (2 * 15 * 10), abs_tol=1e-14)
        assert abs(15 * math.cos(one) + 10 * math.cos(one + two) - x) < 1e-13
        assert abs(15 * math.sin(one) + 10 * math.sin(one + two) - y) < 1e-13


@pytest.mark.parametrize("radius", [5.0, 25.0])
def test_on_the_edge_both_answers_are_one(radius: float) -> None:
    arm = TwoLink(models.planar2(), "tip")
    angle = np.linspace(-PI, PI, 101)
    points = in_plane(arm, np.full(101, radius), angle)
    found = arm.solve(points)
    assert found.arrived.all()
    assert np.array_equal(found.q[:, 0], found.q[:, 1])
    assert found.distance.max() < 1e-13
    assert "one way" in str(arm.solve(points[3]))


def test_a_point_outside_is_a_result_with_the_nearest_q() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        arm = TwoLink(random_arm(rng), "hand")
        points = arm.annulus.centre + 4 * arm.annulus.outer * rng.normal(size=(40, 3))
        found = arm.solve(points)
        assert not found.arrived.any()
        np.testing.assert_allclose(found.distance, arm.annulus.distance(points), rtol=1e-12)
        tried = arm.linkage.random(500, seed=rng)
        others = np.linalg.norm(arm.linkage.frame(tried, "hand").position[:, None] - points, axis=-1)
        assert (others >= found.distance - 1e-9).all()
    assert "out of reach by" in str(found_one(arm, points[0]))


def found_one(arm: TwoLink, point: np.ndarray) -> object:
    return arm.solve(point)


def test_at_the_centre_of_equal_links_the_first_joint_is_free() -> None:
    linkage = equal_arm()
    arm = TwoLink(linkage, "tip")
    found = arm.solve([[0, 0, 0], [0.5, 0, 0], [1e-14, 0, 0]])
    assert found.arrived.all()
    assert found.free.tolist() == [True, False, True]
    assert found.q[0, 0, 0] == linkage.rest[0] == 0.3
    q = np.broadcast_to(found.q[0, 0], (20, 2)).copy()
    q[:, 0] = np.linspace(-3, 3, 20)
    assert np.abs(linkage.frame(q, "tip").position).max() < 1e-15  # any value does
    assert "infinitely many" in str(arm.solve([0, 0, 0]))
    assert arm.annulus.inner == 0


def equal_arm(**limits: float) -> Linkage:
    return Linkage(
        "equal",
        [
            Joint.revolute("one", "base", "upper", rest=0.3, **limits),
            Joint.revolute("two", "upper", "fore", at=Frame.at([1, 0, 0]), **limits),
            Joint.fixed("end", "fore", "tip", at=Frame.at([1, 0, 0])),
        ],
    )


def test_limits_are_flagged_for_each_elbow() -> None:
    rng = np.random.default_rng(4)
    seen = set()
    for _ in range(200):
        low, high = np.sort(rng.uniform(-2 * PI, 2 * PI, 2))
        linkage = random_arm(rng, low, high)
        arm = TwoLink(linkage, "hand")
        ring = arm.annulus
        found = arm.solve(in_plane(arm, np.full(10, (ring.inner + ring.outer) / 2), rng.uniform(-PI, PI, 10)))
        assert found.arrived.all()
        # an angle is within limits if any whole number of turns more or less is
        two = found.q[..., [linkage.names.index("one"), linkage.names.index("two")]]
        turns = two[..., None] + 2 * PI * np.arange(-4, 5)
        possible = ((turns >= low) & (turns <= high)).any(axis=-1).all(axis=-1)
        assert np.array_equal(found.inside, possible)
        seen |= set(found.inside.sum(axis=-1).tolist())
    assert seen == {0, 1, 2}


def test_the_annulus_holds_exactly_what_the_lengths_allow() -> None:
    rng = np.random.default_rng(5)
    ring = TwoLink(models.planar2(), "tip").annulus
    assert (ring.inner, ring.outer) == (5.0, 25.0)
    radius = np.concatenate([rng.uniform(0, 30, 10_000), [0, 5, 25, np.nextafter(5, 0), np.nextafter(25, 30)]])
    points = np.stack([radius, 0 * radius, 0 * radius], axis=-1)
    assert np.array_equal(ring.contains(points, tolerance=0), (radius >= abs(15 - 10)) & (radius <= 15 + 10))
    assert ring.contains([25, 0, 0]) is True
    assert ring.contains([25, 0, 1e-6]) is False
    assert ring.contains([25, 0, 1e-6], tolerance=1e-5) is True
    assert math.isclose(ring.area, PI * (25**2 - 5**2))


def test_nearest_is_in_the_annulus_and_no_sample_is_nearer() -> None:
    rng = np.random.default_rng(6)
    for _ in range(30):
        arm = TwoLink(random_arm(rng), "hand")
        ring = arm.annulus
        points = ring.centre + 2 * ring.outer * rng.normal(size=(100, 3))
        points[0] = ring.centre
        nearest, distance = ring.nearest(points), ring.distance(points)
        assert ring.contains(nearest, 1e-12).all()
        np.testing.assert_allclose(np.linalg.norm(nearest - points, axis=-1), distance, atol=1e-12)
        sample = in_plane(arm, rng.uniform(ring.inner, ring.outer, 2000), rng.uniform(-PI, PI, 2000))
        assert (np.linalg.norm(sample[:, None] - points, axis=-1) >= distance - 1e-12).all()
    assert ring.nearest(ring.centre).shape == (3,)


def test_points_broadcast_over_leading_axes() -> None:
    arm = TwoLink(models.planar2(), "tip")
    points = np.random.default_rng(7).uniform(-20, 20, (4, 3, 3))
    many = arm.solve(points)
    assert many.q.shape == (4, 3, 2, 2)
    assert many.inside.shape == (4, 3, 2)
    assert many.distance.shape == many.free.shape == many.arrived.shape == (4, 3)
    one = arm.solve(points[2, 1])
    assert np.array_equal(one.q, many.q[2, 1])
    assert isinstance(one.arrived, bool)
    assert "12 points" in str(many)


def test_a_real_arm_with_its_other_joints_locked_is_a_two_link_arm() -> None:
    ur5 = models.ur5().locked(["shoulder_pan_joint", "wrist_1_joint"])
    arm = TwoLink(ur5, "wrist_1_link")
    np.testing.assert_allclose(arm.lengths, (0.425, 0.39225), atol=1e-6)
    q = ur5.random(100, seed=0)
    points = ur5.frame(q, "wrist_1_link").position
    assert arm.annulus.contains(points, 1e-8).all()
    found = arm.solve(points)
    assert found.arrived.all()
    assert found.q.shape == (100, 2, ur5.dof)


def test_what_is_no_two_link_arm_is_refused_with_the_reason() -> None:
    with pytest.raises(BadInput, match="this link by 3: 'joint1', 'joint2', 'joint3'"):
        TwoLink(models.planar3(), "tip")
    with pytest.raises(BadInput, match=r"this link by 0$"):
        TwoLink(models.planar3(), "base")
    with pytest.raises(BadInput, match=r"are 1.57 rad \(90 degrees\) apart"):
        TwoLink(models.panda(), "panda_link2")
    with pytest.raises(UnknownName, match="tip"):
        TwoLink(models.planar2(), "top")

    def made(second: Joint, tip: float = 1.0) -> Linkage:
        return Linkage(
            "odd",
            [
                Joint.revolute("one", "base", "upper"),
                second,
                Joint.fixed("end", "fore", "tip", at=Frame.at([tip, 0, 0])),
            ],
        )

    place = Frame.at([1, 0, 0])
    with pytest.raises(BadInput, match="'two' is prismatic"):
        TwoLink(made(Joint.prismatic("two", "upper", "fore", at=place)), "tip")
    with pytest.raises(BadInput, match="'two' mimics 'one'"):
        TwoLink(made(Joint.revolute("two", "upper", "fore", at=place, mimic=Mimic("one", 2.0))), "tip")
    with pytest.raises(BadInput, match="same axis"):
        TwoLink(made(Joint.revolute("two", "upper", "fore", at=Frame.at([0, 0, 1]))), "tip")
    with pytest.raises(BadInput, match="no forearm"):
        TwoLink(made(Joint.revolute("two", "upper", "fore", at=place), tip=0.0), "tip")
    slant = Frame.at([1, 0, 0]) @ Frame.turn([1, 0, 0], 1e-3)
    with pytest.raises(BadInput, match=r"are 0\.001 rad"):
        TwoLink(made(Joint.revolute("two", "upper", "fore", at=slant)), "tip")


@pytest.mark.parametrize("point", [[1, 2], [math.nan, 0, 0], "here", None])
def test_a_bad_point_is_refused(point: object) -> None:
    arm = TwoLink(models.planar2(), "tip")
    for ask in (arm.solve, arm.annulus.contains, arm.annulus.nearest, arm.annulus.distance):
        with pytest.raises(BadInput, match="point"):
            ask(point)  # type: ignore[operator]
    with pytest.raises(BadInput, match="tolerance"):
        arm.solve([1, 2, 0], tolerance=math.nan)


# -- ranks ------------------------------------------------------------------------------------------------------


def in_xy(x: float, y: float) -> Goal:
    return Goal("tip", position=[x, y, 0], weight=(1, 1, 0))


@pytest.mark.parametrize(
    ("linkage", "goal", "over", "under", "said"),
    [
        (models.planar3(), in_xy(10, 5), 0, 1, "under-constrained by 1: one joint motion is free"),
        (models.planar2(), in_xy(10, 5), 0, 0, "well constrained"),
        (models.panda(), Goal("panda_hand_tcp", Frame.at([0.4, 0, 0.4])), 0, 1, "one joint motion is free"),
        (models.panda(), Goal("panda_hand_tcp", position=[0.4, 0, 0.4]), 0, 4, "4 joint motions are free"),
        (models.ur5(), Goal("tool0", Frame()), 0, 0, "well constrained"),
        (models.so101(), Goal("gripper_frame_link", Frame()), 1, 0, "over-constrained by 1: one row cannot be met"),
        (models.planar3(), Goal("tip", Frame()), 3, 0, "over-constrained by 3"),
        (models.planar3(), Goal("tip", position=[10, 0, 0]), 1, 1, "over-constrained by 1"),
    ],
)
def test_ranks_say_what_a_goal_asks(linkage: Linkage, goal: Goal, over: int, under: int, said: str) -> None:
    answer = constraint(linkage, goal)
    assert (answer.over, answer.under, answer.lost) == (over, under, 0)
    assert said in str(answer)
    assert constraint(linkage, goal) == answer == pickle.loads(pickle.dumps(answer))


def test_a_stretched_arm_is_singular_towards_its_forearm_not_unreachable() -> None:
    arm = models.planar3()
    stretched = constraint(arm, in_xy(20, 0), q=[0.4, 0, 0])
    assert (stretched.rank, stretched.rank_here, stretched.lost) == (2, 1, 1)
    assert not stretched.stalled  # this goal is off the line: some motion begins to reduce the error
    towards = constraint(arm, in_xy(20 * math.cos(0.4), 20 * math.sin(0.4)), q=[0.4, 0, 0])
    assert towards.stalled
    assert "singular here: one direction lost, the one towards the goal" in str(towards)
    above = constraint(arm, Goal("tip", arm.frame([0.4, 0.2, 0.1], "tip") @ Frame.at([0, 0, 1])), q=[0.4, 0.2, 0.1])
    assert (above.lost, above.stalled) == (0, False)  # out of the plane no motion helps either, but nothing is lost
    bent = constraint(arm, in_xy(20, 0), q=[0.4, 0.2, 0.1])
    assert bent.lost == 0
    assert "singular" not in str(bent)


def test_a_wrist_that_lines_up_loses_one_direction() -> None:
    ur5 = models.ur5()
    goal = Goal("tool0", Frame())
    assert constraint(ur5, goal, q=ur5.q(wrist_2_joint=0)).lost == 1
    assert constraint(ur5, goal, q=ur5.q(wrist_2_joint=0.1)).lost == 0


def test_goals_of_two_hands_add_up() -> None:
    robot = models.baxter()
    goals = [Goal("left_gripper", Frame()), Goal("right_gripper", Frame())]
    answer = constraint(robot, goals)
    assert (answer.rows, answer.joints, answer.rank) == (12, 14, 12)
    twice = constraint(robot, [goals[0], goals[0]])
    assert (twice.rows, twice.over) == (12, 6)


def test_a_rank_is_that_of_the_jacobian() -> None:
    rng = np.random.default_rng(8)
    for name, link in (("panda", "panda_hand_tcp"), ("puma560", "tool"), ("g1", "left_rubber_hand")):
        linkage = models.get(name)
        q = linkage.random(seed=rng)
        expected = np.linalg.matrix_rank(linkage.jacobian(q, link), rtol=1e-6)
        assert constraint(linkage, Goal(link, Frame()), q).rank_here == expected


def test_bad_questions_are_refused() -> None:
    arm, goal = models.planar3(), in_xy(1, 2)
    with pytest.raises(BadInput, match=r"shape \(\.\.\., 3\)"):
        constraint(arm, goal, q=[0, 0])
    with pytest.raises(BadInput, match="one q"):
        constraint(arm, goal, q=np.zeros((2, 3)))
    with pytest.raises(BadInput, match="single goals"):
        constraint(arm, Goal("tip", position=np.zeros((2, 3))))
    with pytest.raises(BadInput, match="tolerance"):
        constraint(arm, goal, tolerance=0)
    with pytest.raises(BadInput, match="at least one goal"):
        constraint(arm, [])
    with pytest.raises(BadInput, match="no joint moves"):
        constraint(arm, Goal("base", position=[0, 0, 0]))
    with pytest.raises(BadInput, match="must be a Linkage"):
        constraint("planar3", goal)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="must be a Linkage"):
        TwoLink("planar2", "tip")  # type: ignore[arg-type]
    with pytest.raises(UnknownName):
        constraint(arm, Goal("top", position=[0, 0, 0]))


def test_values_print_and_do_not_change() -> None:
    arm = TwoLink(models.planar2(), "tip")
    assert "15 and 10 m" in repr(arm)
    assert str(arm.annulus) == "annulus from 5 to 25 m about (0, 0, 0), across (0, 0, 1)"
    for value, name in ((arm.annulus, "inner"), (constraint(arm.linkage, in_xy(1, 2)), "rows")):
        assert isinstance(value, Annulus | Constraint)
        with pytest.raises(AttributeError):
            setattr(value, name, 3)
    with pytest.raises(ValueError):
        arm.annulus.centre[0] = 1
