"""Frames of many rows, some of which may be bad: which rows are good, and the frames of those."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import _check, _core
from supple.errors import BadInput

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

SHORTEST = 1e-12
"""A quaternion whose largest number is smaller has no direction."""


def mended(matrix: Array) -> tuple[Array, Mask]:
    """Frames (..., 4, 4) from arrays (..., 4, 4), and which are good (...); the others become the identity."""
    array = np.array(matrix, order="C")
    if not _core.mend_frames(array)[0]:
        return array, np.ones(array.shape[:-2], dtype=bool)
    good = good_rows(array)
    array[~good] = np.eye(4)
    return array, good


def good_rows(array: Array) -> Mask:
    """Which frames (...) of an array (..., 4, 4) the core accepts: halves are tested until each bad row is found."""
    rows = array.reshape(-1, 4, 4)
    good: Any = np.isfinite(rows).all(axis=(1, 2))
    parts = [(0, len(rows))]
    while parts:
        first, last = parts.pop()
        tested = rows[first:last][good[first:last]]
        if not len(tested) or not _core.mend_frames(tested)[0]:
            continue
        if last - first == 1:
            good[first] = False
        else:
            middle = (first + last) // 2
            parts += [(first, middle), (middle, last)]
    found: Mask = good.reshape(array.shape[:-2])
    return found


def assembled(position: ArrayLike | None, quaternion: ArrayLike | None, w_first: bool) -> tuple[Array, Mask]:
    """Frames from positions (..., 3) and quaternions (..., 4), and which are good (...)."""
    p = _numbers(position, 3, "position")
    q = _numbers(quaternion, 4, "quaternion")
    shape = _check.leading_axes(
        () if p is None else p.shape[:-1], () if q is None else q.shape[:-1], what="position and quaternion"
    )
    good: Any = np.ones(shape, dtype=bool)
    if q is None:
        matrix = np.zeros((*shape, 4, 4))
        matrix[...] = np.eye(4)
    else:
        turned = q if w_first else np.roll(q, 1, axis=-1)
        usable = np.isfinite(turned).all(axis=-1) & (np.abs(turned).max(axis=-1, initial=0) >= SHORTEST)
        if not usable.all():
            turned = np.where(usable[..., None], turned, [1.0, 0, 0, 0])
        good &= usable
        matrix = np.array(np.broadcast_to(_core.from_quaternion(_check.unit(turned)), (*shape, 4, 4)))
    if p is not None:
        good &= np.isfinite(p).all(axis=-1)
        matrix[..., :3, 3] = p
    if not good.all():
        matrix[~good] = np.eye(4)
    return matrix, good


def _numbers(value: ArrayLike | None, size: int, what: str) -> Array | None:
    """Numbers (..., size), finite or not."""
    if value is None:
        return None
    array = _check.numbers(value, what, size)
    if array.shape[-1:] != (size,):
        raise BadInput(f"{what} must have shape (..., {size}), not {array.shape}")
    return array
