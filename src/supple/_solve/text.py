"""Lengths, angles, directions and lists of names in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from supple.frame import Array


def length_text(metres: float) -> str:
    """A length in metres, millimetres, micrometres or nanometres."""
    for unit, size in (("m", 1.0), ("mm", 1e-3), ("um", 1e-6)):
        if metres >= 0.9995 * size:  # what rounds to a whole one is one
            return f"{metres / size:.3g} {unit}"
    return f"{metres / 1e-9:.3g} nm"


def angle_text(radians: float) -> str:
    """An angle in radians or milliradians."""
    return f"{radians:.3g} rad" if radians >= 0.09995 else f"{radians * 1e3:.3g} mrad"


def direction_text(vector: Array, signed: bool = True) -> str:
    """A direction (3,): a world axis if it is near one, else its three components."""
    length = math.hypot(*vector)
    if not length > 0:
        return "anywhere"
    unit = vector / length
    k = int(np.argmax(np.abs(unit)))
    if abs(unit[k]) > 0.9:
        return ("+" if unit[k] > 0 else "-") * signed + "xyz"[k]
    return "(" + ", ".join(f"{x + 0.0:.2f}" for x in unit) + ")"


def names_text(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
