"""Laws of damping as values: what they hold, how they merge, how they print, what they refuse, what they remember."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from damping_cases import DT, planned
from supple import Frame, Goal, Joint, Linkage, Solver, damping, method, models, prefer
from supple._solve import compilation
from supple.damping import Singularity
from supple.errors import BadInput, UnknownName

ARM = models.kraft()
GOAL = Goal("tool", ARM.frame(ARM.rest, "tool"))
NUMBERS = GOAL._encoded(())[None]


def measure(q):
    return abs(float(q[2]))


def scheme(q, e, J, dt):
    return 1e-3 * float(e @ e), np.abs(np.cos(q))


ELBOW = Singularity.bend("elbow", joints=["elbow", "shoulder"])
NAMED = [
    ELBOW,
    Singularity.sine("wrist_yaw", 1.5, region=0.2, joints=("azimuth",), weight=0.3),
    Singularity.off_axis("azimuth", "forearm", (0.57, 0, 0), 0.05, region=0.4, joints=["azimuth"]),
    Singularity.function(measure, region=0.5, joints=["elbow"]),
    Singularity.bend("elbow", (0.0, 3.0), region=0.1),
]
SCHEMES = [
    damping.none,
    damping.constant(0.3),
    damping.nakamura_hanafusa(),
    damping.nakamura_hanafusa(0.1, below=0.2, as_printed=True),
    damping.kelmar_khosla(0.1, 0.9),
    damping.kelmar_khosla(as_printed=True),
    damping.mayorga(above=1e3),
    damping.mayorga(damping.condition_bound(70)),
    damping.chan_lawrence(0.5),
    damping.chan_lawrence(),
    damping.singularities(),
    damping.singularities(alpha0=0.2, region=0.3),
    damping.singularities(*NAMED),
    damping.singularities(ELBOW, alpha0=damping.condition_bound(20.5), as_printed=True),
    damping.limits(),
    damping.limits(0.5, 0.1, 0.2, 3, slide_region=0.3, tiny=0.0),
    damping.limits(as_printed=True, weight=0.0),
    damping.schinstock(NAMED[:2], 0.1, region=0.3),
    damping.function(scheme),
]
dampings = st.lists(st.sampled_from(SCHEMES), min_size=1, max_size=4).map(lambda some: merged(*some))


def merged(*some):
    whole = damping.none
    for each in some:
        whole |= each
    return whole


def said(value, q=ARM.rest):
    """Damping and weights at a first tick; later ones depend on where the joints went."""
    return planned(ARM, [GOAL], value)[1](q)[1:]


@given(dampings, dampings, dampings)
def test_merging_is_commutative_associative_idempotent_and_none_is_neutral(a, b, c):
    assert a | b == b | a
    assert hash(a | b) == hash(b | a)
    assert (a | b) | c == a | (b | c)
    assert a | a == a
    assert a | damping.none == damping.none | a == a
    assert repr(a | b | c) == repr(c | a | b)


@given(dampings, dampings, st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_the_largest_damping_and_the_smallest_weight_win(a, b, seed):
    q = ARM.random(seed=seed)
    both, one, other = said(a | b, q), said(a, q), said(b, q)
    assert both[1] == pytest.approx(np.minimum(one[1], other[1]), abs=1e-15)
    looking = (
        "nakamura_hanafusa",
        "kelmar_khosla",
        "mayorga",
        "singularities()",
        "singularities(alpha0",
        "condition_bound",
    )
    if not any(word in repr(a | b) for word in looking):  # those that look at J_w see what the other has done to it
        assert both[0] == max(one[0], other[0])


def test_none_is_no_damping_and_full_weights():
    alpha, weights = said(damping.none)
    assert alpha == 0
    assert (weights == 1).all()
    assert damping.constant(0) == damping.none


def test_a_damping_prints_as_the_call_that_builds_it_and_survives_pickling():
    for value in SCHEMES:
        again = eval(repr(value), {"damping": damping, "measure": measure, "scheme": scheme})
        assert again == value
        assert hash(again) == hash(value)
        assert pickle.loads(pickle.dumps(value)) == value
    assert repr(damping.limits() | damping.singularities()) == "damping.limits() | damping.singularities()"
    assert repr(damping.schinstock([ELBOW])) == (
        "damping.limits() | damping.singularities(damping.Singularity.bend('elbow', joints=('elbow', 'shoulder')))"
    )
    assert repr(damping.none) == "damping.none"
    assert len({damping.limits(), damping.limits(0.01), damping.limits(region=0.3)}) == 2
    assert (
        repr(Solver(method=method.damped(), damping=damping.limits()))
        == "Solver(method=method.damped(), damping=damping.limits())"
    )


def test_a_damping_does_not_change():
    with pytest.raises(FrozenInstanceError):
        damping.limits().schemes = frozenset()
    with pytest.raises(FrozenInstanceError):
        ELBOW.region = 2.0


def test_only_dampings_merge():
    with pytest.raises(TypeError, match="unsupported operand"):
        damping.limits() | 0.1


# -- solvers ----------------------------------------------------------------------------------------------------


def test_a_number_stays_a_number_and_a_function_becomes_a_damping():
    assert Solver(method=method.damped(), damping=0.25).damping == 0.25
    assert Solver(method=method.damped(), damping=scheme).damping == damping.function(scheme)
    assert Solver(method=method.damped(), damping=scheme) == Solver(
        method=method.damped(), damping=damping.function(scheme)
    )
    assert Solver(method=method.damped(), damping=damping.limits()).damping == damping.limits()
    assert (
        repr(Solver(method=method.damped(), damping=scheme))
        == "Solver(method=method.damped(), damping=damping.function(scheme))"
    )


def test_bound_methods_that_are_equal_ask_the_same():
    class Arm:
        alpha = 0.5

        def scheme(self, q, e, J, dt):
            return self.alpha

    arm = Arm()
    assert damping.function(arm.scheme) == damping.function(arm.scheme)
    assert said(damping.function(arm.scheme) | damping.function(scheme))[0] == 0.5


def test_several_functions_are_told_apart():
    some = [lambda q, e, J, dt, a=a: (a, 1 - a) for a in (0.1, 0.4, 0.2)]
    values = [damping.function(each) for each in some]
    assert said(merged(*values)) == (0.4, pytest.approx(np.full(6, 0.6)))
    assert said(merged(*reversed(values))) == (0.4, pytest.approx(np.full(6, 0.6)))


def test_a_function_sees_all_joints_of_the_linkage():
    arm, shapes = models.panda(), []

    def look(q, e, J, dt):
        shapes.append((q.shape, e.shape, J.shape, dt))
        assert not J[:, 7].any()  # the finger
        return 0.0, np.ones(8)

    goal = Goal("panda_hand", position=[0.4, 0, 0.5])
    _, tick = planned(arm, [goal], look)
    tick(arm.rest, dt=0.01)
    assert shapes == [((8,), (3,), (3, 8), 0.01)]


def test_a_singularity_of_joints_that_move_no_goal_is_not_felt():
    arm = models.baxter()
    left, right = (Singularity.bend(f"{side}_e1", 1.6, region=1.0, joints=[f"{side}_e1"]) for side in ("left", "right"))
    goal = Goal("left_gripper", arm.frame(arm.rest, "left_gripper"))
    _, tick = planned(arm, [goal], damping.singularities(left, right))
    _, alpha, weights = tick(arm.rest)
    assert alpha == pytest.approx(1e-2)
    assert [arm.names[i] for i in np.flatnonzero(weights < 1)] == ["left_e1"]
    _, tick = planned(arm, [goal], damping.singularities(right))
    assert tick(arm.rest)[1] == 0


# -- memory -----------------------------------------------------------------------------------------------------


def test_a_memory_that_is_reset_is_as_new():
    solver = Solver(
        method=method.damped(),
        damping=damping.schinstock() | damping.kelmar_khosla() | damping.mayorga(as_printed=True),
    )
    plan = compilation.compiled(ARM, [GOAL], solver)
    memory = plan.memory()
    path = ARM.rest + np.linspace(0, 0.8, 60)[:, None]

    def run():
        return [np.concatenate([dq, [alpha], w]) for dq, alpha, w in (plan.tick(q, NUMBERS, DT, memory) for q in path)]

    first = np.array(run())
    assert not np.array_equal(first, run())
    memory.reset()
    assert np.array_equal(first, run())
    memory = plan.memory()
    assert np.array_equal(first, run())


def test_a_memory_is_for_the_schemes_it_was_made_for():
    plans = [
        compilation.compiled(ARM, [GOAL], Solver(method=method.damped(), damping=each))
        for each in (damping.limits(), damping.chan_lawrence())
    ]
    with pytest.raises(BadInput, match="this memory was made for other damping schemes or joints"):
        plans[0].tick(ARM.rest, NUMBERS, DT, plans[1].memory())


@pytest.mark.parametrize("dt", [0.0, -1.0, float("nan"), float("inf")])
def test_a_tick_takes_time(dt):
    plan = compilation.compiled(ARM, [GOAL], Solver(method=method.damped(), damping=damping.limits()))
    with pytest.raises(BadInput, match="dt must be a positive number of seconds"):
        plan.tick(ARM.rest, NUMBERS, dt, plan.memory())


def test_a_tick_refuses_what_is_not_finite():
    plan = compilation.compiled(ARM, [GOAL], Solver(method=method.damped(), damping=damping.limits()))
    for q, numbers in ((ARM.rest * np.nan, NUMBERS), (ARM.rest, NUMBERS * np.inf)):
        with pytest.raises(BadInput, match="q and goals of a tick must be finite"):
            plan.tick(q, numbers, DT, plan.memory())
    with pytest.raises(BadInput, match="row weights must be 6 positive numbers"):
        plan.tick(ARM.rest, NUMBERS, DT, plan.memory(), np.zeros(6))
    with pytest.raises(BadInput, match="row weights must have shape"):
        plan.tick(ARM.rest, NUMBERS, DT, plan.memory(), np.ones(5))


# -- what is refused --------------------------------------------------------------------------------------------

BALL = Linkage("ball", [Joint.ball("b", "base", "l"), Joint.prismatic("p", "l", "tip", at=Frame.at([0, 0, 1]))])
STRAIGHT = Linkage(
    "straight",
    [
        Joint.revolute("a", "base", "l1"),
        Joint.revolute("b", "l1", "l2", at=Frame.at([1, 0, 0])),
        Joint.revolute("c", "l2", "l3", at=Frame.at([1, 0, 0])),
        Joint.fixed("t", "l3", "tip", at=Frame.at([1, 0, 0])),
    ],
)


def solved(value, arm=ARM, link="tool", **options):
    return Solver(method=method.damped(), damping=value, **options).solve(arm, Goal(link, arm.frame(arm.rest, link)))


def stepped(value):
    return Solver(method=method.damped(), damping=value).step(ARM, GOAL, ARM.rest + 0.1)


REFUSED = {
    "alpha0 must be a number, not negative, or damping.condition_bound(...); got -1": lambda: damping.constant(-1),
    "condition_bound(...); got nan": lambda: damping.limits(float("nan")),
    "condition_bound(...); got 'much'": lambda: damping.singularities(alpha0="much"),
    "condition_bound(...); got True": lambda: damping.nakamura_hanafusa(True),
    "a condition number must be above 1, got 1": lambda: damping.condition_bound(1),
    "a condition number must be above 1, got 'bad'": lambda: damping.condition_bound("bad"),
    "chan_lawrence takes a number": lambda: damping.chan_lawrence(damping.condition_bound(10)),
    "below must be a positive number, got 0": lambda: damping.nakamura_hanafusa(below=0),
    "below must be above 0 and at most 1, got 1.5": lambda: damping.kelmar_khosla(below=1.5),
    "above must be a positive number, got -3": lambda: damping.mayorga(above=-3),
    "as_printed must be True or False, got 'yes'": lambda: damping.mayorga(as_printed="yes"),
    "region must be above 0 and at most 1, got 0": lambda: damping.singularities(region=0),
    "without names there is no printed form": lambda: damping.singularities(as_printed=True),
    "singularities takes damping.Singularity values, got 'elbow'": lambda: damping.singularities("elbow"),
    "region must be a positive number, got 0": lambda: damping.limits(region=0),
    "weight must be above 0 and at most 1, got 0": lambda: damping.limits(weight=0),
    "weight must lie between 0 and 1, got -0.1": lambda: damping.limits(weight=-0.1, as_printed=True),
    "rate must be a positive number, got inf": lambda: damping.limits(rate=float("inf")),
    "slide_region must be a positive number, got 0": lambda: damping.limits(slide_region=0),
    "tiny must be a number, not negative, got -1": lambda: damping.limits(tiny=-1),
    "a damping by function needs a function, got 3": lambda: damping.function(3),
    "a singularity by function needs a function, got 'd'": lambda: Singularity.function("d", region=1),
    "a singularity needs the name of a joint, got 3": lambda: Singularity.bend(3),
    "a singularity needs the name of a link, got ''": lambda: Singularity.off_axis("a", "", region=1),
    "a singularity is at one value of a joint, or several; got ()": lambda: Singularity.bend("a", ()),
    "or several; got 'straight'": lambda: Singularity.bend("a", "straight"),
    "or several; got nan": lambda: Singularity.sine("a", float("nan")),
    "point must be three finite numbers, got (0, 0)": lambda: Singularity.off_axis("a", "l", (0, 0), region=1),
    "radius must be a number, not negative, got -1": lambda: Singularity.off_axis("a", "l", radius=-1, region=1),
    "weight must lie between 0 and 1, got 2": lambda: Singularity.bend("a", weight=2),
    "damping must be a number, not negative, got 'much'": lambda: Solver(method=method.damped(), damping="much"),
    "damping must be a number, not negative, got True": lambda: Solver(method=method.damped(), damping=True),
    "method.transpose() takes no damping; write Solver(method=method.damped(), damping=damping.limits())": lambda: (
        Solver(method=method.transpose(), damping=damping.limits())
    ),
    "joint 'tool_mount' is fixed: it cannot be part of a singularity": lambda: solved(
        damping.singularities(Singularity.bend("tool_mount"))
    ),
    "joint 'b' is a ball joint: its bend is no single value": lambda: solved(
        damping.singularities(Singularity.bend("b")), BALL, "tip"
    ),
    "joint 'p' slides: it has no sine": lambda: solved(damping.singularities(Singularity.sine("p")), BALL, "tip"),
    "joint 'b' is a ball joint: it has no single axis": lambda: solved(
        damping.singularities(Singularity.off_axis("b", "tip", region=1)), BALL, "tip"
    ),
    "the linkage is singular at rest: give below=..., the manipulability where damping begins": lambda: solved(
        damping.nakamura_hanafusa(), STRAIGHT, "tip"
    ),
    "a damping by function must return alpha, or alpha and 6 joint weights, got 'x'": lambda: stepped(
        lambda q, e, J, dt: "x"
    ),
    "alpha must not be negative, got -1.0": lambda: stepped(lambda q, e, J, dt: -1),
    "or alpha and 6 joint weights, got nan": lambda: stepped(lambda q, e, J, dt: float("nan")),
    "6 joint weights between 0 and 1, got [1, 2]": lambda: stepped(lambda q, e, J, dt: (0.1, [1, 2])),
    "6 joint weights between 0 and 1, got 1.5": lambda: stepped(lambda q, e, J, dt: (0.1, 1.5)),
    "6 joint weights, got 'light'": lambda: stepped(lambda q, e, J, dt: (0.1, "light")),
    "a singularity by function must return a finite distance, got None": lambda: stepped(
        damping.singularities(Singularity.function(lambda q: None, region=1))
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_damp_is_refused_with_the_reason(reason):
    with pytest.raises(BadInput) as refused:
        REFUSED[reason]()
    assert reason in str(refused.value)


def test_unknown_names_are_refused_with_near_matches():
    with pytest.raises(UnknownName, match=r"no joint named 'elbo'; did you mean 'elbow'\?"):
        stepped(damping.singularities(Singularity.bend("elbo")))
    with pytest.raises(UnknownName, match=r"no joint named 'shulder'; did you mean 'shoulder'\?"):
        stepped(damping.singularities(Singularity.bend("elbow", joints=["shulder"])))
    with pytest.raises(UnknownName, match="no link named 'forarm'; did you mean 'forearm'"):
        stepped(damping.singularities(Singularity.off_axis("elbow", "forarm", region=1)))


def test_what_a_function_raises_passes():
    def broken(q, e, J, dt):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        stepped(broken)
    with pytest.raises(ZeroDivisionError, match="mine"):
        Solver(method=method.damped(), damping=broken).solve(ARM, Goal("tool", ARM.frame(ARM.rest + 0.1, "tool")))
    with pytest.raises(ZeroDivisionError, match="mine"):
        planned(ARM, [GOAL], broken)[1](ARM.rest)


def test_a_preference_and_a_scheme_by_function_are_both_asked():
    calls = []

    def wish(q):
        calls.append("wish")
        return 0 * q

    def damps(q, e, J, dt):
        calls.append("damp")
        return 0.1

    Solver(method=method.damped(), damping=damps, prefer=prefer.function(wish)).step(ARM, GOAL, ARM.rest + 0.1)
    assert calls == ["wish", "damp"]


def test_a_bare_condition_is_refused_what_it_cannot_use():
    for wrong, message in (
        ({"position": False, "orientation": False}, "condition needs position, orientation or both"),
        ({"alpha": -1}, "alpha must be a number, not negative, got -1"),
        ({"weight": float("nan")}, "weight must be a number, not negative, got nan"),
    ):
        with pytest.raises(BadInput, match=message):
            ARM.condition(ARM.rest, "tool", **wrong)
    with pytest.raises(UnknownName, match="no link named 'tol'"):
        ARM.condition(ARM.rest, "tol")
