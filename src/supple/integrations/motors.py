"""MotorAngles: degrees of motors to radians of joints, by a sign and an offset for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple.errors import BadInput, unknown
from supple.frame import Array

PerJoint = float | Sequence[float] | Mapping[str, float]
"""One number for all joints, one for each, or those that differ from the default by name."""


class MotorAngles:
    """Joint angles as motors count them: joint = sign * motor + offset, in degrees. Frozen.

    A motor counts from where its calibration put its zero, and may turn the other way round. The zero of a joint is
    that of the robot description.

    >>> from supple.integrations.motors import MotorAngles
    >>> motors = MotorAngles(["pan", "lift"], sign={"lift": -1}, offset=[0, 90])
    >>> motors.to_joints([10, 30]).round(4), motors.to_motors([0, 0])
    (array([0.1745, 1.0472]), array([ 0., 90.]))
    """

    names: tuple[str, ...]
    """The joints."""
    sign: Array
    """1, or -1 for a motor that turns the other way round than its joint (n,)."""
    offset: Array
    """Angle of each joint where its motor counts 0 (n,), in degrees."""

    def __init__(self, names: Sequence[str], *, sign: PerJoint | None = None, offset: PerJoint | None = None) -> None:
        """For joints by name; the sign is 1 and the offset 0 where they are not given."""
        self.names = tuple(names)
        self.sign = _each(self.names, sign, 1.0, "sign")
        self.offset = _each(self.names, offset, 0.0, "offset")
        if not (np.abs(self.sign) == 1).all():
            raise BadInput(f"a sign is 1 or -1, got {_check.short(sign)}")

    def to_joints(self, degrees: ArrayLike) -> Array:
        """Joint angles (..., n) in radians, from those of the motors in degrees."""
        angles: Array = np.radians(self.sign * np.asarray(degrees, dtype=float) + self.offset)
        return angles

    def to_motors(self, radians: ArrayLike) -> Array:
        """Angles of the motors (..., n) in degrees, from joint angles in radians."""
        degrees: Array = self.sign * (np.degrees(np.asarray(radians, dtype=float)) - self.offset)
        return degrees

    def __repr__(self) -> str:
        return f"MotorAngles({list(self.names)}, sign={self.sign.tolist()}, offset={self.offset.tolist()})"


def _each(names: tuple[str, ...], given: PerJoint | None, default: float, what: str) -> Array:
    """A finite number for each joint (n,), read-only."""
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise unknown(f"joint (in {what})", name, names)
        values = np.array([_check.finite_number(given.get(name, default), f"{what} of {name}") for name in names])
    else:
        values = np.array(_check.one_or_each(default if given is None else given, len(names), what))
        _check.finite(values, what)
    values.flags.writeable = False
    return values
