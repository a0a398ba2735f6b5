"""SoftStart: goals that move slowly in the first seconds of motion after an arm was connected or armed again."""

from __future__ import annotations

import numpy as np

from supple.frame import Array, Frame

SECONDS = 2.0
"""Seconds from the first motion in which the bounds grow to their full size; they end when the goals have caught up
after that."""
SPEEDS = (0.04, 1.0)
"""Speed of a goal at first and at the end, in reaches of the arm a second."""
TURNS = (0.15, 3.0)
"""Angular speed of a goal at first and at the end, in radians per second."""

STILL = 1e-6
"""Metres, and entries of a rotation: a goal within this of where it began has not moved. A hand that is taken and not
moved gives the same goal but for rounding."""


class SoftStart:
    """Limits the speed of goals: an operator who is surprised has time to let go."""

    def __init__(self, size: float) -> None:
        """For an arm with a reach of ``size`` metres."""
        self._size, self._t = size if 0 < size < np.inf else 1.0, 0.0
        self._last: Array | None = None
        self.ended = False
        """Whether the goals are no longer limited."""

    @property
    def moved(self) -> bool:
        """Whether a goal has moved yet."""
        return self._t > 0

    def begin(self, goals: Array) -> None:
        """The goals (links, 4, 4) start again from here; the bounds go on to grow."""
        self._last = goals

    def limited(self, goals: Array, dt: float) -> Array:
        """Goals (links, 4, 4) for a tick of dt seconds, nearer to those before than the bounds allow."""
        if self._last is None:
            self._last = goals
        if self._t == 0 and float(np.abs(goals - self._last).max(initial=0.0)) <= STILL:
            return goals  # the time counts from the first motion
        self._t += dt
        u = min(self._t / SECONDS, 1.0)
        way = self._size * (SPEEDS[0] + u * (SPEEDS[1] - SPEEDS[0])) * dt
        turn = (TURNS[0] + u * (TURNS[1] - TURNS[0])) * dt
        out = np.array([_towards(a, b, way, turn) for a, b in zip(self._last, goals, strict=True)])
        self.ended = self._t >= SECONDS and bool(np.array_equal(out, goals))
        out.flags.writeable = False
        self._last = out
        return out


def _towards(start: Array, end: Array, way: float, turn: float) -> Array:
    """From a frame (4, 4) towards another, by at most so many metres and radians."""
    moved = end[:3, 3] - start[:3, 3]
    length = float(np.linalg.norm(moved))
    frame = np.eye(4)
    frame[:3, :3] = end[:3, :3] @ start[:3, :3].T
    rotated = Frame._trusted(frame).to_rotvec()
    angle = float(np.linalg.norm(rotated))
    if length <= way and angle <= turn:
        return end
    out: Array = end.copy()
    if angle > turn:
        out[:3, :3] = Frame.rotvec(rotated * (turn / angle)).rotation @ start[:3, :3]
    if length > way:
        out[:3, 3] = start[:3, 3] + moved * (way / length)
    return out
