"""Reasons in words: why a solve did not arrive, or why a tracker does not follow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from supple._linkage import reach as _reach
from supple.frame import Array
from supple.goal import Goal
from supple.joint import Joint, Kind
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.solution import Solution

Solve = Callable[[Sequence[Goal], Array, bool], "Solution"]
"""Solves other goals for the same linkage: the goals, where to start (..., dof), whether limits are kept."""

ELSEWHERE = "other joint values reach it"
"""Said of a goal that can be reached, only not from there."""
_FIRST = 100.0  # times its weight, a place is met to a ten-thousandth before how it is turned counts
_STARTS = 30  # random ones from which joints go past their limits, beside the nearest q and rest
_ROUNDS = 8  # of bringing the joints that are past their limits back towards them


def said_length(metres: float) -> str:
    """A length in words: metres, millimetres, micrometres or nanometres."""
    for unit, size in (("m", 1.0), ("mm", 1e-3), ("um", 1e-6)):
        if metres >= 0.9995 * size:  # what rounds to a whole one is one
            return f"{metres / size:.3g} {unit}"
    return f"{metres / 1e-9:.3g} nm"


def said_angle(radians: float) -> str:
    """An angle in words: radians or milliradians."""
    return f"{radians:.3g} rad" if radians >= 0.09995 else f"{radians * 1e3:.3g} mrad"


def said_direction(vector: Array, signed: bool = True) -> str:
    """A direction (3,) in words: a world axis where it is near one, else its three parts."""
    length = math.hypot(*vector)
    if not length > 0:
        return "anywhere"
    unit = vector / length
    k = int(np.argmax(np.abs(unit)))
    if abs(unit[k]) > 0.9:
        return ("+" if unit[k] > 0 else "-") * signed + "xyz"[k]
    return "(" + ", ".join(f"{x + 0.0:.2f}" for x in unit) + ")"


def listed(names: Sequence[str]) -> str:
    """Names in words: a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def out_of_reach(linkage: Linkage, link: str, position: Array, error: Array, far: float = 0.0) -> list[str]:
    """That a position (3,) is farther than a link can reach, if it is; ``error`` (3,) tells which way.

    ``far`` is by how much it is missed, in metres, where that is more: the orientation may cost some of the reach.
    """
    beyond = _reach.beyond(linkage, link, position)
    if not beyond > 0:
        return []
    return [f"{link} is out of reach by {said_length(max(beyond, far))} along {said_direction(error)}"]


def at_limits(names: Sequence[str], sides: Iterable[float]) -> list[str]:
    """Which joints stand at their limits: sides are -1 (lower), 1 (upper) or anything else."""
    at = [
        f"{name} at its {'upper' if side > 0 else 'lower'} limit"
        for name, side in zip(names, sides, strict=True)
        if side in (1, -1)
    ]
    return at if len(at) <= 4 else [f"{len(at)} joints at their limits"]


def singular(names: Sequence[str], weights: Array, way: Array, link: str = "") -> list[str]:
    """That joints swing without moving the end effector one way (6,): linear and angular, in weighted units.

    ``link`` names the end effector, where there are several.
    """
    swinging = [name for name, weight in zip(names, weights, strict=True) if weight < 0.8][:3]
    linear, angular, what = way[:3], way[3:], f" {link}" if link else ""
    if not way.any():
        slow = f"pointing{what} is slow"
    elif np.linalg.norm(linear) >= np.linalg.norm(angular):
        slow = f"moving{what} along {said_direction(linear, signed=False)} is slow"
    else:
        slow = f"turning{what} about {said_direction(angular, signed=False)} is slow"
    return [f"{', '.join(swinging) or 'the arm'} singular: {slow}"]


def too_slow(names: Sequence[str], sides: Iterable[float]) -> list[str]:
    """Which joints are as fast as they may be (2, -2), or speed up or brake as hard as they may (3, -3)."""
    pairs = list(zip(names, sides, strict=True))
    fast = [f"{name} at its speed limit" for name, side in pairs if abs(side) == 2]
    hard = [f"{name} at its acceleration limit" for name, side in pairs if abs(side) == 3]
    return (fast or hard)[:3]


# -- why goals cannot be reached --------------------------------------------------------------------------------


def unreachable(linkage: Linkage, goals: Sequence[Goal], q: Array, error: Array, solve: Solve) -> list[str]:
    """Why single goals cannot be reached, in short sentences: found by solving goals that ask for less.

    Args:
        linkage: what moves.
        goals: single goals, one or several at once.
        q: the nearest that was found (dof,).
        error: goal minus end effector there (goals, 6), in metres and radians.
        solve: solves other goals for this linkage. What it does not find is taken to be out of reach.
    """
    far = [said for goal, e in zip(goals, error, strict=True) for said in _too_far(linkage, goal, e)]
    if far:
        return far
    if solve(goals, q, True).arrived:
        return [ELSEWHERE]
    if len(goals) == 1:
        return [*_part(linkage, goals[0], q, solve), *_past_limits(linkage, goals, q, solve)]
    alone = [(goal, solve([goal], q, True)) for goal in goals]
    lost = [(goal, found) for goal, found in alone if not found.arrived]
    if lost:
        return [said for goal, found in lost for said in unreachable(linkage, [goal], found.q, found.error, solve)]
    links = list(dict.fromkeys(goal.link for goal in goals))
    whose = listed(links) if len(links) > 1 else f"the goals of {links[0]}"
    return [f"{whose} can each be met, but not together", *_past_limits(linkage, goals, q, solve)]


def _too_far(linkage: Linkage, goal: Goal, error: Array) -> list[str]:
    """That the place of a goal is farther than its link can reach, if it is."""
    if goal.position is None or not error[:3].any():
        return []
    _, base = _reach._measured(linkage, goal.link)
    slack = np.where(_free(goal), math.inf, goal.slack)
    way = goal.position + np.clip(base - goal.position, -slack, slack) - base
    away = math.hypot(*way)
    nearer = max(0.0, 1 - float(np.linalg.norm(goal.point)) / away) if away else 0.0
    return out_of_reach(linkage, goal.link, base + nearer * way, error[:3])


def _part(linkage: Linkage, goal: Goal, q: Array, solve: Solve) -> list[str]:
    """Which part of a goal cannot be met: its place, how it is turned, or both at once."""
    link, components = goal.link, goal._rows(1.0)[0]
    placed, turned = any(c < 3 for c in components), any(c >= 3 for c in components)
    so = "turned so" if goal.axis is None else "pointed so"
    if not turned:
        return [f"{link} cannot be there: {_apart(linkage, goal, solve([goal], q, True))}"]
    if not placed:
        return [f"{link} cannot be {so}: {_askew(solve([goal], q, True))}"]
    place, turn = solve([_place(goal)], q, True), solve([_turn(goal)], q, True)
    if not (place.arrived or turn.arrived):
        return [f"{link} can be neither there, {_apart(linkage, goal, place)}, nor {so}: {_askew(turn)}"]
    if not place.arrived:
        return [f"{link} can be {so}, but not there: {_apart(linkage, goal, place)}"]
    if not turn.arrived:
        return [f"{link} can be there, but nowhere {so}: {_askew(turn)}"]
    weight = goal.weight or goal._rows(_reach.reach(linkage, link))[1][:3]
    first = _place(goal, [_FIRST * w for w in weight])
    there = solve([_turn(goal), first], place.q, True)
    return [f"{link} can be there, but not {so}: {_askew(there)}", *_too_few(linkage, goal)]


def _place(goal: Goal, weight: Sequence[float] | None = None) -> Goal:
    """The place that a goal asks for, however turned."""
    weight = weight or goal.weight
    return Goal(goal.link, position=goal.position, point=goal.point, weight=weight, slack=goal.slack)


def _turn(goal: Goal) -> Goal:
    """How a goal asks its link to be turned or pointed, wherever it is."""
    slack, weight = goal.turn_slack, goal.turn_weight
    if goal.axis is None:
        return Goal(goal.link, orientation=goal.orientation, turn_weight=weight, turn_slack=slack)
    return Goal(goal.link, axis=goal.axis, direction=goal.direction, turn_weight=weight, turn_slack=slack[0])


def _free(goal: Goal) -> list[bool]:
    """Along which world axes a goal asks for no position."""
    return [w == 0 for w in goal.weight or (1.0, 1.0, 1.0)]


def _apart(linkage: Linkage, goal: Goal, found: Solution) -> str:
    """How far a place is missed, and where."""
    error = found.error[0, :3]
    _, base = _reach._measured(linkage, goal.link)
    out = np.where(_free(goal), 0.0, linkage.frame(found.q, goal.link).apply(goal.point) - base)
    near = float(error @ out) < -0.9 * float(np.linalg.norm(error) * np.linalg.norm(out))
    said = f"{said_length(float(found.distance[0]))} short along {said_direction(error)}"
    return f"{said}, too near the base" if near else said


def _askew(found: Solution) -> str:
    """By how much a turn is missed, and about what."""
    return f"{said_angle(float(found.angle[0]))} short about {said_direction(found.error[0, 3:])}"


def _too_few(linkage: Linkage, goal: Goal) -> list[str]:
    """That fewer joint values move a link than ways it moves, of those that are asked, if so."""
    components = goal._rows(1.0)[0]
    ways = [*(c for c in components if c < 6), *((3, 4, 5) if 6 in components else ())]
    J = linkage.jacobian(linkage.random(32, seed=0), goal.link, point=goal.point)[:, ways]
    moving = int(J.any(axis=(0, 1)).sum())
    span = int(np.linalg.matrix_rank(np.concatenate(list(J), axis=1), tol=1e-6))
    return [f"{moving} joints are too few for both"] if moving < min(span, len(components)) else []


def _past_limits(linkage: Linkage, goals: Sequence[Goal], q: Array, solve: Solve) -> list[str]:
    """Which joints would have to leave their limits, and how far, if that would help.

    From several starts: reach the goals with no limits, go back to the nearest q within limits, reach them again from
    there, and so on: what comes nearest to the limits and reaches the goals is where both are least apart.
    """
    start = np.stack([q, linkage.rest, *linkage.random(_STARTS, seed=0)])
    for _ in range(_ROUNDS):
        found = solve(goals, start, False)
        if not found.arrived.any():
            return []
        values = _unwound(linkage, found.q)
        start = linkage.clamp(values)
    past = values - start
    k = int(np.argmin(np.where(found.arrived, np.abs(past).sum(axis=-1), math.inf)))
    least = max(1e-6, 0.01 * float(np.abs(past[k]).max()))
    said = [text for joint in linkage.joints for text in _past(linkage, joint, past[k], least)]
    return said if len(said) <= 4 else [f"{len(said)} joints would have to be past their limits"]


def _past(linkage: Linkage, joint: Joint, past: Array, least: float) -> list[str]:
    """How far past its limits a joint is, where that is more than so little."""
    if not joint.dof:
        return []
    first = linkage._sources[joint.name].first
    far = past[first : first + joint.dof]
    if joint.kind is Kind.BALL:
        angle = float(np.linalg.norm(far))
        return [f"{joint.name} would have to be {said_angle(angle)} past its limits"] if angle > least else []
    return [
        f"{name} would have to be {said_angle(abs(x)) if unit == 'rad' else said_length(abs(x))} past its "
        f"{'upper' if x > 0 else 'lower'} limit"
        for name, unit, x in zip(linkage.names[first : first + joint.dof], joint.units, far, strict=True)
        if abs(x) > least
    ]


def _unwound(linkage: Linkage, q: Array) -> Array:
    """The same q (..., dof), with each hinge by whole turns as near to the middle of its limits as may be."""
    followed = {joint.mimic.joint for joint in linkage.joints if joint.mimic}
    hinges = [
        joint.kind is Kind.REVOLUTE and joint.name not in followed for joint in linkage.joints for _ in range(joint.dof)
    ]
    both = np.array(hinges) & np.isfinite(linkage.lower) & np.isfinite(linkage.upper)
    middle = np.where(both, 0.5 * (np.where(both, linkage.lower, 0) + np.where(both, linkage.upper, 0)), q)
    unwound: Array = q + 2 * math.pi * np.round((middle - q) / (2 * math.pi))
    return unwound
