"""Position limits of key poses: which joint of a pose is outside of them, in words."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from supple._linkage import limits
from supple.errors import BadInput
from supple.frame import Array
from supple.joint import Kind
from supple.linkage import Linkage

_ROUNDING = 1e-6  # rad or m: a value so far outside its limits is at them


def check_pose(linkage: Linkage, q: Array, joints: Collection[str] | None, *, degrees: bool = False) -> None:
    """Raises `BadInput`, with the joint, its value and its limits, if a pose q (dof,) is outside of them.

    Args:
        linkage: the linkage that has the pose.
        q: in radians and metres.
        joints: names of the joints that count; None: all.
        degrees: whether the message is in degrees, as the pose was given.
    """
    off = np.abs(linkage.difference(q, linkage.clamp(q)))
    for first, joint in limits.columns(linkage):
        columns = slice(first, first + joint.dof)
        if (joints is not None and joint.name not in joints) or not (off[columns] > _ROUNDING).any():
            continue
        if joint.kind is Kind.BALL:
            raise BadInput(_ball_text(linkage, joint.name, q[columns], degrees))
        raise BadInput(_value_text(linkage, first + int(off[columns].argmax()), q, degrees))


def _value_text(linkage: Linkage, column: int, q: Array, degrees: bool) -> str:
    """Which value is outside, and a hint if it is within limits as degrees."""
    value, low, high = float(q[column]), float(linkage.lower[column]), float(linkage.upper[column])
    turns = linkage.units[column] == "rad"
    text = f"{linkage.names[column]} is {_number(value, turns, degrees)}, outside its limits, "
    text += f"{_number(low, turns, degrees)} to {_number(high, turns, degrees)}"
    return text + _hint(turns and not degrees and abs(value) > 2 * math.pi and low <= math.radians(value) <= high)


def _ball_text(linkage: Linkage, name: str, vector: Array, degrees: bool) -> str:
    joint, angle = linkage.joint(name), float(np.linalg.norm(vector))
    swing, low, high = (_number(x, True, degrees) for x in (joint.swing, *joint.twist))
    shown = ", ".join(_number(x, True, degrees, "") for x in vector.tolist())
    unit = "degrees" if degrees else "rad"
    text = f"{name} is turned by ({shown}) {unit}, outside its limits: swing up to {swing}, twist from {low} to {high}"
    return text + _hint(not degrees and angle > 2 * math.pi)


def _number(value: float, turns: bool, degrees: bool, unit: str | None = None) -> str:
    if turns and degrees:
        return f"{math.degrees(value):.4g}{' degrees' if unit is None else unit}"
    return f"{value:.4g}{(' rad' if turns else ' m') if unit is None else unit}"


def _hint(given: bool) -> str:
    return "; it looks like degrees: angles are in radians, np.radians(degrees)" if given else ""
