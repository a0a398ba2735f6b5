"""Runs of the gauntlet for tests: a hazard by its key, prescribed joint values, a scripted controller."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supple import gauntlet
from supple.frame import Array
from supple.gauntlet import Hazard, Run


def hazard(arm: str, key: str) -> Hazard:
    (found,) = gauntlet.hazards(arm, [key])
    return found


def recorded(q: Array, of: Hazard, rate: float = 300.0) -> Run:
    """A run with prescribed joint values q (N + 1, dof)."""
    return Run(of, rate, q, np.diff(q, axis=0), of.frames(rate))


class Scripted:
    """A controller that requests the value of a function of tick and q."""

    def __init__(self, asks: Callable[[int, Array], Array]) -> None:
        self.asks = asks

    def reset(self, q: Array) -> None:
        self.tick = 0

    def step(self, q: Array, command: Array, dt: float, stamp: float | None = None) -> Array:
        self.tick += 1
        return self.asks(self.tick - 1, q)
