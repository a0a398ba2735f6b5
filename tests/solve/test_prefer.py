"""Laws of preferences and methods as values: what they hold, how they add, how they print, what they refuse."""

import json
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import supple
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
        prefer.elbow("link2"),
        prefer.elbow("link2", [1, 2, -3], [0.1, 0.2, 0.3]),
        prefer.elbow("link2", gain=1 / 3, point=[0.1, 0, -1e-9]),
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
    "link must be the name of a link, got 3": lambda: prefer.elbow(3),
    "link must be the name of a link, got ''": lambda: prefer.elbow(""),
    "direction must be three finite numbers, got [0, 1]": lambda: prefer.elbow("link2", [0, 1]),
    "direction must be three finite numbers, got 'up'": lambda: prefer.elbow("link2", "up"),
    "direction must not be zero, got [0.0, 0.0, 0.0]": lambda: prefer.elbow("link2", [0, 0, 0]),
    "point must be three finite numbers, got [0, 0, inf]": lambda: prefer.elbow("link2", point=[0, 0, float("inf")]),
    "an elbow prefers a direction or a point, not both": lambda: prefer.elbow("link2", [0, 0, 1], point=[0, 0, 1]),
    "not negative; got -2": lambda: prefer.elbow("link2", gain=-2),
    "the preference for link 'base' has no effect: no joint moves this link": lambda: step(prefer.elbow("base")),
    "the preference for link 'right_gripper' needs a joint that moves no goal": lambda: supple.solve(
        models.baxter(),
        Goal("left_gripper", models.baxter().frame(models.baxter().rest, "left_gripper")),
        prefer=prefer.elbow("right_gripper"),
    ),
    "no field of prefer.elbow_point may be null": lambda: prefer.Preference.from_dict(
        {"terms": [{"term": "elbow_point", "link": "link2", "point": None, "gain": [0.1]}]}
    ),
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


# -- elbows -----------------------------------------------------------------------------------------------------


PANDA, HAND, ELBOW = models.panda(), "panda_hand_tcp", "panda_link4"


def places(found):
    return PANDA.frame(found.q, ELBOW).position


@pytest.mark.parametrize("direction", [[0, 0, 1], [0, 0, -1], [0, 1, 0], [-1, 0, 1]])
def test_an_elbow_goes_far_along_its_direction_and_the_goals_stay_met(direction):
    goal = Goal(HAND, PANDA.frame(PANDA.random(200, seed=4), HAND))
    without = supple.solve(PANDA, goal)
    found = supple.solve(PANDA, goal, prefer=prefer.elbow(ELBOW, direction, 0.5))
    assert found.arrived.all()
    assert PANDA.inside(found.q).all()
    ahead = (places(found) - places(without)) @ (np.array(direction) / np.linalg.norm(direction))
    inside = np.minimum(without.q - PANDA.lower, PANDA.upper - without.q).min(axis=1) > 1e-3
    assert inside.sum() > 100
    assert ahead[inside].min() > -1e-6
    assert ahead.min() > -5e-3  # from a joint limit the first step may be turned aside
    assert ahead.mean() > 0.01


def test_a_point_far_away_acts_as_its_direction():
    q = PANDA.random(seed=3)
    goal = Goal(HAND, position=PANDA.frame(q, HAND).position)
    near, far = (step(prefer.elbow(ELBOW, point=[0, size, 0]), PANDA, goal, q) for size in (1e6, 1e12))
    along = step(prefer.elbow(ELBOW, [0, 1, 0]), PANDA, goal, q)
    assert np.abs(along).max() > 1e-3
    assert np.abs(near - along).max() < 1e-6
    assert np.abs(far - along).max() < 1e-11


def test_an_elbow_comes_to_a_point_that_the_goals_allow():
    rng = np.random.default_rng(0)
    arrived = 0
    for _ in range(20):
        there = PANDA.rest + rng.uniform(-0.3, 0.3, PANDA.dof) * (PANDA.upper - PANDA.lower) / 8
        goal = Goal(HAND, PANDA.frame(there, HAND))
        wish = prefer.elbow(ELBOW, gain=1.0, point=PANDA.frame(there, ELBOW).position)
        found = supple.solve(PANDA, goal, start=PANDA.rest, prefer=wish)
        assert found.arrived
        arrived += np.linalg.norm(places(found) - PANDA.frame(there, ELBOW).position) < 1e-3
    assert arrived >= 18


def test_an_elbow_works_with_many_threads_and_one_by_one():
    frames = PANDA.frame(PANDA.random(300, seed=5), HAND)
    solver = Solver(prefer=prefer.elbow(ELBOW) + prefer.centre(0.01))
    many = solver.solve(PANDA, Goal(HAND, frames), start=PANDA.rest).q
    for i in range(0, 300, 50):
        one = solver.solve(PANDA, Goal(HAND, frames[i]), start=PANDA.rest).q
        assert np.array_equal(PANDA.frame(one, HAND).position.round(4), frames[i].position.round(4))
        assert abs(PANDA.frame(one, ELBOW).position[2] - PANDA.frame(many[i], ELBOW).position[2]) < 1e-4


def test_a_tracker_by_a_method_takes_an_elbow():
    solver = Solver(method=method.damped(), prefer=prefer.elbow(ELBOW, [0, 1, 0], 0.02))
    tracker = solver.track(PANDA, HAND, start=PANDA.rest)
    command = PANDA.frame(PANDA.rest, HAND)
    for _ in range(400):
        step = tracker.step(command, 0.01)
    assert np.linalg.norm(PANDA.frame(step.q, HAND).position - command.position) < 1e-3
    assert PANDA.frame(step.q, ELBOW).position[1] > PANDA.frame(PANDA.rest, ELBOW).position[1] + 0.1


def test_an_elbow_of_an_unknown_link_is_refused_with_near_ones():
    with pytest.raises(UnknownName, match="no link named 'panda_link44'; did you mean 'panda_link4'"):
        supple.solve(PANDA, Goal(HAND, PANDA.frame(PANDA.rest, HAND)), prefer=prefer.elbow("panda_link44"))


def test_a_direction_may_have_any_length():
    up = prefer.elbow(ELBOW, [0, 0, 1])
    for size in (1e-320, 1e-200, 3.0, 1e308):
        assert prefer.elbow(ELBOW, [0, 0, size]) == up
    (term,) = prefer.elbow(ELBOW, [1e308, 1e308, 1e308]).terms
    assert np.linalg.norm(term.wanted) == pytest.approx(1, abs=1e-15)


def test_elbows_are_plain_data():
    for wish in (prefer.elbow(ELBOW), prefer.elbow(ELBOW, [1, 2, 3], [0.1, 0.2]), prefer.elbow(ELBOW, point=[1, 2, 3])):
        assert prefer.Preference.from_dict(json.loads(json.dumps(wish.to_dict()))) == wish
        solver = Solver(prefer=wish + prefer.centre())
        assert Solver.from_dict(json.loads(json.dumps(solver.to_dict()))) == solver


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
