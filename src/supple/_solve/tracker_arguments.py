"""Arguments of `Solver.track`: times, the start and bounds, checked; the slack of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._linkage.limits import LARGEST_ANGLE
from supple._solve import encoding
from supple._solve.arguments import start_values
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage

_SMALLEST_BOUND = 1e-12  # of accelerations and jerks: squares and ratios of smaller ones have no digits


def seconds(value: float, name: str, most: float, has_filter: bool) -> float:
    """A time of an option that filters commands, checked; `has_filter`: the method filters them."""
    number = _check.real(value)
    if not 0 <= number <= most:
        raise BadInput(f"{name} must be a number of seconds from 0 to {most:g}, got {_check.short(value)}")
    if number and not has_filter:
        raise BadInput(f"{name} needs the tracking law; another method or a damping scheme does not filter commands")
    return number


def tracker_start(linkage: Linkage, start: ArrayLike | None) -> Array:
    """Joint values to begin at. Far outside there is no way back in a reasonable time, and angles are not exact."""
    begin = start_values(linkage, start)
    far = np.abs(begin) > LARGEST_ANGLE
    if far.any():
        index = tuple(int(i) for i in np.argwhere(far)[0])
        name, value = linkage.names[index[-1]], begin[index]
        raise BadInput(f"start: {name} is {value:g}; a tracker begins within {LARGEST_ANGLE:g} rad or m of 0")
    return begin


def status_slack(goal: Goal, target: encoding.Target) -> list[float]:
    """The slack of each row that the tracker has; a line has two rows without slack, and one with it."""
    slacks, rows = goal._slacks(), len(target[1])
    return slacks if len(slacks) == rows else slacks[:1] + slacks


def bounds(linkage: Linkage, given: ArrayLike | None, what: str, known: Array, otherwise: Array) -> Array:
    """Bounds (dof,): the smaller of those given and known, or else a default."""
    if given is None:
        smaller: Array = np.where(np.isfinite(known), known, otherwise)
    else:
        row = _check.one_or_each(given, linkage.dof, what)
        if not (np.isfinite(row) & (row > 0)).all():
            raise BadInput(f"{what} must be finite and positive, got {_check.short(given)}")
        smaller = np.minimum(row, known)
    tiny = (smaller > 0) & (smaller < _SMALLEST_BOUND)  # 0: a joint that does not move
    if tiny.any():
        raise BadInput(f"{what} must be at least {_SMALLEST_BOUND:g}, got {smaller[tiny].min():g}")
    return smaller
