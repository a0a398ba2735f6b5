"""OneEuro: removes the tremor of a hand, with a known lag."""

from __future__ import annotations

import math

import numpy as np

from supple import _check
from supple.errors import BadInput
from supple.frame import Array, Frame

_METRES_PER_RADIAN = 0.2  # weight of rotation in a speed: about the length of a hand


class OneEuro:
    """The one-euro filter on frames: strong smoothing at low speed, little lag at high speed.

    It is a first-order low-pass whose cutoff grows with the hand's speed: cutoff + gain * speed, in hertz. Its lag is
    1 / (2 pi cutoff): a hand in steady motion comes out that much later, at any sample rate. Position and orientation
    share one cutoff, so they stay in step. A radian a second counts as 0.2 m/s.

    The filter stores the last hand, so each mapping needs its own. (G. Casiez, N. Roussel, D. Vogel, "1 Euro Filter",
    CHI 2012.)

    >>> from supple.teleop import OneEuro
    >>> smooth = OneEuro()
    >>> [round(1000 * smooth.lag(speed)) for speed in (0, 0.1, 0.5, 1)]  # ms at m/s
    [80, 40, 13, 7]
    """

    def __init__(self, cutoff: float = 2.0, gain: float = 20.0, speed_cutoff: float = 1.0) -> None:
        """A filter without a hand.

        Args:
            cutoff: of a hand at rest, in hertz. A lower one smooths more and lags more.
            gain: growth of the cutoff with speed, in hertz for each m/s. A higher one lags less and smooths less.
            speed_cutoff: cutoff of the low-pass that estimates the speed, in hertz.
        """
        self.cutoff = _check.positive(cutoff, "cutoff", "hertz")
        self.gain = _check.positive(gain, "gain", zero=True)
        self.speed_cutoff = _check.positive(speed_cutoff, "speed_cutoff", "hertz")
        self.begin(Frame())

    def lag(self, speed: float = 0.0) -> float:
        """Lag in seconds of a hand in steady motion at a speed in m/s (a rad/s counts as 0.2 m/s)."""
        speed = _check.positive(speed, "speed", "m/s", zero=True)
        return 1 / (2 * math.pi * (self.cutoff + self.gain * speed))

    def begin(self, hand: Frame, t: float = math.nan) -> None:
        """Starts again from a hand at rest at time t (s)."""
        self._raw = self._out = _single(hand)
        self._t = _check.finite_or_not(t, "t")
        self._speed: Array = np.zeros(6)

    def smooth(self, hand: Frame, t: float) -> Frame:
        """The hand at time t (s), smoothed; unchanged if t is not later than before."""
        hand, t = _single(hand), _check.finite_or_not(t, "t")
        dt = t - self._t
        if not dt > 0:
            if math.isnan(dt):
                self._t = t
            return self._out
        self._speed += _gain(self.speed_cutoff, dt) * (_difference(self._raw, hand) / dt - self._speed)
        self._raw, self._t = hand, t
        linear, angular = math.sqrt(self._speed[:3] @ self._speed[:3]), math.sqrt(self._speed[3:] @ self._speed[3:])
        speed = linear + _METRES_PER_RADIAN * angular
        change = _gain(self.cutoff + self.gain * speed, dt) * _difference(self._out, hand)
        matrix = Frame.rotvec(change[3:]).matrix @ self._out.matrix
        matrix[:3, 3] = self._out.matrix[:3, 3] + change[:3]
        matrix.flags.writeable = False
        self._out = Frame._trusted(matrix)
        return self._out

    def __repr__(self) -> str:
        return f"OneEuro(cutoff={self.cutoff:g}, gain={self.gain:g}, speed_cutoff={self.speed_cutoff:g})"


def _single(hand: Frame) -> Frame:
    if not (isinstance(hand, Frame) and hand.shape == ()):
        raise BadInput(f"hand must be a single Frame, got {_check.short(hand)}")
    return hand


def _gain(cutoff: float, dt: float) -> float:
    """Gain of a first-order low-pass for a sample of dt seconds; its lag in steady motion is 1 / (2 pi cutoff)."""
    return dt / (dt + 1 / (2 * math.pi * cutoff))


def _difference(start: Frame, end: Frame) -> Array:
    """From one frame to another (6,): metres, then radians, in the axes of their common parent."""
    turn = np.eye(4)
    turn[:3, :3] = end.matrix[:3, :3] @ start.matrix[:3, :3].T
    difference = np.empty(6)
    difference[:3] = end.matrix[:3, 3] - start.matrix[:3, 3]
    difference[3:] = Frame._trusted(turn).to_rotvec()
    return difference
