"""Which part of a goal a solve did not meet, in words: its position, its orientation, or both together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple._solve.common_reasons import along, free_axes, joints_if_too_few
from supple._solve.encoding import goal_length, goal_reach
from supple._solve.goal_error import goal_frame
from supple._solve.text import angle_text, length_text
from supple._solve.tolerance import Tolerance
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.solution import Solution

Solve = Callable[[Sequence[Goal], Array, bool], "Solution"]
"""Solves other goals for the same linkage: the goals, where to start (..., dof), whether limits hold."""

REACHABLE = "other joint values reach it"
"""The reason for a goal that the search reaches from another start."""
_POSITION_FIRST = 100.0  # factor on the weight of a position that is to be met before the orientation


def unmet_part(linkage: Linkage, goal: Goal, q: Array, solve: Solve, tolerance: Tolerance) -> list[str]:
    """Which part of a goal was not met: its position, its orientation, or both together."""
    link, components = goal.link, goal._rows(1.0)[0]
    turned = any(3 <= c < 8 for c in components)
    placed = any(not 3 <= c < 8 for c in components)
    so = "in this orientation" if goal.axis is None else "pointing in this direction"
    if goal.pole is not None:
        return [f"{link} not found with its elbow there: {_orientation_miss(goal, solve([goal], q, True))}"]
    if goal.look_at is not None:
        return [f"{link} not found looking there: {_orientation_miss(goal, solve([goal], q, True))}"]
    if not turned and goal.distance is not None:
        return [f"{link} not found there: {_distance_miss(goal, solve([goal], q, True))}"]
    if not turned:
        return [f"{link} not found there: {_position_miss(linkage, goal, solve([goal], q, True))}"]
    if not placed:
        return [f"{link} not found {so}: {_orientation_miss(goal, solve([goal], q, True))}"]
    place, turn = solve([_position_only(goal)], q, True), solve([_orientation_only(goal)], q, True)
    if not (place.arrived or turn.arrived):
        return [
            f"{link} found neither there, {_position_miss(linkage, goal, place)}, nor {so}: "
            f"{_orientation_miss(goal, turn)}"
        ]
    if not place.arrived:
        return [f"{link} can be {so}, but was not found there: {_position_miss(linkage, goal, place)}"]
    if not turn.arrived:
        return [f"{link} can be there, but was found nowhere {so}: {_orientation_miss(goal, turn)}"]
    weight = goal.weight or goal._rows(goal_length(linkage, goal))[1][: 1 if goal.distance is not None else 3]
    first = _position_only(goal, [_POSITION_FIRST * w for w in weight])
    there = solve([_orientation_only(goal), first], place.q, True)
    if float(there.angle[0]) > tolerance.angle:
        count = joints_if_too_few(linkage, goal)
        return [
            f"{link} can be there, but was not found there {so}: {_orientation_miss(goal, there)}",
            *([f"{count} joints are too few for both"] if count else []),
        ]
    if float(there.distance[1]) > tolerance.position:
        return [f"{link} can be {so}, but was not found there: {_position_miss(linkage, goal, there, 1)}"]
    return [REACHABLE]


def _position_only(goal: Goal, weight: Sequence[float] | None = None) -> Goal:
    """The position of a goal, without its orientation."""
    weight = weight or goal.weight
    at: dict[str, Any] = {"point": goal.point, "relative_to": goal.relative_to}
    if goal.is_center_of_mass:
        return goal
    if goal.distance is not None:
        slack, one = goal.slack[0], None if weight is None else weight[0]
        shape: dict[str, Any] = {"distance": goal.distance, "line": goal.line}
        return Goal(goal.link, position=goal.position, weight=one, slack=slack, **shape, **at)
    return Goal(goal.link, position=goal.position, weight=weight, slack=goal.slack, **at)


def _orientation_only(goal: Goal) -> Goal:
    """The orientation or direction of a goal, without its position."""
    slack = goal.turn_slack
    options: dict[str, Any] = {"turn_weight": goal.turn_weight, "relative_to": goal.relative_to}
    if goal.axis is None:
        return Goal(goal.link, orientation=goal.orientation, turn_slack=slack, **options)
    return Goal(goal.link, axis=goal.axis, direction=goal.direction, turn_slack=slack[0], **options)


def _position_miss(linkage: Linkage, goal: Goal, found: Solution, part: int = 0) -> str:
    """The distance from the position of a goal, which was solved as goal number ``part``, and its direction."""
    if goal.distance is not None:
        return _distance_miss(goal, found, part)
    error = found.error[part, :3]
    _, base = goal_reach(linkage, goal)
    out = np.where(free_axes(goal), 0.0, goal_frame(linkage, goal, found.q).apply(goal.point) - base)
    near = float(error @ out) < -0.9 * float(np.linalg.norm(error) * np.linalg.norm(out))
    miss = f"{length_text(float(found.distance[part]))} short along {along(goal, error)}"
    if goal.is_center_of_mass:
        return miss
    return f"{miss}, too near the {'base' if goal.relative_to is None else goal.relative_to}" if near else miss


def _distance_miss(goal: Goal, found: Solution, part: int = 0) -> str:
    """The distance from the sphere, the cylinder or the line of a goal, and on which side."""
    error, missed = found.error[part, :3], length_text(float(found.distance[part]))
    position: Any = goal.position
    way = position - goal_frame(found.linkage, goal, found.q).apply(goal.point)
    what = "point" if goal.line is None else "line"
    return f"{missed} too {'far from' if float(error @ way) > 0 else 'near'} the {what}"


def _orientation_miss(goal: Goal, found: Solution) -> str:
    """The angle from the orientation of a goal, and its axis."""
    if goal.pole is not None:
        return f"{angle_text(float(found.angle[0]))} short about the line of the limb"
    return f"{angle_text(float(found.angle[0]))} short about {along(goal, found.error[0, 3:])}"
