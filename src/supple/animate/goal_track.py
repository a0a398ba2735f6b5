"""GoalTrack: key goals of one link, and the path between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple import _core
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal, with_numbers

_NUMBERS = ("position", "orientation", "direction", "look_at", "pole")


@dataclass(frozen=True, eq=False)
class GoalKey:
    """A goal at a time."""

    time: float
    goal: Goal
    ease: bool
    """Whether the path stops at the key."""


@dataclass(frozen=True)
class MissedGoal:
    """A key goal whose position a motion does not reach."""

    time: float
    """Of the key, in seconds."""
    link: str
    distance: float
    """From the position that was asked, in metres."""

    def __str__(self) -> str:
        return f"at {self.time:g} s {self.link} is {self.distance:.3g} m away from its key goal"


@dataclass(frozen=True, eq=False)
class GoalTrack:
    """Key goals of one link that differ only in their numbers, in the order of their times."""

    keys: tuple[GoalKey, ...]
    base: str | None
    """The link that carries the limb; None: all joints may move."""
    blend: float
    """Time in seconds in which the limb goes over to the path before the first key, and back after the last."""

    def takes(self, goal: Goal, base: str | None) -> bool:
        """Whether a goal is one more key of this path."""
        return goal._kind == self.keys[0].goal._kind and base == self.base

    def with_key(self, key: GoalKey, blend: float) -> GoalTrack:
        """The track with one more key."""
        if any(key.time == other.time for other in self.keys):
            raise BadInput(f"two key goals of {key.goal.link!r} are at the same time, {key.time:g} s")
        keys = tuple(sorted((*self.keys, key), key=lambda one: one.time))
        return replace(self, keys=keys, blend=float(blend))

    def weight(self, when: Array) -> Array:
        """How much the path counts (n,) at times (n,): 1 between its keys, falling to 0 within `blend` outside."""
        outside = np.maximum(self.keys[0].time - when, when - self.keys[-1].time)
        if self.blend == 0:
            return np.where(outside <= 1e-9, 1.0, 0.0)
        part = np.clip(1 - outside / self.blend, 0.0, 1.0)
        weight: Array = part * part * (3 - 2 * part)
        return weight

    def at(self, when: Array) -> Goal:
        """The goal at times (n,), with one leading axis; outside of the keys the nearest key's."""
        times = np.array([key.time for key in self.keys])
        first = np.clip(np.searchsorted(times, when, side="right") - 1, 0, max(len(times) - 2, 0))
        if len(times) == 1:
            part = np.zeros(len(when))
        else:
            part = np.clip((when - times[first]) / (times[first + 1] - times[first]), 0.0, 1.0)
        goals = [key.goal for key in self.keys]
        numbers: dict[str, Array] = {}
        for name in _NUMBERS:
            if getattr(goals[0], name) is None:
                continue
            values = np.stack([getattr(goal, name) for goal in goals])
            if name == "orientation":
                numbers[name] = self._turned(values, first, self._eased(first, part))
            else:
                numbers[name] = self._placed(times, values, first, part)
        if "direction" in numbers:
            numbers["direction"] /= np.linalg.norm(numbers["direction"], axis=-1, keepdims=True)
        return with_numbers(goals[0], numbers)

    def _eased(self, first: Any, part: Array) -> Array:
        """The share (n,) of the way between two keys, slow at keys with ease."""
        stops = np.array([key.ease for key in self.keys], dtype=float)
        if len(stops) == 1:
            return part
        begin, end = 1 - stops[first], 1 - stops[first + 1]
        u = part
        share: Array = u * u * (3 - 2 * u) + begin * u * (1 - u) ** 2 - end * u * u * (1 - u)
        return share

    def _placed(self, times: Array, values: Array, first: Any, part: Array) -> Array:
        """Positions (n, 3) on Catmull and Rom's cubic through the keys (m, 3); at a key with ease it stops."""
        if len(times) == 1:
            return np.tile(values, (len(part), 1))
        slopes = np.zeros_like(values)
        if len(times) > 2:
            slopes[1:-1] = (values[2:] - values[:-2]) / (times[2:] - times[:-2])[:, None]
        slopes[0] = (values[1] - values[0]) / (times[1] - times[0])
        slopes[-1] = (values[-1] - values[-2]) / (times[-1] - times[-2])
        slopes[[key.ease for key in self.keys]] = 0.0
        span, u = (times[first + 1] - times[first])[:, None], part[:, None]
        a, b = values[first], values[first + 1]
        curve = a + (b - a) * (u * u * (3 - 2 * u))
        bent: Array = curve + span * (slopes[first] * u * (1 - u) ** 2 - slopes[first + 1] * u * u * (1 - u))
        return bent

    def _turned(self, rotations: Array, first: Any, share: Array) -> Array:
        """Rotations (n, 3, 3) between those of the keys (m, 3, 3), about one axis from key to key."""
        if len(rotations) == 1:
            return np.tile(rotations, (len(share), 1, 1))
        whole = np.zeros((len(rotations) - 1, 4, 4))
        whole[:, :3, :3] = np.swapaxes(rotations[:-1], -1, -2) @ rotations[1:]
        whole[:, 3, 3] = 1.0
        turns = _core.exp_rotation(np.ascontiguousarray(share[:, None] * _core.log_rotation(whole)[first]))
        turned: Array = rotations[first] @ turns[:, :3, :3]
        return turned


def relative_goal(goal: Goal, base: str, frames: Frame) -> Goal:
    """A goal (n,) in the world as one relative to a link with n frames."""
    back, numbers = frames.inverse(), {}
    for name in _NUMBERS:
        value = getattr(goal, name)
        if value is None:
            continue
        if name == "orientation":
            numbers[name] = back.rotation @ value
        elif name == "direction":
            numbers[name] = np.einsum("nij,nj->ni", back.rotation, value)
        else:
            numbers[name] = np.einsum("nij,nj->ni", back.rotation, value) + back.position
    return with_numbers(goal, numbers, relative_to=base)
