"""Inverse kinematics along a path frame by frame: each frame starts from the result of the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple._solve import compilation
from supple.frame import Array
from supple.goal import Goal, take_rows
from supple.linkage import Linkage
from supple.solution import Outcome, Solution

if TYPE_CHECKING:
    from supple.solver import Solver


def follow(
    linkage: Linkage, goals: list[Goal], frames: int, solver: Solver, start: Array, steps: int | None
) -> Solution:
    """The solution of all frames (frames,); ``steps`` is the largest number of steps for each frame but the first."""
    compilation.compiled(linkage, goals, solver)
    q, shape = start, (frames,)
    rows, report = np.zeros((frames, linkage.dof)), np.zeros((frames, 3 if solver.searches else 4))
    for i in range(frames):
        now = [take_rows(goal, shape, i) for goal in goals]
        if steps is None:
            found = solver.solve(linkage, now, q)
            report[i] = (
                found.outcomes,
                found.iterations,
                *((found.starts,) if solver.searches else (found.largest_step, found.path)),
            )
            q = found.q
        else:
            q, (outcome, taken, *way) = _stepped(linkage, now, solver, q, steps if i else 0)
            report[i] = (outcome, taken, 1) if solver.searches else (outcome, taken, *way)
        rows[i] = q
    return Solution._from_rows(linkage, goals, shape, (), rows, report.T, solver)


def _stepped(linkage: Linkage, goals: list[Goal], solver: Solver, q: Array, steps: int) -> tuple[Array, list[float]]:
    """Joint values after at most ``steps`` steps; then outcome, steps taken, largest step and length of the path."""
    outcome, taken, largest, length = Outcome.OUT_OF_BUDGET, 0, 0.0, 0.0
    for _ in range(steps):
        moved = solver._stepped(linkage, goals, q)
        if moved is None:  # the method has no step at a singular place
            moved = q
        if np.array_equal(moved, q) or not np.isfinite(moved).all():
            outcome = Outcome.STUCK
            break
        change = linkage.difference(q, moved)
        q, taken = moved, taken + 1
        largest, length = max(largest, float(np.abs(change).max())), length + float(np.linalg.norm(change))
        if taken < steps and _near(linkage, goals, solver, q):
            break
    if _near(linkage, goals, solver, q):
        outcome = Outcome.ARRIVED
    return q, [outcome.value, taken, largest, length]


def _near(linkage: Linkage, goals: list[Goal], solver: Solver, q: Array) -> bool:
    empty: Any = np.zeros((3 if solver.searches else 4, 1))
    at = Solution._from_rows(linkage, goals, (), (), q[None], empty, solver)
    return bool((at.distance <= solver.tolerance.position).all() and (at.angle <= solver.tolerance.angle).all())
