"""Footsteps: when the feet of a body touch the ground, and paths of feet that do not slide while they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple import _core
from supple.frame import Array

Mask = Any
"""An array of bool."""
CONTACT_HEIGHT = 0.05
"""A toe or heel lower than this above the ground, in metres, and slower than `CONTACT_SPEED` is in contact."""
CONTACT_SPEED = 0.15
"""In m/s."""
_LOW = 0.05  # of the frames have a foot that is lower than the ground
_SHORT_GAP = 0.06  # s: a contact that is lost for no longer goes on
_FADE = 0.3  # s: in which corrections end before the first and after the last contact
_RISE = 0.05  # s: in which a foot that would be below the ground is lifted


@dataclass(frozen=True, eq=False)
class Contacts:
    """Which points of one foot touch the ground in each frame."""

    heel: Mask
    """Whether the heel does (n,)."""
    toe: Mask
    """Whether the toe does (n,)."""

    def numbers(self, anchors: Mask = True) -> Array:
        """Columns (n, 3) of 0 and 1: heel, toe, and the frames in which a standing foot stays in the mean where it is.

        A step without any such frame has all.
        """
        columns = np.empty((len(self.heel), 3))
        columns[:, 0], columns[:, 1], columns[:, 2] = self.heel, self.toe, anchors
        return columns


def ground_height(heights: Array) -> float:
    """The height of the ground under points (n, k) of feet, in metres: where the lowest of them are at rest."""
    lowest = np.minimum.reduce(heights, axis=-1)
    place = _LOW * (len(lowest) - 1)
    first = int(place)
    around = np.partition(lowest, (first, min(first + 1, len(lowest) - 1)))[first : first + 2]
    return float(around[0] + (place - first) * (around[-1] - around[0]))


def in_contact(points: Array, ground: float, dt: float) -> Mask:
    """Whether a point (n, 3) of a foot touches the ground in each frame (n,)."""
    gap = int(_SHORT_GAP / dt)
    found = _core.find_contacts(np.ascontiguousarray(points), ground + CONTACT_HEIGHT, CONTACT_SPEED * dt, gap)
    return np.asarray(found > 0)


def placed(frames: Array, touching: Array, heel: Array, toe: Array, dt: float, flat: Array | None = None) -> Array:
    """Frames (n, 4, 4) of a foot that stands and rolls on the ground z = 0 without sliding, near given ones.

    Args:
        frames: of the foot (n, 4, 4), with positions in metres.
        touching: `Contacts.numbers` (n, 3).
        heel: the point of the heel (3,), in the foot's axes.
        toe: the point of the toe (3,), in the foot's axes.
        dt: time between frames, in seconds.
        flat: rotation (3, 3) of the foot when it stands flat and forward is along x; None: rotations stay as they are.
    """
    fade, rise = (max(1, int(time / dt)) for time in (_FADE, _RISE))
    return _core.place_foot(frames, touching, heel, toe, flat, fade, rise)


def exponential(vectors: Array) -> Array:
    """Rotations (n, 3, 3) of rotation vectors (n, 3)."""
    rotations: Array = _core.exp_rotation(np.ascontiguousarray(vectors))[:, :3, :3]
    return rotations
