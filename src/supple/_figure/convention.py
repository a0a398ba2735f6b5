"""Convention: which axis of an animation file points up, and how long its unit is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from supple import _check
from supple.errors import BadInput
from supple.frame import Frame

UNITS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}
"""Lengths of units in metres, by name."""
_LEAST_UNIT, _GREATEST_UNIT = 1e-6, 1e6
_TO_Z = {
    "x": Frame.at([0, 0, 0], [[0, 0, -1], [0, 1, 0], [1, 0, 0]]),
    "y": Frame.at([0, 0, 0], [[1, 0, 0], [0, 0, -1], [0, 1, 0]]),
    "z": Frame(),
}


@dataclass(frozen=True)
class Convention:
    """How coordinates of a file become coordinates of the world: a turn of the up axis to z, and a factor."""

    up: str = "z"
    """The axis of the file that becomes the world's z: "x", "y" or "z". With "z" axes stay as they are."""
    unit: float = 1.0
    """Length of the file's unit in metres. With 1 numbers stay as they are."""

    @property
    def turn(self) -> Frame:
        """Frame of the file's coordinates in the world."""
        return _TO_Z[self.up]


def convention(up: str | None, unit: float | str | None, default_up: str = "z") -> Convention:
    """The convention that two arguments of a reader or writer name; `BadInput` for others.

    >>> convention("y", "cm")
    Convention(up='y', unit=0.01)
    """
    axis = default_up if up is None else up
    if not isinstance(axis, str) or axis.lower() not in _TO_Z:
        raise BadInput(f'up must be "x", "y" or "z", the axis of the file that points up; got {_check.short(up)}')
    return Convention(axis.lower(), unit_length(1.0 if unit is None else unit))


def unit_length(unit: float | str) -> float:
    """Length of a unit in metres, from a number or a name such as "cm".

    >>> unit_length("in")
    0.0254
    """
    length = UNITS.get(unit, math.nan) if isinstance(unit, str) else _check.real(unit)
    if not _LEAST_UNIT <= length <= _GREATEST_UNIT:
        known = ", ".join(UNITS)
        raise BadInput(
            f"unit must be the length of the file's unit in metres, from {_LEAST_UNIT:g} to {_GREATEST_UNIT:g}, "
            f"or one of {known}; got {_check.short(unit)}"
        )
    return length
