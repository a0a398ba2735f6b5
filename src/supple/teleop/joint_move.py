"""JointMove: joint values on a straight way to others, within bounds of speed and acceleration."""

from __future__ import annotations

import math

import numpy as np

from supple.frame import Array

_ARRIVED = 1e-9  # of the way


class JointMove:
    """A way from joint values at rest to others: all joints begin and arrive together.

    A point on the way has the share s of it, 0 to 1. With d the whole way, joint j keeps its bounds of speed v and
    acceleration a if |ds/dt| <= v_j / |d_j| and |d2s/dt2| <= a_j / |d_j|.
    """

    def __init__(self, start: Array, end: Array, speed: Array, acceleration: Array) -> None:
        """From start to end (dof,), with bounds (dof,) of speed and acceleration; inf for none."""
        self._start, self._end = np.array(start, dtype=float), np.array(end, dtype=float)
        way = np.abs(self._end - self._start)
        moves = way > 1e-12
        self._speed = float(np.min(speed[moves] / way[moves], initial=10.0))
        self._acceleration = float(np.min(acceleration[moves] / way[moves], initial=100.0))
        self._s, self._rate = (0.0, 0.0) if moves.any() else (1.0, 0.0)

    @property
    def arrived(self) -> bool:
        """Whether it is at its end."""
        return self._s >= 1 - _ARRIVED and self._rate == 0

    @property
    def at_rest(self) -> bool:
        """Whether it stands, anywhere on its way."""
        return self._rate == 0

    @property
    def q(self) -> Array:
        """The present joint values (dof,)."""
        if self._s >= 1 - _ARRIVED:
            return np.array(self._end)
        on_way: Array = self._start + self._s * (self._end - self._start)
        return on_way

    def step(self, dt: float, brake: bool = False) -> Array:
        """The joint values after dt seconds; with ``brake`` it slows down and stands."""
        a, left = self._acceleration, max(1 - self._s, 0.0)
        change = a * dt
        # the fastest rate r from which it still stops in time: this step takes (rate + r) dt / 2, braking r^2 / (2 a)
        room = change * change / 4 + 2 * a * max(left - self._rate * dt / 2, 0.0)
        fastest = math.sqrt(room) - change / 2
        wanted = 0.0 if brake else min(self._speed, max(fastest, 0.0))
        rate = min(max(wanted, self._rate - change), self._rate + change)
        self._s = min(self._s + (self._rate + rate) / 2 * dt, 1.0)
        self._rate = rate
        if not brake and 1 - self._s < 1e-7 and rate <= change:
            self._s, self._rate = 1.0, 0.0
        return self.q
