"""Goals given as foreign arrays.

On the CPU a goal keeps NumPy arrays, as any other, and what the caller's had in common. On a GPU it keeps the caller's
arrays themselves; single numbers stand in for them while the other arguments are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple import _check
from supple._arrays.given import PLAIN, Given, given, given_one
from supple._arrays.library import library_of, shape_of
from supple.errors import BadInput

_SHAPES = {"frame": (4, 4), "orientation": (3, 3), "position": (3,), "direction": (3,), "look_at": (3,), "pole": (3,)}
_STANDINS: dict[str, Any] = {
    "frame": np.eye(4),
    "orientation": np.eye(3),
    "position": np.zeros(3),
    "direction": np.array([0.0, 0.0, 1.0]),
    "look_at": np.zeros(3),
    "pole": np.zeros(3),
}


def given_of(values: Mapping[str, Any]) -> Given | None:
    """What the foreign arrays among a goal's arguments have in common; None for a goal without any."""
    if all(type(value) in PLAIN or library_of(value) is None for value in values.values()):
        return None
    return given(values)


def frames_on_gpu(frame: Any) -> Given | None:
    """What frames (..., 4, 4) in the memory of a GPU are; None for anything else, and where a check is needed first."""
    library = library_of(frame)
    if library is None:
        return None
    arrays = given_one(library, frame, "frame")
    fits = arrays.is_on_gpu and frame.shape[-2:] == (4, 4) and len(frame.shape) <= _check.MOST_AXES + 2
    return arrays if fits else None


def frame_parts(frame: Any) -> tuple[Any, Any]:
    """Positions (..., 3) and orientations (..., 3, 3) of frames."""
    return frame[..., :3, 3], frame[..., :3, :3]


def stand_ins(values: Mapping[str, Any]) -> dict[str, Any]:
    """Single numbers in the place of arrays of a GPU, whose shapes are checked."""
    for name, value in values.items():
        last = _SHAPES[name]
        shape = last if value is None else shape_of(value)
        if shape[-len(last) :] != last:
            wanted = ", ".join(map(str, last))
            raise BadInput(f"{name} must have shape (..., {wanted}), not {shape}")
    return {name: None if value is None else _STANDINS[name] for name, value in values.items()}


def fields(arrays: Given, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a goal of a GPU: the caller's arrays, or parts of them; directions at unit length."""
    found = {name: value for name, value in values.items() if value is not None and name != "frame"}
    frame = values["frame"]
    if frame is not None:
        found["position"], found["orientation"] = frame_parts(frame)
    if "direction" in found:
        direction = found["direction"]
        found["direction"] = direction / (direction * direction).sum(-1)[..., None] ** 0.5
    return found
