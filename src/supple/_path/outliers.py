"""Frames of a path that are proven outliers: they are left out, and bridged between the frames on both sides.

A frame far out of reach in the middle of a path would pull the arm towards it, so that it is late for the next ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple._solve import encoding
from supple._solve.goal_error import goal_error
from supple.frame import Array
from supple.goal import Goal, take_rows
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.solver import Solver

Marks = NDArray[np.bool_]
MOST_FRAMES = 5
"""Frames of an outlier; a longer stretch out of reach is followed as near as possible."""
_JUMP = 5.0  # times the median step of the frames within reach: the step to an outlier is longer, and that from it


def find(linkage: Linkage, goals: list[Goal], offsets: Any, solver: Solver) -> Marks | None:
    """Which rows are outliers (rows,), or None if there is none.

    These are at most `MOST_FRAMES` frames that no q can reach, between two that are within reach, and the goal jumps
    to them and back. A path that leaves the reach and comes back without such jumps has none.
    """
    count = int(offsets[-1])
    found: Marks | None = None
    for goal in goals:
        marks = _of_goal(linkage, goal, offsets, count, solver)
        if marks is not None:
            found = marks if found is None else found | marks
    return found


def _of_goal(linkage: Linkage, goal: Goal, offsets: Any, count: int, solver: Solver) -> Marks | None:
    position = goal.position
    free = goal.weight is not None and 0 in goal.weight
    if position is None or position.ndim < 2 or goal.relative_to or goal.distance is not None or free or count < 3:
        return None
    if not solver.keep_limits:
        return None
    weights = encoding.joint_weight_values(linkage, solver.joint_weights)
    if not weights[encoding.slide_indices(linkage, goal)].all():  # a slide may be outside its limits
        return None
    most, base = encoding.goal_reach(linkage, goal)
    farthest = most + float(np.linalg.norm(goal.point)) + float(np.linalg.norm(goal.slack)) + solver.tolerance.position
    place = np.broadcast_to(position, (count, 3))
    away = np.linalg.norm(place - base, axis=1)
    beyond: Any = away > (1 + 1e-9) * farthest
    if not beyond.any():
        return None
    marks = np.zeros(count, dtype=bool)
    for path in np.unique(np.searchsorted(offsets, np.flatnonzero(beyond), "right") - 1):
        part = slice(int(offsets[path]), int(offsets[path + 1]))
        marks[part] = _of_path(place[part], beyond[part], away[part] <= farthest)
    return marks if marks.any() else None


def _of_path(place: Array, beyond: Marks, within: Marks) -> Marks:
    """Which frames (frames,) of one path are outliers, from their positions (frames, 3)."""
    steps = np.linalg.norm(np.diff(place, axis=0), axis=1)
    usual = steps[within[1:] & within[:-1]]
    least = _JUMP * float(np.median(usual)) if len(usual) else np.inf
    edges = np.flatnonzero(np.diff(np.concatenate([[False], beyond, [False]]).astype(np.int8)))
    marks = np.zeros(len(place), dtype=bool)
    for first, after in zip(edges[::2], edges[1::2], strict=True):
        inner = first > 0 and after < len(place) and after - first <= MOST_FRAMES
        if inner and within[first - 1] and within[after] and min(steps[first - 1], steps[after - 1]) > least:
            marks[first:after] = True
    return marks


def bridge(linkage: Linkage, q: Array, times: Array, outliers: Marks, reconfigured: Marks) -> None:
    """Fills the rows of outliers in q (rows, dof): between those before and after them, in proportion to the time.

    Where the row after them is marked as reconfigured, the joints stay until then, so that the jump is there.
    """
    known = np.flatnonzero(~outliers)
    rows = np.flatnonzero(outliers)
    next_one = np.searchsorted(known, rows)
    before, after = known[next_one - 1], known[next_one]
    part = (times[rows] - times[before]) / (times[after] - times[before])
    part = np.where(reconfigured[after], 0.0, part)
    between = linkage.integrate(q[before], part[:, None] * linkage.difference(q[before], q[after]))
    q[rows] = linkage.clamp(between)  # between two legal rotations a ball joint may leave its cone


def errors(linkage: Linkage, goals: list[Goal], q: Array, outliers: Marks) -> tuple[Array, Array]:
    """The largest distance and angle of each outlier (outliers,) from its goals, in metres and radians."""
    rows, count = np.flatnonzero(outliers), len(outliers)
    shape = (len(rows),)
    off = [
        goal_error(linkage, take_rows(goal, (count,), rows) if goal.shape else goal, q[rows], shape) for goal in goals
    ]
    distance: Array = np.max([np.linalg.norm(each[..., :3], axis=-1) for each in off], axis=0)
    angle: Array = np.max([np.linalg.norm(each[..., 3:], axis=-1) for each in off], axis=0)
    return distance, angle
