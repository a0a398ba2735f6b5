"""supple's own tracker as a controller of the gauntlet."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from supple.frame import Array
from supple.gauntlet.arms import Arm
from supple.gauntlet.runner import Factory
from supple.goal import Goal
from supple.solver import Solver

ACCELERATION = 15.0  # rad/s2, the limit for which the acceptance bars are stated (docs/tracking.md)


class Tracked:
    """A `supple.Tracker` as a controller. It continues from its own joint values, not from the clipped ones."""

    def __init__(self, arm: Arm, solver: Solver, **options: Any) -> None:
        goal = Goal(arm.link, np.eye(4), weight=pi / arm.reach)
        self.tracker = solver.track(arm.linkage, goal, start=arm.linkage.rest, **options)
        self._step = self.tracker.step
        self._last: Any = None

    def reset(self, q: Array) -> None:
        """Start again at joint values (dof,)."""
        self.tracker.reset(q)
        self._last = None

    def step(self, q: Array, command: Array, dt: float, stamp: float | None = None) -> Array:
        """The next joint values (dof,)."""
        self._last = step = self._step(command, dt, stamp)
        return step.q

    @property
    def lag(self) -> float:
        """Lag of the last tick behind the command, in seconds."""
        return 0.0 if self._last is None else float(self._last.lag)


class Replayed(Tracked):
    """The same with all ticks of a clean run in one call: quicker, but ticks are not timed."""

    def run(self, commands: Array, dt: float, q: Array) -> Array:
        """Joint values (N + 1, dof) for commands (N, 4, 4)."""
        self.reset(q)
        return np.vstack([q, self.tracker.replay(commands, dt)[0]])


def tracked(solver: Solver | None = None, *, replay: bool = False, **options: Any) -> Factory:
    """A factory of controllers: for each arm a tracker of supple.

    Args:
        solver: the solver whose `supple.Solver.track` is used; by default ``Solver()``.
        replay: do all ticks of a clean run in one call, which is much quicker; ticks are then not timed.
        options: options of `supple.Solver.track`, such as ``jerk``; ``acceleration`` is 15 rad/s2 by default.
    """
    chosen, kind = solver or Solver(), Replayed if replay else Tracked
    settings = {"acceleration": ACCELERATION} | options
    return lambda arm, dt: kind(arm, chosen, **settings)
