"""The planner of the core: many paths of differing lengths in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import _core
from supple._path import outliers
from supple._progress import Progress
from supple._solve import batch, encoding, search
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solution import Outcome

if TYPE_CHECKING:
    from supple.solver import Solver

PREFERENCES = {"least motion": 0, "centred": 1, "conditioning": 2}
JUMP = 0.3
"""A longer step of a joint between two frames is a jump, in radians; see `longest_steps`."""
JUMP_SPEED = 6.0
"""The same as a speed, where frames are more than `JUMP` / `JUMP_SPEED` seconds apart, in rad/s."""
_SLICE_FRAMES = 50_000


@dataclass(frozen=True)
class Rows:
    """The results for the frames of many paths, one path after another: offsets[i] to offsets[i + 1] are path i."""

    q: Array
    """Joint values (rows, dof)."""
    outcome: NDArray[np.uint8]
    """The values of `Outcome` (rows,); INVALID for a frame that is not finite."""
    distance: Array
    """Largest distance of a position from its goal (rows,), in metres; nan for a frame that is not finite."""
    angle: Array
    """Largest angle of an orientation from its goal (rows,), in radians."""
    reconfigured: NDArray[np.bool_]
    """Whether the step to this frame is a jump (rows,)."""


def solve_many(
    linkage: Linkage,
    goals: Goal | Sequence[Goal],
    offsets: ArrayLike,
    solver: Solver,
    *,
    dt: float | None = None,
    times: Array | None = None,
    start: Array | None = None,
    end: Array | None = None,
    closed: bool = False,
    prefer: str = "least motion",
    speed: Array | None = None,
    smoothed: int = 1,
    candidates: int = 8,
    untimed_dt: float = 0.01,
    progress: bool | None = False,
) -> Rows:
    """Joint values for many paths of differing lengths.

    Args:
        linkage: the linkage that moves.
        goals: goals with one leading axis (rows,): the frames of all paths, one path after another. A goal without a
            leading axis is that of all rows. Frames that are not finite are marked INVALID. Outliers, see
            `outliers.find`, are bridged and STUCK.
        offsets: where each path begins, and the number of rows (paths + 1,).
        solver: a search; its tolerance, margin and joint weights are used.
        dt: time between frames, in seconds; or
        times: of each row (rows,), in seconds, increasing within each path. Without either only steps of more than
            0.3 rad are jumps.
        start: first joint values (paths, dof), or None.
        end: last joint values (paths, dof), or None.
        closed: whether each path ends where it begins.
        prefer: one of `PREFERENCES`.
        speed: speed limits (dof,); by default those of the linkage.
        smoothed: how many candidates of a redundant linkage are smoothed to less joint motion, and compared; 0: none.
        candidates: solutions of a frame that are continued at first, at most 64; if they fail, up to 256.
        untimed_dt: time between frames if neither dt nor times is given: it sets the length of a jump.
        progress: whether to show a bar; None: on a terminal, after one second.
    """
    several = [goals] if isinstance(goals, Goal) else list(goals)
    places = np.ascontiguousarray(offsets, dtype=np.int64)
    if places.ndim != 1 or len(places) < 1 or places[0] != 0 or (np.diff(places) < 0).any():
        raise BadInput("offsets must begin with 0 and not decrease, of shape (paths + 1,)")
    count = int(places[-1])
    limits = linkage.speed if speed is None else speed
    if dt is None and times is None:
        limits = np.full(linkage.dof, math.inf)
    how = (untimed_dt if dt is None else float(dt), closed, PREFERENCES[prefer], smoothed, candidates)
    bounds = np.minimum(np.ascontiguousarray(limits, dtype=float), 1e300)
    parts = [batch.parts(goal, (count,)) for goal in several]
    compiled = search.compiled(linkage, several, solver)

    def planned(parts: Any, places: Any, times: Array | None) -> Rows:
        rows = _empty(int(places[-1]), linkage.dof)
        out = (rows.q, rows.outcome, rows.distance, rows.angle, rows.reconfigured)
        when = None if times is None else np.ascontiguousarray(times, dtype=float).reshape(-1, 1)

        def work(first: int, last: int) -> None:
            _core.solve_paths(compiled, parts, places, when, bounds, start, end, how, out, first, last)

        _in_slices(work, places, progress)
        return rows

    left_out = outliers.find(linkage, several, places, solver)
    if left_out is None:
        return planned(parts, places, times)
    even: Any = how[0] * (np.arange(count) - np.repeat(places[:-1], np.diff(places)))
    seconds = even if times is None else np.asarray(times, dtype=float)
    keep = ~left_out
    fewer = [tuple(_kept(array, keep, last) for array, last in zip(each, (1, 2, 1), strict=True)) for each in parts]
    found = planned(fewer, np.append(0, np.cumsum(keep))[places], seconds[keep])
    rows = _empty(count, linkage.dof)
    for name in ("q", "outcome", "distance", "angle", "reconfigured"):
        getattr(rows, name)[keep] = getattr(found, name)
    rows.outcome[left_out], rows.reconfigured[left_out] = Outcome.STUCK.value, False
    outliers.bridge(linkage, rows.q, seconds, left_out, rows.reconfigured)
    rows.distance[left_out], rows.angle[left_out] = outliers.errors(linkage, several, rows.q, left_out)
    return rows


def _empty(count: int, dof: int) -> Rows:
    arrays: Any = (np.empty(count, np.uint8), np.empty(count), np.empty(count), np.empty(count, np.bool_))
    return Rows(np.empty((count, dof)), *arrays)


def _kept(array: Array | None, keep: Any, last: int) -> Array | None:
    """Some of the rows of a part of a goal, or the part that all rows share."""
    return array if array is None or array.ndim == last else np.ascontiguousarray(array[keep])


def _in_slices(work: Callable[[int, int], None], offsets: Any, progress: bool | None) -> None:
    """All paths, some at a time, so that a bar can move and Ctrl-C is noticed between them."""
    paths, first = len(offsets) - 1, 0
    with Progress("planning", int(offsets[-1]), shown=progress is not False, anywhere=progress is True) as bar:
        while first < paths:
            last = int(np.searchsorted(offsets, offsets[first] + _SLICE_FRAMES, "right")) - 1
            last = min(paths, max(first + 1, last))
            work(first, last)
            bar.step(int(offsets[last] - offsets[first]))
            first = last


def longest_steps(linkage: Linkage, goals: Sequence[Goal], seconds: Array, timed: bool) -> Array:
    """The longest steps (..., dof) that are not jumps, for the times between frames (...) in seconds.

    A jump is a step that is longer than the joint's speed limit allows in that time, or longer than 0.3 rad; where
    frames are more than 1/20 s apart, longer than 6 rad/s allow.
    """
    sizes = encoding.natural_units(linkage, [encoding.goal_length(linkage, goal) for goal in goals])
    bound: Array = sizes * np.maximum(JUMP, JUMP_SPEED * seconds)[..., None]
    return np.minimum(bound, linkage.speed * seconds[..., None]) if timed else bound
