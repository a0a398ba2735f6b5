"""The standing pose of a clip's figure: its rest pose, turned upright, or found in its motion."""

from __future__ import annotations

import dataclasses

import numpy as np

from supple.animate.body_map import found_parts
from supple.frame import Array, Frame
from supple.joint import Joint, Kind
from supple.linkage import Linkage
from supple.motion import Motion

_ACROSS = 0.3  # cosine: of a direction that is nearly across
_ALIKE = 0.5  # cosine: of legs and trunk that point the same way
_TRIED = 2000  # frames of a clip that are looked at
_UP = np.array([0.0, 0.0, 1.0])


def standing(clip: Motion) -> Motion:
    """The clip, with a figure that stands at rest.

    Its floating root is turned there if the legs are not upright. In some files all bones lie along one axis at rest:
    there legs and trunk do not point the same way, and a figure stands as in the frame in which its trunk is most
    upright, with each foot as it is where it is lowest.
    """
    linkage = clip.linkage
    if not has_legs(linkage) or _root(linkage).kind is not Kind.FLOATING:
        return clip
    rest, legs = linkage.rest, from_feet(linkage, linkage.rest, "thigh")
    if not is_straight(linkage):
        rest = _standing_pose(clip)
    elif legs[2] <= _ACROSS:
        rest = _root_turned(linkage, rest, legs)
    else:
        return clip
    values = {j.name: tuple(rest[linkage._sources[j.name].first :][: j.dof].tolist()) for j in linkage.joints if j.dof}
    joints = [
        dataclasses.replace(joint, rest=values[joint.name]) if joint.dof and joint.mimic is None else joint
        for joint in linkage.joints
    ]
    return Motion(Linkage(linkage.name, joints, linkage.links, linkage.base), clip.times, clip.q)


def has_legs(linkage: Linkage) -> bool:
    """Whether thighs, shanks and feet are known by their names."""
    needed = {f"{side}_{part}" for side in ("left", "right") for part in ("thigh", "shank", "foot")}
    return needed <= set(found_parts(linkage))


def is_straight(linkage: Linkage) -> bool:
    """Whether legs and trunk point the same way at rest: else a figure does not stand there, however it is turned."""
    legs, trunk = from_feet(linkage, linkage.rest, "thigh"), _trunk(linkage, linkage.rest)
    return bool(legs @ trunk >= _ALIKE)


def from_feet(linkage: Linkage, q: Array, part: str) -> Array:
    """The mean direction (..., 3) from the feet to the beginnings of a pair of parts, of length 1.

    To the hips, if the figure has no such parts.
    """
    return _direction(linkage, q, "foot", part)


def _direction(linkage: Linkage, q: Array, first: str, second: str) -> Array:
    parts, frames = found_parts(linkage), linkage.frames(q)
    ways = sum(
        frames[parts.get(f"{side}_{second}", parts[f"{side}_thigh"])].position
        - frames[parts[f"{side}_{first}"]].position
        for side in ("left", "right")
    )
    length = np.linalg.norm(ways, axis=-1, keepdims=True)
    directions: Array = ways / np.maximum(length, 1e-12)
    return directions


def _trunk(linkage: Linkage, q: Array) -> Array:
    """The direction (..., 3) from the hips to the shoulders; from the feet to the hips, if it has no arms."""
    arms = {"left_upper_arm", "right_upper_arm"} <= set(found_parts(linkage))
    return _direction(linkage, q, "thigh" if arms else "foot", "upper_arm")


def _root_turned(linkage: Linkage, q: Array, up: Array) -> Array:
    """Joint values (dof,) with the floating root turned so that a direction (3,) points up."""
    root, out = _root(linkage), np.array(q)
    axis = np.cross(up, _UP)
    turn = Frame.turn(axis if np.linalg.norm(axis) > 1e-9 else [1.0, 0.0, 0.0], np.arccos(np.clip(up[2], -1, 1)))
    before = linkage.frame(q, root.parent) @ root.location
    first = linkage._sources[root.name].first + 3
    out[first : first + 3] = (before.inverse() @ turn @ linkage.frame(q, root.child)).to_rotvec()
    return out


def _root(linkage: Linkage) -> Joint:
    """The first joint on the way to the legs: a file may have other things than a figure before it."""
    joints = {joint.child: joint for joint in linkage.joints}
    joint = joints[found_parts(linkage)["left_thigh"]]
    while joint.parent in joints:
        joint = joints[joint.parent]
    return joint


def _standing_pose(clip: Motion) -> Array:
    """Joint values (dof,) of the frame in which the trunk is most upright, with feet as they are on the ground."""
    linkage = clip.linkage
    some = clip.q[:: max(1, len(clip) // _TRIED)]
    trunk = _trunk(linkage, some)
    best = int(np.argmax(trunk[:, 2]))
    pose = _root_turned(linkage, some[best], trunk[best])
    parts, frames = found_parts(linkage), linkage.frames(some)
    for side in ("left", "right"):
        foot = next(joint for joint in linkage.joints if joint.child == parts[f"{side}_foot"])
        if foot.kind is not Kind.BALL or foot.mimic is not None:
            continue
        tips = [parts[part] for part in (f"{side}_foot", f"{side}_toes") if part in parts]
        flat = int(np.argmin(sum(frames[link].position[:, 2] for link in tips)))
        turn = Frame.turn([0, 0, 1], _heading(linkage, pose) - _heading(linkage, some[flat]))
        parent = linkage.frame(pose, foot.parent) @ foot.location
        first = linkage._sources[foot.name].first
        pose[first : first + 3] = (parent.inverse() @ turn @ frames[foot.child][flat]).to_rotvec()
    return pose


def _heading(linkage: Linkage, q: Array) -> float:
    """The angle about the vertical of the line through the hips for joint values (dof,)."""
    parts, frames = found_parts(linkage), linkage.frames(q)
    across = frames[parts["left_thigh"]].position - frames[parts["right_thigh"]].position
    return float(np.arctan2(across[1], across[0]))
