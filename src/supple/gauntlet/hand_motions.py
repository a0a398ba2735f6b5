"""Motions of an operator's hand without noise: frames (N, 4, 4) as functions of times (N,)."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, radians

import numpy as np

from supple.frame import Array, Frame
from supple.gauntlet.arms import Arm


def minimum_jerk(share: Array) -> Array:
    """The minimum-jerk polynomial from 0 to 1, constant outside: 10 s^3 - 15 s^4 + 6 s^5."""
    s = np.clip(share, 0.0, 1.0)
    return np.asarray(s * s * s * (10 + s * (-15 + 6 * s)))


def _segment(ends: Array, times: Array) -> Array:
    """Index of the segment of each time (N,); a segment includes its end."""
    return np.asarray(np.minimum(np.searchsorted(ends + 1e-12, times, side="left"), len(ends) - 1))


class Lines:
    """Straight lines and single rotations from frame to frame, each with minimum jerk; jumps take no time."""

    def __init__(self, start: Array) -> None:
        self._at = np.array(start)
        self._from: list[Array] = []
        self._to: list[Array] = []
        self._durations: list[float] = []
        self.jumps: list[float] = []

    def to(self, frame: Array, seconds: float) -> Lines:
        """Move to a frame (4, 4)."""
        self._from.append(self._at)
        self._at = np.array(frame)
        self._to.append(self._at)
        self._durations.append(seconds)
        return self

    def hold(self, seconds: float) -> Lines:
        """Rest."""
        return self.to(self._at, seconds)

    def jump(self, frame: Array) -> Lines:
        """Jump to a frame (4, 4)."""
        self.jumps.append(self.duration)
        self._at = np.array(frame)
        return self

    @property
    def duration(self) -> float:
        """Total duration in seconds."""
        return float(sum(self._durations))

    def __call__(self, times: Array) -> Array:
        """Frames (N, 4, 4) at times (N,)."""
        durations = np.array(self._durations)
        ends = np.cumsum(durations)
        i = _segment(ends, times)
        share = minimum_jerk((times - (ends - durations)[i]) / durations[i])[:, None]
        a, b = np.stack(self._from), np.stack(self._to)
        turns = (Frame._trusted(a).inverse() @ Frame._trusted(b)).to_rotvec()
        out: Array = a[i].copy()
        out[:, :3, :3] = a[i, :3, :3] @ Frame.rotvec(share * turns[i]).rotation
        out[:, :3, 3] += share * (b - a)[i, :3, 3]
        return out


class Joints:
    """Joints that move from value to value with minimum jerk, also past their limits; frames of the end effector."""

    def __init__(self, arm: Arm, start: Array) -> None:
        self._arm = arm
        self._values = [np.array(start, dtype=float)]
        self._durations: list[float] = []

    def to(self, q: Array, seconds: float) -> Joints:
        """Move to joint values (dof,)."""
        self._values.append(np.array(q, dtype=float))
        self._durations.append(seconds)
        return self

    def hold(self, seconds: float) -> Joints:
        """Rest."""
        return self.to(self._values[-1], seconds)

    @property
    def duration(self) -> float:
        """Total duration in seconds."""
        return float(sum(self._durations))

    def q(self, times: Array) -> Array:
        """The joint values (N, dof) behind the frames."""
        durations, values = np.array(self._durations), np.stack(self._values)
        ends = np.cumsum(durations)
        i = _segment(ends, times)
        share = minimum_jerk((times - (ends - durations)[i]) / durations[i])[:, None]
        return np.asarray(values[i] + share * (values[i + 1] - values[i]))

    def __call__(self, times: Array) -> Array:
        """Frames (N, 4, 4) at times (N,)."""
        return self._arm.frames(self.q(times))


@dataclass(frozen=True)
class Oscillation:
    """Joints that oscillate slowly about a middle, each at its own frequency; frames of the end effector."""

    arm: Arm
    middle: Array
    """Joint values (dof,) about which they oscillate."""
    sizes: Array
    """Amplitude of each joint value (dof,)."""
    duration: float = 8.0
    """Seconds."""

    def q(self, times: Array) -> Array:
        """The joint values (N, dof) behind the frames."""
        gate = minimum_jerk(times) * minimum_jerk(self.duration - times)
        pace = 2 * pi * 0.25 * np.linspace(1.0, 1.7, self.arm.dof)
        return np.asarray(self.middle + gate[:, None] * self.sizes * np.sin(times[:, None] * pace))

    def __call__(self, times: Array) -> Array:
        """Frames (N, 4, 4) at times (N,)."""
        return self.arm.frames(self.q(times))


@dataclass(frozen=True)
class Circle:
    """A slow circle with rotation, from a frame and back to it in eight seconds."""

    middle: Array
    """The frame (4, 4) where it begins and ends."""
    size: float
    """Radius, in metres."""
    turn: float = radians(20)
    """Largest angle about the axes x and y, in radians; half of it about z."""
    duration: float = 8.0
    """Seconds."""

    def __call__(self, times: Array) -> Array:
        """Frames (N, 4, 4) at times (N,)."""
        gate = minimum_jerk(times) * minimum_jerk(self.duration - times)
        w = 2 * pi * 0.25 * times
        shift = np.stack([0.3 * (1 - np.cos(w)), np.sin(w), 1 - np.cos(w)], axis=-1)
        turn = np.stack([np.sin(w), np.sin(1.7 * w), 0.5 * np.sin(0.6 * w)], axis=-1)
        return _moved(self.middle, self.size * gate[:, None] * shift, self.turn * gate[:, None] * turn)


@dataclass(frozen=True)
class Wander:
    """Thirty seconds of random motion in and out of reach, with a little tremor and noise; always the same."""

    middle: Array
    """The frame (4, 4) where it begins."""
    size: float
    """Root mean square of the slow motion along x and y, in metres; 0.7 of it along z."""
    turn: float
    """Root mean square of the slow rotation about each axis, in radians."""
    aside: Array
    """Centre of the motion (3,) relative to the middle, in metres."""
    scale: float = 1.0
    """Factor of the position's tremor and noise."""
    duration: float = 30.0

    def __call__(self, times: Array) -> Array:
        """Frames (N, 4, 4) at times (N,)."""
        rng = np.random.default_rng(7)
        slow = rng.uniform(0.05, 0.40, (6, 8))
        size = rng.normal(size=(6, 8)) / (1 + (slow / 0.25) ** 2)
        level = np.array([self.size, self.size, 0.7 * self.size, self.turn, self.turn, self.turn])
        size *= level[:, None] / np.sqrt((size**2).sum(1, keepdims=True) / 2)
        tremor = rng.uniform(7, 12, (6, 3))
        shake = rng.normal(size=(6, 3)) * np.array([2e-4 * self.scale] * 3 + [6e-4] * 3)[:, None]
        noise = rng.uniform(20, 60, (6, 12))
        noise_size = rng.normal(size=(6, 12)) * np.array([4e-6 * self.scale] * 3 + [1.2e-5] * 3)[:, None]
        pace = 2 * pi * np.hstack([slow, tremor, noise])
        sizes = np.hstack([size, shake, noise_size])
        gate = minimum_jerk(times / 2.0)[:, None]
        moved = gate * np.einsum("ck,nck->nc", sizes, np.sin(times[:, None, None] * pace))
        return _moved(self.middle, gate * self.aside + moved[:, :3], moved[:, 3:])


def _moved(middle: Array, shift: Array, turn: Array) -> Array:
    """A frame (4, 4) translated by (N, 3) and rotated by rotation vectors (N, 3), both in world axes."""
    out: Array = np.broadcast_to(middle, (len(shift), 4, 4)).copy()
    out[:, :3, :3] = Frame.rotvec(turn).rotation @ middle[:3, :3]
    out[:, :3, 3] += shift
    return out


def shifted(frame: Array, by: Array) -> Array:
    """A frame (4, 4) translated by (3,), in world axes."""
    out: Array = np.array(frame)
    out[:3, 3] += by
    return out


def turned(frame: Array, by: Array) -> Array:
    """A frame (4, 4) rotated in place by a rotation vector (3,), in its own axes."""
    out: Array = np.array(frame)
    out[:3, :3] = frame[:3, :3] @ Frame.rotvec(by).rotation
    return out
