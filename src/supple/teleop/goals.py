"""GoalFrames: the frames that the hands move, given to a tracker as the kinds of goals that it follows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from supple._solve.goal_error import goal_frame
from supple.frame import Array, Frame
from supple.goal import _FIELDS, Goal, _rebuilt
from supple.tracker import Tracker

_NEAREST = 0.05  # m; a point to look at begins at least so far ahead


class GoalFrames:
    """Turns frames (links, 4, 4) into the goals of a tracker. A goal takes from its frame what it asks for.

    - A frame, a position, an orientation or a distance: the frame itself.
    - An axis along a direction: the direction that the axis has if the link has this frame.
    - A point to look at: the position of the frame.
    """

    def __init__(self, tracker: Tracker) -> None:
        """For the goals of a tracker."""
        self._tracker = tracker
        self._plain = all(goal.axis is None for goal in tracker.goals)

    def begin(self, q: Array) -> Array:
        """The frames (links, 4, 4) at which the hands begin, so that an arm at joint values q (dof,) stays there."""
        return np.array([self._begin(goal, q).matrix for goal in self._tracker.goals])

    def commands(self, frames: Array) -> Any:
        """What the tracker takes for frames (links, 4, 4); nan holds the arm."""
        if self._plain:
            return frames[0] if len(frames) == 1 else list(frames)
        goals = self._tracker.goals
        return [
            frame if goal.axis is None else _directed(goal, frame) for goal, frame in zip(goals, frames, strict=True)
        ]

    def _begin(self, goal: Goal, q: Array) -> Frame:
        frame = goal_frame(self._tracker.linkage, goal, q) @ Frame.at(goal.point)
        if goal.look_at is None or goal.axis is None:
            return frame
        away = max(math.dist(goal.look_at, frame.position), _NEAREST)
        return Frame.at(away * (frame.rotation @ goal.axis)) @ frame


def _directed(goal: Goal, frame: Array) -> Goal:
    """A goal with an axis for a frame (4, 4), which may be nan: its numbers are not checked, the tracker does that."""
    new: dict[str, Any] = {}
    if goal.look_at is not None:
        new["look_at"] = frame[:3, 3].copy()
    elif goal.axis is not None:
        new["direction"] = frame[:3, :3] @ goal.axis
    if goal.position is not None:
        new["position"] = frame[:3, 3].copy()
    return _rebuilt(*(new.get(name, getattr(goal, name)) for name in _FIELDS))
