"""Why a solve did not arrive, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from supple._solve import margins
from supple._solve.common_reasons import Mask, at_limits, may_be_outside, out_of_reach
from supple._solve.encoding import joint_weight_values
from supple._solve.goal_error import goal_jacobian
from supple._solve.past_limits import past_limits
from supple._solve.text import names_text
from supple._solve.tolerance import Tolerance
from supple._solve.unmet_part import REACHABLE, Solve, unmet_part
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage
from supple.prefer import nothing

if TYPE_CHECKING:
    from supple.solution import Solution

_TOLERANCE = Tolerance()


def solution_reasons(found: Solution) -> list[str]:
    """Why a single solution did not arrive: what a search finds; for other methods, also what stops them at q."""
    solver = found.solver
    default = type(solver)(tolerance=solver.tolerance, keep_limits=solver.keep_limits, margin=solver.margin)
    again = replace(solver if solver.searches else default, prefer=nothing, timeout=None, max_iterations=None)
    locked: Mask = joint_weight_values(found.linkage, again.joint_weights) == 0

    def solve(goals: Sequence[Goal], start: Array, keep_limits: bool) -> Solution:
        limited = again if keep_limits else replace(again, keep_limits=False, margin=0.0)
        return limited.solve(found.linkage, goals, np.where(locked, found.q, start), progress=False)

    outside = may_be_outside(found.linkage, found.q, solver.keep_limits, locked)
    near = (solver.tolerance, outside, solver.margin)
    reasons = unreachable(found.linkage, found.goals, found.q, found.error, solve, *near)
    unlocked = replace(again, joint_weights=None)
    if locked.any() and reasons != [REACHABLE] and unlocked.solve(found.linkage, found.goals, found.q).arrived:
        names = [name for name, held in zip(found.linkage.names, locked, strict=True) if held]
        reasons.append(f"with {names_text(names)} unlocked it can be reached")
    if reasons == [REACHABLE] and found.outcome.name == "OUT_OF_BUDGET":
        steps = f"{found.iterations} iteration{'s' if found.iterations != 1 else ''}"
        reasons = [f"stopped after {steps}; it can be reached"]
        return reasons if solver.searches else _local_reasons(found) + reasons
    if solver.searches or reasons != [REACHABLE]:
        return reasons
    return _local_reasons(found) + reasons


def _local_reasons(found: Solution) -> list[str]:
    """What stops a local method at q: joints at their limits, or else a singular Jacobian."""
    linkage, q = found.linkage, found.q
    moving = np.zeros(linkage.dof, dtype=bool)  # joint values that move some end effector
    stationary = []
    for goal, error in zip(found.goals, found.error, strict=True):
        J = goal_jacobian(linkage, goal, q)
        moving |= J.any(axis=0)
        if np.linalg.norm(error @ J) < 1e-6 * np.linalg.norm(error) * np.linalg.norm(J):
            stationary.append(f"singular here: no joint moves {goal.link} nearer")
    moving &= found.solver.keep_limits
    lower, upper, _ = margins.narrowed(linkage, found.solver.margin)
    sides = np.where(moving, 1.0 * (q >= upper - 1e-9) - (q <= lower + 1e-9), 0.0)
    return at_limits(linkage.names, sides, margins.sizes(linkage, found.solver.margin)) or stationary


def unreachable(
    linkage: Linkage,
    goals: Sequence[Goal],
    q: Array,
    error: Array,
    solve: Solve,
    tolerance: Tolerance = _TOLERANCE,
    unbounded: Mask | None = None,
    margin: Any = (0.0,),
) -> list[str]:
    """Why single goals were not reached, in short sentences, found by solving parts of the goals.

    "Out of reach" is proven. All else is what a search found: "not found" does not mean that there is no solution.

    Args:
        linkage: the linkage.
        goals: single goals, one or several at once.
        q: the nearest that was found (dof,).
        error: goal minus end effector there (goals, 6), in metres and radians.
        solve: solves other goals for this linkage.
        tolerance: no reason names a shortfall within it.
        unbounded: which values may be outside their limits (dof,), see `may_be_outside`; none by default.
        margin: that ``solve`` keeps to the limits, as `Solver.margin` holds it.
    """
    unbounded = np.zeros(linkage.dof, dtype=bool) if unbounded is None else unbounded
    pairs = zip(goals, error, strict=True)
    far = [reason for goal, e in pairs for reason in _too_far(linkage, goal, e, unbounded, tolerance.position)]
    if far:
        return far
    if solve(goals, q, True).arrived:
        return [REACHABLE]
    if len(goals) == 1:
        unmet = unmet_part(linkage, goals[0], q, solve, tolerance)
        return unmet if unmet == [REACHABLE] else [*unmet, *past_limits(linkage, goals, q, solve, margin)]
    alone = [(goal, solve([goal], q, True)) for goal in goals]
    lost = [(goal, found) for goal, found in alone if not found.arrived]
    if lost:
        texts = (
            unreachable(linkage, [goal], found.q, found.error, solve, tolerance, unbounded, margin)
            for goal, found in lost
        )
        return [text for several in texts for text in several]
    links = list(dict.fromkeys(goal.link for goal in goals))
    whose = names_text(links) if len(links) > 1 else f"the goals of {links[0]}"
    return [f"{whose} can each be met, but were not found together", *past_limits(linkage, goals, q, solve, margin)]


def _too_far(linkage: Linkage, goal: Goal, error: Array, unbounded: Mask, tolerance: float = 0.0) -> list[str]:
    """That the position of a goal is farther than its link can reach, if it is."""
    if goal.position is None or not error[:3].any():
        return []
    return out_of_reach(linkage, goal, goal.position, error[:3], unbounded, tolerance)
