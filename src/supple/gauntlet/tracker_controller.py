"""supple's own tracker, as the gauntlet runs it."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from supple.frame import Array
from supple.gauntlet.arms import Arm
from supple.gauntlet.runner import Factory
from supple.goal import Goal
from supple.solver import Solver

ACCELERATION = 15.0  # rad/s2, the bound that METHOD's bars are stated for


class Tracked:
    """A `supple.Tracker` as a controller: it goes on from its own joint values, never from clipped ones."""

    def __init__(self, arm: Arm, solver: Solver, **options: Any) -> None:
        goal = Goal(arm.link, np.eye(4), weight=pi / arm.reach)
        self.tracker = solver.track(arm.linkage, goal, start=arm.linkage.rest, **options)
        self._step = self.tracker.step
        self._last: Any = None

    def reset(self, q: Array) -> None:
        """Begin anew at joint values (dof,)."""
        self.tracker.reset(q)
        self._last = None

    def step(self, q: Array, command: Array, dt: float, stamp: float | None = None) -> Array:
        """The next joint values (dof,)."""
        self._last = said = self._step(command, dt, stamp)
        return said.q

    @property
    def lag(self) -> float:
        """Seconds by which the last tick followed late."""
        return 0.0 if self._last is None else float(self._last.lag)


class Replayed(Tracked):
    """The same, all ticks of a clean run in one call: for tuning, since no tick is timed."""

    def run(self, commands: Array, dt: float, q: Array) -> Array:
        """Joint values (N + 1, dof) for commands (N, 4, 4)."""
        self.reset(q)
        return np.vstack([q, self.tracker.replay(commands, dt)[0]])


def tracked(solver: Solver | None = None, *, replay: bool = False, **options: Any) -> Factory:
    """What makes supple's tracker for an arm.

    Args:
        solver: whose `supple.Solver.track` is used; the default solver if not given.
        replay: whether all ticks of a clean run are done in one call, which is much quicker, but times none of them.
        options: of `supple.Solver.track`, such as ``jerk``; ``acceleration`` is 15 rad/s2 by default.
    """
    chosen, kind = solver or Solver(), Replayed if replay else Tracked
    wanted = {"acceleration": ACCELERATION} | options
    return lambda arm, dt: kind(arm, chosen, **wanted)
