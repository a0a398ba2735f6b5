"""What a source body's frames ask of a target body: where its parts should be, in the target's proportions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple import _core
from supple._linkage.frames import Frames
from supple.animate.body import SIDES, Body
from supple.animate.footsteps import Contacts, Mask, ground_height, in_contact, placed
from supple.animate.rows import joined, lengths, turned, turned_by
from supple.animate.smoothing import raised, smoothed
from supple.frame import Array

Filter = Callable[[Array, float], Array]
"""A filter in time: values (n, k) and a standard deviation in frames give values (n, k)."""
_STRAIGHT = 0.99  # of the length of a leg: how far a foot may be from its hip
_STANDS = 0.9  # of the length of a leg: how high a hip is over its foot at least where a figure stands
_LEAN = 0.15  # of the length of a leg: most that a pelvis is moved back
_KNEE_WIDTHS = 2.4
_KNEE_FORWARD = 0.2  # of the length of a thigh: how far its knee is drawn forward
_TURNED = ("pelvis", "chest", "head", "left_hand", "right_hand", "left_foot", "right_foot")
_POINTS = tuple(
    f"{side}_{part}" for side in SIDES for part in ("thigh", "shank", "foot", "upper_arm", "forearm", "hand")
)


@dataclass(frozen=True, eq=False)
class PoseTargets:
    """Frames that parts of the target should have, for each of n frames of time."""

    pelvis: Array
    """Frame of the pelvis (n, 4, 4)."""
    chest: Array
    """Rotation of the chest (n, 3, 3)."""
    head: Array | None
    """Rotation of the head (n, 3, 3), or None."""
    feet: dict[str, Array]
    """Frame of each foot (n, 4, 4)."""
    knees: dict[str, Array]
    """A point (n, 3) that each knee should point to."""
    arms: dict[str, tuple[Array, Array]]
    """Ways (n, 3) from the shoulder to the elbow and from there to the wrist, in metres."""
    hands: dict[str, Array]
    """Rotation of each hand (n, 3, 3)."""
    contacts: dict[str, Contacts]
    """Which points of each foot touch the ground."""


@dataclass(frozen=True, eq=False)
class Correspondence:
    """A source body and a target body, with what relates their rest poses."""

    source: Body
    target: Body
    scale: float
    """Length of the target's legs from hip to ankle over that of the source's."""

    @classmethod
    def of(cls, source: Body, target: Body, scale: float | None) -> Correspondence:
        """The relation of two bodies; ``scale`` by default that of their legs from hip to ankle.

        The height of an ankle over its sole is no part of it: with long feet a leg would be too short for its steps.
        """
        return cls(source, target, target.hip_to_ankle / source.hip_to_ankle if scale is None else scale)

    @cached_property
    def lift(self) -> float:
        """How much higher than scaled the target is, in metres: both stand flat with ankles of their own heights."""
        return self.target.ankle_height - self.scale * self.source.ankle_height

    def rest_offset(self, part: str) -> Array:
        """The rotation B (3, 3) such that a part's rotation R of the source becomes R B of the target.

        With the bodies turned to face along x, both parts turn alike from rest. A hand at rest may point elsewhere than
        that of the source: it is turned the shortest way to the direction of the source's forearm first.
        """
        first, second = self.source, self.target
        rest_1, rest_2 = first.rest[part][:3, :3], second.rest[part][:3, :3]
        bend = np.eye(3)
        if part.endswith("_hand"):
            forearm = part.replace("hand", "forearm")
            ways = [body.upright.T @ (body.position(part) - body.position(forearm)) for body in (second, first)]
            bend = shortest_turn(ways[0], ways[1])
        offset: Array = rest_1.T @ first.upright @ bend @ second.upright.T @ rest_2
        return offset

    @cached_property
    def rest_offsets(self) -> dict[str, Array]:
        """`rest_offset` of each part that both bodies have."""
        return {part: self.rest_offset(part) for part in self.parts}

    @cached_property
    def parts(self) -> list[str]:
        """Parts whose rotation both bodies have."""
        return [part for part in _TURNED if part in self.source.rest and part in self.target.rest]


def shortest_turn(a: Array, b: Array) -> Array:
    """The rotation (3, 3) that takes the direction of a (3,) to that of b (3,) the shortest way."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    axis, cosine = np.cross(a, b), float(a @ b)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-9:
        if cosine > 0:
            return np.eye(3)
        axis = np.cross(a, [1.0, 0, 0] if abs(a[0]) < 0.9 else [0, 1.0, 0])
        axis, sine = axis / np.linalg.norm(axis), 1.0
        return np.asarray(_core.exp_rotation(np.pi * axis)[:3, :3])
    turn: Array = _core.exp_rotation(np.arctan2(sine, cosine) / sine * axis)[:3, :3]
    return turn


def sole_points(source: Body, frames: Frames) -> dict[tuple[str, str], Array]:
    """Heel and toe of each side in every frame (n, 3), by side and name."""
    return {(side, name): point for side in SIDES for name, point in soles(source, frames, side)}


def heights(points: dict[tuple[str, str], Array]) -> Array:
    """The heights of points of the soles (n, 4), in metres."""
    return np.stack([point[:, 2] for point in points.values()], axis=-1)


def pose_targets(pair: Correspondence, q: Array, dt: float, width: float, *, upright: bool = True) -> PoseTargets:
    """What the source's joint values (n, dof) ask of the target.

    ``width`` is the standard deviation of the filter in time, in frames; 0 for none. ``upright``: whether the target
    stands over its feet as at rest, and not as the source does, and the ground is found from the source's feet.
    """
    source, target = pair.source, pair.target
    frames = source.linkage.frames(q)
    on_sole = sole_points(source, frames)
    ground = ground_height(heights(on_sole)) if upright else 0.0
    contacts = {
        side: Contacts(*(in_contact(on_sole[side, name], ground, dt) for name in ("heel", "toe"))) for side in SIDES
    }
    points, turns = filtered(pair, frames, ground, width)
    pelvis = pelvis_frames(pair, points, turns["pelvis"])
    lean = _lean(pair, points, pelvis, contacts) if upright else np.zeros((len(q), 3))
    pelvis[:, :3, 3] -= lean
    feet, pelvis = _feet(pair, points, turns, pelvis, lean, contacts, dt)
    return PoseTargets(
        pelvis,
        turns["chest"],
        turns.get("head"),
        feet,
        {side: knee_points(pair, points, pelvis, feet[side], side, width) for side in SIDES},
        {side: arm_ways(target, points, side) for side in SIDES},
        {side: turns[f"{side}_hand"] for side in SIDES},
        contacts,
    )


def soles(source: Body, frames: Frames, side: str) -> list[tuple[str, Array]]:
    """Heel and toe (n, 3) of a foot of the source."""
    foot = np.ascontiguousarray(frames[source.links[f"{side}_foot"]].matrix)
    points = (("heel", source.heel[side]), ("toe", source.toe[side]))
    return [(name, turned_by(foot, point) + foot[:, :3, 3]) for name, point in points]


def filtered(
    pair: Correspondence, frames: Frames, ground: float, width: float, smooth: Filter = smoothed
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Positions (n, 3) of the source's points above the ground, and rotations (n, 3, 3) that parts of the target should
    have, filtered in time.
    """
    places = {name: i for i, name in enumerate(frames)}
    at, turns = ([places[pair.source.links[part]] for part in parts] for parts in (_POINTS, pair.parts))
    columns = smooth(_core.pose_columns(frames.matrix, at, turns), width)
    positions, rotations = _core.column_poses(columns, np.stack([pair.rest_offsets[part] for part in pair.parts]))
    positions[..., 2] -= ground
    return dict(zip(_POINTS, positions, strict=True)), dict(zip(pair.parts, rotations, strict=True))


def pelvis_frames(pair: Correspondence, points: dict[str, Array], rotation: Array) -> Array:
    """Frames (n, 4, 4) of the target's pelvis: the middle of its hips where that of the source's is, scaled, with
    ankles of its own height.
    """
    target = pair.target
    middle = pair.scale * 0.5 * (points["left_thigh"] + points["right_thigh"]) + [0.0, 0.0, pair.lift]
    rest = target.rest["pelvis"]
    hips = 0.5 * (target.position("left_thigh") + target.position("right_thigh"))
    local = rest[:3, :3].T @ (hips - rest[:3, 3])
    return joined(rotation, middle - turned(rotation, local))


def forward_over_ground(target: Body, pelvis: Array) -> Array:
    """The direction forward (n, 3) of frames of the pelvis (n, 4, 4), without height."""
    forward: Array = turned_by(pelvis, target.rest["pelvis"][:3, :3].T @ target.upright[:, 0]) * [1.0, 1.0, 0.0]
    forward /= np.maximum(lengths(forward), 0.3)[:, None]
    return forward


def ahead_of_foot(pair: Correspondence, points: dict[str, Array], forward: Array, side: str) -> Array:
    """How much farther forward (n,) a hip is over its foot than at rest, in metres of the target.

    Skeletons of recorded clips often have the ankles behind where they are: standing figures lean forward.
    """
    target = pair.target
    way = pair.scale * (points[f"{side}_thigh"] - points[f"{side}_foot"])
    rest = (target.position(f"{side}_thigh") - target.position(f"{side}_foot")) @ target.upright[:, 0]
    most = _LEAN * target.leg
    ahead: Array = np.clip(np.einsum("ij,ij->i", way, forward) - rest, -most, most)
    return ahead


def _lean(pair: Correspondence, points: dict[str, Array], pelvis: Array, contacts: dict[str, Contacts]) -> Array:
    """How far (n, 3) the target's pelvis should be behind the source's, so that it stands over its feet as at rest: by
    the median of the frames in which both feet are flat, or one if never both, and the legs on them nearly straight.
    """
    forward = forward_over_ground(pair.target, pelvis)
    ahead = np.stack([ahead_of_foot(pair, points, forward, side) for side in SIDES])
    flat = [contacts[side].heel & contacts[side].toe for side in SIDES]
    stands = np.stack([flat[i] & hip_is_high(pair, points, side) for i, side in enumerate(SIDES)])
    both, one = stands.all(axis=0), stands.any(axis=0)
    found = ahead[:, both].mean(axis=0) if both.any() else ahead[:, one][stands[:, one]]
    lean: Array = (np.median(found) if len(found) else 0.0) * forward
    return lean


def hip_is_high(pair: Correspondence, points: dict[str, Array], side: str) -> Mask:
    """Where (n,) a hip of the source is as high over its foot as where it stands."""
    return points[f"{side}_thigh"][:, 2] - points[f"{side}_foot"][:, 2] > _STANDS * pair.source.hip_to_ankle


def hip_position(target: Body, pelvis: Array, side: str) -> Array:
    """Positions (n, 3) of a hip of the target for frames of its pelvis (n, 4, 4)."""
    rest = target.rest["pelvis"]
    local = rest[:3, :3].T @ (target.position(f"{side}_thigh") - rest[:3, 3])
    at: Array = turned_by(pelvis, local) + pelvis[:, :3, 3]
    return at


def _feet(
    pair: Correspondence,
    points: dict[str, Array],
    turns: dict[str, Array],
    pelvis: Array,
    lean: Array,
    contacts: dict[str, Contacts],
    dt: float,
) -> tuple[dict[str, Array], Array]:
    """Frames (n, 4, 4) of the feet, without sliding; and of the pelvis, lowered where a leg would be too short."""
    target = pair.target
    feet = {}
    for side in SIDES:
        hip = hip_position(target, pelvis, side)
        ankle = hip + lean + pair.scale * (points[f"{side}_foot"] - points[f"{side}_thigh"])
        flat = target.upright.T @ target.rest[f"{side}_foot"][:3, :3]
        asked = joined(turns[f"{side}_foot"], ankle)
        feet[side] = placed(asked, contacts[side].numbers(), target.heel[side], target.toe[side], dt, flat)
    return feet, within_reach(target, pelvis, feet, dt)


def within_reach(target: Body, pelvis: Array, feet: dict[str, Array], dt: float) -> Array:
    """Frames of the pelvis (n, 4, 4), lowered where a foot is farther from its hip than the leg is long."""
    lowered: Array = pelvis.copy()
    lowered[:, 2, 3] -= raised(too_high(target, pelvis, feet), max(1, int(0.1 / dt)))
    return lowered


def too_high(target: Body, pelvis: Array, feet: dict[str, Array]) -> Array:
    """How much too high (n,) frames of the pelvis (n, 4, 4) are for legs that reach their feet, in metres."""
    longest = _STRAIGHT * (target.length("thigh", "shank") + target.length("shank", "foot"))
    needed = np.zeros(len(pelvis))
    for side, foot in feet.items():
        way = hip_position(target, pelvis, side) - foot[:, :3, 3]
        beside = np.minimum(np.hypot(way[:, 0], way[:, 1]), 0.9 * longest)
        needed = np.maximum(needed, way[:, 2] - np.sqrt(longest**2 - beside**2))
    return needed


def knee_points(
    pair: Correspondence,
    points: dict[str, Array],
    pelvis: Array,
    foot: Array,
    side: str,
    width: float,
    smooth: Filter = smoothed,
) -> Array:
    """Points (n, 3) that a knee should point to: as far from the leg's line as the source's, and forward of it, between
    the directions of pelvis and foot: an ankle twists little.

    Where a leg is nearly straight a small motion of the source's knee is a large turn: the direction is filtered once
    more, with a standard deviation of `_KNEE_WIDTHS` times ``width`` frames.
    """
    source, target = pair.source, pair.target
    hip, knee, ankle = (points[f"{side}_{part}"] for part in ("thigh", "shank", "foot"))
    line = ankle - hip
    along = np.einsum("ij,ij->i", knee - hip, line) / np.einsum("ij,ij->i", line, line)
    bent = knee - hip - along[:, None] * line
    parts = ((pelvis, "pelvis"), (foot, f"{side}_foot"))
    forward = sum(turned_by(frames, target.rest[part][:3, :3].T @ target.upright[:, 0]) for frames, part in parts)
    bent = bent + _KNEE_FORWARD * source.length("thigh", "shank") * forward
    bent /= np.maximum(lengths(bent), 1e-9)[:, None]
    bent = smooth(bent, _KNEE_WIDTHS * width)
    middle = 0.5 * (hip_position(target, pelvis, side) + foot[:, :3, 3])
    at: Array = middle + target.leg * bent
    return at


def arm_ways(target: Body, points: dict[str, Array], side: str) -> tuple[Array, Array]:
    """Ways (n, 3) along the upper arm and the forearm of the source, as long as those of the target."""
    ways = []
    for first, second in (("upper_arm", "forearm"), ("forearm", "hand")):
        way = points[f"{side}_{second}"] - points[f"{side}_{first}"]
        length = np.linalg.norm(target.position(f"{side}_{second}") - target.position(f"{side}_{first}"))
        ways.append(way * (length / np.maximum(lengths(way), 1e-9))[:, None])
    return ways[0], ways[1]
