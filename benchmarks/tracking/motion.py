"""What the measures have in common: making trackers, running them, and commands as arrays of frames."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from supple import Frame, Solver, TrackingStatus
from supple.frame import Array
from supple.gauntlet.arms import difference
from supple.tracker import Tracker

from .arms import Arm

RETURNING = getattr(getattr(TrackingStatus, "RETURNING", None), "value", -1)
"""The number of the status of an announced recovery; -1 where the library has none."""
_TAKEN = frozenset(inspect.signature(Solver.track).parameters)


def known(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those options that this version's `Solver.track` takes."""
    return {name: value for name, value in options.items() if name in _TAKEN}


def tracker(arm: Arm, start: Array, options: Mapping[str, Any] | None = None, goals: Any = None) -> Tracker:
    """A tracker of all end effectors of an arm."""
    links = list(arm.links) if len(arm.links) > 1 else arm.link
    return Solver().track(arm.linkage, links if goals is None else goals, start=start, **known(options or {}))


def random_of(arm: Arm, part: str, number: int) -> np.random.Generator:
    """Random numbers of one trial of one arm."""
    return np.random.default_rng([zlib.crc32(f"{arm.name} {part}".encode()), number])


def inside(arm: Arm, rng: np.random.Generator, within: float = 0.9) -> Array:
    """Random joint values (dof,) in the middle part of their range."""
    middle, half = 0.5 * (arm.low + arm.high), 0.5 * within * (arm.high - arm.low)
    return rng.uniform(middle - half, middle + half)


def moved(frames: Array, shift: Any, turn: Any) -> Array:
    """Frames (..., 4, 4) shifted by (..., 3) metres and turned in place by a rotation vector (..., 3), world axes."""
    rotation = Frame.rotvec(np.asarray(turn, dtype=float)).matrix[..., :3, :3] @ frames[..., :3, :3]
    place = frames[..., :3, 3] + shift
    out = np.zeros((*np.broadcast_shapes(rotation.shape[:-2], place.shape[:-1]), 4, 4))
    out[..., :3, :3], out[..., :3, 3], out[..., 3, 3] = rotation, place, 1.0
    return out


def towards(start: Array, end: Array, u: Array) -> Array:
    """Frames (N, ..., 4, 4) on the way from start to end (..., 4, 4), where u (N,) goes from 0 to 1."""
    error = difference(end, start)
    part = u.reshape(-1, *[1] * error.ndim) * error
    return moved(np.broadcast_to(start, (len(u), *start.shape)), part[..., :3], part[..., 3:])


def smooth(u: Array) -> Array:
    """0 to 1 with no speed and no acceleration at the ends."""
    u = np.clip(u, 0.0, 1.0)
    return u**3 * (10 + u * (6 * u - 15))


def far(arm: Arm, q: Array, commands: Array) -> Array:
    """Metres (N, links) between end effectors at q (N, dof) and commands (N, links, 4, 4)."""
    return np.asarray(np.linalg.norm(arm.frames(q)[..., :3, 3] - commands[..., :3, 3], axis=-1))


def off(arm: Arm, q: Array, commands: Array) -> Array:
    """Radians (N, links) between end effectors at q and commands."""
    return np.asarray(np.linalg.norm(difference(commands, arm.frames(q))[..., 3:], axis=-1))


def needed(arm: Arm, follow: Tracker, way: Array) -> float:
    """Seconds that speed and acceleration bounds need to take every joint along its way (dof,) from rest to rest."""
    way, acceleration, speed = np.abs(way), follow.acceleration, arm.linkage.speed
    short = way <= speed**2 / acceleration
    with np.errstate(invalid="ignore"):
        times = np.where(short, 2 * np.sqrt(way / acceleration), way / speed + speed / acceleration)
    return float(times.max())


def hold(follow: Tracker, command: Array, seconds: float, rate: float) -> tuple[Array, Array]:
    """q (N, dof) and status (N,) while a command (links, 4, 4) rests."""
    return follow.replay(np.tile(command, (max(1, round(seconds * rate)), 1, 1, 1)), 1 / rate)
