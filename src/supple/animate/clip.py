"""Clips from animation files, in metres with z up: what a file does not say is found from the figure's shape."""

from __future__ import annotations

import os

import numpy as np

from supple import _check
from supple._figure.convention import UNITS
from supple.animate.body_names import matched
from supple.errors import BadInput
from supple.frame import Array
from supple.linkage import Linkage
from supple.motion import Motion
from supple.read import motion_file as reader

CMU_UNIT = 0.056444
"""Length of the unit of clips from CMU's motion capture database, in metres."""
_LEG = 0.85  # m: from hip to ankle, of a person
_LEGS = (0.25, 1.5)  # m: of a figure whose numbers are taken as metres


def load_clip(path: str | os.PathLike[str], *, up: str | None = None, unit: float | str | None = None) -> Motion:
    """The clip in a .bvh, .gltf or .glb file, in metres with z up.

    Args:
        path: the file.
        up: its axis that points up; by default the one along which the figure's legs are longest.
        unit: length of its unit in metres, or its name; by default metres if the legs are between 0.25 and 1.5 m long,
            else the unit with which they are nearest to a person's: cm, mm, in, ft, dm or CMU's 0.056444 m.
    """
    if up is not None:
        _check.one_of(up, "up", ("x", "y", "z"))
    if up is not None and unit is not None:
        return Motion.load(path, up=up, unit=unit)
    clip = Motion.load(path, up="z" if reader.is_figure(path) else None)  # with the axes of the file
    leg = _leg(clip.linkage)
    axis = up if up is not None else "xyz"[int(np.argmax(np.abs(leg)))]
    length = float(np.linalg.norm(leg))
    if unit is None:
        unit = 1.0
        if not _LEGS[0] <= length <= _LEGS[1]:
            known = [*UNITS.values(), CMU_UNIT]
            unit = min(known, key=lambda size: abs(np.log(max(size * length, 1e-9) / _LEG)))
    return clip if axis == "z" and unit == 1.0 else Motion.load(path, up=axis, unit=unit)


def _leg(linkage: Linkage) -> Array:
    """How far the bones of a leg reach along each axis at rest (3,), in the file's units."""
    parts = matched(link.name for link in linkage.links)
    if "left_thigh" not in parts or "left_foot" not in parts or "left_shank" not in parts:
        raise BadInput(f"{linkage.name!r} has no links named as thighs, shanks and feet; give its up axis and its unit")
    frames = linkage.frames(linkage.rest)
    ways = np.zeros(3)
    for first, second in (("thigh", "shank"), ("shank", "foot")):
        for side in ("left", "right"):
            ends = [frames[parts[f"{side}_{part}"]].position for part in (first, second)]
            ways += 0.5 * np.abs(ends[0] - ends[1])
    return ways
