"""Euler angles in all twelve orders, to and from rotation matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple import _check
from supple.errors import BadInput

Array = NDArray[np.float64]


def check(order: str) -> tuple[int, int, int]:
    """The axes that an order names, 0 for x; `BadInput` unless it is one of the twelve."""
    good = isinstance(order, str) and len(order) == 3 and set(order) <= set("xyz")
    if not good or order[0] == order[1] or order[1] == order[2]:
        raise BadInput(
            "order must be three of 'x', 'y', 'z' with no two neighbours equal, such as 'xyz'; "
            f"got {_check.short(order)}"
        )
    i, j, k = ("xyz".index(letter) for letter in order)
    return i, j, k


def _about(axis: int, angle: Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    r = np.zeros((*angle.shape, 3, 3))
    r[..., axis, axis] = 1
    r[..., j, j] = r[..., k, k] = c
    r[..., k, j], r[..., j, k] = s, -s
    return r


def matrix(order: str, values: Array) -> Array:
    """Rotation matrix (..., 3, 3) of Euler angles (..., 3) in radians, each about an axis moved by those before it."""
    i, j, k = check(order)
    product: Array = _about(i, values[..., 0]) @ _about(j, values[..., 1]) @ _about(k, values[..., 2])
    return product


def angles(order: str, rotation: Array) -> Array:
    """Euler angles (..., 3) in radians of a rotation matrix (..., 3, 3).

    The middle angle lies in [-pi/2, pi/2] for three different axes, in [0, pi] when the first is the last. Where the
    first and last axes are parallel (gimbal lock) only their sum is known: the last angle is then 0.
    """
    i, j, k = check(order)
    if i == k:  # like zyz: the middle angle is between the first axis before and after
        m = 3 - i - j
        sign = 1.0 if (j - i) % 3 == 1 else -1.0
        sine = np.hypot(rotation[..., i, j], rotation[..., i, m])
        middle = np.arctan2(sine, rotation[..., i, i])
        first = np.arctan2(rotation[..., j, i], -sign * rotation[..., m, i])
    else:  # like xyz: the sine of the middle angle is an entry of the matrix
        sign = 1.0 if (j - i) % 3 == 1 else -1.0
        cosine = np.hypot(rotation[..., i, i], rotation[..., i, j])
        middle = np.arctan2(sign * rotation[..., i, k], cosine)
        first = np.arctan2(-sign * rotation[..., j, k], rotation[..., k, k])
        sine = cosine
    locked = sine < 1e-14
    # without the first rotation, or at gimbal lock with none as the last, one rotation about a known axis is left
    first = np.where(locked, _angle_about(i, rotation @ np.swapaxes(_about(j, middle), -1, -2)), first)
    rest = np.swapaxes(_about(i, first) @ _about(j, middle), -1, -2) @ rotation
    last = np.where(locked, 0.0, _angle_about(k, rest))
    return np.stack([first, middle, last], axis=-1)


def _angle_about(axis: int, rotation: Array) -> Array:
    """Angle (...) of a rotation that is known to be about one axis."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    angle: Array = np.arctan2(rotation[..., k, j], rotation[..., j, j])
    return angle
