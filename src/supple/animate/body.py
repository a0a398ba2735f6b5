"""Body: the parts of a body in its rest pose, with lengths, soles and the directions forward, left and up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.animate.body_map import BodyMap
from supple.errors import BadInput
from supple.frame import Array
from supple.link import Box, Capsule, Cylinder, Sphere
from supple.linkage import Linkage

SIDES = ("left", "right")
_HEEL_PART = 0.3  # of the length from the ankle to the ball of the foot: how far the heel is behind the ankle


@dataclass(frozen=True, eq=False)
class Body:
    """A linkage with its map, measured in its rest pose, which is upright."""

    linkage: Linkage
    links: dict[str, str]
    """Link of each body part."""
    rest: dict[str, Array]
    """Frame (4, 4) of each body part in the rest pose."""
    upright: Array
    """Rotation (3, 3) whose columns are forward, left and up at rest, in world axes."""
    heel: dict[str, Array]
    """Point (3,) of the heel of each side, in the axes of its foot."""
    toe: dict[str, Array]
    """Point (3,) under the ball of each foot, in the axes of the foot; of a stiff foot, its front end."""

    @classmethod
    def of(cls, linkage: Linkage, parts: BodyMap, rest: Array | None = None) -> Body:
        """The body of a linkage; ``rest`` are its joint values (dof,) when it stands upright, by default at rest."""
        q = linkage.rest if rest is None else rest
        frames = linkage.frames(q)
        at = {part: np.array(frames[link].matrix) for part, link in parts.links.items()}
        across = at["left_thigh"][:3, 3] - at["right_thigh"][:3, 3]
        across[2] = 0.0
        width = float(np.linalg.norm(across))
        if width < 1e-6:
            raise BadInput(f"the thighs of {linkage.name!r} are at one place in its rest pose: left is not known")
        left = across / width
        upright = np.stack([np.cross(left, [0.0, 0.0, 1.0]), left, [0.0, 0.0, 1.0]], axis=-1)
        heel: dict[str, Array] = {}
        toe: dict[str, Array] = {}
        for side in SIDES:
            heel[side], toe[side] = _sole(linkage, parts, q, at, side, upright[:, 0])
        return cls(linkage, dict(parts.links), at, upright, heel, toe)

    def position(self, part: str) -> Array:
        """Where a part begins in the rest pose (3,), in metres."""
        return self.rest[part][:3, 3]

    def length(self, first: str, second: str) -> float:
        """The distance between the beginnings of two parts at rest, in metres; the mean of both sides."""
        found = self._lengths.get((first, second))
        if found is None:
            ways = (self.position(f"{side}_{first}") - self.position(f"{side}_{second}") for side in SIDES)
            found = self._lengths[first, second] = sum(math.hypot(*way) for way in ways) / len(SIDES)
        return found

    @cached_property
    def _lengths(self) -> dict[tuple[str, str], float]:
        return {}

    @cached_property
    def leg(self) -> float:
        """Length of a straight leg, from the hip to the sole, in metres."""
        return self.hip_to_ankle + self.ankle_height

    @cached_property
    def hip_to_ankle(self) -> float:
        """Length of a straight leg without its foot, in metres."""
        return self.length("thigh", "shank") + self.length("shank", "foot")

    @cached_property
    def ankle_height(self) -> float:
        """Height of the ankles over the soles at rest, in metres."""
        return float(np.mean([self.position(f"{side}_foot")[2] - self.sole_height(side) for side in SIDES]))

    def sole_height(self, side: str) -> float:
        """Height of the toe's point of a foot at rest, in metres."""
        foot = self.rest[f"{side}_foot"]
        return float((foot[:3, :3] @ self.toe[side] + foot[:3, 3])[2])


def _sole(
    linkage: Linkage, parts: BodyMap, q: Array, at: dict[str, Array], side: str, forward: Array
) -> tuple[Array, Array]:
    """Heel and toe (3,) of a foot in its axes: from the map, or from its shapes and joints in the rest pose."""
    if f"{side}_heel" in parts.soles and f"{side}_toe" in parts.soles:
        return np.array(parts.soles[f"{side}_heel"]), np.array(parts.soles[f"{side}_toe"])
    foot = at[f"{side}_foot"]
    ankle = foot[:3, 3]
    names = [parts.links[part] for part in (f"{side}_foot", f"{side}_toes") if part in parts.links]
    lowest = _lowest(linkage, q, names)
    if f"{side}_toes" in at:
        ball = at[f"{side}_toes"][:3, 3]
    else:
        thigh = at[f"{side}_thigh"][:3, 3]
        ball = ankle + 0.15 * float(thigh[2] - ankle[2]) * forward
        ball[2] = ankle[2] - 0.07 * float(thigh[2] - ankle[2]) if lowest is None else lowest
    floor = float(ball[2]) if lowest is None else lowest
    heel = ankle - _HEEL_PART * (ball - ankle)
    points = [np.array([*point[:2], floor]) for point in (heel, ball)]
    first, second = (foot[:3, :3].T @ (point - ankle) for point in points)
    return first, second


def _lowest(linkage: Linkage, q: Array, links: list[str]) -> float | None:
    """The height of the lowest point of the round shapes and boxes of some links, in metres; None if there are none."""
    heights = []
    for name, geometry, frame in linkage.world_geometry(q):
        if name not in links:
            continue
        shape, up = geometry.shape, np.abs(frame.rotation[2])
        if isinstance(shape, Sphere):
            below = shape.radius
        elif isinstance(shape, Capsule):
            below = shape.radius + up[2] * shape.length / 2
        elif isinstance(shape, Cylinder):
            below = shape.radius * np.hypot(up[0], up[1]) + up[2] * shape.length / 2
        elif isinstance(shape, Box):
            below = float(up @ np.array(shape.size)) / 2
        else:
            continue
        heights.append(float(frame.position[2] - below))
    return min(heights) if heights else None
