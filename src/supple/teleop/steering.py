"""Steering: applies commands to the mappings and holds the goals that result."""

from __future__ import annotations

import math
from collections.abc import Sequence

from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.teleop.command import Command
from supple.teleop.mapping import Mapping


class Steering:
    """Turns commands into goals, one for each mapping; each hand is engaged and released on its own."""

    goals: Array
    """Frames of the goals (links, 4, 4), read-only."""
    stamp: float
    """Stamp of the command behind the goals, in seconds on the operator's clock; nan if unknown."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        """Mappings without goals; `begin` sets the goals."""
        if not all(isinstance(one, Mapping) for one in mappings):
            raise BadInput(f"mapping must be a Mapping, or a sequence with one for each link, got {mappings!r}")
        if len(set(map(id, mappings))) < len(mappings):
            raise BadInput("each link needs a mapping of its own: a mapping stores the frame of its hand")
        self._mappings = tuple(mappings)
        self.stamp = math.nan

    def begin(self, goals: Array) -> None:
        """Starts again from goals (links, 4, 4), with all hands released."""
        goals.flags.writeable = False
        self.goals = goals
        for mapping in self._mappings:
            mapping.release()

    def apply(self, command: Command, now: float) -> None:
        """Moves the goals by a valid command that arrived at time now (s). A command without hands moves nothing."""
        if command.hands:
            self.stamp = command.stamp
        t = command.stamp if math.isfinite(command.stamp) else now
        hands: Sequence[Frame | None] = command.hands if command.engaged else [None] * len(self._mappings)
        goals = self.goals.copy()
        for k, (hand, mapping) in enumerate(zip(hands, self._mappings, strict=False)):
            if hand is None:
                mapping.release()
            elif mapping.engaged:
                goals[k] = mapping.goal(hand, t).matrix
            else:
                mapping.engage(hand, Frame._trusted(self.goals[k]), t)
        goals.flags.writeable = False
        self.goals = goals
