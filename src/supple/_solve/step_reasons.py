"""Reasons in words for a step of a tracker: bounds of speed, limits that come near, commands that are held."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from supple._solve.common_reasons import joints_if_too_few, limit_text
from supple._solve.goal_error import point_jacobian
from supple._solve.text import angle_text, length_text
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.step import Step

_FARTHEST = 1e12  # m, of a command
_CORRECTED = 0.02  # the largest entry of |R R' - I| that the core corrects
_SHORTEST_TICK = 1e-6  # s; in a shorter one the core moves nothing
_ENDLESS_TICK = 1e9  # s; one as long or longer is not a time for the core


def too_slow(names: Sequence[str], sides: Iterable[float]) -> list[str]:
    """Which joints are at their bounds of speed (2, -2) or acceleration (3, -3), or wait for the real arm (4, -4)."""
    pairs = list(zip(names, sides, strict=True))
    waiting = [name for name, side in pairs if abs(side) == 4][:3]
    if waiting:
        return [f"waits for the measured arm: {', '.join(waiting)}"]
    fast = [f"{name} at its speed limit" for name, side in pairs if abs(side) == 2]
    hard = [f"{name} at its acceleration limit" for name, side in pairs if abs(side) == 3]
    return (fast or hard)[:3]


def effectors_too_slow(linkage: Linkage, goals: Sequence[Goal], speeds: tuple[Array, Array], step: Step) -> list[str]:
    """Which end effectors are at their bounds of speed or of angular speed, each (goals,)."""
    reasons = []
    for goal, speed, turn_speed in zip(goals, *speeds, strict=True):
        if min(speed, turn_speed) < math.inf:
            twist = point_jacobian(linkage, goal, step.q) @ step.velocity
            if np.linalg.norm(twist[:3]) > 0.97 * speed:
                reasons.append(f"{goal.link} at its speed limit")
            if np.linalg.norm(twist[3:]) > 0.97 * turn_speed:
                reasons.append(f"{goal.link} at its limit of angular speed")
    return reasons


def turned_less(step: Step) -> list[str]:
    """Which end effectors are in place, but turned otherwise, since their joints are too few for both."""
    tracker, reasons = step._tracker, []
    for goal, distance, angle in zip(tracker.goals, step.distance, step.angle, strict=True):
        if goal.position is None or distance > tracker.tolerance.position or not angle > tracker.tolerance.angle:
            continue
        count = joints_if_too_few(tracker.linkage, goal)
        if count:
            reasons.append(f"{goal.link} is in place, but {count} joints are too few for its orientation too")
    return reasons


def margins_in_use(step: Step) -> Array:
    """How much narrower than those of the linkage the limits of a tracker are (dof,), of joints that move its links."""
    tracker, linkage = step._tracker, step._tracker.linkage
    with np.errstate(invalid="ignore"):
        less = np.fmax(tracker.lower - linkage.lower, linkage.upper - tracker.upper)
    return np.where(tracker._moved & np.isfinite(less), less, 0.0)


def approaching_limits(linkage: Linkage, lower: Array, upper: Array, step: Step) -> list[str]:
    """Which joints are outside their limits, or move towards one within a twelfth of their range and half a minute.

    ``lower`` and ``upper`` are the limits in use, with the margin.
    """
    reasons, velocity = [], step.velocity
    margin = margins_in_use(step)
    lower, upper = np.where(margin > 0, lower, linkage.lower), np.where(margin > 0, upper, linkage.upper)
    outside = (step.q > upper + 1e-6) | (step.q < lower - 1e-6)
    for k in np.flatnonzero(outside):
        out, side = (step.q[k] - upper[k], "upper") if step.q[k] > upper[k] else (lower[k] - step.q[k], "lower")
        way = angle_text(out) if linkage.units[k] == "rad" else length_text(out)
        inside = linkage.lower[k] <= step.q[k] <= linkage.upper[k]
        what = "inside the margin of" if inside else "outside"
        reasons.append(f"{linkage.names[k]} is {way} {what} its {side} limit and is brought back")
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        left = np.where(velocity > 0, upper - step.q, step.q - lower)
        time = left / np.abs(velocity)
        near = (left <= (upper - lower) / 12) & (time < 30) & (left > 1e-4) & (np.abs(velocity) > 1e-6)
    for k in np.flatnonzero(near & (np.abs(step.sides) != 1)):
        way = f"{math.degrees(left[k]):.0f} degrees" if linkage.units[k] == "rad" else length_text(left[k])
        limit = limit_text("upper" if velocity[k] > 0 else "lower", margin[k])
        reasons.append(f"{linkage.names[k]} has {way} left to {limit}, {time[k]:.1f} s at this speed")
    return reasons


def held(commands: Array, dt: float | None) -> str:
    """Why a tracker holds the arm: its time step or its commands (goals, 12), with the value."""
    if dt is not None and 0 <= dt < _SHORTEST_TICK:
        return f"held: no time passed, dt is {float(dt):g} s and must be at least {_SHORTEST_TICK:g} s"
    if dt is not None and not 0 <= dt < _ENDLESS_TICK:
        return f"held: dt must be positive and less than {_ENDLESS_TICK:g} s, it is {float(dt):g}"
    for number, row in enumerate(commands):
        which = f"goal {number}" if len(commands) > 1 else "the command"
        wrong = row[~np.isfinite(row)]
        if wrong.size:
            return f"held: {which} is not finite, it has {wrong[0]}"
        farthest = row[9:][np.abs(row[9:]).argmax()]
        if abs(farthest) > _FARTHEST:
            return f"held: {which} is too far away, it has {farthest:g} m; {_FARTHEST:g} m is most"
        rotation = row[:9].reshape(3, 3)
        off = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
        if off > _CORRECTED:
            wrong_by = f"it is off by {off:.3g}, more than the {_CORRECTED:g} that is corrected"
            return f"held: the rotation of {which} is not orthonormal, {wrong_by}"
        if np.linalg.det(rotation) < 0:
            return f"held: the rotation of {which} is a reflection, its determinant is -1"
    return "held: the command is not a finite frame"
