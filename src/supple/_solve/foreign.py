"""Solves of goals that are arrays of another library: results are arrays of the same library, where the goals are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from supple import _check
from supple._arrays.given import Given, given
from supple._arrays.result import exchanged
from supple._arrays.solve import given_to_solve
from supple._solve import margins
from supple.errors import BadInput, Interrupted
from supple.frame import Array
from supple.goal import Goal, with_numbers
from supple.linkage import Linkage
from supple.solution import Solution

if TYPE_CHECKING:
    from supple._solve.compiled_solver import CompiledSolver
    from supple.solver import Solver

Solve = Callable[[list[Goal], Any], Solution]


def solve(
    solver: Solver, linkage: Linkage, goals: Sequence[Goal], start: Any, solutions: int | None, run: Solve
) -> Solution:
    """The solution for goals and a start some of which are foreign arrays; ``run`` solves for NumPy arrays."""
    arrays = given_to_solve(goals, {"start": start})
    if arrays is None:
        raise BadInput("goals and start must be numbers")
    if arrays.is_on_gpu:
        from supple._solve import on_gpu

        return on_gpu.solve(solver, linkage, goals, start, solutions, arrays)
    try:
        found = run(own_goals(goals), arrays.host(start))
    except Interrupted as stopped:
        raise Interrupted(in_arrays(stopped.found, arrays)) from None
    return in_arrays(found, arrays)


def own_goals(goals: Sequence[Goal]) -> list[Goal]:
    """The same goals, with NumPy arrays and no memory of another library; arrays of a GPU are copied."""
    return [goal if goal._frame is not None or goal._given is None else _own(goal, goal._given) for goal in goals]


def _own(goal: Goal, arrays: Given) -> Goal:
    if not arrays.is_on_gpu:
        return with_numbers(goal, {})
    numbers = {}
    for name in ("position", "orientation", "direction", "look_at", "pole"):
        array = getattr(goal, name)
        if array is not None:
            numbers[name] = np.array(arrays.host(array), dtype=float)
            if not np.isfinite(numbers[name]).all():
                raise BadInput(f"{name} of the goal for {goal.link!r} must be finite")
    return with_numbers(goal, numbers)


def in_arrays(found: Solution, arrays: Given) -> Solution:
    """A solution with arrays of the caller's library. Its error is that of the joint values as they are returned."""
    return exchanged(rounded(found, arrays), arrays)


def rounded(found: Solution, arrays: Given) -> Solution:
    """The same solution with joint values that the caller's precision has, within limits."""
    if arrays.dtype != np.float32:
        return found
    return replace(found, q=in_precision(found.linkage, found.q, found.solver, arrays))


def in_precision(linkage: Linkage, q: Array, solver: Solver, arrays: Given) -> Array:
    """Joint values (..., dof) that the caller's precision has, within the limits of a solver."""
    if arrays.dtype != np.float32:
        return q
    if not solver.keep_limits:
        return q.astype(np.float32).astype(float)
    return margins.in_single_precision(linkage, q, solver.margin).astype(float)


def solve_compiled(find: CompiledSolver, goal: Any, start: Any, out: Any) -> Any:
    """The call of a compiled solver with a goal that is a foreign array: joint values (dof,), or None."""
    if out is not None:
        raise BadInput("out is for NumPy arrays; leave it out, and the result is an array of the goal's library")
    arrays = given({"goal": goal, "start": start})
    if arrays is None:
        raise BadInput(f"goal must be a frame, got {_check.short(goal)}")
    if arrays.is_on_gpu:
        from supple._solve import on_gpu

        return on_gpu.solve_compiled(find, goal, start, arrays)
    q = find(arrays.host(goal), arrays.host(start))
    return None if q is None else arrays.back(in_precision(find.linkage, q, find.solver, arrays))
