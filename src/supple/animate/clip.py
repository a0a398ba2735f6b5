"""Clips from animation files, in metres with z up: what a file does not say is found from the figure's shape."""

from __future__ import annotations

import os

import numpy as np

from supple import _check
from supple._figure.convention import UNITS, Convention
from supple.animate.body_map import found_parts
from supple.animate.clip_frames import without_reference_pose
from supple.animate.standing import from_feet, has_legs, is_straight, standing
from supple.errors import BadInput
from supple.frame import Array
from supple.linkage import Linkage
from supple.motion import Motion
from supple.read import motion_file as reader

CMU_UNIT = 0.056444
"""Length of the unit of clips from CMU's motion capture database, in metres."""
_LEG = 0.85  # m: from hip to ankle, of a person
_LEGS = (0.25, 1.5)  # m: of a figure whose numbers are taken as metres
_ALONG = 0.9  # cosine: of a direction that is along an axis


def load_clip(path: str | os.PathLike[str], *, up: str | None = None, unit: float | str | None = None) -> Motion:
    """The clip in a .bvh, .gltf or .glb file, in metres with z up.

    A first frame from which the figure jumps to the second is taken for a reference pose: the second stands for it.

    Args:
        path: the file.
        up: its axis that points up; by default the one along which the figure's legs are longest at rest; y, if the
            figure stands along y in the motion. A figure that does not stand at rest is turned there, so that it does.
            One that is along another axis in the motion than at rest is refused: it lies, or that axis is up.
        unit: length of its unit in metres, or its name; by default metres if the legs are between 0.25 and 1.5 m long,
            else the unit with which they are nearest to a person's: cm, mm, in, ft, dm or CMU's 0.056444 m.
    """
    if up is not None:
        _check.one_of(up, "up", ("x", "y", "z"))
        if unit is not None:
            return _prepared(Motion.load(path, up=up, unit=unit))
    clip = Motion.load(path, up="z" if reader.is_figure(path) else None)  # with the axes of the file
    leg = _leg(clip.linkage)
    axis = up if up is not None else up_axis(clip, "z") or "y"
    length = float(np.linalg.norm(leg))
    if unit is None:
        unit = 1.0
        if not _LEGS[0] <= length <= _LEGS[1]:
            known = [*UNITS.values(), CMU_UNIT]
            unit = min(known, key=lambda size: abs(np.log(max(size * length, 1e-9) / _LEG)))
    loaded = clip if axis == "z" and unit == 1.0 else Motion.load(path, up=axis, unit=unit)
    return _prepared(loaded)


def up_axis(clip: Motion, read_as: str) -> str | None:
    """The axis of its file along which a figure's legs stand; None if it has none that are known by their names.

    That is the axis of the legs at rest; or y, if they are along it in the motion and across it at rest: such are files
    that were turned to y up by their root channels alone. Both formats mostly have y up. Raises `BadInput` if the body
    is along another axis in the motion than at rest: it may lie, or that axis may be up.

    Args:
        clip: what was read.
        read_as: the axis that was taken for up when it was read.
    """
    if not has_legs(clip.linkage):
        return None
    back = Convention(read_as).turn.rotation.T  # from the world's axes to the file's
    some = clip.q[:: max(1, len(clip) // 100)]
    if (back @ from_feet(clip.linkage, some, "thigh").mean(axis=0))[1] > _ALONG:
        return "y"
    at_rest = int(np.argmax(np.abs(back) @ _leg(clip.linkage)))
    body = back @ from_feet(clip.linkage, some, "upper_arm").mean(axis=0)
    moving = int(np.argmax(np.abs(body)))
    if not is_straight(clip.linkage):
        return "xyz"[moving]
    if abs(body[moving]) > _ALONG and moving != at_rest:
        found, other = "xyz"[at_rest], "xyz"[moving]
        sign = "" if body[moving] > 0 else "-"
        upward = f'up="{other}" or, if the figure lies, ' if not sign else "if the figure lies, "
        raise BadInput(
            f"{clip.linkage.name!r} stands along {found} at rest, and along {sign}{other} in "
            f'its motion: give the axis that points up, {upward}up="{found}" (in a shell --up {found})'
        )
    return "xyz"[at_rest]


def _prepared(clip: Motion) -> Motion:
    """The clip with a figure that stands at rest, and without a reference pose before its frames."""
    return standing(without_reference_pose(clip))


def _leg(linkage: Linkage) -> Array:
    """How far the bones of a leg reach along each axis at rest (3,), in the file's units."""
    parts = found_parts(linkage)
    if not has_legs(linkage):
        names = _check.short(", ".join(link.name for link in linkage.links))
        raise BadInput(
            f"{linkage.name!r} has no links named like thighs, shanks and feet, by which up and the unit are found; "
            f'give both: up="y", unit="cm" (in a shell --up y --unit cm). Its links are {names}'
        )
    frames = linkage.frames(linkage.rest)
    ways = np.zeros(3)
    for first, second in (("thigh", "shank"), ("shank", "foot")):
        for side in ("left", "right"):
            ends = [frames[parts[f"{side}_{part}"]].position for part in (first, second)]
            ways += 0.5 * np.abs(ends[0] - ends[1])
    return ways
