"""Recorded drives in simulated time, for the tests of recordings."""

from pathlib import Path

import numpy as np
import pytest

from supple import Frame, Linkage, models
from supple.link import Link
from supple.teleop import Command, Loop, Mapping, tee
from supple.teleop.recording import Recorder, Recording

pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")

RATE = 300
UR5, BAXTER, PANDA, SO101 = models.ur5(), models.baxter(), models.panda(), models.so101()
DATA = Path(__file__).parents[1] / "data"
START = np.array([0.0, -1.2, 1.5, -1.0, -1.2, 0.3])
SIDES = {"s0": 0.3, "s1": -0.6, "e0": 0.2, "e1": 1.5, "w0": 0.1, "w1": 0.8, "w2": 0.2}
BOTH = BAXTER.q({f"{side}_{name}": value for side in ("left", "right") for name, value in SIDES.items()})
ENDINGS = ("parquet", "csv")
NAMES = ("supple", "paper", "damped", "pseudoinverse")


class Simulated:
    """A clock that takes no time, and now and then wakes late."""

    def __init__(self, seed=None):
        self.time, self.late = 0.0, np.random.default_rng(seed) if seed is not None else None

    def now(self):
        return self.time

    def wait(self, until):
        self.time = max(self.time, until)
        if self.late is not None and self.late.random() < 0.02:
            self.time += self.late.exponential(0.01)


def operator(clock, seconds, seed=0, hands=1, rough=True):
    """What a person may do: move, turn, let go, take hold elsewhere; if rough also fall silent, jump and go mad."""
    rng = np.random.default_rng(seed)
    places, turns = np.zeros((hands, 3)), np.zeros((hands, 3))
    ways, spins, engaged, silent = rng.normal(size=(hands, 3)), rng.normal(size=(hands, 3)), True, 0
    for k in range(round(seconds * RATE)):
        if rng.random() < 0.02:
            ways, spins = rng.normal(size=(2, hands, 3))
        if rng.random() < 0.005:
            engaged = not engaged
        if rough and rng.random() < 0.002:
            places = places + 0.5 * rng.normal(size=(hands, 3))
        if rough and rng.random() < 0.002:
            silent = int(rng.integers(1, 200))
        places, turns = places + 0.3 * ways / RATE, turns + 1.0 * spins / RATE
        silent = max(silent - 1, 0)
        odd = rng.random() if rough else 1.0
        if silent or odd < 0.1:
            yield None
        elif odd < 0.102:
            yield Command(hands=[np.full((4, 4), np.nan)] * hands, stamp=clock.now())
        elif odd < 0.11:
            yield Command(stamp=clock.now())
        else:
            held = [Frame.at(p, Frame.rotvec(r)) for p, r in zip(places, turns, strict=True)]
            if hands > 1 and odd < 0.2:
                held[1] = None
            stamp = clock.now() - (0.002 * rng.random() if rough else 0.0)
            yield Command(engaged=engaged, stamp=stamp, sequence=k, buttons=k % 3, hands=held)


def drive(path, tracker, seconds=3.0, seed=0, hands=1, rough=True, at=None, measured=None, late=0, **options):
    """Records a drive in no time; returns its ticks as they were, and what the recorder says."""
    recorder, ticks = Recorder(path, tracker, RATE, **options), []
    clock = Simulated(late)
    source = operator(clock, seconds, seed, hands, rough)
    mapping = [Mapping() for _ in range(hands)]

    def keep(tick):
        ticks.append(tick)
        if at is not None and tick.number in at:
            at[tick.number](loop)

    loop = Loop(source, mapping, tracker, tee(keep, recorder), RATE, clock=clock, measured=measured)
    loop.run()
    return ticks, recorder


def shaken(rng):
    """A real arm that is a little beside; sometimes it cannot be read."""
    last = {}

    def felt():
        return None if not last or rng.random() < 0.1 else last["q"] + 0.01 * rng.normal(size=last["q"].shape)

    return last, felt


def bits(array):
    return np.ascontiguousarray(array, dtype=float).view(np.int64)


def bare(linkage):
    return Linkage(linkage.name, linkage.joints, [Link(link.name) for link in linkage.links], linkage.base)


def read_all(path):
    return sum(len(rows) for rows in Recording(path).blocks())
