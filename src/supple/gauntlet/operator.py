"""A real operator: what a loop receives when the motion of a hand is sampled, with tremor, jitter, delay and loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import radians

import numpy as np

from supple import _check
from supple.errors import BadInput
from supple.frame import Array, Frame

Hand = Callable[[Array], Array]
"""Frames (N, 4, 4) of the clean command at times (N,), in seconds."""
TREMOR_BAND = (7.0, 12.0)  # Hz, frequencies of the tremor
TREMOR_FADE = 0.2  # s in which the tremor grows when the hand starts to move, and fades when it rests
REST_SPEEDS = (1e-3, 1e-2)  # m/s and rad/s; a slower hand is at rest
_GRID = 2e-3  # s between two checks whether the hand moves


@dataclass(frozen=True)
class Operator:
    """How the motion of a hand is sampled. Lengths are in metres, angles in radians, times in seconds.

    Tremor is a sum of sines between 7 and 12 Hz in every direction, scaled so that its largest excursion in a run is
    ``tremor`` and ``angle_tremor``. A hand at rest has no tremor: it fades in 0.2 s once the hand is slower than
    1 mm/s and 0.01 rad/s, and returns in 0.2 s when the hand moves.
    """

    rate: float = 90.0
    """Samples per second."""
    jitter: float = 4e-3
    """A sample is taken up to this much before or after its regular time."""
    delay: float = 0.0
    """Mean delay of a sample, uniform between 0 and twice this."""
    loss: float = 0.05
    """Share of the samples that never arrive; the first one always does."""
    tremor: float = 1e-3
    """Largest excursion of the position in a run."""
    angle_tremor: float = radians(0.3)
    """Largest excursion of the orientation in a run."""
    resolution: float = 1e-4
    """Positions are rounded to multiples of this; 0 means not rounded."""
    angle_resolution: float = radians(0.05)
    """Rotation vectors relative to the first frame are rounded to multiples of this; 0 means not rounded."""
    stamped: bool = True
    """Whether each sample carries the time at which it was taken."""
    seed: int = 1
    """Seed of tremor, jitter, delay and loss."""

    def __post_init__(self) -> None:
        _check.positive(self.rate, "rate", "samples per second")
        for name in ("jitter", "delay", "tremor", "angle_tremor", "resolution", "angle_resolution"):
            _check.positive(getattr(self, name), name, zero=True)
        if _check.fraction(self.loss, "loss", zero=True) == 1:
            raise BadInput("loss must be below 1: some samples must arrive")

    def sample(self, hand: Hand, duration: float) -> Samples:
        """The samples of a motion that lasts ``duration`` seconds."""
        rng = np.random.default_rng(self.seed)
        count = int(np.ceil(duration * self.rate)) + 1
        stamps = np.arange(count) / self.rate + rng.uniform(-self.jitter, self.jitter, count)
        stamps[0] = 0.0
        stamps = np.maximum.accumulate(np.clip(stamps, 0.0, duration))
        delays = rng.uniform(0.0, 2 * self.delay, count)
        delays[0] = 0.0
        arrives = rng.random(count) >= self.loss
        arrives[0] = True
        frames = self._with_tremor(hand, stamps, duration, rng)
        arrivals = np.maximum.accumulate(stamps + delays)  # samples arrive in order
        return Samples(stamps[arrives], arrivals[arrives], self._rounded(frames)[arrives])

    def _with_tremor(self, hand: Hand, times: Array, duration: float, rng: np.random.Generator) -> Array:
        shake = tremor(times, duration, rng) * activity(hand, times, duration)[:, None]
        frames = np.array(hand(times), dtype=float)
        frames[:, :3, 3] += self.tremor * shake[:, :3]
        frames[:, :3, :3] = Frame.rotvec(self.angle_tremor * shake[:, 3:]).rotation @ frames[:, :3, :3]
        return frames

    def _rounded(self, frames: Array) -> Array:
        out: Array = frames.copy()
        if self.resolution:
            out[:, :3, 3] = np.round(frames[:, :3, 3] / self.resolution) * self.resolution
        if self.angle_resolution:
            first = Frame(frames[0])
            turns = (first.inverse() @ Frame(frames)).to_rotvec()
            out[:, :3, :3] = (
                first @ Frame.rotvec(np.round(turns / self.angle_resolution) * self.angle_resolution)
            ).rotation
        return out

    def __str__(self) -> str:
        words = [f"{self.rate:g} Hz", "stamped" if self.stamped else "no stamps"]
        return ", ".join([*words, *(["delayed"] if self.delay else [])])


@dataclass(frozen=True)
class Samples:
    """Samples of a hand in the order in which they arrive."""

    stamps: Array
    """When each sample was taken (M,), in seconds."""
    arrivals: Array
    """When each sample arrives (M,), in seconds; never before its stamp."""
    frames: Array
    """The frames (M, 4, 4) as sent: with tremor, rounded."""

    def newest(self, times: Array) -> Array:
        """Index (N,) of the newest sample that has arrived at each of these times (N,)."""
        count = np.searchsorted(self.arrivals, np.asarray(times) + 1e-12, side="right")
        return np.asarray(np.maximum(count - 1, 0))


def tremor(times: Array, duration: float, rng: np.random.Generator) -> Array:
    """Tremor (N, 6) at some times, position then rotation; the norm of each is at most 1 in a whole run."""
    angular_frequency = 2 * np.pi * rng.uniform(*TREMOR_BAND, (6, 4))
    phase = rng.uniform(0, 2 * np.pi, (6, 4))
    size = rng.uniform(0.5, 1.0, (6, 4))

    def shake(t: Array) -> Array:
        return np.asarray((size * np.sin(angular_frequency * t[:, None, None] + phase)).sum(-1))

    whole = shake(np.arange(0, duration + 2e-3, 2e-3)).reshape(-1, 2, 3)
    most = np.repeat(np.linalg.norm(whole, axis=-1).max(axis=0), 3)
    return np.asarray(shake(np.asarray(times, dtype=float)) / most)


def activity(hand: Hand, times: Array, duration: float) -> Array:
    """Factor of the tremor (N,) at some times: 1 while the hand moves, 0 while it rests, smooth between."""
    grid = np.arange(0, duration + 2 * _GRID, _GRID)
    frames = Frame(hand(np.minimum(grid, duration)))
    speed = np.linalg.norm(np.diff(frames.position, axis=0), axis=-1) / _GRID
    turn = np.linalg.norm((frames[1:] @ frames[:-1].inverse()).to_rotvec(), axis=-1) / _GRID
    moves = (speed > REST_SPEEDS[0]) | (turn > REST_SPEEDS[1])
    level, ramp = 0.0, np.empty(len(moves))
    for i, moving in enumerate(moves):
        level = min(level + _GRID / TREMOR_FADE, 1.0) if moving else max(level - _GRID / TREMOR_FADE, 0.0)
        ramp[i] = level
    shown = np.interp(times, grid[1:], ramp)
    return np.asarray(shown * shown * (3 - 2 * shown))


def interpolated(times: Array, frames: Array) -> Hand:
    """A hand that passes through frames (N, 4, 4) at increasing times (N,), interpolated between them."""
    knots, known = np.asarray(times, dtype=float), Frame(frames)

    def hand(at: Array) -> Array:
        i = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
        share = np.clip((at - knots[i]) / (knots[i + 1] - knots[i]), 0.0, 1.0)[:, None]
        a, b = known[i], known[i + 1]
        turn = Frame.rotvec((a.inverse() @ b).to_rotvec() * share)
        return np.array(Frame.at(a.position + share * (b.position - a.position), (a @ turn).rotation).matrix)

    return hand


RATES = (60.0, 90.0, 125.0)
"""Samples per second of the operators in `variants`."""


def variants(delayed: bool = False) -> tuple[Operator, ...]:
    """Six operators: 60, 90 and 125 Hz, with and without time stamps.

    By default the time of sampling varies by 4 ms; with ``delayed`` the time of arrival varies instead, which a
    controller without stamps cannot know.
    """
    operator = Operator(jitter=0.0, delay=4e-3) if delayed else Operator()
    return tuple(replace(operator, rate=rate, stamped=stamped) for stamped in (True, False) for rate in RATES)
