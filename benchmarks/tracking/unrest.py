"""What kind of motion joints make that should be at rest: a limit cycle, a slow creep, or only late."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.frame import Array

QUIET = 1e-6  # rad/s or m/s
TURNS = 6  # changes of direction in the time watched that make a cycle


@dataclass(frozen=True)
class Unrest:
    """A motion that should not be."""

    kind: str
    """cycle, creep or late."""
    joint: int
    speed: float
    """The fastest joint, rad/s or m/s, when the joints should have been at rest."""
    frequency: float
    """Hertz, of a cycle."""
    amplitude: float
    """Peak to peak of the joint, rad or m, without its drift."""

    def __str__(self) -> str:
        if self.kind == "cycle":
            return f"{self.frequency:.1f} Hz, {self.amplitude:.1e} rad peak to peak, {self.speed:.1e} rad/s"
        return f"{self.kind} at {self.speed:.1e} rad/s"


def kind_of(q: Array, rate: float, speed: float) -> Unrest:
    """The kind of motion in q (N, dof), joints that are still held at the same command.

    Late: they are at rest in the last second. Cycle: the fastest joint turns back again and again. Creep: the rest.
    """
    velocity = np.diff(q, axis=0) * rate
    joint = int(np.abs(velocity).max(axis=0).argmax())
    if np.abs(velocity[-round(rate) :]).max() <= QUIET:
        return Unrest("late", joint, speed, 0.0, 0.0)
    time = np.arange(len(q)) / rate
    wave = q[:, joint] - np.polyval(np.polyfit(time, q[:, joint], 1), time)
    own = velocity[:, joint]
    loud = own[np.abs(own) > 0.05 * np.abs(own).max()]  # rounding also changes signs
    if np.count_nonzero(np.diff(np.sign(loud))) < TURNS:
        return Unrest("creep", joint, speed, 0.0, float(np.ptp(wave)))
    power = np.abs(np.fft.rfft((own - own.mean()) * np.hanning(len(own)))) ** 2
    frequency = float(np.fft.rfftfreq(len(own), 1 / rate)[1 + power[1:].argmax()])
    return Unrest("cycle", joint, speed, frequency, float(np.ptp(wave)))
