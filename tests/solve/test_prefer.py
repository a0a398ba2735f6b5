"""Laws of preferences and methods as values: what they hold, how they add, how they print, what they refuse."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from supple import Frame, Goal, Joint, Linkage, Solver, method, models, prefer
from supple.errors import BadInput, UnknownName

ARM = models.planar3()
HERE = Goal("tip", position=ARM.frame(ARM.rest, "tip").position, weight=(1, 1, 0))


def step(preference, arm=ARM, goal=HERE, q=ARM.rest):
    """What a preference alone does, where there is nothing else to do."""
    return Solver(method=method.pseudoinverse(), prefer=preference, keep_limits=False).step(arm, goal, q) - q


def test_preferences_add_up_and_nothing_adds_nothing():
    both = prefer.rest([0, 0, 0]) + prefer.away([1, 2, 3], 0.3)
    assert [wish.kind for wish in both.terms] == [0, 1]
    assert prefer.nothing + both == both + prefer.nothing == both
    assert prefer.rest([0, 0, 0], 0.5) == prefer.rest(np.zeros(3), 0.5) != prefer.rest([0, 0, 0], 0.4)
    assert hash(prefer.centre(0.2)) == hash(prefer.centre(0.2))
    apart = step(prefer.rest([0, 0, 0])) + step(prefer.away([1, 1, 1], 0.3))
    assert step(prefer.rest([0, 0, 0]) + prefer.away([1, 1, 1], 0.3)) == pytest.approx(apart, abs=1e-14)
    assert step(prefer.nothing) == pytest.approx(np.zeros(3), abs=1e-14)


def test_a_preference_is_proportional_to_its_gain():
    assert step(prefer.rest([0, 0, 0], 0)) == pytest.approx(np.zeros(3), abs=1e-14)
    assert step(prefer.rest([0, 0, 0], 0.2)) == pytest.approx(2 * step(prefer.rest([0, 0, 0], 0.1)), abs=1e-14)
    assert np.abs(step(prefer.rest([0, 0, 0], 0.2))).max() > 1e-3
    one, each = prefer.rest([0, 0, 0], 0.2), prefer.rest([0, 0, 0], [0.2, 0.2, 0.2])
    assert np.array_equal(step(one), step(each))


def test_away_is_felt_near_and_not_far():
    q = ARM.rest
    near, far = step(prefer.away(q + 0.1, 1)), step(prefer.away(q + 50.0, 1))
    assert np.linalg.norm(near) > 1e-3
    assert np.linalg.norm(far) < 1e-12
    assert near @ (-0.1 * np.ones(3)) > 0  # away is away
    assert np.abs(step(prefer.away(q, 1))).max() < 1e-12  # just there, no way is better


def test_centre_leaves_joints_without_two_limits_alone():
    arm = Linkage(
        "arm",
        [
            Joint.revolute("a", "base", "l1", lower=-1, upper=2),
            Joint.revolute("b", "l1", "l2", at=Frame.at([1, 0, 0]), lower=-1),
            Joint.revolute("c", "l2", "l3", at=Frame.at([1, 0, 0])),
            Joint.prismatic("d", "l3", "l4", axis=[1, 0, 0], lower=0, upper=1),
            Joint.fixed("t", "l4", "tip", at=Frame.at([1, 0, 0])),
        ],
    )
    q, values = np.array([0.3, 0.4, 0.5, 0.1]), [0.5, 7.0, 8.0, 0.5]
    goal = Goal("tip", position=arm.frame(q, "tip").position)
    wanted = step(prefer.rest(values, [0.3, 0, 0, 0.3]), arm, goal, q)
    assert np.array_equal(step(prefer.centre(0.3), arm, goal, q), wanted)
    assert np.abs(wanted).max() > 1e-3


def test_a_ball_rests_by_the_shortest_turn():
    arm = Linkage("arm", [Joint.ball("b", "base", "l"), Joint.fixed("t", "l", "tip", at=Frame.at([0, 0, 1]))])
    q, values = np.array([0.1, 0.2, 3.0]), [0.1, 0.2, -3.0]
    goal = Goal("tip", position=arm.frame(q, "tip").position)
    solver = Solver(method=method.pseudoinverse(), prefer=prefer.rest(values, 1), keep_limits=False)
    near = np.linalg.norm(arm.difference(solver.step(arm, goal, q), values))
    assert near < np.linalg.norm(arm.difference(q, values)) < 1


def test_dexterity_leads_uphill():
    for seed in range(20):
        q = ARM.random(seed=seed)
        goal = Goal("tip", position=ARM.frame(q, "tip").position, weight=(1, 1, 0))
        moved = q + 0.01 * step(prefer.dexterity(1e-3), goal=goal, q=q)

        def freedom(q):
            J = ARM.jacobian(q, "tip")[:2]
            return np.sqrt(np.linalg.det(J @ J.T))

        assert freedom(moved) >= freedom(q) * (1 - 1e-9)


def test_preferences_print_as_the_calls_that_build_them():
    for preference in (
        prefer.rest([0, 1 / 3, -2.5], 0.25),
        prefer.rest([0, 1, 2], [0.1, 1e-9, 1 / 7]),
        prefer.centre(),
        prefer.away([1, 2, 3], 0.1, 0.7),
        prefer.dexterity(1e-3),
        prefer.rest([0, 0, 0]) + prefer.centre([0.1, 0.2, 0.3]) + prefer.away([1, 2, 3]),
        prefer.nothing,
    ):
        assert eval(repr(preference)) == preference
        assert pickle.loads(pickle.dumps(preference)) == preference
    assert repr(prefer.function(np.negative)) == "prefer.function(negative)"


REFUSED = {
    "gain must be one number or one for each joint, finite and not negative; got -1": lambda: prefer.rest([0], -1),
    "not negative; got [0.1, -0.1, 0]": lambda: prefer.centre([0.1, -0.1, 0]),
    "not negative; got nan": lambda: prefer.dexterity(float("nan")),
    "not negative; got inf": lambda: prefer.away([0, 0, 0], float("inf")),
    "not negative; got 'stiff'": lambda: prefer.centre("stiff"),
    "gain must be one number or one for each joint": lambda: prefer.centre([[0.1]]),
    "joint values must be finite, of shape (dof,), got [0, nan, 0]": lambda: prefer.rest([0, float("nan"), 0]),
    "joint values must be finite, of shape (dof,), got 3": lambda: prefer.rest(3),
    "joint values must be finite, of shape (dof,), got 'home'": lambda: prefer.away("home"),
    "width must be a positive number, got 0": lambda: prefer.away([0, 0, 0], width=0),
    "width must be a positive number, got 'wide'": lambda: prefer.away([0, 0, 0], width="wide"),
    "a preference by function needs a function, got 3": lambda: prefer.function(3),
    "a preference for joint values needs 3 of them, got 2": lambda: step(prefer.rest([0, 0])),
    "a preference needs one gain or 3, got 4": lambda: step(prefer.rest([0, 0, 0], [1, 1, 1, 1])),
    "needs one gain or 3, got 2": lambda: step(prefer.centre([1, 1])),
    "method.transpose() takes no preference; these methods do: search, pseudoinverse, damped": lambda: Solver(
        method=method.transpose(), prefer=prefer.centre()
    ),
    "method.coordinate_descent() takes no preference": lambda: Solver(
        method=method.coordinate_descent(), prefer=prefer.centre()
    ),
    "scale must be a positive number, got -1": lambda: method.transpose(-1),
    "scale must be a positive number, got nan": lambda: method.transpose(float("nan")),
    "scale must be a positive number, got 'big'": lambda: method.transpose("big"),
    "rank must be a method.Rank, got 2": lambda: method.coordinate_descent(2),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_preferred_is_refused_with_the_reason(reason):
    with pytest.raises(BadInput) as refused:
        REFUSED[reason]()
    assert reason in str(refused.value)


def test_only_preferences_add():
    with pytest.raises(TypeError, match="unsupported operand"):
        prefer.centre() + 1


# -- methods ----------------------------------------------------------------------------------------------------


def test_every_method_is_known_by_name_and_prints_as_the_call_that_builds_it():
    assert method.names() == (
        *("search", "inverse", "pseudoinverse", "damped", "alternative_jacobian"),
        *("transpose", "coordinate_descent", "selectively_damped"),
    )
    for name in method.names():
        assert method.get(name).name == name
        assert repr(method.get(name)) == f"method.{name}()"
    ranks = [method.coordinate_descent(rank) for rank in method.Rank]
    for each in (*map(method.get, method.names()), method.transpose(1 / 3), *ranks):
        assert eval(repr(each)) == each
        assert pickle.loads(pickle.dumps(each)) == each
    assert (
        len(
            {method.damped(), method.damped(), method.alternative_jacobian(), method.transpose(), method.transpose(0.1)}
        )
        == 4
    )


def test_a_method_does_not_change():
    with pytest.raises(FrozenInstanceError):
        method.damped().name = "other"


def test_an_unknown_method_is_refused_with_near_matches():
    with pytest.raises(UnknownName, match=r"no method named 'dampd'; did you mean 'damped'\?"):
        method.get("dampd")
    with pytest.raises(UnknownName, match="known: 'search', 'inverse', 'pseudoinverse'"):
        method.get("zzz")
