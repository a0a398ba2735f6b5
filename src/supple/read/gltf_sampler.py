"""Sampler of a .gltf animation: keys of one value of a node, and how it goes from key to key."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple import _check
from supple.frame import Array, Frame
from supple.read.gltf_file import Document

MODES = ("LINEAR", "STEP", "CUBICSPLINE")
PIECES = 8
"""Linear pieces that stand for one piece of a cubic spline."""
JUMP = 1e-3
"""Seconds that a step takes, or half of the time between its keys if that is less."""


class Sampler:
    """Times (n,) in seconds and values (n, width); of a spline (n, 3, width): tangent before, value, tangent after."""

    def __init__(
        self, document: Document, row: dict[str, Any], path: str, width: int, place: str, inputs: dict[int, Array]
    ) -> None:
        self.mode = row.get("interpolation", "LINEAR")
        if not isinstance(self.mode, str) or self.mode not in MODES:
            document.refuse(f"interpolation must be one of {', '.join(MODES)}, got {_check.short(self.mode)}", place)
        source = row.get("input")
        if not isinstance(source, int) or source not in inputs:  # samplers share their times
            times = document.array(source, 1, place)[:, 0]
            if np.any(np.diff(times) <= 0):
                document.refuse("its times must increase", place)
            assert isinstance(source, int)
            inputs[source] = times
        self.times = inputs[source]
        values = document.array(row.get("output"), width, place)
        cubic = self.mode == "CUBICSPLINE"
        if len(values) != len(self.times) * (3 if cubic else 1):
            document.refuse(f"{len(self.times):,} times do not fit {len(values):,} values", place)
        self.values = values.reshape(-1, 3, width) if cubic else values
        if path == "rotation" and np.any(np.linalg.norm(self.keyed(), axis=-1) < 1e-3):
            document.refuse("a rotation must be a quaternion that is not zero", place)

    def keyed(self) -> Array:
        """The values (n, width) at the keys."""
        return self.values[:, 1] if self.mode == "CUBICSPLINE" else self.values

    def keys(self) -> Array:
        """Times between which the values are linear: those of the keys, and some between them for splines and steps."""
        if self.mode == "LINEAR" or len(self.times) == 1:
            return self.times
        gaps = np.diff(self.times)
        if self.mode == "STEP":
            return np.concatenate([self.times, self.times[1:] - np.minimum(JUMP, gaps / 2)])
        inner = self.times[:-1, None] + gaps[:, None] * np.arange(PIECES) / PIECES
        return np.append(inner.ravel(), self.times[-1])

    def at(self, times: Array) -> Array:
        """The values (m, width) at times (m,)."""
        i, share = self._place(times)
        if self.mode == "CUBICSPLINE":
            return self._spline(i, share)
        before: Array = self.values[i]
        if self.mode == "STEP" or len(self.times) == 1:
            return before
        between: Array = before + share * (self.values[i + 1] - before)
        return between

    def rotation_at(self, times: Array) -> Frame:
        """The rotations (m,) at times (m,), from quaternions xyzw."""
        if self.mode != "LINEAR" or len(self.times) == 1:
            values = self.at(times)
            # a spline may pass through zero; the rotation before it stands for it
            low = np.linalg.norm(values, axis=-1) < 1e-6
            values[low] = self.keyed()[self._place(times)[0][low]]
            return Frame.quaternion(values, order="xyzw")
        keys = Frame.quaternion(self.values, order="xyzw")
        if np.array_equal(times, self.times):
            return keys
        i, share = self._place(times)
        steps = (keys[:-1].inverse() @ keys[1:]).to_rotvec()
        return keys[i] @ Frame.rotvec(share * steps[i])

    def _place(self, times: Array) -> tuple[Any, Array]:
        """The key before each time, but for splines and lines never the last, and the share (m, 1) of the way on."""
        last = len(self.times) - 1
        most = last if self.mode == "STEP" else max(last - 1, 0)
        i = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, most)
        after = np.minimum(i + 1, last)
        gap = np.where(after > i, self.times[after] - self.times[i], 1.0)
        return i, np.clip((times - self.times[i]) / gap, 0.0, 1.0)[:, None]

    def _spline(self, i: Any, t: Array) -> Array:
        """Cubic Hermite spline, as in the specification of glTF 2.0, appendix C.5."""
        if len(self.times) == 1:
            only: Array = self.values[i, 1]
            return only
        gap = (self.times[i + 1] - self.times[i])[:, None]
        start, end = self.values[i, 1], self.values[i + 1, 1]
        leaving, arriving = gap * self.values[i, 2], gap * self.values[i + 1, 0]
        t2, t3 = t * t, t * t * t
        value: Array = (2 * t3 - 3 * t2 + 1) * start + (t3 - 2 * t2 + t) * leaving
        value = value + (3 * t2 - 2 * t3) * end + (t3 - t2) * arriving
        return value
