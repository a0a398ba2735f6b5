"""Framing: where the camera stands so that an arm is in the middle of the free part of a window."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.frame import Array

AWAY = (0.8, -0.6, 0.42)
"""From the arm to the camera: from the front, its right and above."""
FROM_ABOVE = (0.0, -0.3, 1.0)
"""The same for an arm that moves in a plane."""
FLAT = 0.1  # of its size: an arm that is lower than this is flat


class Window(NamedTuple):
    """How an arm is shown in a kind of window; lengths in sizes of the arm."""

    far: float
    """Distance of the camera."""
    aside: float
    """How far the arm is left of the middle: it reaches to the right."""
    above: float
    """How far it is above the middle."""
    box: float
    """Size of an arm for the diagonal of the box around it, if that is larger than its reach."""


LAPTOP = Window(far=3.2, aside=0.3, above=0.03, box=0.66)
"""The panel is at the right, the plots at the left: the arm stands between them, and what it reaches for as well."""
PHONE = Window(far=5.5, aside=0.2, above=1.1, box=0.72)
"""Held upright; the panel has the lower 60 %."""


def camera(window: Window, low: Array, high: Array, reach: float) -> tuple[Array, Array]:
    """Position of the camera (3,), and the point it looks at (3,), for an arm in the box from low (3,) to high (3,)."""
    size = max(reach, window.box * float(np.linalg.norm(high - low)))
    away = np.array(FROM_ABOVE if high[2] - low[2] < FLAT * size else AWAY)
    away /= np.linalg.norm(away)
    right = np.cross([0.0, 0.0, 1.0], away)
    right /= np.linalg.norm(right)
    middle = (low + high) / 2 + size * (window.aside * right - window.above * np.cross(away, right))
    return middle + window.far * size * away, middle
