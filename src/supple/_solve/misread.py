"""What goals that do not arrive may have been misread as: other units, or another order of quaternions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple._solve import encoding
from supple.frame import Frame
from supple.goal import Goal, take_rows, with_numbers

if TYPE_CHECKING:
    from supple.linkage import Linkage
    from supple.solver import Solver

SAMPLE = 40
"""Rows that are solved as they would be in another unit or order."""
_UNITS = {"millimetres": 1e-3, "centimetres": 1e-2}
_NEAR = 0.15  # of the reach: in its own unit the farthest position of a sample is farther than this
_MOST = 0.9  # share of a sample that arrives at least as it may be meant
_FEW, _SOME = 0.5, 0.8  # share of a sample that arrives at most as it is read; if orientations differ and all arrive
_DIFFER = 0.8  # mean cosine of half the angle between orientations that differ
_SHIFTS = {"wxyz": 1, "xyzw": -1}  # from entries w, x, y, z, as they were read in an order, to those of the other


def note(linkage: Linkage, goal: Goal, arrived: Any, solver: Solver, order: str = "") -> str:
    """What goals (rows,) look like that mostly do not arrive, if they would in another unit or order; empty if not.

    ``arrived`` (rows,) says which did as they were read; ``order`` is that of quaternions, empty if there are none.
    Some rows are solved as they may be meant: nothing is said that was not found so.
    """
    rows = np.unique(np.linspace(0, len(arrived) - 1, min(SAMPLE, len(arrived))).astype(int))
    if len(rows) < 2 or np.mean(arrived[rows]) > _SOME or goal.relative_to is not None:
        return ""
    sample = take_rows(goal, (len(arrived),), rows)
    found = _in_other_units(linkage, sample, solver)
    if not found and order and sample.orientation is not None:
        found = _in_other_order(linkage, sample, int(np.sum(arrived[rows])), solver, order)
    return found


def _in_other_units(linkage: Linkage, goal: Goal, solver: Solver) -> str:
    """That all positions are far out of reach, and within it in a smaller unit."""
    if goal.position is None or goal.distance is not None:
        return ""
    most, base = encoding.goal_reach(linkage, goal)
    times = np.linalg.norm(goal.position - base, axis=-1) / most
    if not (np.isfinite(most) and most > 0 and times.min() > 1):
        return ""
    for unit, metres in _UNITS.items():
        position = metres * goal.position
        if np.linalg.norm(position, axis=-1).max() < _NEAR * most:
            continue
        # orientations may be misread too, so that only positions are asked for
        there = Goal(goal.link, position=position, point=goal.point, weight=goal.weight)
        count = _arrived(linkage, there, solver)
        if count >= _MOST * len(times):
            where = f"{np.median(times):,.0f} times as far away as {linkage.name} reaches"
            return f"positions look like {unit}: they are {where}, and as {unit} {count} of {len(times)} arrive"
    return ""


def _in_other_order(linkage: Linkage, goal: Goal, count: int, solver: Solver, order: str) -> str:
    """That most orientations are reached if the entries of their quaternions have the other order."""
    matrices = np.broadcast_to(np.eye(4), (*goal.shape, 4, 4)).copy()
    matrices[..., :3, :3] = goal.orientation
    entries = np.roll(Frame(matrices).to_quaternion(), _SHIFTS[order], axis=-1)
    turned = Frame.quaternion(entries).rotation
    other = next(name for name in _SHIFTS if name != order)
    now = _arrived(linkage, with_numbers(goal, {"orientation": turned}), solver)
    rows = goal.shape[0]
    differ = np.abs(entries @ entries[0]).mean() < _DIFFER  # the rows then tell more: they do not fail for one reason
    if not (now >= _MOST * rows and count <= _FEW * rows) and not (now == rows and differ):
        return ""
    return f"quaternions look like {other}: of {rows} rows {count} arrive in the order {order}, and {now} as {other}"


def _arrived(linkage: Linkage, goal: Goal, solver: Solver) -> int:
    """How many goals the search reaches, with the tolerance and the margin of a solver."""
    plain = type(solver)(tolerance=solver.tolerance, margin=solver.margin)
    return int(np.sum(plain.solve(linkage, goal, progress=False).arrived))
