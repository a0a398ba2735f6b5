"""A real operator's hand: what a loop receives when a clean command is sampled, late, lossy, trembling and rounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import radians

import numpy as np

from supple.errors import BadInput
from supple.frame import Array, Frame

Hand = Callable[[Array], Array]
"""Frames (N, 4, 4) of the clean command at times (N,), in seconds."""
BAND = (7.0, 12.0)  # Hz, where a hand trembles
FADE = 0.2  # s in which tremor comes when the hand sets off, and goes when it has come to rest
SLOW = (1e-3, 1e-2)  # m/s and rad/s below which a hand counts as at rest
_GRID = 2e-3  # s between two looks at whether the hand moves


@dataclass(frozen=True)
class Operator:
    """How a hand becomes samples: METHOD's bar 8 in one value. Lengths in metres, angles in radians, times in seconds.

    Tremor is a sum of sines between 7 and 12 Hz in every direction, scaled so that its greatest excursion in a run is
    ``tremor`` and ``turn_tremor``. A hand that rests does not tremble: tremor fades away in 0.2 s once it is slower
    than 1 mm/s and 0.01 rad/s, and comes back in 0.2 s when it moves on.
    """

    rate: float = 90.0
    """Samples a second."""
    irregular: float = 4e-3
    """The hand is looked at up to this much before or after its regular time."""
    late: float = 0.0
    """A sample takes up to twice this long to arrive, and so arrives this late on average."""
    lost: float = 0.05
    """Part of the samples that never arrive; the first one always does."""
    tremor: float = 1e-3
    turn_tremor: float = radians(0.3)
    grain: float = 1e-4
    """Positions are rounded to whole multiples of this; 0: not rounded."""
    turn_grain: float = radians(0.05)
    """Rotation vectors, seen from the first frame, are rounded to whole multiples of this; 0: not rounded."""
    stamped: bool = True
    """Whether the loop is told when the hand was there."""
    seed: int = 1

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rate) and self.rate > 0):
            raise BadInput(f"an operator's rate must be positive, got {self.rate!r}")
        for name in ("irregular", "late", "tremor", "turn_tremor", "grain", "turn_grain"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise BadInput(f"an operator's {name} must be finite and not negative, got {getattr(self, name)!r}")
        if not 0 <= self.lost < 1:
            raise BadInput(f"an operator's lost must be at least 0 and below 1, got {self.lost!r}")

    def sample(self, hand: Hand, duration: float) -> Samples:
        """What arrives of a clean command that lasts so many seconds."""
        rng = np.random.default_rng(self.seed)
        count = int(np.ceil(duration * self.rate)) + 1
        stamps = np.arange(count) / self.rate + rng.uniform(-self.irregular, self.irregular, count)
        stamps[0] = 0.0
        stamps = np.maximum.accumulate(np.clip(stamps, 0.0, duration))
        delays = rng.uniform(0.0, 2 * self.late, count)
        delays[0] = 0.0
        arrives = rng.random(count) >= self.lost
        arrives[0] = True
        frames = self._trembling(hand, stamps, duration, rng)
        arrivals = np.maximum.accumulate(stamps + delays)  # one line: none overtakes another
        return Samples(stamps[arrives], arrivals[arrives], self._rounded(frames)[arrives])

    def _trembling(self, hand: Hand, times: Array, duration: float, rng: np.random.Generator) -> Array:
        shake = tremor(times, duration, rng) * activity(hand, times, duration)[:, None]
        frames = np.array(hand(times), dtype=float)
        frames[:, :3, 3] += self.tremor * shake[:, :3]
        frames[:, :3, :3] = Frame.rotvec(self.turn_tremor * shake[:, 3:]).rotation @ frames[:, :3, :3]
        return frames

    def _rounded(self, frames: Array) -> Array:
        out: Array = frames.copy()
        if self.grain:
            out[:, :3, 3] = np.round(frames[:, :3, 3] / self.grain) * self.grain
        if self.turn_grain:
            first = Frame(frames[0])
            turns = (first.inverse() @ Frame(frames)).to_rotvec()
            out[:, :3, :3] = (first @ Frame.rotvec(np.round(turns / self.turn_grain) * self.turn_grain)).rotation
        return out

    def __str__(self) -> str:
        words = [f"{self.rate:g} Hz", "stamped" if self.stamped else "no stamps"]
        return ", ".join([*words, *(["late"] if self.late else [])])


@dataclass(frozen=True)
class Samples:
    """Samples of a hand in the order they arrive."""

    stamps: Array
    """When the hand was there (M,), in seconds."""
    arrivals: Array
    """When the loop can know (M,), in seconds; never earlier than the stamp."""
    frames: Array
    """Where the hand was (M, 4, 4), as sent: trembling and rounded."""

    def newest(self, times: Array) -> Array:
        """Which sample (N,) is the newest to have arrived at each of these times (N,)."""
        count = np.searchsorted(self.arrivals, np.asarray(times) + 1e-12, side="right")
        return np.asarray(np.maximum(count - 1, 0))


def tremor(times: Array, duration: float, rng: np.random.Generator) -> Array:
    """A trembling hand's excursion (N, 6) at some times, position before turn; each part at most 1 in a whole run."""
    pace = 2 * np.pi * rng.uniform(*BAND, (6, 4))
    phase = rng.uniform(0, 2 * np.pi, (6, 4))
    size = rng.uniform(0.5, 1.0, (6, 4))

    def shake(t: Array) -> Array:
        return np.asarray((size * np.sin(pace * t[:, None, None] + phase)).sum(-1))

    whole = shake(np.arange(0, duration + 2e-3, 2e-3)).reshape(-1, 2, 3)
    most = np.repeat(np.linalg.norm(whole, axis=-1).max(axis=0), 3)
    return np.asarray(shake(np.asarray(times, dtype=float)) / most)


def activity(hand: Hand, times: Array, duration: float) -> Array:
    """How much a hand trembles (N,) at some times: 1 while it moves, 0 while it rests, smooth between."""
    grid = np.arange(0, duration + 2 * _GRID, _GRID)
    frames = Frame(hand(np.minimum(grid, duration)))
    way = np.linalg.norm(np.diff(frames.position, axis=0), axis=-1) / _GRID
    turn = np.linalg.norm((frames[1:] @ frames[:-1].inverse()).to_rotvec(), axis=-1) / _GRID
    moves = (way > SLOW[0]) | (turn > SLOW[1])
    level, ramp = 0.0, np.empty(len(moves))
    for i, moving in enumerate(moves):
        level = min(level + _GRID / FADE, 1.0) if moving else max(level - _GRID / FADE, 0.0)
        ramp[i] = level
    shown = np.interp(times, grid[1:], ramp)
    return np.asarray(shown * shown * (3 - 2 * shown))


def interpolated(times: Array, frames: Array) -> Hand:
    """A hand that passes through frames (N, 4, 4) at rising times (N,): straight lines and single turns between."""
    knots, known = np.asarray(times, dtype=float), Frame(frames)

    def hand(at: Array) -> Array:
        i = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
        share = np.clip((at - knots[i]) / (knots[i + 1] - knots[i]), 0.0, 1.0)[:, None]
        a, b = known[i], known[i + 1]
        turn = Frame.rotvec((a.inverse() @ b).to_rotvec() * share)
        return np.array(Frame.at(a.position + share * (b.position - a.position), (a @ turn).rotation).matrix)

    return hand


RATES = (60.0, 90.0, 125.0)
"""Samples a second of the hands that bar 8 speaks of."""


def variants(late: bool = False) -> tuple[Operator, ...]:
    """The six operators of bar 8: 60, 90 and 125 Hz, with and without time stamps.

    The jitter of 4 ms is in when the hand is looked at; with ``late`` it is in how long a sample travels instead,
    which nobody without stamps can know.
    """
    hand = Operator(irregular=0.0, late=4e-3) if late else Operator()
    return tuple(replace(hand, rate=rate, stamped=stamped) for stamped in (True, False) for rate in RATES)
