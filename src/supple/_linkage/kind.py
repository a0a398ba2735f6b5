"""The kinds of joints, with the number and the units of their values."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """How a joint moves.

    >>> from supple import Kind
    >>> Kind.PLANAR.dof, Kind.PLANAR.units
    (3, ('m', 'm', 'rad'))
    """

    FIXED = "fixed"
    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    PLANAR = "planar"
    BALL = "ball"
    FLOATING = "floating"

    @property
    def dof(self) -> int:
        """How many values of q a joint of this kind has."""
        return len(_UNITS[self])

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each of these values: ``rad`` or ``m``."""
        return _UNITS[self]

    @property
    def translations(self) -> int:
        """How many of these values are in metres; they come first."""
        return _UNITS[self].count("m")


_UNITS = {
    Kind.FIXED: (),
    Kind.REVOLUTE: ("rad",),
    Kind.CONTINUOUS: ("rad",),
    Kind.PRISMATIC: ("m",),
    Kind.PLANAR: ("m", "m", "rad"),
    Kind.BALL: ("rad", "rad", "rad"),
    Kind.FLOATING: ("m", "m", "m", "rad", "rad", "rad"),
}
