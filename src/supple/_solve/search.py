"""The search: compiled once for each linkage and kind of goal, then run for one problem or many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from supple import _core
from supple._solve import batch, compilation, encoding, margins
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal, with_priority
from supple.linkage import Linkage
from supple.solution import Outcome, Solution

if TYPE_CHECKING:
    from supple.solver import Solver

STARTS = 320
"""Most seeds of one solve, before those of `MORE_STARTS`."""
MORE_STARTS = 2056
"""Most seeds that follow if the nearest q misses the goals by little: wrists turned over, and a box round that q."""
ITERATIONS = 40_000
"""Most iterations of one solve, over all seeds, if `Solver.max_iterations` is None."""
NEAR = 0.5
"""A solution this near to the caller's start, in radians, ends the search; otherwise several are compared."""
TABLES = 16
"""Most tables of seeds that a linkage keeps for searches with other options; one has some hundred kilobytes."""
LEVELS = 3
"""Most different priorities among the goals of one solve."""
_PRIORITY_WEIGHT = 1e-3  # of a priority relative to the one before it
_LEAST_WEIGHT = 1e-3  # of the strongest row; below, all are scaled up


def solve(solver: Solver, request: batch.Request) -> Solution:
    """The solution of a search."""
    levels = sorted({goal.priority for goal in request.goals})
    if len(levels) > LEVELS:
        raise BadInput(f"goals may have {LEVELS} priorities together, not {len(levels)}")
    if request.solutions is not None and (len(levels) > 1 or solver.prefer.terms):
        raise BadInput("solutions= takes goals of one priority, without preferences")
    search_solver = compiled(request.linkage, request.goals, solver)
    goals, start = [batch.parts(goal, request.shape) for goal in request.goals], request.start_rows
    solutions = 0 if request.solutions is None else request.solutions

    def work(q: Array, report: Any, first: int, last: int) -> None:
        search_solver.many(goals, start, q, report, solutions, first, last)

    tail = (solutions,) if solutions else ()
    found = batch.run(request, work, np.empty((3, math.prod(request.shape), *tail), dtype=np.int64), solver)
    if not request.shape and (found.outcomes == Outcome.INVALID.value).any():
        raise BadInput("a goal must be finite")
    if request.solutions is not None:
        return found
    if len(levels) > 1:
        found = _meet_together(solver, request, found)
        found = _meet_first_priority(solver, request, found, levels[0])
    return _apply_preferences(solver, request, found) if solver.prefer.terms else found


def solve_frame(solver: Solver, linkage: Linkage, goal: Goal) -> Solution:
    """The solution of a goal that is one frame. Only its link is looked up, so that the search is most of the time."""
    try:
        known, answer = linkage.__dict__["_frame_searches"][goal.link]
    except KeyError:
        known = None
    if known is not solver:
        answer = compiled(linkage, (goal,), solver).answer
        searches = linkage.__dict__.setdefault("_frame_searches", {})
        if len(searches) > 64:
            searches.clear()
        searches[goal.link] = (solver, answer)
    return Solution._from_answer(linkage, goal, answer(goal._frame.matrix, None), solver)  # type: ignore[union-attr]


def solve_one(solver: Solver, linkage: Linkage, goal: Goal, start: Array | None) -> Solution:
    """The solution of one goal, by the shortest way: a solve takes microseconds."""
    search_solver = compiled(linkage, (goal,), solver)
    answer = search_solver.answer(goal._place, goal.orientation, goal.direction, start)
    return Solution._from_answer(linkage, goal, answer, solver)


def compiled(linkage: Linkage, goals: Sequence[Goal], solver: Solver) -> _core.SearchSolver:
    """The search of the core, from the linkage's cache; `BadInput` or `UnknownName` if they do not fit together."""
    return compilation.cached(linkage, goals, solver, "search", _compile)


def _scaled(target: encoding.Target, factor: float) -> encoding.Target:
    return (*target[:2], tuple(factor * weight for weight in target[2]), *target[3:])


def _compile(linkage: Linkage, goals: Sequence[Goal], solver: Solver) -> _core.SearchSolver:
    levels = sorted({goal.priority for goal in goals})
    pairs = zip(encoding.targets(linkage, goals), goals, strict=True)
    targets = [_scaled(target, _PRIORITY_WEIGHT ** levels.index(goal.priority)) for target, goal in pairs]
    lengths = [encoding.goal_length(linkage, goal) for goal in goals]
    strongest = encoding.strongest_weight(targets, lengths)
    if strongest < _LEAST_WEIGHT:  # only the ratio of weights counts, and the damping of a step has a least value
        targets = [_scaled(target, 1.0 / strongest) for target in targets]
    lower, upper, balls = margins.narrowed(linkage, solver.margin)
    if not solver.keep_limits:
        lower, upper = np.full(linkage.dof, -math.inf), np.full(linkage.dof, math.inf)
    sizes = encoding.natural_units(linkage, lengths)
    farthest, base = encoding.goal_reach(linkage, goals[0])
    farthest += float(np.linalg.norm(targets[0][3]))
    weights = encoding.joint_weight_values(linkage, solver.joint_weights)
    if not solver.keep_limits or not weights[encoding.slide_indices(linkage, goals[0])].all():
        farthest = math.inf  # a slide may be outside its limits: any of them, or one that stays at its start
    tolerance = solver.tolerance
    tables: dict[Any, _core.SharedTable] = linkage.__dict__.setdefault("_seed_tables", {})
    kind = _table_kind(targets, lower, upper, sizes)
    search_solver = _core.SearchSolver(
        linkage._native,
        list(targets),
        lower,
        upper,
        balls if solver.keep_limits else [(*ball[:2], math.pi, -math.pi, math.pi) for ball in balls],
        (sizes, weights, linkage.rest),
        (
            STARTS,
            ITERATIONS if solver.max_iterations is None else solver.max_iterations,
            min(solver.max_step, 1e300),
            NEAR,
            1e6 * (solver.timeout or 0.0),
            int(solver.method.nearest),
        ),
        (tolerance.position, tolerance.angle),
        (min(farthest, 1e301), *map(float, base)),
        tables.get(kind),
    )
    if kind is not None and kind not in tables and search_solver.table is not None:
        if len(tables) >= TABLES:
            tables.clear()
        tables[kind] = search_solver.table
    if not search_solver.columns:
        raise BadInput("no joint moves any of the links of the goals")
    return search_solver


def _table_kind(targets: Sequence[encoding.Target], *numbers: Array) -> tuple[Any, ...] | None:
    """What a table of seeds depends on, beside the linkage: the goal, limits and sizes; None for goals without one."""
    if len(targets) != 1 or targets[0][8] is not None:
        return None
    return (targets[0], *(array.tobytes() for array in numbers))


def _missed(found: Solution) -> Any:
    """Which rows did not arrive, of those that are finite (rows,)."""
    outcomes = np.atleast_1d(found.outcomes)
    return (outcomes != Outcome.ARRIVED.value) & (outcomes != Outcome.INVALID.value)


def _meet_together(solver: Solver, request: batch.Request, found: Solution) -> Solution:
    """Where not all goals are met, solve them without priorities: small weights make goals that depend on each other
    slow to meet, and where all can be met there is no priority to keep."""
    missed = _missed(found)
    if not missed.any():
        return found
    met = solver.solve(
        request.linkage, [with_priority(goal, 0) for goal in request.goals], found.q, progress=request.progress
    )
    better = missed & np.atleast_1d(met.arrived)
    q = np.where(better.reshape(*request.shape, 1), met.q, found.q)
    outcomes = np.where(better, met.outcomes, found.outcomes).reshape(request.shape)
    if request.out is not None:
        request.out[...] = q
    return replace(found, q=q, outcomes=outcomes[()])


def _meet_first_priority(solver: Solver, request: batch.Request, found: Solution, level: int) -> Solution:
    """Where not all goals are met, solve those of the first priority alone, from the nearest q."""
    missed = _missed(found)
    if not missed.any():
        return found
    first = [goal for goal in request.goals if goal.priority == level]
    met = solver.solve(request.linkage, first, found.q, progress=request.progress)
    q = np.where(missed.reshape(*request.shape, 1), met.q, found.q)
    if request.out is not None:
        request.out[...] = q
    return replace(found, q=q)


def _apply_preferences(solver: Solver, request: batch.Request, found: Solution) -> Solution:
    """Solutions moved in the null space of the goals as the preferences say, while the goals stay met."""
    local_solver = compilation.compiled(request.linkage, request.goals, solver)
    numbers = batch.goal_numbers(request.goals, request.shape)
    q = np.ascontiguousarray(found.q.reshape(-1, request.linkage.dof))
    arrived = np.atleast_1d(found.outcomes).reshape(-1) == Outcome.ARRIVED.value
    weights = encoding.joint_weight_values(request.linkage, solver.joint_weights)
    q[arrived] = local_solver.refine(numbers[arrived], q[arrived], solver._preferred_step(), weights)
    q = q.reshape(found.q.shape)
    if request.out is not None:
        request.out[...] = q
    return replace(found, q=q)
