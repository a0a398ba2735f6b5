"""GoalReader: the goals of a tick as numbers for the core, and what is wrong with goals that it cannot read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple import _check, _core
from supple._arrays import nesting
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal

_WHOSE = ("link", "is_center_of_mass", "relative_to", "limb")  # attributes that a tracked goal keeps


class GoalReader:
    """Reads goals as twelve numbers each; the weights of a `Goal` are passed on to the core when they change."""

    def __init__(
        self,
        goals: tuple[Goal, ...],
        reaches: Sequence[float],
        weights: list[list[float]],
        shape: tuple[int, ...],
        track: _core.Tracker,
    ) -> None:
        self.goals = goals
        self.reaches = reaches
        self.weights = weights
        """Of the rows of each goal, as the core has them now."""
        self.shape = shape
        """() for one arm, (arms,) for many."""
        self.track = track

    def read(self, goal: Any) -> Array:
        """Goals as the core reads them, (goals, 12) or (arms, goals, 12)."""
        _check_made(goal)
        several = isinstance(goal, list | tuple)
        if not (several and len(goal) == len(self.goals)):
            self.check_count(goal)
        given = [goal] if len(self.goals) == 1 and not (several and len(goal) == 1) else goal
        encoded = np.empty((*self.shape, len(self.goals), 12))
        for k, one in enumerate(given):
            if isinstance(one, Goal):
                self._read_goal(k, one, encoded[..., k, :])
            else:
                self._read_frame(k, one, encoded[..., k, :])
        return encoded

    def check_count(self, goal: Any) -> None:
        """Refuse one frame for several end effectors, and several for one."""
        count = len(self.goals)
        _check_made(goal)
        listed = isinstance(goal, list | tuple) and any(isinstance(one, Frame | Goal | np.ndarray) for one in goal)
        if listed:
            given = len(goal)
        elif isinstance(goal, Frame | Goal):
            given = 1 if not goal.shape or count == 1 else goal.shape[0]
        else:
            try:
                shape = nesting.shape(goal)
            except _check.NOT_CONVERTED as error:
                raise BadInput(f"goal must be numbers: {str(error)[:200]}") from None
            leading = len(shape) - 2 - len(self.shape)
            given = 1 if leading <= 0 else shape[0]
        if given != count:
            effectors = (
                "1 end effector; give one frame"
                if count == 1
                else f"{count} end effectors; give a list of {count} frames"
            )
            raise BadInput(f"this tracker has {effectors}, got {given}")

    def _read_goal(self, k: int, one: Goal, out: Array) -> None:
        mine = self.goals[k]
        if any(getattr(one, name) != getattr(mine, name) for name in _WHOSE):
            raise BadInput(f"goal {k} is tracked for {_whose(mine)}, got one for {_whose(one)}")
        if one._surface != mine._surface:
            raise BadInput(f"goal {k} must keep its distance and its line while it is tracked: {mine!r}")
        components, weights = one._without_slack()._rows(self.reaches[k])
        if components != mine._without_slack()._rows(self.reaches[k])[0]:
            raise BadInput(f"goal {k} must have the components that it had when tracking began: {mine!r}")
        if weights != self.weights[k]:
            self.track.weigh(k, weights)
            self.weights[k] = weights
        if one.shape not in ((), self.shape):
            raise BadInput(f"goal {k} must be one for each arm: its leading axes are {one.shape}, not {self.shape}")
        out[...] = one._encoded(self.shape)

    def _read_frame(self, k: int, one: Any, out: Array) -> None:
        mine, shape = self.goals[k], self.shape
        matrix = one.matrix if isinstance(one, Frame) else _check.numbers(one, f"goal {k}")
        if mine.pole is not None:
            raise BadInput(f"goal {k} has a pole: give a Goal with pole")
        if mine.axis is not None:
            toward = "direction" if mine.look_at is None else "look_at"
            raise BadInput(f"goal {k} has an axis: give a Goal with axis and {toward}")
        if matrix.shape != (*shape, 4, 4):
            hint = f"; for a position give Goal({mine.link!r}, position=[...])" if matrix.shape[-1:] == (3,) else ""
            raise BadInput(f"goal {k} must be a frame of shape {(*shape, 4, 4)}, got {matrix.shape}{hint}")
        out[..., :9] = matrix[..., :3, :3].reshape(*shape, 9)
        out[..., 9:] = matrix[..., :3, 3]


def not_numbers(**given: object) -> BadInput:
    """The error for arguments that the core refused."""
    wrong = [
        f"{name} must be a number, got {_check.short(value)}"
        for name, value in given.items()
        if not isinstance(value, int | float)
    ]
    return BadInput("; ".join(wrong) or "a goal must be a frame, a Goal, or one for each end effector")


def _whose(goal: Goal) -> str:
    return repr(goal.link) if goal.relative_to is None else f"{goal.link!r} relative to {goal.relative_to!r}"


def _check_made(goal: Any) -> None:
    """Refuse a frame that was made without its constructor, alone or in a list."""
    for one in goal if isinstance(goal, list | tuple) else (goal,):
        if isinstance(one, Frame) and not hasattr(one, "matrix"):
            raise BadInput("this Frame has no matrix: it was made without Frame(...)")
