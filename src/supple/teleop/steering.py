"""Steering: hands at their mappings, and the goals they have moved."""

from __future__ import annotations

import math
from collections.abc import Sequence

from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.teleop.command import Command
from supple.teleop.mapping import Mapping


class Steering:
    """Turns commands into goals, one for each mapping; each hand grips and lets go for itself."""

    goals: Array
    """The goals' frames (links, 4, 4), read-only."""
    stamp: float
    """When the hands behind them were taken, in seconds on the operator's clock; nan: not known."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        """Mappings without a hand; `begin` gives them goals."""
        if not all(isinstance(one, Mapping) for one in mappings):
            raise BadInput(f"a mapping, or one for each link, is needed, got {mappings!r}")
        if len(set(map(id, mappings))) < len(mappings):
            raise BadInput("each link needs a mapping of its own: a mapping remembers its hand")
        self._mappings = tuple(mappings)
        self.stamp = math.nan

    def begin(self, goals: Array) -> None:
        """Begins anew with goals (links, 4, 4); all hands let go."""
        goals.flags.writeable = False
        self.goals = goals
        for mapping in self._mappings:
            mapping.release()

    def take(self, command: Command, now: float) -> None:
        """Moves the goals as a good command asks, which came at time now (s). One without hands moves none."""
        if command.hands:
            self.stamp = command.stamp
        t = command.stamp if math.isfinite(command.stamp) else now
        hands: Sequence[Frame | None] = command.hands if command.grip else [None] * len(self._mappings)
        goals = self.goals.copy()
        for k, (hand, mapping) in enumerate(zip(hands, self._mappings, strict=False)):
            if hand is None:
                mapping.release()
            elif mapping.gripped:
                goals[k] = mapping.goal(hand, t).matrix
            else:
                mapping.grip(hand, Frame._trusted(self.goals[k]), t)
        goals.flags.writeable = False
        self.goals = goals
