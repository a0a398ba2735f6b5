"""Steering: applies commands to the mappings and holds the goals and grippers that result."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.teleop.command import Command
from supple.teleop.mapping import Mapping
from supple.teleop.soft_start import SoftStart


def one_for_each(mapping: Mapping | Sequence[Mapping]) -> list[Mapping]:
    """The mappings, one for each driven link."""
    if isinstance(mapping, Mapping):
        return [mapping]
    if isinstance(mapping, Sequence) and all(isinstance(one, Mapping) for one in mapping):
        return list(mapping)
    raise BadInput(f"mapping must be a Mapping, or a sequence with one for each link, got {_check.short(mapping)}")


class Steering:
    """Turns commands into goals, one for each mapping; each hand is engaged and released on its own."""

    goals: Array
    """Frames of the goals (links, 4, 4), read-only."""
    stamp: float
    """Stamp of the command behind the goals, in seconds on the operator's clock; nan if unknown."""
    grippers: Array
    """How far each gripper is to be open (links,), read-only: 0 closed to 1 open; nan if that is not known."""

    def __init__(self, mappings: Sequence[Mapping], grippers: ArrayLike | None = None) -> None:
        """Mappings without goals; `begin` sets the goals. The grippers are open so far at first (links,)."""
        if len(set(map(id, mappings))) < len(mappings):
            raise BadInput("each link needs a mapping of its own: a mapping stores the frame of its hand")
        self._mappings = tuple(mappings)
        self._wanted: list[float | None] = [None] * len(mappings)
        self._soft: SoftStart | None = None
        self.stamp = math.nan
        self.set_grippers(math.nan if grippers is None else grippers)

    def begin(self, goals: Array) -> None:
        """Starts again from goals (links, 4, 4), with all hands released; the grippers stay as they are."""
        goals.flags.writeable = False
        self.goals = self._mapped = goals
        self._wanted = [None] * len(self._mappings)
        if self._soft is not None:
            self._soft.begin(goals)
        for mapping in self._mappings:
            mapping.release()

    def soften(self, size: float) -> None:
        """The goals move slowly at first, from now on; ``size`` is the reach of the arm in metres."""
        self._soft = SoftStart(size)

    @property
    def moves(self) -> bool:
        """Whether the operator drives: a hand is engaged, and has moved its goal since the motion was softened."""
        engaged = any(mapping.engaged for mapping in self._mappings)
        return engaged and (self._soft is None or self._soft.moved)

    def set_grippers(self, grippers: ArrayLike) -> None:
        """The grippers are open so far (links,), or all of them; nan if that is not known."""
        try:
            openings = np.array(np.broadcast_to(_check.numbers(grippers, "grippers"), (len(self._mappings),)))
        except ValueError:
            raise BadInput(
                f"grippers must be {len(self._mappings)} numbers, one for each link, got {_check.short(grippers)}"
            ) from None
        if ((openings < 0) | (openings > 1)).any():
            raise BadInput(f"a gripper is open by 0 (closed) to 1 (open), got {_check.short(grippers)}")
        openings.flags.writeable = False
        self.grippers = openings
        self._wanted = [None] * len(self._mappings)

    def apply(self, command: Command, now: float) -> None:
        """Moves the goals by a valid command that arrived at time now (s). A command without hands moves nothing."""
        for k, wanted in enumerate(command.grippers[: len(self._mappings)]):
            self._wanted[k] = wanted
        if command.hands:
            self.stamp = command.stamp
        t = command.stamp if math.isfinite(command.stamp) else now
        hands: Sequence[Frame | None] = command.hands if command.engaged else [None] * len(self._mappings)
        goals = self._mapped.copy()
        for k, (hand, mapping) in enumerate(zip(hands, self._mappings, strict=False)):
            if hand is None:
                mapping.release()
            elif mapping.engaged:
                goals[k] = mapping.goal(hand, t).matrix
            else:
                mapping.engage(hand, Frame._trusted(self._mapped[k]), t)
        goals.flags.writeable = False
        self.goals = self._mapped = goals

    def advance(self, dt: float) -> None:
        """Moves the grippers towards what the operator wants, and softens the motion of the goals, for dt seconds."""
        if self._soft is not None:
            self.goals = self._soft.limited(self._mapped, dt)
            if self._soft.ended:
                self._soft = None
        if all(wanted is None for wanted in self._wanted):
            return
        openings = self.grippers.copy()
        for k, (wanted, mapping) in enumerate(zip(self._wanted, self._mappings, strict=True)):
            if wanted is not None:
                openings[k] = mapping.move_gripper(float(openings[k]), wanted, dt)
        openings.flags.writeable = False
        self.grippers = openings
