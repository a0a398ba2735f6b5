"""Laws of reach: how far an end effector can get."""

import math

import numpy as np
import pytest

import oracle
from random_trees import axes, places, random_tree
from supple import Goal, Solver, models
from supple._linkage import reach
from supple.frame import Frame
from supple.joint import Joint, Mimic
from supple.linkage import Linkage


def base_point(arm, link):
    """The point of the first axis that is nearest to the second, for arms whose first joints are turns."""
    _, _, seats = oracle.traverse(arm, np.zeros(arm.dof))
    first, second = [joint for joint in arm.part(arm.root, link).joints if joint.dof][:2]
    (a, p), (b, r) = ((seats[j.name][:3, :3] @ j.axis, seats[j.name][:3, 3]) for j in (first, second))
    if np.linalg.norm(np.cross(a, b)) < 1e-9:
        return p + a * (a @ (r - p))
    along = np.linalg.lstsq(np.stack([a, -b], -1), r - p, rcond=None)[0]
    return p + along[0] * a


@pytest.mark.parametrize(
    ("name", "link", "wanted"),
    [
        ("panda", "panda_hand_tcp", 0.94742),
        ("ur5", "tool0", 0.94993),
        ("puma560", "tool", 1.03435),
        ("planar3", "tip", 30),
        ("planar2", "tip", 25),
    ],
)
def test_reach_is_the_greatest_distance_with_every_turn_free(name, link, wanted):
    arm = models.get(name)
    assert arm.reach(link) == pytest.approx(wanted, abs=6e-6)
    free = np.random.default_rng(0).uniform(-math.pi, math.pi, (10_000, arm.dof))
    away = np.linalg.norm(arm.frame(free, link).position - base_point(arm, link), axis=1)
    assert away.max() <= arm.reach(link) * (1 + 1e-12)
    assert away.max() > 0.8 * arm.reach(link)


def test_reach_does_not_depend_on_where_the_arm_stands():
    moved = models.panda().at(Frame.at([5, 6, 7], Frame.rotvec([1, 2, 3])))
    assert moved.reach("panda_hand_tcp") == pytest.approx(models.panda().reach("panda_hand_tcp"), rel=1e-9)


def test_slides_reach_as_far_as_their_limits():
    def crane(**limits):
        boom = Joint.prismatic("boom", "mast", "hook", at=Frame.at([1, 0, 0]), axis=[1, 0, 0], **limits)
        return Linkage("crane", [Joint.revolute("slew", "ground", "mast"), boom])

    assert crane(lower=-0.5, upper=2).reach("hook") == pytest.approx(3)
    assert crane(lower=-9, upper=2).reach("hook") == pytest.approx(8)
    assert crane(upper=2).reach("hook") == crane(lower=2).reach("hook") == crane().reach("hook") == math.inf
    assert crane().reach("mast") == pytest.approx(0, abs=1e-15)
    assert crane().reach("ground") == 0


def test_no_chance_takes_an_arm_beyond_its_reach():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 8))
        at = Frame(places(rng, n + 1))
        joints = [Joint.fixed("t", f"l{n}", "tip", at=at[n])]
        for i, axis in enumerate(axes(rng, n)):
            kind = Joint.prismatic if i > 1 and rng.random() < 0.2 else Joint.revolute
            limits = {"lower": -0.5, "upper": 0.8} if kind == Joint.prismatic else {}
            joints.append(kind(f"j{i}", f"l{i}", f"l{i + 1}", at=at[i], axis=axis, **limits))
        arm = Linkage("arm", joints)
        _, _, seats = oracle.traverse(arm, np.zeros(arm.dof))
        first, second = (seats[f"j{i}"][:3, :3] @ arm.joint(f"j{i}").axis for i in (0, 1))
        if 1e-10 < np.linalg.norm(np.cross(first, second)) < 1e-2:
            continue  # the point between axes that are almost parallel is anywhere
        away = np.linalg.norm(arm.frame(arm.random(2000, seed=seed), "tip").position - base_point(arm, "tip"), axis=1)
        assert away.max() <= arm.reach("tip") * (1 + 1e-6)


def test_almost_parallel_axes_reach_as_parallel_ones_do():
    def scara(half_a_turn):
        flip = Frame.at([0, 0.4, 0.1], Frame.turn([1, 0, 0], half_a_turn))
        elbow, tip = Joint.revolute("b", "upper", "fore", at=flip), Frame.at([0.3, 0, 0])
        return Linkage("scara", [Joint.revolute("a", "base", "upper"), elbow, Joint.fixed("t", "fore", "tip", at=tip)])

    assert scara(math.pi).reach("tip") == pytest.approx(0.7)
    assert scara(3.14159).reach("tip") == pytest.approx(0.7, abs=1e-3)  # as files have it, rounded


@pytest.mark.parametrize("limits", [{}, {"lower": [-20] * 3, "upper": [20] * 3}], ids=["free", "within limits"])
def test_the_travel_of_what_carries_an_arm_is_no_reach(limits):
    arm = [
        Joint.revolute("a", "b", "c", at=Frame.at([1, 0, 0])),
        Joint.fixed("t", "c", "tip", at=Frame.at([0, 0.5, 0])),
    ]
    planar = {name: [*value[:2], 9 * np.sign(value[0])] for name, value in limits.items()}
    assert Linkage("drone", [Joint.floating("f", "w", "b", **limits), *arm]).reach("tip") == pytest.approx(1.5)
    assert Linkage("robot", [Joint.planar("f", "w", "b", **planar), *arm]).reach("tip") == pytest.approx(1.5)
    lift = {name: value[0] for name, value in limits.items()}
    for axis in ([0, 0, 1], [1, 2, 3]):
        lifted = Linkage("lift", [Joint.prismatic("f", "w", "b", axis=axis, **lift), *arm])
        assert lifted.reach("tip") == pytest.approx(0.5)
        assert lifted.reach("tip") == pytest.approx(lifted.part("b").reach("tip"))


def test_where_nothing_turns_a_link_away_travel_is_its_reach():
    for joint in (Joint.floating("f", "w", "b"), Joint.planar("f", "w", "b"), Joint.prismatic("f", "w", "b")):
        free = Linkage("free", [joint, Joint.revolute("j", "b", "c", at=Frame.at([0, 0, 1 if joint.dof == 1 else 0]))])
        assert free.reach("c") == math.inf
        assert free.part("b").reach("c") == pytest.approx(0, abs=1e-15)
    for axis in ([0, 0, 1], [1, 2, -3]):
        planar = Joint.planar("f", "w", "b", axis=axis, lower=[-1, -2, -9], upper=[1, 2, 9])
        assert Linkage("far", [planar]).reach("b") == pytest.approx(math.sqrt(5))


def test_a_position_beyond_the_travel_is_out_of_reach():
    arm = [Joint.revolute("a", "b", "c"), Joint.fixed("t", "c", "tip", at=Frame.at([0, 0.5, 0]))]
    lifted = Linkage("lift", [Joint.prismatic("f", "w", "b", lower=0, upper=2), *arm])
    assert reach.beyond(lifted, "tip", np.array([0.5, 0, 2.0])) == 0
    assert reach.beyond(lifted, "tip", np.array([0.5, 0, 4.0])) > 1.5


@pytest.mark.parametrize("seed", range(40))
def test_a_slide_accelerates_like_a_slide_by_default(seed):
    linkage = random_tree(seed)
    moved = [link for link in linkage.tips if linkage.part(linkage.root, link).dof]
    if moved:
        follow = Solver().track(linkage, Goal(moved[0], position=[0, 0, 0]))
        slides = np.array([unit == "m" for unit in linkage.units])
        known = np.isfinite(linkage.acceleration)
        assert (follow.acceleration[slides & ~known] <= 10).all()
        assert (follow.acceleration[~slides & ~known] == 15).all()


def test_a_ball_and_a_mimic_reach_like_free_turns():
    def arm(elbow):
        tip = Joint.fixed("t", "fore", "tip", at=Frame.at([1, 0, 0]))
        return Linkage("arm", [Joint.ball("ball", "base", "upper"), elbow, tip])

    place = Frame.at([2, 0, 0])
    assert arm(Joint.revolute("e", "upper", "fore", at=place)).reach("tip") == pytest.approx(3)
    bent = Joint.revolute("e", "upper", "fore", at=place, mimic=Mimic("other", -1))
    both = Linkage("both", [Joint.revolute("other", "base", "upper"), bent, Joint.fixed("t", "fore", "tip", at=place)])
    assert both.reach("tip") == pytest.approx(4)


# -- a bound bounds -------------------------------------------------------------------------------------------------


def random_chain(rng, n):
    """A chain of n joints of every kind, prismatic mimics among them, whose prismatic joints have limits."""
    joints, moving = [], []
    for i in range(n):
        where = {"at": Frame(places(rng, 1)[0]), "axis": axes(rng, 1)[0]}
        name, ends, low = f"j{i}", (f"l{i}", f"l{i + 1}"), rng.normal()
        kind = rng.choice(["turn", "turn", "turn", "slide", "ball", "planar", "floating", "mimic turn", "mimic slide"])
        if kind.startswith("mimic") and moving:
            make = Joint.revolute if kind == "mimic turn" else Joint.prismatic
            mimic = Mimic(str(rng.choice(moving)), rng.choice([0.0, rng.normal(), 3.0]), rng.normal())
            joints.append(make(name, *ends, **where, mimic=mimic))
        elif kind == "slide":
            joints.append(Joint.prismatic(name, *ends, **where, lower=low, upper=low + rng.random()))
            moving.append(name)
        elif kind == "ball":
            joints.append(Joint.ball(name, *ends, at=where["at"]))
        elif kind == "planar":
            limits = {"lower": [-1, low - 1, -math.inf], "upper": [1, low + 1, math.inf]}
            joints.append(Joint.planar(name, *ends, **where, **limits))
        elif kind == "floating" and rng.random() < 0.3:
            joints.append(Joint.floating(name, *ends, at=where["at"], lower=[-1, -1, low - 1], upper=[1, 0, low]))
        else:
            joints.append(Joint.revolute(name, *ends, **where, lower=-3, upper=3))
            moving.append(name)
    return Linkage("chain", joints)


def farthest(arm, link, base, rng):
    """The greatest distance of a link from a point at random q, the best of them climbed."""
    q = arm.random(400, seed=rng)
    away = np.linalg.norm(arm.frame(q, link).position - base, axis=-1)
    best = np.argsort(-away)[:20]
    q, away, size = q[best], away[best], 0.5
    for _ in range(150):
        tried = arm.clamp(arm.integrate(q, size * rng.normal(size=q.shape)))
        there = np.linalg.norm(arm.frame(tried, link).position - base, axis=-1)
        better = there > away
        q[better], away[better] = tried[better], there[better]
        size = max(0.97 * size, 1e-3)
    return away.max()


def test_no_joint_values_of_any_linkage_are_beyond_its_reach():
    rng, nearest = np.random.default_rng(1), []
    for _ in range(60):
        arm = random_chain(rng, int(rng.integers(1, 10)))
        if not arm.dof:
            continue
        link = arm.tips[0]
        most, base = reach.measured(arm, link)
        got = farthest(arm, link, base, rng)
        assert got <= most * (1 + 1e-12) + 1e-12
        nearest.append(got / most if most > 0 else 1.0)
    assert np.median(nearest) > 0.95  # nor is the bound far from what is reached


def test_two_branches_are_no_farther_apart_than_said():
    rng = np.random.default_rng(2)
    slide = {"axis": [1, 0, 0], "mimic": Mimic("lift", 3.0, 0.5)}
    arm = Linkage(
        "two",
        [
            Joint.prismatic("lift", "world", "torso", axis=[0, 0, 1], lower=0, upper=1),
            Joint.revolute("a", "torso", "arm a", at=Frame.at([0.3, 0, 0])),
            Joint.prismatic("s", "arm a", "hand a", **slide, lower=0, upper=0.1),
            Joint.revolute("b", "torso", "arm b", axis=[0, 1, 0], at=Frame.at([-0.2, 0, 0.1])),
            Joint.fixed("c", "arm b", "hand b", at=Frame.at([0, 0, 0.4])),
        ],
    )
    q = arm.random(5000, seed=rng)
    apart = np.linalg.norm(arm.frame(q, "hand a").position - arm.frame(q, "hand b").position, axis=-1)
    assert apart.max() <= reach.measured(arm, "hand a", "hand b")[0]


@pytest.mark.parametrize("n", [2000, 10_000])
def test_long_chains_reach_the_sum_of_their_links(n):
    turn = [[0, 1, 0], [0, 0, 1]]
    joints = [
        Joint.revolute(f"j{i}", f"l{i}", f"l{i + 1}", axis=turn[i % 2], at=Frame.at([0.01, 0, 0])) for i in range(n)
    ]
    assert Linkage("long", joints).reach(f"l{n}") == pytest.approx(0.01 * (n - 1), rel=1e-9)
