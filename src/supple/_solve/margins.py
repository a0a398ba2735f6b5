"""Margins to position limits: limits that are narrower on each side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import _check, _core
from supple._solve import encoding
from supple.errors import BadInput
from supple.frame import Array

if TYPE_CHECKING:
    from supple.linkage import Linkage

_LARGEST_SHARE = 0.25
"""Of a joint's range that one margin for all joints takes from each end at most."""
_ROUNDED_BALL = 1e-6
"""Radians that a ball at its limit is turned back, so that it is within the limit in float32 too."""


def checked_margin(given: ArrayLike) -> tuple[float, ...]:
    """A margin to position limits as a value that can be a key: one number, or one for each value of q."""
    row = _check.numbers_or_none(given)
    if row is None or row.ndim > 1 or not row.size or not (np.isfinite(row) & (row >= 0)).all():
        raise BadInput(
            f"margin must be one number or one for each value of q, finite and not negative, got {_check.short(given)}"
        )
    return tuple(row.ravel().tolist())


def narrowed(linkage: Linkage, margin: Any) -> tuple[Array, Array, list[Any]]:
    """Position limits (dof,) and those of ball joints, narrower by a margin on each side.

    One number takes at most a quarter of a joint's range from each end. A margin of its own that leaves no range
    is refused.
    """
    lower, upper, balls = linkage.lower, linkage.upper, encoding.balls(linkage)
    if not any(margin):
        return lower, upper, balls
    if len(margin) not in (1, linkage.dof):
        raise BadInput(f"margin must be one number or {linkage.dof}, got {len(margin)}")
    with np.errstate(invalid="ignore"):
        span = upper - lower
    row = np.broadcast_to(np.array(margin, dtype=float), (linkage.dof,))
    if len(margin) == 1:
        row = np.minimum(row, _LARGEST_SHARE * span)
    elif (2 * row > span).any():
        k = int(np.argmax(2 * row > span))
        raise BadInput(f"margin leaves {linkage.names[k]} no range: it is {row[k]:g} of a range of {span[k]:g}")
    narrow = [_narrowed_ball(ball, float(row[ball[0] : ball[0] + 3].max())) for ball in balls]
    return lower + row, upper - row, narrow


def sizes(linkage: Linkage, margin: Any) -> Array:
    """How much narrower the limits of each value of q are on each side (dof,); 0 where there is no limit.

    The values of a ball joint have the larger of what its cone and its twist lose.
    """
    lower, upper, balls = narrowed(linkage, margin)
    with np.errstate(invalid="ignore"):
        less = np.fmax(lower - linkage.lower, linkage.upper - upper)
    row: Array = np.where(np.isfinite(less), less, 0.0)
    for whole, narrow in zip(encoding.balls(linkage), balls, strict=True):
        row[whole[0] : whole[0] + 3] = max(whole[2] - narrow[2], narrow[3] - whole[3])
    return row


def _narrowed_ball(ball: tuple[int, Sequence[float], float, float, float], margin: float) -> tuple[Any, ...]:
    """A ball joint with a smaller cone and a shorter twist, where they are limited."""
    first, axis, swing, low, high = ball
    if swing < math.pi:
        swing -= min(margin, 2 * _LARGEST_SHARE * swing)
    if low > -math.pi or high < math.pi:
        less = min(margin, _LARGEST_SHARE * (high - low))
        low, high = low + less, high - less
    return first, axis, swing, low, high


def clamp(linkage: Linkage, q: Array, margin: Any) -> Array:
    """The nearest q (..., dof) within limits that are narrower by a margin, joint by joint."""
    if not any(margin):
        return linkage.clamp(q)
    lower, upper, balls = narrowed(linkage, margin)
    nearest: Array = np.clip(q, lower, upper)
    for ball in balls:
        nearest[..., ball[0] : ball[0] + 3] = _clamped_ball(ball, nearest[..., ball[0] : ball[0] + 3])
    return nearest


def _clamped_ball(ball: tuple[Any, ...], vectors: Array) -> Array:
    """The nearest rotation vectors (..., 3) within the limits of a ball."""
    _, axis, *bounds = ball
    part = np.ascontiguousarray(vectors)
    clamped: Array = np.asarray(_core.clamp_ball(part.reshape(-1, 3), np.array(axis, float), *bounds))
    return clamped.reshape(part.shape)


def in_single_precision(linkage: Linkage, q: Array, margin: Any) -> NDArray[np.float32]:
    """Joint values (..., dof) in float32; those within limits narrower by a margin are within them in float32 too.

    A value that would be rounded beyond its limit becomes the next one inside.
    """
    lower, upper, balls = narrowed(linkage, margin)
    found = q.astype(np.float32)
    below, above = (found < lower) & (q >= lower), (found > upper) & (q <= upper)
    if below.any() or above.any():
        up, down = np.nextafter(found, np.float32(np.inf)), np.nextafter(found, np.float32(-np.inf))
        found = np.where(below, up, np.where(above, down, found))
    for ball in balls:
        at = slice(ball[0], ball[0] + 3)
        beyond = _beyond(ball, found[..., at].astype(float)) & ~_beyond(ball, q[..., at])
        if beyond.any():
            found[beyond, at] = _clamped_ball(_narrowed_ball(ball, _ROUNDED_BALL), q[beyond, at])
    return found


def _beyond(ball: tuple[Any, ...], vectors: Array) -> Any:
    """Which rotation vectors (..., 3) are beyond the limits of a ball (...); rounding of float64 does not count."""
    return np.abs(_clamped_ball(ball, vectors) - vectors).max(axis=-1) > 1e-12
