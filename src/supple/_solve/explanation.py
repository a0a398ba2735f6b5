"""Reasons in words: why a solve did not arrive, or why a tracker is not at its goal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple._solve import margins
from supple._solve.encoding import goal_length, goal_reach, joint_weight_values, slide_indices
from supple._solve.goal_error import goal_frame, goal_jacobian, point_jacobian
from supple._solve.text import angle_text, direction_text, length_text, names_text
from supple._solve.tolerance import Tolerance
from supple.frame import Array
from supple.goal import Goal
from supple.joint import Joint, Kind
from supple.linkage import Linkage
from supple.prefer import nothing

if TYPE_CHECKING:
    from supple.solution import Solution
    from supple.step import Step

Solve = Callable[[Sequence[Goal], Array, bool], "Solution"]
"""Solves other goals for the same linkage: the goals, where to start (..., dof), whether limits hold."""

Mask = NDArray[np.bool_]
"""Which of the joint values (dof,)."""

REACHABLE = "other joint values reach it"
"""The reason for a goal that the search reaches from another start."""
_POSITION_FIRST = 100.0  # factor on the weight of a position that is to be met before the orientation
_RANDOM_STARTS = 30  # random starts for `_past_limits`, beside the nearest q and rest
_TOLERANCE = Tolerance()
_FARTHEST = 1e12  # m, of a command
_MENDABLE = 0.02  # the largest entry of |R R' - I| that the core mends
_SHORTEST_TICK = 1e-6  # s; in a shorter one the core moves nothing
_ENDLESS_TICK = 1e9  # s; one as long or longer is not a time for the core
_ROUNDS = 8  # projections onto the limits in `_past_limits`


def may_be_outside(linkage: Linkage, q: Array, keep_limits: bool, locked: Mask | None = None) -> Mask:
    """Which values (dof,) may be outside their limits: all without limits, else those that are ``locked`` outside at q.

    Without ``locked`` (dof,), any that are outside at q.
    """
    if not keep_limits:
        return np.ones(linkage.dof, dtype=bool)
    outside: Mask = (q < linkage.lower - 1e-9) | (q > linkage.upper + 1e-9)
    return outside if locked is None else outside & locked


def out_of_reach(
    linkage: Linkage, goal: Goal, position: Array, error: Array, unbounded: Mask, tolerance: float = 0.0
) -> list[str]:
    """That the position of a goal, here (3,), is farther than its link can reach, by more than a tolerance in metres.

    The reach bounds the distance of the link, so this is a proof; where a slide is ``unbounded`` (dof,), there is no
    bound. Components of weight 0 and what slack allows do not count. ``error`` (3,) gives the direction.
    """
    if goal.line is not None or unbounded[slide_indices(linkage, goal)].any():
        return []
    most, base = goal_reach(linkage, goal)
    slack = np.where(_free(goal), math.inf, 0.0 if goal.distance is not None else goal.slack)
    away = math.hypot(*(position + np.clip(base - position, -slack, slack) - base))
    spared = float(np.linalg.norm(goal.point))
    if goal.distance is not None:
        spared += goal.distance + goal.slack[0]
    beyond = away - spared - most
    if not beyond > max(tolerance, 1e-12 * most):
        return []
    of = "" if goal.relative_to is None else f" of {goal.relative_to}"
    way = _along(goal, np.where(_free(goal), 0.0, error))
    return [f"{goal.link} is out of reach{of} by {length_text(beyond)} along {way}"]


def _along(goal: Goal, error: Array) -> str:
    """A direction (3,) in words, in the axes of a goal."""
    return direction_text(error) + ("" if goal.relative_to is None else f" of {goal.relative_to}")


def at_limits(names: Sequence[str], sides: Iterable[float], margin: Array) -> list[str]:
    """Which joints are at their limits: sides are -1 (lower), 1 (upper) or anything else; margins are (dof,)."""
    at = [
        f"{name} at {_limit('upper' if side > 0 else 'lower', wide)}"
        for name, side, wide in zip(names, sides, margin, strict=True)
        if side in (1, -1)
    ]
    return at if len(at) <= 4 else [f"{len(at)} joints at their limits{' or margins' if margin.any() else ''}"]


def _limit(side: str, margin: float) -> str:
    """A limit in words, or the margin before it."""
    return f"the margin of its {side} limit" if margin > 0 else f"its {side} limit"


def singular(
    names: Sequence[str], weights: Array, direction: Array, link: str = "", goal: Goal | None = None
) -> list[str]:
    """That the end effector can hardly move along a near-singular direction (6,): linear, then angular, weighted.

    ``link`` names the end effector, if there are several; ``goal`` is its goal.
    """
    swinging = [name for name, weight in zip(names, weights, strict=True) if weight < 0.8][:3]
    linear, angular, what = direction[:3], direction[3:], f" {link}" if link else ""
    if not direction.any() and goal is not None and goal.distance is not None:
        slow = f"changing the distance{f' of{what}' if what else ''} is slow"
    elif not direction.any():
        slow = f"pointing{what} is slow"
    elif np.linalg.norm(linear) >= np.linalg.norm(angular):
        slow = f"moving{what} along {direction_text(linear, signed=False)} is slow"
    else:
        slow = f"turning{what} about {direction_text(angular, signed=False)} is slow"
    return [f"{', '.join(swinging) or 'the arm'} singular: {slow}"]


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
        limit = _limit("upper" if velocity[k] > 0 else "lower", margin[k])
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
        if off > _MENDABLE:
            wrong_by = f"it is off by {off:.3g}, and only {_MENDABLE:g} is mended"
            return f"held: the rotation of {which} is not orthonormal, {wrong_by}"
        if np.linalg.det(rotation) < 0:
            return f"held: the rotation of {which} is a reflection, its determinant is -1"
    return "held: the command is not a finite frame"


def solution_reasons(found: Solution) -> list[str]:
    """Why a single solution did not arrive: what a search finds; for other methods, also what stops them at q."""
    solver = found.solver
    default = type(solver)(tolerance=solver.tolerance, keep_limits=solver.keep_limits, margin=solver.margin)
    again = replace(solver if solver.searches else default, prefer=nothing, timeout=None, max_iterations=None)
    locked: Mask = joint_weight_values(found.linkage, again.joint_weights) == 0

    def solve(goals: Sequence[Goal], start: Array, keep_limits: bool) -> Solution:
        limited = again if keep_limits else replace(again, keep_limits=False, margin=0.0)
        return limited.solve(found.linkage, goals, np.where(locked, found.q, start), progress=False)

    outside = may_be_outside(found.linkage, found.q, solver.keep_limits, locked)
    near = (solver.tolerance, outside, solver.margin)
    reasons = unreachable(found.linkage, found.goals, found.q, found.error, solve, *near)
    unlocked = replace(again, joint_weights=None)
    if locked.any() and reasons != [REACHABLE] and unlocked.solve(found.linkage, found.goals, found.q).arrived:
        names = [name for name, held in zip(found.linkage.names, locked, strict=True) if held]
        reasons.append(f"with {names_text(names)} unlocked it can be reached")
    if reasons == [REACHABLE] and found.outcome.name == "OUT_OF_BUDGET":
        steps = f"{found.iterations} iteration{'s' if found.iterations != 1 else ''}"
        reasons = [f"stopped after {steps}; it can be reached"]
        return reasons if solver.searches else _local_reasons(found) + reasons
    if solver.searches or reasons != [REACHABLE]:
        return reasons
    return _local_reasons(found) + reasons


def _local_reasons(found: Solution) -> list[str]:
    """What stops a local method at q: joints at their limits, or else a singular Jacobian."""
    linkage, q = found.linkage, found.q
    moving = np.zeros(linkage.dof, dtype=bool)  # joint values that move some end effector
    stationary = []
    for goal, error in zip(found.goals, found.error, strict=True):
        J = goal_jacobian(linkage, goal, q)
        moving |= J.any(axis=0)
        if np.linalg.norm(error @ J) < 1e-6 * np.linalg.norm(error) * np.linalg.norm(J):
            stationary.append(f"singular here: no joint moves {goal.link} nearer")
    moving &= found.solver.keep_limits
    lower, upper, _ = margins.narrowed(linkage, found.solver.margin)
    sides = np.where(moving, 1.0 * (q >= upper - 1e-9) - (q <= lower + 1e-9), 0.0)
    return at_limits(linkage.names, sides, margins.sizes(linkage, found.solver.margin)) or stationary


def unreachable(
    linkage: Linkage,
    goals: Sequence[Goal],
    q: Array,
    error: Array,
    solve: Solve,
    tolerance: Tolerance = _TOLERANCE,
    unbounded: Mask | None = None,
    margin: Any = (0.0,),
) -> list[str]:
    """Why single goals were not reached, in short sentences, found by solving parts of the goals.

    "Out of reach" is proven. All else is what a search found: "not found" does not mean that there is no solution.

    Args:
        linkage: the linkage.
        goals: single goals, one or several at once.
        q: the nearest that was found (dof,).
        error: goal minus end effector there (goals, 6), in metres and radians.
        solve: solves other goals for this linkage.
        tolerance: no reason names a shortfall within it.
        unbounded: which values may be outside their limits (dof,), see `may_be_outside`; none by default.
        margin: that ``solve`` keeps to the limits, as `Solver.margin` holds it.
    """
    unbounded = np.zeros(linkage.dof, dtype=bool) if unbounded is None else unbounded
    pairs = zip(goals, error, strict=True)
    far = [reason for goal, e in pairs for reason in _too_far(linkage, goal, e, unbounded, tolerance.position)]
    if far:
        return far
    if solve(goals, q, True).arrived:
        return [REACHABLE]
    if len(goals) == 1:
        unmet = _unmet_part(linkage, goals[0], q, solve, tolerance)
        return unmet if unmet == [REACHABLE] else [*unmet, *_past_limits(linkage, goals, q, solve, margin)]
    alone = [(goal, solve([goal], q, True)) for goal in goals]
    lost = [(goal, found) for goal, found in alone if not found.arrived]
    if lost:
        texts = (
            unreachable(linkage, [goal], found.q, found.error, solve, tolerance, unbounded, margin)
            for goal, found in lost
        )
        return [text for several in texts for text in several]
    links = list(dict.fromkeys(goal.link for goal in goals))
    whose = names_text(links) if len(links) > 1 else f"the goals of {links[0]}"
    return [f"{whose} can each be met, but were not found together", *_past_limits(linkage, goals, q, solve, margin)]


def _too_far(linkage: Linkage, goal: Goal, error: Array, unbounded: Mask, tolerance: float = 0.0) -> list[str]:
    """That the position of a goal is farther than its link can reach, if it is."""
    if goal.position is None or not error[:3].any():
        return []
    return out_of_reach(linkage, goal, goal.position, error[:3], unbounded, tolerance)


def _unmet_part(linkage: Linkage, goal: Goal, q: Array, solve: Solve, tolerance: Tolerance) -> list[str]:
    """Which part of a goal was not met: its position, its orientation, or both together."""
    link, components = goal.link, goal._rows(1.0)[0]
    turned = any(3 <= c < 8 for c in components)
    placed = any(not 3 <= c < 8 for c in components)
    so = "turned so" if goal.axis is None else "pointed so"
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
        return [
            f"{link} can be there, but was not found {so}: {_orientation_miss(goal, there)}",
            *_too_few(linkage, goal),
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


def _free(goal: Goal) -> list[bool]:
    """Along which world axes the position of a goal is free."""
    return [w == 0 for w in goal.weight or (1.0, 1.0, 1.0)]


def _position_miss(linkage: Linkage, goal: Goal, found: Solution, part: int = 0) -> str:
    """The distance from the position of a goal, which was solved as goal number ``part``, and its direction."""
    if goal.distance is not None:
        return _distance_miss(goal, found, part)
    error = found.error[part, :3]
    _, base = goal_reach(linkage, goal)
    out = np.where(_free(goal), 0.0, goal_frame(linkage, goal, found.q).apply(goal.point) - base)
    near = float(error @ out) < -0.9 * float(np.linalg.norm(error) * np.linalg.norm(out))
    miss = f"{length_text(float(found.distance[part]))} short along {_along(goal, error)}"
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
    return f"{angle_text(float(found.angle[0]))} short about {_along(goal, found.error[0, 3:])}"


def _too_few(linkage: Linkage, goal: Goal) -> list[str]:
    """That fewer joint values move a link than the goal has components, if so."""
    components = goal._rows(1.0)[0]
    if goal.distance is not None:
        return []
    used = [*(c for c in components if c < 6), *((3, 4, 5) if 6 in components else ())]
    J = goal_jacobian(linkage, goal, linkage.random(32, seed=0))[:, used]
    moving = int(J.any(axis=(0, 1)).sum())
    span = int(np.linalg.matrix_rank(np.concatenate(list(J), axis=1), tol=1e-6))
    return [f"{moving} joints are too few for both"] if moving < min(span, len(components)) else []


def _past_limits(linkage: Linkage, goals: Sequence[Goal], q: Array, solve: Solve, margin: Any) -> list[str]:
    """Which joints would have to leave their limits or enter a margin, and how far, if that would help.

    Alternating projections from several starts: solve without limits, clamp to the limits, solve again from there. Of
    the results that reach the goals, the one nearest to its limits is reported.
    """
    start = np.stack([q, linkage.rest, *linkage.random(_RANDOM_STARTS, seed=0)])
    for _ in range(_ROUNDS):
        found = solve(goals, start, False)
        if not found.arrived.any():
            return []
        values = _unwrapped(linkage, found.q)
        start = margins.clamp(linkage, values, margin)
    past, wide = values - start, margins.sizes(linkage, margin)
    k = int(np.argmin(np.where(found.arrived, np.abs(past).sum(axis=-1), math.inf)))
    least = max(1e-6, 0.01 * float(np.abs(past[k]).max()))
    reasons = [text for joint in linkage.joints for text in _past(linkage, joint, past[k], least, wide)]
    margined = " or inside their margins" if wide.any() else ""
    return reasons if len(reasons) <= 4 else [f"{len(reasons)} joints would have to be past their limits{margined}"]


def _past(linkage: Linkage, joint: Joint, past: Array, least: float, margin: Array) -> list[str]:
    """How far past its limits a joint is, or inside the margins (dof,) of them, if that is more than ``least``."""
    if not joint.dof:
        return []
    first = linkage._sources[joint.name].first
    far, wide = past[first : first + joint.dof], margin[first : first + joint.dof]
    if joint.kind is Kind.BALL:
        angle = float(np.linalg.norm(far))
        where = "its limits" if not wide.any() else "the margin of its limits"
        return [f"{joint.name} would have to be {angle_text(angle)} past {where}"] if angle > least else []
    reasons = []
    for name, unit, x, width in zip(linkage.names[first : first + joint.dof], joint.units, far, wide, strict=True):
        if abs(x) > least:
            within = abs(x) <= width
            size, where = (abs(x), "inside the margin of") if within else (abs(x) - width, "past")
            way = angle_text(size) if unit == "rad" else length_text(size)
            reasons.append(f"{name} would have to be {way} {where} its {'upper' if x > 0 else 'lower'} limit")
    return reasons


def _unwrapped(linkage: Linkage, q: Array) -> Array:
    """The same q (..., dof), with each revolute joint moved by whole turns nearest to the middle of its limits."""
    followed = {joint.mimic.joint for joint in linkage.joints if joint.mimic}
    revolute = [
        joint.kind is Kind.REVOLUTE and joint.name not in followed for joint in linkage.joints for _ in range(joint.dof)
    ]
    both = np.array(revolute) & np.isfinite(linkage.lower) & np.isfinite(linkage.upper)
    middle = np.where(both, 0.5 * (np.where(both, linkage.lower, 0) + np.where(both, linkage.upper, 0)), q)
    unwrapped: Array = q + 2 * math.pi * np.round((middle - q) / (2 * math.pi))
    return unwrapped
