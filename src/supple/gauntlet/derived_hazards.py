"""Derives the hazards of any arm from its linkage alone; the same linkage always gives the same hazards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import pi, radians
from typing import Any

import numpy as np

from supple import method
from supple.frame import Array, Frame
from supple.gauntlet.arms import Arm
from supple.gauntlet.hand_motions import Circle, Lines, shifted, turned
from supple.gauntlet.hazard import Spec, fastest_direction
from supple.gauntlet.nearest_pose import nearest
from supple.gauntlet.singularities import SingularPose, find_singular_poses, smallest_singular_value, task_rank
from supple.goal import Goal
from supple.solver import Solver


def derive_hazards(arm: Arm) -> dict[str, Spec]:
    """The hazards of an arm as plain data, with lengths in proportion to its reach.

    s5 is left out if no joint has a limit, s8 if every orientation is reachable.
    """
    rank = task_rank(arm)
    home = _home(arm, rank)
    found: dict[str, Spec | None] = {"s1_baseline": _baseline(arm, rank, home)}
    for key, place in zip(("s2_wrist", "s3_shoulder"), _singular_pair(arm, rank, home), strict=False):
        found[key] = _through(arm, rank, place)
    found["s4_reach"] = _beyond(arm, rank, home)
    found["s5_limit"] = _driven(arm, rank, home)
    found["s6_step"] = _jump(arm, rank, home)
    aside = 0.12 * arm.reach * _outward(arm, home)
    found["s7_hand"] = {
        "kind": "wander",
        "q": home.tolist(),
        "size": 0.2 * arm.reach,
        "turn": 0.35,
        "aside": aside.tolist(),
        "scale": arm.reach,
    }
    found["s8_orient"] = _twisted(arm, rank, home)
    if rank < 6:
        found["s9_circle"] = {"kind": "circle", "q": home.tolist(), "size": 0.1 * arm.reach, "nearly": True}
    return {key: spec for key, spec in found.items() if spec is not None}


def margin(arm: Arm, q: Array) -> Array:
    """Distance (...) of joint values (..., dof) to their nearest limit, in radians or metres."""
    return np.asarray(np.minimum(arm.upper - q, q - arm.lower).min(axis=-1))


def _box(arm: Arm) -> tuple[Array, Array]:
    """Joint limits (dof,); without limits half a turn, or half the reach, to either side of rest."""
    turns = np.array([unit == "rad" for joint in arm.linkage.joints if joint.dof for unit in joint.units])
    half = np.where(turns, pi, 0.5 * arm.reach)
    rest = arm.linkage.rest
    low = np.where(np.isfinite(arm.lower), arm.lower, rest - half)
    high = np.where(np.isfinite(arm.upper), arm.upper, rest + half)
    return low, high


def random_inside(arm: Arm, count: int, seed: int, within: float = 0.8) -> Array:
    """Random joint values (count, dof) in the middle part ``within`` of their range."""
    low, high = _box(arm)
    middle, half = 0.5 * (low + high), 0.5 * within * (high - low)
    return np.asarray(np.random.default_rng(seed).uniform(middle - half, middle + half, (count, arm.dof)))


def _home(arm: Arm, rank: int) -> Array:
    """Rest if it is well within limits and well conditioned, else mid-range, else the best of random joint values."""
    low, high = _box(arm)
    clearance = 0.05 * (high - low)
    random = random_inside(arm, 256, 1, 0.6)
    freely = 0.3 * float(np.median(smallest_singular_value(arm, random, rank)))
    aside = np.zeros(arm.dof)
    if arm.dof > rank:  # a symmetric configuration may be a saddle of the error, where rounding decides
        aside = np.random.default_rng(5).uniform(-0.2, 0.2, arm.dof)
    for rest in (arm.linkage.rest, 0.5 * (low + high)):
        q = rest + aside
        if np.all((q > low + clearance) & (q < high - clearance)) and smallest_singular_value(arm, q, rank) > freely:
            return np.array(q)
    return np.array(random[int(np.argmax(smallest_singular_value(arm, random, rank)))])


def _followed(arm: Arm, rank: int, q: Array, hand: Callable[[Array], Array], times: Array) -> tuple[Array, float]:
    """The local optimum continued along a motion, and the largest joint speed over its limit.

    The latter is inf if a frame cannot be reached, or if the arm comes near a singularity or a limit.
    """
    fastest_joint = 0.0
    for before, now, frame in zip(times, times[1:], hand(times[1:]), strict=False):
        moved, left = nearest(arm, q, frame)
        if left > 1e-8 or smallest_singular_value(arm, moved, rank) < 0.06 or margin(arm, moved) < 0.05:
            return moved, np.inf
        fastest_joint = max(fastest_joint, float((np.abs(moved - q) / (now - before) / arm.speed).max()))
        q = moved
    return q, fastest_joint


def _baseline(arm: Arm, rank: int, home: Array) -> Spec:
    """A circle if the Jacobian has rank 6, else a slow oscillation of all joints."""
    if rank == 6:
        for size in (0.1, 0.07, 0.05, 0.03):
            hand = Circle(arm.frames(home), size * arm.reach)
            if _followed(arm, rank, home, hand, np.linspace(0, hand.duration, 160))[1] < 0.7:
                return {"kind": "circle", "q": home.tolist(), "size": size * arm.reach}
    low, high = _box(arm)
    clearance = np.minimum(high - home, home - low)
    sizes = np.minimum(np.minimum(0.3, 0.5 * clearance), 0.2 * np.where(np.isfinite(arm.speed), arm.speed, 2.0))
    return {"kind": "oscillation", "q": home.tolist(), "sizes": sizes.tolist()}


def _singular_pair(arm: Arm, rank: int, home: Array) -> list[SingularPose]:
    """Two singular configurations: one that the end effector can pass through, such as a wrist, and another kind."""
    found = find_singular_poses(arm, rank, np.concatenate([home[None], random_inside(arm, 60, 2)]))
    found = [place for place in found if margin(arm, place.q) > 0.05]
    if not found:
        return []
    away = [float(np.abs(place.q - home).max()) for place in found]
    # rounded: of equal ones the first is taken, not the one that rounding makes the least
    first = found[min(range(len(found)), key=lambda i: round(found[i].curvature + 0.1 * away[i], 6))]
    others = [i for i, place in enumerate(found) if abs(float(place.gradient @ first.gradient)) < 0.7]
    return [first, *([found[min(others, key=lambda i: round(away[i], 6))]] if others else [])]


def _through(arm: Arm, rank: int, place: SingularPose) -> Spec:
    """A straight line through a singular configuration if it can be followed exactly, else a swing of the joints."""
    if rank == 6:
        near = place.q + 0.005 * place.gradient
        for half in (0.13 * arm.reach, 0.08 * arm.reach):
            start = _exact_start(arm, near, half)
            if start is not None and smallest_singular_value(arm, start, rank) > 0.08:
                return {"kind": "line", "q": near.tolist(), "half": half, "time": 2.0, "start": start.tolist()}
    ends = [place.q + _way_to_limits(arm, place.q, way) * way for way in (-place.gradient, place.gradient)]
    return {"kind": "swing", "from": ends[0].tolist(), "to": ends[1].tolist(), "time": 2.0}


def _way_to_limits(arm: Arm, q: Array, way: Array) -> float:
    """How far joints may go in a direction: at most 0.6, 0.02 before limits, and within the speed limits."""
    speed = np.where(np.isfinite(arm.speed), arm.speed, 2.0)
    clearance = np.where(way > 0, arm.upper - q, q - arm.lower) - 0.02
    return min(0.6, float(np.min(np.minimum(0.3 * speed, clearance) / np.maximum(np.abs(way), 1e-6))))


def _exact_start(arm: Arm, near: Array, half: float, steps: int = 400) -> Array | None:
    """Joint values at the start of a line through a near-singular configuration, if it can be followed exactly."""
    frame, direction = arm.frames(near), fastest_direction(arm, near)
    start = None
    for sign in (1.0, -1.0):
        q = near
        for share in np.linspace(0, 1, steps)[1:] ** 2:  # small steps where the joints are fast
            goal = shifted(frame, sign * half * share * direction)
            for _ in range(20):
                error, jacobian = arm.evaluate(q, goal)
                if np.abs(error).max() < 1e-12:
                    break
                q = q + np.linalg.lstsq(jacobian, error, rcond=1e-12)[0]
            else:
                return None
            if margin(arm, q) < 0.05:
                return None
        start = q
    return start


def _outward(arm: Arm, q: Array) -> Array:
    """The direction (3,) from the first movable joint to the end effector."""
    first = next(joint for joint in arm.linkage.joints if joint.dof)
    way = arm.frames(q)[:3, 3] - arm.linkage.frame(q, first.child).position
    far = float(np.linalg.norm(way))
    return np.asarray(way / far) if far > 0.05 * arm.reach else np.array([1.0, 0.0, 0.0])


def _beyond(arm: Arm, rank: int, home: Array) -> Spec:
    """Straight outward, to 30 % of the reach beyond the boundary of the workspace."""
    frame, along = arm.frames(home), _outward(arm, home)
    first = next(joint for joint in arm.linkage.joints if joint.dof)
    way = arm.reach - float((frame[:3, 3] - arm.linkage.frame(home, first.child).position) @ along)
    if rank == 6:  # the line leaves the workspace: continued with halved steps
        last, q = 0.0, home
        step = 0.01 * arm.reach
        while last < 1.5 * arm.reach and step > 1e-7 * arm.reach:
            there, left = nearest(arm, q, shifted(frame, (last + step) * along))
            last, q, step = (last + step, there, step) if left < 1e-6 else (last, q, 0.5 * step)
        way = last
    past = 0.3 * arm.reach
    return {"kind": "push", "q": home.tolist(), "by": ((max(way, 0.0) + past) * along).tolist(), "past": past}


def _elsewhere(arm: Arm, rank: int, home: Array) -> list[Array]:
    """Home, and some other well-conditioned joint values."""
    random = random_inside(arm, 40, 4, 0.6)
    free = np.flatnonzero(smallest_singular_value(arm, random, rank) > 0.5 * smallest_singular_value(arm, home, rank))
    return [home, *random[free[:10]]]


def _driven(arm: Arm, rank: int, home: Array) -> Spec | None:
    """The joint that no other can replace, and that leaves the arm best conditioned when driven past its limit."""
    best: tuple[float, Spec | None] = (0.0, None)
    for middle in _elsewhere(arm, rank, home):
        for joint in range(arm.dof):
            for sign, limit in ((1, arm.upper[joint]), (-1, arm.lower[joint])):
                if np.isfinite(limit):
                    free, spec = _drive(arm, rank, middle, joint, sign, limit)
                    if free > best[0]:
                        best = free, spec
        if best[1] is not None:
            break
    return best[1]


def _drive(arm: Arm, rank: int, middle: Array, joint: int, sign: int, limit: float) -> tuple[float, Spec]:
    """A joint driven past a limit, and the smallest singular value on the way.

    The latter is 0 if other joints can do it instead, or if the nearest configuration is far away.
    """
    low, high = _box(arm)
    whole = float(min(1.3, 0.85 * arm.speed[joint], 0.6 * (high - low)[joint]))
    past = min(0.5, 0.45 * whole)
    q, end = middle.copy(), middle.copy()
    q[joint], end[joint] = limit - sign * (whole - past), limit + sign * past
    way = np.linspace(q, end, 40)
    free = float(smallest_singular_value(arm, way, rank).min())
    at, goals = q, arm.frames(way)
    for goal in goals:
        at, left = nearest(arm, at, goal)
    swing = float(np.abs(at - np.clip(end, arm.lower, arm.upper)).max())
    left = min(left, *(nearest(arm, start, goals[-1])[1] for start in (q, np.clip(end, arm.lower, arm.upper))))
    spec = {"kind": "drive", "q": q.tolist(), "joint": joint, "sign": sign, "past": past}
    return (free if left > 0.1 and swing < 0.7 else 0.0), spec


def _converges(arm: Arm, q: Array, goal: Array) -> bool:
    """Whether small damped steps lead from q to a frame."""
    solver = Solver(method=method.damped(), limit_escapes=0, max_step=0.05, max_iterations=600, patience=200)
    return bool(solver.solve(arm.linkage, Goal(arm.link, goal, weight=pi / arm.reach), q).arrived)


def _jump(arm: Arm, rank: int, home: Array) -> Spec | None:
    """A jump by half the reach and a quarter turn; to a random configuration if the rank is below 6."""
    frame = arm.frames(home)
    for size, goal, spec in _leaps(arm, rank, home, frame):
        there = np.array(spec["there"]) if "there" in spec else home
        if rank == 6:
            there, pace = _followed(arm, rank, home, Lines(frame).to(goal, 1.0), np.linspace(0, 1, 60))
            if pace == np.inf:
                continue
        if size > 0.2 * arm.reach and _converges(arm, home, goal) and _converges(arm, there, frame):
            return {"kind": "jump", "q": home.tolist(), "there": there.tolist()} | spec
    return None


def _leaps(arm: Arm, rank: int, home: Array, frame: Array) -> Iterator[tuple[float, Array, dict[str, Any]]]:
    rng = np.random.default_rng(6)
    if rank < 6:
        for q in random_inside(arm, 60, 6, 0.7):
            goal = arm.frames(q)
            if smallest_singular_value(arm, q, rank) > 0.1:
                yield float(np.linalg.norm(goal[:3, 3] - frame[:3, 3])), goal, {"there": q.tolist()}
        return
    for far in np.repeat([0.5, 0.4, 0.3], 60):
        way, axis = rng.normal(size=3), rng.normal(size=3)
        shift = far * arm.reach * way / np.linalg.norm(way)
        turn = radians(90) * axis / np.linalg.norm(axis)
        goal = shifted(frame, shift)
        goal[:3, :3] = Frame.rotvec(turn).rotation @ frame[:3, :3]
        yield far * arm.reach, goal, {"shift": shift.tolist(), "turn": turn.tolist()}


def _twisted(arm: Arm, rank: int, home: Array) -> Spec | None:
    """The rotation in place that leaves the largest error, and from which the nearest joint values lead back."""
    best: tuple[float, Spec | None] = (0.15, None)
    for q in _elsewhere(arm, rank, home):
        for axis in np.vstack([np.eye(3), -np.eye(3)]):
            left = _left(arm, q, radians(120) * axis)
            if left > best[0]:
                best = left, {"kind": "twist", "q": q.tolist(), "axis": (axis + 0.0).tolist(), "angle": radians(120)}
        if best[1] is not None:
            break
    return best[1]


def _left(arm: Arm, q: Array, turn: Array) -> float:
    """The error that a rotation in place leaves; 0 if the nearest joint values do not lead back to q."""
    frame, at, left = arm.frames(q), q, 0.0
    for share in np.linspace(0, 1, 25):
        at, left = nearest(arm, at, turned(frame, share * turn))
    left = min(left, nearest(arm, q, turned(frame, turn))[1])
    for share in np.linspace(1, 0, 25):
        at, _ = nearest(arm, at, turned(frame, share * turn))
    return left if arm.dof > 6 or np.abs(at - q).max() < 1e-6 else 0.0
