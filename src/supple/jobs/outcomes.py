"""How each row of a table ended, in words, and how many ended so."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple._solve import encoding
from supple._solve.margins import narrowed
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solution import Outcome
from supple.solver import Solver

FORWARD = ("computed", "outside_limits", "invalid")
"""Outcomes of forward kinematics; poses of joint values outside their limits are computed too."""
SOLVE = ("arrived", "out_of_reach", "at_limits", "stuck", "out_of_budget", "invalid")
"""Outcomes of inverse kinematics. "stuck": none of the others is the reason."""
TRACK = ("following", "yielding", "lagging", "held", "returning", "invalid")
"""Outcomes of the tracker: the values of `TrackingStatus`, in their order."""
BY_WORK = {"forward": FORWARD, "solve": SOLVE, "path": SOLVE, "track": TRACK}
"""The words of each kind of work; those of rows that succeeded come first."""
_AT = 1e-9  # radians or metres: a joint is at its limit


def forward_codes(linkage: Linkage, q: Array, good: Any, rounding: float = 0.0) -> Any:
    """Indices into `FORWARD` (rows,) for joint values (rows, dof), of which some rows are good.

    ``rounding`` is the relative error of the joint values, such as that of float32.
    """
    codes = np.zeros(len(q), dtype=np.int8)
    if rounding:
        nearest = np.clip(q, linkage.lower, linkage.upper)
        q = np.where(np.abs(q - nearest) <= rounding * np.abs(q), nearest, q)
    codes[~linkage.inside(q, _AT)] = 1
    codes[~good] = 2
    return codes


def solve_codes(
    linkage: Linkage, goal: Goal, solver: Solver, position: Array | None, q: Array, outcomes: Any, moving: Any
) -> Any:
    """Indices into `SOLVE` (rows,) for outcomes of a solver, with joint values (rows, dof) and goal positions.

    A goal is out of reach if its position is farther than the reach, which is a proof. Else it is out of budget if the
    solver ended so. Else it is at limits, if the nearest q has a joint at its limit, or at the margin of it,
    among those that are ``moving``.
    """
    codes = np.zeros(len(q), dtype=np.int8)
    missed = np.flatnonzero(outcomes != Outcome.ARRIVED.value)
    if not len(missed):
        return codes
    codes[missed] = SOLVE.index("stuck")
    at = q[missed][:, moving]
    low, high = (limit[moving] for limit in narrowed(linkage, solver.margin)[:2])
    limited = ((at <= low + _AT) | (at >= high - _AT)).any(axis=1)
    codes[missed[limited]] = SOLVE.index("at_limits")
    codes[outcomes == Outcome.OUT_OF_BUDGET.value] = SOLVE.index("out_of_budget")
    most, base = encoding.goal_reach(linkage, goal)
    if position is not None and solver.keep_limits and most < np.inf:
        away = np.linalg.norm(position[missed] - base, axis=1) - np.linalg.norm(goal.point)
        codes[missed[away - most > max(solver.tolerance.position, 1e-12 * most)]] = SOLVE.index("out_of_reach")
    codes[outcomes == Outcome.INVALID.value] = SOLVE.index("invalid")
    return codes
