"""First mistakes with `solve`: each is answered with the line to write."""

import numpy as np
import pytest

import supple
from supple import (
    BadInput,
    Frame,
    Goal,
    GoalPath,
    Motion,
    Outcome,
    Solver,
    UnknownName,
    damping,
    method,
    models,
    prefer,
    solve,
    solve_path,
    view,
)

PANDA = models.panda()
TIP = "panda_hand_tcp"
FRAME = PANDA.frame(PANDA.rest, TIP)
TIPS = "The tips of 'panda' are 'panda_hand_tcp', 'panda_leftfinger', 'panda_rightfinger'"


@pytest.mark.parametrize(
    "frame", [FRAME, FRAME.matrix, [FRAME], np.stack([FRAME.matrix] * 3)], ids=lambda x: str(type(x))
)
def test_a_frame_without_a_link_is_answered_with_a_goal(frame):
    for call in (solve, Solver().solve, lambda *arguments: Solver().step(*arguments, PANDA.rest)):
        with pytest.raises(BadInput) as refused:
            call(PANDA, frame)
        assert str(refused.value) == f"a goal names a link and its frame; write Goal('{TIP}', frame). {TIPS}"
    assert solve(PANDA, Goal(TIP, FRAME))


def test_the_name_of_a_link_is_answered_with_a_goal():
    for goals in (TIP, [TIP]):
        with pytest.raises(BadInput) as refused:
            solve(PANDA, goals)
        said = f"goals must be Goal values, not the name of a link; write Goal('{TIP}', frame)"
        assert str(refused.value) == said
    with pytest.raises(BadInput) as refused:
        solve(PANDA, "hand")
    assert str(refused.value) == f"goals must be Goal values, got 'hand'; write Goal('{TIP}', frame). {TIPS}"


def test_a_solution_is_true_if_it_arrived():
    found, missed = solve(PANDA, Goal(TIP, FRAME)), solve(PANDA, Goal(TIP, position=[9, 9, 9]))
    assert found
    assert not missed
    assert bool(found) is True
    assert bool(missed) is False
    assert missed.outcome is Outcome.STUCK
    assert bool(supple.solve_path(PANDA, Goal(TIP, np.stack([FRAME.matrix] * 2))))


def test_many_solutions_are_neither_true_nor_false():
    many = solve(PANDA, Goal(TIP, np.stack([FRAME.matrix] * 2)))
    with pytest.raises(ValueError, match=r"use found\.arrived\.all\(\)"):
        assert many
    with pytest.raises(ValueError, match=r"use found\.outcomes, or found\[i\]\.outcome"):
        _ = many.outcome
    assert many.arrived.all()
    assert many[0]


def test_arrived_has_the_methods_of_an_array_for_one_and_for_many():
    one, many = solve(PANDA, Goal(TIP, FRAME)), solve(PANDA, Goal(TIP, np.stack([FRAME.matrix] * 2)))
    for found, shape in ((one, ()), (many, (2,))):
        assert found.arrived.dtype == bool
        assert found.arrived.shape == found.outcomes.shape == shape
        assert found.arrived.all()
        assert found.arrived.mean() == 1


@pytest.mark.parametrize("given", [{}, {"method": method.search()}], ids=["default", "explicit"])
@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"damping": 1e-2}, "damping=0.01"),
        ({"damping": damping.limits()}, "damping=damping.limits()"),
        ({"limit_escapes": 2}, "limit_escapes=2"),
        ({"patience": 3, "halvings": 1}, "halvings=1, patience=3"),
        ({"step_scale": 0.5}, "step_scale=0.5"),
    ],
)
def test_the_search_refuses_options_of_other_methods_with_the_line_to_write(given, options, line):
    first = line.split("=")[0]
    for make in (Solver, lambda **more: solve(PANDA, Goal(TIP, FRAME), **more)):
        with pytest.raises(BadInput) as refused:
            make(**given, **options)
        assert str(refused.value) == f"method.search() takes no {first}; write Solver(method=method.damped(), {line})"
    assert Solver(method=method.damped(), **options).method == method.damped()


def test_an_option_at_its_default_is_no_mistake():
    assert Solver(limit_escapes=3, patience=15, damping=None) == Solver()


GOAL = Goal(TIP, FRAME)
PATH = GoalPath.line([0, 0, 0], [1, 0, 0])
OWN = "Its own options are start, solutions, out, progress"
MISTAKES = {
    "q0": (lambda: solve(PANDA, GOAL, q0=1), f"write start=... for the joint values to start from. {OWN}"),
    "seed": (lambda: solve(PANDA, GOAL, seed=1), OWN),
    "solver": (lambda: solve(PANDA, GOAL, solver=Solver()), "write solver.solve(arm, goal)"),
    "option of the solver, path": (lambda: solve_path(PANDA, GOAL, max_iterations=3), "solver=Solver(max_iterations="),
    "option of the solver": (lambda: Solver().solve(PANDA, GOAL, timeout=1), "write Solver(timeout=...).solve(...)"),
    "option of the tracker": (lambda: Solver().track(PANDA, TIP, accel=3), "did you mean acceleration?"),
    "goal first": (lambda: solve(GOAL, PANDA), "the linkage comes first: solve(linkage, goals)"),
    "a name": (lambda: solve("panda", GOAL), "write supple.models.panda()"),
    "a function": (lambda: solve(models.panda, GOAL), "write models.panda()"),
    "a name to view": (lambda: view.serve("panda"), "write supple.models.panda()"),
    "a name to compile": (lambda: Solver().compile("panda", TIP), "write supple.models.panda()"),
    "a name for the workspace": (lambda: supple.reachable("panda", TIP), "write supple.models.panda()"),
    "a method not called": (lambda: Solver(method=method.damped), "write method.damped()"),
    "a preference not called": (lambda: Solver(prefer=prefer.centre), "write prefer.centre()"),
    "a path": (lambda: solve_path(PANDA, PATH), f"path.goal('{TIP}', 101)"),
    "frames first": (lambda: PATH.goal(20, "tip"), "the link comes first: write path.goal('tip', 20)"),
    "frame first": (lambda: Goal(FRAME, "hand"), "the link comes first: write Goal('hand', frame)"),
    "position": (lambda: Goal(TIP, [0.1, 0, 0.2]), f"for a position write Goal('{TIP}', position=[...])"),
    "tolerance": (lambda: Solver(tol=1), "did you mean tolerance?"),
    "pos": (lambda: Goal(TIP, pos=[1, 2, 3]), "did you mean position?"),
    "words in another order": (lambda: Goal(TIP, FRAME, slack_turn=1), "did you mean turn_slack or slack?"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_answered_with_what_to_write(what):
    call, said = MISTAKES[what]
    with pytest.raises(BadInput) as refused:
        call()
    assert said in str(refused.value)


@pytest.mark.parametrize("name", ["inverse", "pseudoinverse", "transpose", "coordinate_descent", "selectively_damped"])
def test_damping_is_refused_by_methods_that_do_not_damp(name):
    with pytest.raises(BadInput) as refused:
        Solver(method=method.get(name), damping=1e-2)
    assert str(refused.value) == f"method.{name}() takes no damping; write Solver(method=method.damped(), damping=0.01)"


def test_a_solve_that_was_stopped_says_so():
    goal = Goal(TIP, PANDA.frame(PANDA.random(seed=3), TIP))
    found = Solver(method=method.damped(), max_iterations=2).solve(PANDA, goal)
    assert found.outcome is Outcome.OUT_OF_BUDGET
    assert found.why == "stopped after 2 iterations; it can be reached"


def test_an_error_within_tolerance_is_not_a_number_in_the_text():
    found = solve(PANDA, GOAL)
    assert str(found).endswith(f", {TIP} within tolerance")
    assert found.distance[0] < found.solver.tolerance.position


def test_a_ragged_command_is_named():
    arm = models.ur5()
    with pytest.raises(BadInput, match="goal must be numbers"):
        Solver().track(arm, "tool0").step([[1], [2, 3]], 0.01)


OTHER_LIBRARIES = {
    "method.pinv": (lambda: method.pinv(), "did you mean pseudoinverse?"),
    "method.DLS": (lambda: method.DLS(), "did you mean damped?"),
    "method.get": (lambda: method.get("ccd"), "it is 'coordinate_descent' here"),
    "damped(25)": (lambda: method.damped(25), "belong to the solver: Solver(method=method.damped(), damping=...)"),
    "inverse(tol=)": (lambda: method.inverse(max_step=1), "Solver(method=method.inverse(), max_step=...)"),
    "damping.mayorga": (lambda: Solver(method=method.damped(), damping=damping.mayorga), "damping.mayorga()"),
    "found.success": (lambda: solve(PANDA, Goal(TIP, FRAME)).success, "did you mean arrived?"),
    "Frame(p, r)": (lambda: Frame([0, 0, 1], [1, 0, 0, 0]), "Frame.at(position, Frame.quaternion("),
    "Frame.quaternion(r, p)": (lambda: Frame.quaternion([1, 0, 0, 0], [0, 0, 1]), "Frame.at(position, "),
    "seven numbers": (lambda: Goal(TIP, np.zeros((5, 7))), "not (5, 7); with a position and a quaternion write"),
    "sixteen numbers": (lambda: Goal(TIP, np.zeros((5, 16))), "write array.reshape(*array.shape[:-1], 4, 4)"),
    "quaternion=": (lambda: Goal(TIP, position=[0, 0, 1], quaternion=[1, 0, 0, 0]), "orientation=Frame.quaternion("),
    "Motion.load(fps=)": (lambda: Motion.load("walk.bvh", fps=30), "load has no option 'fps'"),
}


@pytest.mark.parametrize("what", OTHER_LIBRARIES)
def test_words_of_other_libraries_are_answered_with_what_to_write(what):
    call, said = OTHER_LIBRARIES[what]
    with pytest.raises((BadInput, UnknownName, AttributeError)) as refused:
        call()
    assert said in str(refused.value)
