"""OneEuro: a hand without its tremor, a stated time ago."""

from __future__ import annotations

import math

import numpy as np

from supple.errors import BadInput
from supple.frame import Array, Frame

_LEVER = 0.2  # metres that count as much as a radian where a speed is asked: about a hand's length


class OneEuro:
    """The one-euro filter on frames: steady when the hand is slow, quick when it is quick.

    It is a low-pass of first order whose cutoff grows with the hand's speed: cutoff + gain * speed, in hertz. Its lag
    is 1 / (2 pi cutoff): a hand that moves steadily is passed on that much later, whatever the rate of its samples.
    Position and orientation share one cutoff, so they stay together. A radian a second counts as 0.2 m/s.

    It remembers the hand, so each mapping needs one of its own. (G. Casiez, N. Roussel, D. Vogel, "1 Euro Filter",
    CHI 2012.)

    >>> smooth = OneEuro()
    >>> [round(1000 * smooth.lag(speed)) for speed in (0, 0.1, 0.5, 1)]  # ms at m/s
    [80, 40, 13, 7]
    """

    def __init__(self, cutoff: float = 2.0, gain: float = 20.0, speed_cutoff: float = 1.0) -> None:
        """A filter that has seen no hand yet.

        Args:
            cutoff: of a hand at rest, in hertz. Less is steadier and later.
            gain: how much the cutoff grows with speed, in hertz for each m/s. More is quicker and less steady.
            speed_cutoff: of the low-pass through which the speed itself is read, in hertz.
        """
        for name, value in (("cutoff", cutoff), ("gain", gain), ("speed_cutoff", speed_cutoff)):
            if not (math.isfinite(value) and (value > 0 or (name == "gain" and value == 0))):
                raise BadInput(f"{name} must be finite and positive, got {value!r}")
        self.cutoff, self.gain, self.speed_cutoff = float(cutoff), float(gain), float(speed_cutoff)
        self.begin(Frame())

    def lag(self, speed: float = 0.0) -> float:
        """How much later a hand comes out that moves at a steady speed (m/s, and 0.2 for each rad/s), in seconds."""
        return 1 / (2 * math.pi * (self.cutoff + self.gain * speed))

    def begin(self, hand: Frame, t: float = math.nan) -> None:
        """Begins anew with a hand at rest, taken at time t (s)."""
        self._raw = self._out = hand
        self._t = t
        self._speed: Array = np.zeros(6)

    def smooth(self, hand: Frame, t: float) -> Frame:
        """The hand taken at time t (s), smoothed; a time that does not move on changes nothing."""
        dt = t - self._t
        if not dt > 0:
            if math.isnan(dt):
                self._t = t
            return self._out
        self._speed += _share(self.speed_cutoff, dt) * (_way(self._raw, hand) / dt - self._speed)
        self._raw, self._t = hand, t
        speed = math.sqrt(self._speed[:3] @ self._speed[:3]) + _LEVER * math.sqrt(self._speed[3:] @ self._speed[3:])
        part = _share(self.cutoff + self.gain * speed, dt) * _way(self._out, hand)
        matrix = Frame.rotvec(part[3:]).matrix @ self._out.matrix
        matrix[:3, 3] = self._out.matrix[:3, 3] + part[:3]
        matrix.flags.writeable = False
        self._out = Frame._trusted(matrix)
        return self._out

    def __repr__(self) -> str:
        return f"OneEuro(cutoff={self.cutoff:g}, gain={self.gain:g}, speed_cutoff={self.speed_cutoff:g})"


def _share(cutoff: float, dt: float) -> float:
    """How much of a difference is taken over in dt seconds; it makes the lag of a steady motion 1/(2 pi cutoff)."""
    return dt / (dt + 1 / (2 * math.pi * cutoff))


def _way(start: Frame, end: Frame) -> Array:
    """From one frame to another (6,): metres, then radians, in the axes both are seen from."""
    turn = np.eye(4)
    turn[:3, :3] = end.matrix[:3, :3] @ start.matrix[:3, :3].T
    way = np.empty(6)
    way[:3] = end.matrix[:3, 3] - start.matrix[:3, 3]
    way[3:] = Frame._trusted(turn).to_rotvec()
    return way
