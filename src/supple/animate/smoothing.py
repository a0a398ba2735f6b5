"""Smoothing of motions in time: filters without delay, and bounds on speeds."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from supple import _core
from supple.frame import Array
from supple.joint import Joint, Kind
from supple.linkage import Linkage

_LONGEST = 10**6  # samples of a filter
_SHORT = 100  # samples to each side of a kernel that is summed up; longer ones go through a Fourier transform


@lru_cache(maxsize=64)
def kernel(width: float, count: int) -> Array:
    """Weights (reach + 1,) of a Gaussian of a standard deviation of ``width`` samples, for up to ``count`` samples.

    The first is that of a sample itself, the others those of its neighbours to both sides; their sum over all is 1.
    """
    reach = max(min(int(np.ceil(4 * width)), count - 1), 0)
    weights = np.exp(-0.5 * (np.arange(reach + 1) / max(width, 1e-9)) ** 2)
    half: Array = weights / (2 * weights.sum() - 1)
    half.flags.writeable = False
    return half


def smoothed(values: Array, width: float) -> Array:
    """Values (n, k) filtered along the first axis by a Gaussian of a standard deviation of ``width`` samples.

    The ends are continued by reflection at the end values, so that they stay and straight lines stay straight.
    """
    count = len(values)
    half = kernel(width, count)
    reach = len(half) - 1
    if width <= 0 or reach < 1:
        return values
    if reach <= _SHORT:
        return _core.filter_rows(np.ascontiguousarray(values), half)
    whole_kernel = np.concatenate([half[:0:-1], half])
    first = 2 * values[:1] - values[reach:0:-1]
    last = 2 * values[-1:] - values[-2 : -reach - 2 : -1]
    extended = np.concatenate([first, values, last])
    size = 1 << int(np.ceil(np.log2(len(extended) + len(whole_kernel))))
    spectrum = np.fft.rfft(extended, size, axis=0) * np.fft.rfft(whole_kernel, size)[:, None]
    whole: Array = np.fft.irfft(spectrum, size, axis=0)[2 * reach : 2 * reach + count]
    return whole


def runs(mask: Any) -> list[tuple[int, int]]:
    """The first index and the index after the last of each run of True in a mask (n,)."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))


def raised(values: Array, width: int) -> Array:
    """A smooth bound above values (n,), no more than needed within ``width`` samples of them."""
    if width < 1 or not values.any():
        return values
    return _core.bound_above(np.ascontiguousarray(values), width)


def least_above(values: Array, most: float) -> Array:
    """The least values above others (n,) that change by at most ``most`` from one to the next."""
    if not np.isfinite(most):
        return values
    return -_core.bound_changes_below(np.ascontiguousarray(-values), most)


def within_speeds(
    linkage: Linkage,
    q: Array,
    dt: float,
    fixed: Any = None,
    *,
    speed: Array | None = None,
    steps: Array | None = None,
) -> Array:
    """Joint values (n, dof) that change by no more than the speed limits from row to row, near the values given.

    The mean of the largest values below and the smallest above that keep the limit. A row of a ball joint that is too
    far from the next one is drawn to it. Values that are ``fixed`` (n, dof) stay, as far as the limits allow.
    ``speed`` (dof,): other limits than those of the linkage, a second. ``steps`` (n - 1, dof): the differences of the
    rows, if they are known.
    """
    held = np.zeros(q.shape, dtype=bool) if fixed is None else fixed
    bound = (linkage.speed if speed is None else speed) * dt * (1 - 1e-9)
    changes = linkage.difference(q[:-1], q[1:]) if steps is None else steps
    most = np.maximum(changes.max(axis=0, initial=0.0), -changes.min(axis=0, initial=0.0))
    fast: Any = most > bound
    if not fast.any():
        return q
    out: Array = q.copy()
    for joint in linkage.joints:
        if joint.mimic is not None or not joint.dof:
            continue
        first = linkage._sources[joint.name].first
        turns = {Kind.BALL: 0, Kind.FLOATING: 3}.get(joint.kind, joint.dof)  # values before the rotation vector
        for column in range(first, first + turns):
            if fast[column]:
                out[:, column] = _lipschitz(out[:, column], float(bound[column]), held[:, column])
        if turns < joint.dof and fast[first + turns : first + joint.dof].any():
            columns = slice(first + turns, first + joint.dof)
            out[:, columns] = _slow_ball(joint, out[:, columns], bound[columns], held[:, columns.start])
    return out


def _lipschitz(values: Array, bound: float, fixed: Any) -> Array:
    """The mean of the greatest values (n,) below and the least above that change by at most ``bound`` a sample.

    First values are brought within what the ``fixed`` ones (n,) allow, which then stay.
    """

    def below(x: Array) -> Array:
        return _core.bound_changes_below(np.ascontiguousarray(x), bound)

    if fixed.any():
        highest, lowest = (below(np.where(fixed, sign * values, 1e300)) for sign in (1, -1))
        values = np.where(fixed, values, np.minimum(np.maximum(values, -lowest), highest))
    mean: Array = 0.5 * (below(values) - below(-values))
    return mean


def _slow_ball(joint: Joint, values: Array, limit: Array, fixed: Any) -> Array:
    """Rotation vectors (n, 3) of a ball joint that turn by at most ``limit`` (3,) from row to row.

    A row that is too far from the next one is drawn to it; after a ``fixed`` row (n,) the next one is drawn to that.
    """
    axis = np.array(joint.axis, dtype=float) if joint.kind is Kind.BALL else None
    stays = np.ascontiguousarray(fixed, dtype=float)[:, None]
    return _core.slow_ball(np.ascontiguousarray(values), limit, stays, axis, joint.swing, *joint.twist)


def smoothed_to_end(values: Array, width: float) -> Array:
    """Values (n, k) filtered as by `smoothed`, but continued by their first and last rows.

    For rows of which more will come: a reflection of what was would let the last row through as rough as it is.
    """
    reach = len(kernel(width, _LONGEST)) - 1
    extended = np.concatenate([values[:1].repeat(reach, axis=0), values, values[-1:].repeat(reach, axis=0)])
    return smoothed(extended, width)[reach : reach + len(values)]
