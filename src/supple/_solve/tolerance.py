"""Tolerance: when a goal counts as reached."""

from __future__ import annotations

from dataclasses import dataclass

from supple import _check
from supple.errors import BadInput


@dataclass(frozen=True)
class Tolerance:
    """When a goal counts as reached: position and angle are both within their bounds. A frozen value.

    >>> from supple import Solver, Tolerance
    >>> Solver(tolerance=Tolerance(position=1e-3))
    Solver(tolerance=Tolerance(position=0.001, angle=1e-06))
    """

    position: float = 1e-6
    """Metres."""
    angle: float = 1e-6
    """Radians."""

    def __post_init__(self) -> None:
        for name in ("position", "angle"):
            value = getattr(self, name)
            number = _check.real(value)
            if not number > 0:
                raise BadInput(f"tolerance: {name} must be positive, got {_check.short(value)}")
            if type(value) is not float and not (type(value) is int and value < 1 << 53):
                object.__setattr__(self, name, number)
