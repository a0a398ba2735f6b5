"""Laws of Solver and Solution as values: how they print, compare and are kept, and what a solver refuses."""

import copy
import hashlib
import pickle
from dataclasses import replace

import numpy as np
import pytest

from supple import Frame, Goal, Outcome, Solver, Tolerance, method, models, prefer, solve
from supple.errors import BadInput, UnknownName

ARM = models.planar3()
PANDA, HAND = models.panda(), "panda_hand_tcp"


def flat(x, y):
    return Goal("tip", position=[x, y, 0], weight=(1, 1, 0))


def reachable(arm, link, count, seed=0):
    return arm.frame(arm.random(count, seed=seed), link)


# -- solutions and solvers as values ----------------------------------------------------------------------------


def test_some_of_many_solutions_are_a_solution():
    position = np.append(reachable(ARM, "tip", 11).position, [[50, 0, 0]], axis=0).reshape(3, 4, 3)
    found = solve(ARM, Goal("tip", position=position, weight=(1, 1, 0)))
    assert len(found) == 3
    for index in (0, (1, 2), slice(1), (slice(None), 1), (..., 3), np.array([2, 0]), found.arrived, -1, (None, 0)):
        some = found[index]
        shape = np.empty((3, 4))[index].shape
        assert some.q.shape == (*shape, 3)
        assert some.error.shape == (*shape, 1, 6)
        assert np.array_equal(some.iterations, found.iterations[index])
        assert some.goals[0].position.shape == (*shape, 3)
        there = some.goals[0].position - ARM.frame(some.q, "tip").position
        assert some.error[..., 0, :3] == pytest.approx(there * [1, 1, 0], abs=1e-12)
    assert found[2, 3].outcome is Outcome.STUCK
    assert found[2, 3].why.startswith("tip is out of reach by 20 m along ")
    for wrong in ((0, 0, 0), 3, (0, 4), "x", 2**70):
        with pytest.raises(IndexError, match=r"there are solutions of shape \(3, 4\)"):
            found[wrong]
    with pytest.raises(IndexError, match=r"there are 4 solutions: \[4\]"):
        found[0][4]
    assert len(list(found[0])) == 4
    with pytest.raises(IndexError, match="a single solution cannot be indexed"):
        found[0, 0][0]
    with pytest.raises(TypeError, match="a single solution has no length"):
        len(found[0, 0])
    with pytest.raises(ValueError, match=r"use found\[i\]\.why"):
        _ = found.why


def test_a_solution_is_a_sentence():
    found = solve(ARM, flat(10, 12))
    assert str(found) == f"arrived after {found.iterations} iterations, tip within tolerance"
    assert found.why == ""
    assert repr(found) == f"<Solution: {found}>"
    far = solve(PANDA, Goal(HAND, Frame.at([3, 0, 0]) @ PANDA.frame(PANDA.rest, HAND)))
    assert f"{HAND} 2." in str(far)
    assert " away: " in str(far)
    assert "after 1 iteration," in str(solve(ARM, flat(50, 0), max_iterations=1, method=method.damped()))
    many = solve(ARM, Goal("tip", position=[[10, 12, 0], [50, 0, 0]]))
    assert str(many).startswith("2 solves: 1 arrived, 1 stuck; ")


def test_solutions_are_compared_by_who_they_are_and_can_be_kept():
    found, again = solve(ARM, flat(10, 12)), solve(ARM, flat(10, 12))
    assert found in [found]
    assert found != again
    assert len({found, again}) == 2
    kept = pickle.loads(pickle.dumps(found))
    assert np.array_equal(kept.q, found.q)
    assert str(kept) == str(found)


SOLVERS = [
    Solver(),
    Solver(method=method.transpose(1 / 3), max_iterations=7, max_step=0.3),
    Solver(method=method.coordinate_descent(method.Rank.MOST_ROOM), halvings=3, keep_limits=False),
    Solver(
        method=method.damped(),
        damping=0.1 + 0.2,
        prefer=prefer.rest([0, 1 / 3, 2]) + prefer.centre([0.1, 0.2, 0.3]),
        patience=3,
    ),
    Solver(method=method.damped(), tolerance=Tolerance(1e-3, 1e-2), step_scale=0.5, limit_escapes=0),
    Solver(joint_weights=[1, 0.5, 0], timeout=50e-6),
    Solver(joint_weights={"joint2": 0, "joint1": 1 / 3}, max_iterations=500),
]


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solver_prints_as_the_call_that_builds_it_and_is_a_value(solver):
    assert eval(repr(solver)) == solver
    for other in (pickle.loads(pickle.dumps(solver)), copy.deepcopy(solver), replace(solver)):
        assert other == solver
        assert hash(other) == hash(solver)
    assert replace(solver, max_iterations=99) != solver
    with pytest.raises(AttributeError):
        solver.max_iterations = 3


def test_solve_takes_the_options_of_a_solver():
    assert repr(Solver()) == "Solver()"
    goal = flat(-20, 5)
    options = {"method": method.selectively_damped(), "max_iterations": 4, "max_step": 0.2}
    assert np.array_equal(solve(ARM, goal, **options).q, Solver(**options).solve(ARM, goal).q)
    with pytest.raises(TypeError, match="'iteration'"):
        solve(ARM, goal, iteration=4)


def test_the_same_call_gives_the_same_bits():
    goal = Goal(HAND, reachable(PANDA, HAND, 50))
    said = {hashlib.sha256(solve(PANDA, goal).q.tobytes()).hexdigest() for _ in range(3)}
    assert len(said) == 1


def test_plans_do_not_fill_the_memory():
    for i in range(200):
        solve(ARM, Goal("tip", position=[10, 10, 0], weight=1 + i), max_iterations=1)
    assert len(ARM.__dict__["_plans"]) <= 65


# -- refusals ---------------------------------------------------------------------------------------------------

REFUSED = {
    "no joint moves any of the links of the goals": lambda: solve(ARM, Goal("base", position=[1, 2, 3])),
    "at least one goal is needed": lambda: solve(ARM, []),
    "goals must be Goal values, not the name of a link; write Goal('tip', frame)": lambda: solve(ARM, "tip"),
    "goals must be a Goal or several, got None": lambda: solve(ARM, None),
    "linkage must be a Linkage, got 'panda'": lambda: solve("panda", flat(1, 2)),
    "start must have shape (..., 3), not (2,)": lambda: solve(ARM, flat(1, 2), [1, 2]),
    "not (4, 4); a goal's frame belongs to the goal: write Goal(link, frame)": lambda: solve(
        ARM, flat(1, 2), np.eye(4)
    ),
    "start must have shape (..., 3), not ()": lambda: solve(ARM, flat(1, 2), 1.0),
    "start must be numbers of shape (..., 3)": lambda: solve(ARM, flat(1, 2), "rest"),
    "start must be finite": lambda: solve(ARM, flat(1, 2), [1, np.nan, 2]),
    "goals and start have leading axes (5,) and (4,), which do not broadcast": lambda: solve(
        ARM, Goal("tip", position=np.ones((5, 3))), np.ones((4, 3))
    ),
    "have leading axes (5,) and (4,), which": lambda: solve(
        ARM, [Goal("tip", position=np.ones((5, 3))), Goal("link2", position=np.ones((4, 3)))]
    ),
    "needs a square Jacobian, but the goals have 2 rows and 3 joint values move them; use method.pseudoinverse()": (
        lambda: solve(ARM, flat(1, 2), method=method.inverse())
    ),
    "goals have 6 rows and 7 joint values": lambda: solve(PANDA, Goal(HAND, Frame()), method=method.inverse()),
    "method must be a value of supple.method, such as method.damped(), got 3": lambda: Solver(method=3),
    "method must be a value of supple.method; write method.damped()": lambda: Solver(method="damped"),
    "method must be a value of supple.method; write method.pseudoinverse()": lambda: Solver(method="pinv"),
    "prefer must be a value of supple.prefer, such as prefer.centre(), got 0.1": lambda: Solver(prefer=0.1),
    "damping must be a number, not negative, got -1": lambda: Solver(damping=-1),
    "damping must be a number, not negative, got nan": lambda: Solver(damping=float("nan")),
    "damping must be a number, not negative, got 'much'": lambda: solve(ARM, flat(1, 2), damping="much"),
    "max_step must be positive, got 0": lambda: Solver(max_step=0),
    "max_step must be positive, got 'long'": lambda: Solver(max_step="long"),
    "step_scale must be above 0 and at most 1, got 1.5": lambda: Solver(step_scale=1.5),
    "step_scale must be above 0 and at most 1, got None": lambda: Solver(step_scale=None),
    "max_iterations must be a whole number of at least 0, got -1": lambda: Solver(max_iterations=-1),
    "max_iterations must be a whole number of at least 0, got 2.5": lambda: Solver(max_iterations=2.5),
    "halvings must be a whole number of at least 0, got True": lambda: Solver(halvings=True),
    "limit_escapes must be a whole number of at least 0, got -3": lambda: Solver(limit_escapes=-3),
    "patience must be a whole number of at least 1, got 0": lambda: Solver(patience=0),
    "keep_limits must be True or False, got 'no'": lambda: Solver(keep_limits="no"),
    "tolerance must be a Tolerance, such as Tolerance(position=1e-3), got 0.001": lambda: Solver(tolerance=1e-3),
    "tolerance: position must be positive, got 0": lambda: Tolerance(0),
    "tolerance: angle must be positive, got 'small'": lambda: Tolerance(1e-3, "small"),
    "a single step takes single goals": lambda: Solver().step(ARM, Goal("tip", position=np.ones((2, 3))), ARM.rest),
    "a single step takes one q of shape (3,), not (2, 3)": lambda: Solver().step(ARM, flat(1, 2), np.ones((2, 3))),
    "the Jacobian is singular at this q, so method.inverse() has no step; use method.damped()": lambda: Solver(
        method=method.inverse()
    ).step(models.planar2(), flat(1, 2), [0, 0]),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_solved_is_refused_with_the_reason(reason):
    with pytest.raises(BadInput) as refused:
        REFUSED[reason]()
    assert reason in str(refused.value)


def test_an_unknown_link_is_refused_with_near_matches():
    with pytest.raises(UnknownName, match=r"no link named 'tpi'; did you mean 'tip'\?"):
        solve(ARM, Goal("tpi", position=[1, 2, 3]))
    with pytest.raises(UnknownName, match="did you mean 'panda_hand_tcp'"):
        Solver().step(PANDA, Goal("panda_hand_tpc", position=[1, 2, 3]), PANDA.rest)


def test_the_inverse_stops_where_it_has_no_step():
    found = solve(models.planar2(), flat(5, 5), [0, 0], method=method.inverse())
    assert found.outcome is Outcome.STUCK
    assert found.iterations == 0
    assert np.array_equal(found.q, [0, 0])
    assert solve(models.planar2(), flat(5, 10), [0.1, 0.5], method=method.inverse()).arrived
