"""The search from Python: compiled once for each linkage and kind of goal, then asked for one row or many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from supple import _core
from supple._linkage import reach as _reach
from supple._solve import batch, compilation, encoding
from supple.errors import BadInput, unknown
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solution import Outcome, Solution

if TYPE_CHECKING:
    from supple.solver import Solver

STARTS = 320
"""Most starts of one solve."""
ITERATIONS = 40_000
"""Most steps of one solve, those of all starts together."""
NEAR = 0.5
"""An answer this near to the caller's start, in radians, is taken at once; else several are compared."""
LEVELS = 3
"""Most priorities that goals may have together."""
_STEP = 1e-3  # weight of a priority compared with the one before it


def solve(solver: Solver, request: batch.Request) -> Solution:
    """The solution of a search."""
    levels = sorted({goal.priority for goal in request.goals})
    if len(levels) > LEVELS:
        raise BadInput(f"goals may have {LEVELS} priorities together, not {len(levels)}")
    if request.solutions is not None and (len(levels) > 1 or solver.prefer.terms):
        raise BadInput("solutions= takes goals of one priority, without preferences")
    finder = compiled(request.linkage, request.goals, solver)
    goals, begin, wanted = (
        [batch.parts(goal, request.shape) for goal in request.goals],
        request.begin,
        request.solutions,
    )

    def work(q: Array, report: Any, first: int, last: int) -> None:
        finder.many(goals, begin, q, report, 0 if wanted is None else wanted, first, last)

    tail = () if wanted is None else (wanted,)
    found = batch.run(request, work, np.empty((3, math.prod(request.shape), *tail), dtype=np.int64), solver)
    if not request.shape and (found.outcomes == Outcome.INVALID.value).any():
        raise BadInput("a goal must be finite")
    if request.solutions is not None:
        return found
    if len(levels) > 1:
        found = _meet_first_priority(solver, request, found, levels[0])
    return _apply_preferences(solver, request, found) if solver.prefer.terms else found


def solve_one(solver: Solver, linkage: Linkage, goal: Goal, start: Array | None) -> Solution:
    """The solution of one goal, without detours."""
    finder = compiled(linkage, (goal,), solver)
    return Solution._from_answer(
        linkage, goal, finder.answer(goal.position, goal.orientation, goal.direction, start), solver
    )


def compiled(linkage: Linkage, goals: Sequence[Goal], solver: Solver) -> _core.Finder:
    """The native search, from the linkage's own cache; raises `BadInput` or `UnknownName` if the three do not fit."""
    return compilation.cached(linkage, goals, solver, "search", _compile)


def _scaled(target: encoding.Target, factor: float) -> encoding.Target:
    return (*target[:2], tuple(factor * weight for weight in target[2]), *target[3:])


def _compile(linkage: Linkage, goals: Sequence[Goal], solver: Solver) -> _core.Finder:
    levels = sorted({goal.priority for goal in goals})
    asked = zip(encoding.targets(linkage, goals), goals, strict=True)
    targets = [_scaled(target, _STEP ** levels.index(goal.priority)) for target, goal in asked]
    lower, upper = linkage.lower, linkage.upper
    if not solver.keep_limits:
        lower, upper = np.full(linkage.dof, -math.inf), np.full(linkage.dof, math.inf)
    reaches = [_reach._measured(linkage, target[0]) for target in targets]
    usable = [r for r, _ in reaches if 0 < r < math.inf]
    sizes = encoding.natural_units(linkage, max(usable) if usable else math.pi)
    farthest, base = reaches[0]
    farthest = farthest + float(np.linalg.norm(targets[0][3])) if solver.keep_limits else math.inf
    tolerance = solver.tolerance
    finder = _core.Finder(
        linkage._native,
        list(targets),
        lower,
        upper,
        encoding.balls(linkage)
        if solver.keep_limits
        else [(*ball[:2], math.pi, -math.pi, math.pi) for ball in encoding.balls(linkage)],
        (sizes, joint_weights(linkage, solver.joint_weights), linkage.rest),
        (
            STARTS,
            ITERATIONS if solver.max_iterations is None else solver.max_iterations,
            min(solver.max_step, 1e300),
            NEAR,
            1e6 * (solver.timeout or 0.0),
        ),
        (tolerance.position, tolerance.angle),
        (min(farthest, 1e301), *map(float, base)),
    )
    if not finder.columns:
        raise BadInput("no joint moves any of the links that the goals speak of")
    return finder


def joint_weights(linkage: Linkage, given: Any) -> Array:
    """Joint weights (dof,): those given, or ones."""
    row = np.ones(linkage.dof)
    if given is None:
        return row
    if isinstance(given[0], tuple):
        for name, weight in given:
            if name not in linkage._sources:
                raise unknown("joint", name, linkage._sources)
            source = linkage._sources[name]
            row[source.first : source.first + linkage.joint(name).dof] = weight
        return row
    if len(given) not in (1, linkage.dof):
        raise BadInput(f"joint_weights must be one number or {linkage.dof}, got {len(given)}")
    row[:] = given
    for first in (ball[0] for ball in encoding.balls(linkage)):
        if len(set(row[first : first + 3])) > 1:
            raise BadInput(f"the three values of a ball joint have one weight, not {row[first : first + 3].tolist()}")
    return row


def _meet_first_priority(solver: Solver, request: batch.Request, found: Solution, level: int) -> Solution:
    """Where not all goals could be met, those that come first are met to the end: from the nearest q, which is near."""
    missed = np.atleast_1d(found.outcomes != Outcome.ARRIVED.value)
    missed &= np.atleast_1d(found.outcomes != Outcome.INVALID.value)
    if not missed.any():
        return found
    first = [goal for goal in request.goals if goal.priority == level]
    met = solver.solve(request.linkage, first, found.q, progress=request.progress)
    q = np.where(missed.reshape(*request.shape, 1), met.q, found.q)
    if request.out is not None:
        request.out[...] = q
    return replace(found, q=q)


def _apply_preferences(solver: Solver, request: batch.Request, found: Solution) -> Solution:
    """The answers moved as their preferences wish, for as long as the goals hold."""
    plan = compilation.compiled(request.linkage, request.goals, solver)
    numbers = batch.goal_numbers(request.goals, request.shape)
    q = np.ascontiguousarray(found.q.reshape(-1, request.linkage.dof))
    there = np.atleast_1d(found.outcomes).reshape(-1) == Outcome.ARRIVED.value
    weights = joint_weights(request.linkage, solver.joint_weights)
    q[there] = plan.refine(numbers[there], q[there], solver._preferred_step(), weights)
    q = q.reshape(found.q.shape)
    if request.out is not None:
        request.out[...] = q
    return replace(found, q=q)
