"""Readings: what was read from a real arm lately, and whether it can be what an arm does."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.frame import Array
from supple.linkage import Linkage

SETTLED = 0.05
"""Speed of the fastest joint, in rad/s or m/s, below which an arm counts as standing, so that it can be driven: slower
than joints come back from beyond their limits."""
JUMP = 0.1
"""rad or m: a reading that is farther from the last one than the sum of this and twice the way at full speed is a
jump. It covers what the times of two readings are uncertain."""
AWAY = 1.0
"""rad or m: how far a joint may be from all that was written lately; an arm that is blocked is led by less."""
ZEROS = 2.0
"""Seconds for which a first reading that is exactly 0 for every joint is not trusted: many drivers return that before
the first answer of the arm."""
_SHORTEST = 1e-9  # s; between two readings, where the clock is coarse: a speed without a limit times 0 would be nan
_WINDOW = 0.1  # s; the speed of an arm is that from one window to the next
_RECENT = 0.5  # s; an arm follows what was written by less than this late
_REPEATED = 0.1  # s; so long an arm may return the same reading although it moves


class Reading(NamedTuple):
    """What was read from an arm."""

    t: float
    """When it was there, in seconds of the monotonic clock."""
    q: Array
    """Joint values (dof,)."""
    gripper: float
    """How far the gripper is open, 0 to 1; nan if that is not read."""
    asked: float
    """When the arm was asked: it was at these joint values at some moment from then to ``t``."""


class Jumped(Exception):
    """A reading is farther from the last one than any arm moves in that time."""


class Readings:
    """The last readings of an arm. One thread adds to them; any thread may read them."""

    def __init__(self, linkage: Linkage, grippers: Sequence[int]) -> None:
        """None yet; ``grippers`` are the joint values that are not led by the tracker, which may be anywhere."""
        self._names, self._units, self._turns = linkage.names, linkage.units, _turns(linkage)
        self._speed = np.array(linkage.speed)
        self._speed[list(grippers)] = math.inf
        self._away = np.full(linkage.dof, AWAY)
        self._away[list(grippers)] = math.inf
        self._kept: deque[Reading] = deque(maxlen=4096)  # more than two windows
        self._written: deque[tuple[float, Array]] = deque(maxlen=256)
        self._doubtful: Reading | None = None
        self._changed = -math.inf  # when the newest reading was first read
        self._only_zeros = math.inf  # since when all readings were exactly 0; -inf after another one

    @property
    def newest(self) -> Reading | None:
        """The newest reading; None before the first."""
        return self._kept[-1] if self._kept else None

    def add(self, reading: Reading, led: bool) -> str:
        """Takes a reading; returns why the arm is elsewhere than it was led, empty if it is not or is not ``led``.

        A single reading that jumps is an error of the bus: it is dropped, and `Jumped` is raised. Where the next one
        agrees with it, the arm is there. Readings of exactly 0 for every joint are dropped as long as the arm was
        elsewhere before: no encoders say that, but a driver without an answer does.
        """
        if reading.q.any():
            self._only_zeros = -math.inf
        elif self.newest is not None and np.abs(self._shortest(self.newest.q)).max() > JUMP:
            raise Jumped("every joint value is exactly 0, and the arm was elsewhere before")
        else:
            self._only_zeros = min(self._only_zeros, reading.t)
        elsewhere = self._elsewhere(reading) if led else ""
        if self.newest is None or not np.array_equal(reading.q, self.newest.q):
            self._changed = reading.t
        self._kept.append(reading)
        return elsewhere

    @property
    def doubtful_zeros(self) -> bool:
        """Whether all readings so far were exactly 0 for every joint, for less than `ZEROS`."""
        newest = self.newest
        return newest is not None and newest.t - self._only_zeros < ZEROS

    def wrote(self, t: float, q: Array) -> None:
        """Joint values q (dof,) were written at a time (s)."""
        self._written.append((t, q))

    def begin(self, reading: Reading) -> None:
        """The arm is led from this reading on."""
        self._written.clear()
        self._written.append((reading.t, reading.q))
        self._doubtful = None

    def standing(self, since: float) -> Reading | None:
        """The newest reading, if the arm stands by the readings since a time (s); else None.

        The speed is that between the means of two windows, since single readings are noisy.
        """
        readings = [one for one in list(self._kept) if one.t > since]
        if not readings or readings[0].t > readings[-1].t - 2 * _WINDOW:
            return None
        newest = readings[-1]
        middle = newest.t - _WINDOW
        late = [one for one in readings if one.t > middle]
        early = [one for one in readings if middle - _WINDOW < one.t <= middle] or readings[:1]
        moved = np.mean([one.q for one in late], axis=0) - np.mean([one.q for one in early], axis=0)
        passed = np.mean([one.t for one in late]) - np.mean([one.t for one in early])
        return newest if np.abs(moved).max() <= SETTLED * passed else None

    def _elsewhere(self, reading: Reading) -> str:
        last, doubtful = self.newest, self._doubtful
        if last is None:
            return ""
        way = self._shortest(reading.q - last.q)
        if doubtful is not None and self._agrees(doubtful, reading, way):
            self._doubtful = None
            return f"{self._far(int(np.argmax(np.abs(way))), way)} away from where it was"
        k = self._jumped(last, reading, self._unseen(last, reading))
        if k is None:
            self._doubtful = None
            return self._left(reading)
        self._doubtful = reading
        raise Jumped(f"a single reading: {self._far(k, way)} away from the one before")

    def _agrees(self, doubtful: Reading, reading: Reading, way: Array) -> bool:
        """Whether a reading is where a doubtful one was, rather than where the arm was; ``way`` is that from there."""
        nearer = np.abs(self._shortest(reading.q - doubtful.q)).max() < np.abs(way).max()
        return bool(nearer) and self._jumped(doubtful, reading, 0.0) is None

    def _jumped(self, last: Reading, reading: Reading, unseen: Array | float) -> int | None:
        """The joint value that moved farther from one reading to another than it can, and unseen; None if none did."""
        # a busy machine may pause the thread between an answer and its time
        longest = max(reading.t - last.asked, _SHORTEST)
        beyond = np.abs(self._shortest(reading.q - last.q)) - JUMP - 2 * self._speed * longest
        return int(np.argmax(beyond - unseen)) if (beyond > unseen).any() else None

    def _unseen(self, last: Reading, reading: Reading) -> Array | float:
        """How far each joint value (dof,) may have moved while the arm returned the same reading although it moved.

        At most at twice its full speed, and at most twice the way to where it was sent: an arm that stands where it was
        sent returns the same reading too, and has not moved.
        """
        repeated = min(reading.t - self._changed, _REPEATED) - (reading.t - last.t)
        if repeated <= 0:
            return 0.0
        away = np.abs(self._shortest(self._sent(reading.t) - last.q)).max(axis=0)
        unseen: Array = np.minimum(2 * self._speed * repeated, 2 * away)
        return unseen

    def _sent(self, t: float) -> Array:
        """What was written lately (n, dof), at least the newest."""
        return np.array([q for when, q in list(self._written) if when > t - _RECENT] or [self._written[-1][1]])

    def _left(self, reading: Reading) -> str:
        """Why the arm is far from all that was written lately; empty if it is not."""
        newest = self._written[-1][1]
        if (np.abs(self._shortest(reading.q - newest)) <= self._away).all():  # as long as nothing is wrong
            return ""
        away = np.abs(self._shortest(reading.q - self._sent(reading.t))).min(axis=0)
        k = int(np.argmax(away - self._away))
        return f"{self._far(k, away)} away from where it was sent" if away[k] > self._away[k] else ""

    def _shortest(self, way: Array) -> Array:
        """The way of joint values (..., dof); the encoder of a joint without limits may count from any turn."""
        around: Array = np.where(self._turns, np.remainder(way + np.pi, 2 * np.pi) - np.pi, way)
        return around

    def _far(self, k: int, way: Array) -> str:
        far = abs(float(self._shortest(way)[k]))
        return (
            f"{self._names[k]} is {f'{math.degrees(far):.0f}°' if self._units[k] == 'rad' else f'{1e3 * far:.0f} mm'}"
        )


def _turns(linkage: Linkage) -> Array:
    """Whether each joint value (dof,) is an angle without limits."""
    free = ~np.isfinite(linkage.upper - linkage.lower)
    angles: Array = free & np.array([unit == "rad" for unit in linkage.units])
    return angles
