"""Times of the frames of a path, and the least stretch of time that joint speeds and accelerations allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _core
from supple._path import planner
from supple._path.planner import Rows
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage

_ROUNDING = 1e-9  # a smaller stretch, relative to the duration, is rounding


def frame_times(frames: int, times: ArrayLike | None, rate: float | None, duration: float | None) -> tuple[Array, bool]:
    """Times of the frames (frames,) in seconds, and whether the caller gave them; a second in all if not."""
    given = [name for name, value in (("times", times), ("rate", rate), ("duration", duration)) if value is not None]
    if len(given) > 1:
        raise BadInput(f"give times, rate or duration, not {' and '.join(given)}")
    if times is not None:
        when = _check.finite(np.array(_check.numbers(times, "times")), "times", ", in seconds")
        if when.shape != (frames,):
            raise BadInput(f"{frames} frames need times of shape ({frames},), not {when.shape}")
        late = np.flatnonzero(np.diff(when) <= 0)
        if len(late):
            i = int(late[0])
            raise BadInput(f"times must increase: {float(when[i])!r} s is followed by {float(when[i + 1])!r} s")
        return when, True
    if rate is not None:
        return np.arange(frames) / _check.positive(rate, "rate", "frames per second"), True
    whole = 1.0 if duration is None else _check.positive(duration, "duration", "seconds")
    return np.linspace(0, whole, frames), duration is not None


def retimed(linkage: Linkage, times: Array, q: Array) -> Array:
    """Later times (frames,) at which joint speeds and accelerations keep to their limits, as early as possible.

    No part becomes faster than it was. Where the linkage has no limits, times stay.
    """
    steps = np.ascontiguousarray(linkage.difference(q[:-1], q[1:]))
    bounds = [np.minimum(limit, 1e300) for limit in (linkage.speed, linkage.acceleration)]
    stretched: Array = _core.stretch_times(np.ascontiguousarray(times)[:, None], steps, *bounds)
    return stretched


def least_stretched(
    linkage: Linkage, goals: Sequence[Goal], times: Array, found: Rows, plan_again: Callable[[], Rows]
) -> Rows:
    """Of two plans of paths with the same times (frames,), for each path the one whose time is stretched less.

    ``found`` keeps to the speed limits if it can. If it must be stretched, ``plan_again`` makes another plan without
    speed limits, which may move less. The plan with fewer jumps is taken, then the one with less time; exceeding a
    speed limit is not a jump here.
    """
    most = planner.longest_steps(linkage, goals, np.diff(times), False)
    found, cost = _judged(linkage, times, most, found)
    allowed = (times[-1] - times[0]) * (1 + _ROUNDING)
    if all(jumps == 0 and duration <= allowed for jumps, duration in cost):
        return found
    other, other_cost = _judged(linkage, times, most, plan_again())
    is_better = np.repeat([b < a for a, b in zip(cost, other_cost, strict=True)], len(times))
    return Rows(
        np.where(is_better[:, None], other.q, found.q),
        np.where(is_better, other.outcome, found.outcome),
        np.where(is_better, other.distance, found.distance),
        np.where(is_better, other.angle, found.angle),
        np.where(is_better, other.reconfigured, found.reconfigured),
    )


def _judged(linkage: Linkage, times: Array, most: Array, rows: Rows) -> tuple[Rows, list[tuple[int, float]]]:
    """The rows with their jumps beyond the steps ``most`` (frames - 1, dof); jumps and duration of each path."""
    q = rows.q.reshape(-1, len(times), linkage.dof)
    jumps = np.zeros(q.shape[:2], np.bool_)
    jumps[:, 1:] = (np.abs(linkage.difference(q[:, :-1], q[:, 1:])) > (1 + _ROUNDING) * most).any(axis=-1)
    later = [retimed(linkage, times, one) for one in q]
    cost = [(int(marks.sum()), float(when[-1] - when[0])) for marks, when in zip(jumps, later, strict=True)]
    return replace(rows, reconfigured=jumps.ravel()), cost
