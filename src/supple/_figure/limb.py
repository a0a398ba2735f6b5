"""Limbs of figures: ball joints whose range is a cone about any direction, and capsules between two points."""

from __future__ import annotations

from math import radians

import numpy as np
from numpy.typing import ArrayLike

from supple._linkage.tree import z_to
from supple.frame import Array, Frame
from supple.joint import Joint
from supple.link import Capsule, Geometry

Colour = tuple[float, float, float, float]


def ball(
    name: str,
    parent: str,
    child: str,
    place: ArrayLike,
    axis: ArrayLike,
    *,
    centre: ArrayLike,
    swing: float,
    twist: float,
    rest: Frame | None = None,
    speed: float = 15.0,
) -> Joint:
    """A ball joint at a place (3,) of its parent; its axis stays within ``swing`` degrees of the direction ``centre``.

    ``axis`` (3,) is in the child's axes and ``centre`` (3,) in the parent's. ``rest`` is the child's rotation in its
    parent at rest. Values are zero when the axis points along ``centre``, and the twist, within ±``twist`` degrees,
    is zero at rest: the joint's location is the shortest turn of the resting axis to ``centre``, after ``rest``.
    """
    resting = Frame() if rest is None else rest
    along = np.asarray(axis, dtype=float)
    location = shortest_turn(resting.rotation @ along, np.asarray(centre, dtype=float)) @ resting
    return Joint.ball(
        name,
        parent,
        child,
        at=Frame.at(place, location),
        axis=along,
        swing=radians(swing),
        twist=(-radians(twist), radians(twist)),
        rest=(location.inverse() @ resting).to_rotvec(),
        speed=speed,
    )


def shortest_turn(start: Array, end: Array) -> Frame:
    """The shortest rotation of one direction to another; they are not opposite."""
    a, b = start / np.linalg.norm(start), end / np.linalg.norm(end)
    around = np.cross(a, b)
    length = float(np.linalg.norm(around))
    return Frame.turn(around, np.arctan2(length, a @ b)) if length > 1e-12 else Frame()


def limb(start: ArrayLike, end: ArrayLike, radius: float, colour: Colour | None) -> Geometry:
    """A capsule between two points (3,) of a link, where its half spheres have their centres."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(b - a))
    x, y, z = (b - a) / length if length else (0.0, 0.0, 1.0)
    turn = z_to((float(x), float(y), float(z)))[:3, :3]
    return Geometry(Capsule(radius, length), Frame.at((a + b) / 2, turn), colour)
