"""Rows of a goal: what the core reads of it, and which goals share a compiled solver."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from supple.goal import Goal

Array = NDArray[np.float64]
Surface = tuple[bool, float, float, float, float]
ORIGIN: Array = np.zeros(3)
"""The point of a link that a goal is for, if none is given. Goals compare it by identity."""
ORIGIN.flags.writeable = False
ZERO = (0.0, 0.0, 0.0)


def surface(goal: Goal) -> Surface:
    """What the core knows of the kind of goal: whether it looks at a point; distance; direction of the line."""
    line = (0.0, 0.0, 0.0) if goal.line is None else goal.line.tolist()
    return (goal.look_at is not None, goal.distance or 0.0, *line)


def kind(goal: Goal) -> tuple[Any, ...]:
    """All but the frame: goals of one kind share a compiled solver."""
    axis = None if goal.axis is None else goal.axis.tobytes()
    point = None if goal.point is ORIGIN else goal.point.tobytes()
    shape = None if goal.distance is None and goal.look_at is None else surface(goal)
    link = None if goal.is_center_of_mass else goal.link
    parts = (link, goal.relative_to, goal.position is None, goal.orientation is None, axis, point, shape)
    pole = (goal.pole is None, goal.limb)
    return (*parts, *pole, goal.weight, goal.turn_weight, goal.slack, goal.turn_slack, goal.priority)


def rows(goal: Goal, reach: float) -> tuple[list[int], list[float]]:
    """The error components that the goal uses and their weights, for an end effector of that reach in metres."""
    components: list[int] = []
    weights: list[float] = []
    farthest = reach + float(np.linalg.norm(goal.point))
    position = goal.weight or (math.pi / farthest if 1e-6 < farthest < math.inf else 1.0,) * 3
    if goal.distance is not None:
        if position[0]:
            components += [8, 9] if goal._is_on_line else [8]
            weights += [position[0]] * len(components)
    elif goal.position is not None:
        for i, w in enumerate(position):
            if w:
                components.append(i)
                weights.append(w)
    if goal.orientation is not None:
        for i, w in enumerate(goal.turn_weight):
            if w:
                components.append(3 + i)
                weights.append(w)
    elif goal.pole is not None:
        components.append(3)
        weights.append(goal.turn_weight[0])
    elif goal.axis is not None and goal.turn_weight[0]:
        components += [6, 7]
        weights += [goal.turn_weight[0]] * 2
    return components, weights


def slacks(goal: Goal) -> list[float]:
    """The slack of each component that `rows` names, in metres or radians; for an axis, its cone's half-angle."""
    made: list[float] = []
    if goal.distance is not None:
        made += goal.slack[: 2 if goal._is_on_line else 1] if goal.weight != ZERO else ()
    elif goal.position is not None:
        weight = goal.weight or (1.0, 1.0, 1.0)
        made += [s for s, w in zip(goal.slack, weight, strict=True) if w]
    if goal.orientation is not None:
        made += [s for s, w in zip(goal.turn_slack, goal.turn_weight, strict=True) if w]
    elif goal.pole is not None:
        made.append(goal.turn_slack[0])
    elif goal.axis is not None and goal.turn_weight[0]:
        made += goal.turn_slack[:2]
    return made


def encoded(goal: Goal, shape: tuple[int, ...]) -> Array:
    """The goal as the core reads it (*shape, 12): rotation row by row, or the direction, then the position.

    A point to look at or a pole stands in the place of the position.
    """
    out = np.zeros((*shape, 12))
    if goal.orientation is not None:
        out[..., :9] = goal.orientation.reshape(*goal.orientation.shape[:-2], 9)
    if goal.direction is not None:
        out[..., :3] = goal.direction
    place = goal._place
    if place is not None:
        out[..., 9:] = place
    return out
