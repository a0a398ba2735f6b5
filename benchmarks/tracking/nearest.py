"""An oracle for the solution nearest to a start: thousands of starts, whole turns, and for redundant arms slides."""

from __future__ import annotations

import numpy as np

from supple import Frame, Goal, Solver, method
from supple.frame import Array
from supple.joint import Kind

from .arms import Arm

STARTS = 1500  # half of them within 2.5 rad of the start, the others anywhere within limits
KEPT = 60  # the nearest solutions of a redundant arm, which slide towards the start
STEPS = 60  # of a slide
_TURN = 2 * np.pi
_FIRST_FOUND = Solver(method=method.search(nearest=False))


def distance(arm: Arm, frame: Array, start: Array, rng: np.random.Generator) -> float:
    """Radians from the start (dof,) to the nearest solution of a frame (4, 4) that the oracle finds."""
    linkage, half = arm.linkage, STARTS // 2
    begins = rng.uniform(arm.low, arm.high, (STARTS, linkage.dof))
    way = rng.normal(size=(half, linkage.dof))
    way *= rng.uniform(0, 2.5, (half, 1)) / np.linalg.norm(way, axis=1, keepdims=True)
    begins[:half] = np.clip(start + way, arm.low, arm.high)
    found = _FIRST_FOUND.solve(linkage, Goal(arm.link, np.broadcast_to(frame, (STARTS, 4, 4))), begins)
    q = unwound(arm, found.q[found.arrived], start)
    ways = np.linalg.norm(q - start, axis=1)
    if linkage.dof <= 6 or not len(q):
        return float(ways.min(initial=np.inf))
    return float(min(ways.min(), _slide(arm, q[np.argsort(ways)[:KEPT]], frame, start).min()))


def wraps(arm: Arm) -> Array:
    """Which joints (dof,) turn a whole turn within their limits."""
    turning = [joint.kind in (Kind.REVOLUTE, Kind.CONTINUOUS) for joint in arm.linkage.joints for _ in range(joint.dof)]
    return np.array(turning) & ~(arm.linkage.upper - arm.linkage.lower < _TURN)


def unwound(arm: Arm, q: Array, start: Array) -> Array:
    """Joint values (..., dof) with joints that wrap by whole turns as near to the start as their limits allow."""
    low, high = arm.linkage.lower, arm.linkage.upper
    x = q + _TURN * np.round((start - q) / _TURN)
    x = np.where(x < low, x + _TURN * np.ceil((low - x) / _TURN), x)
    x = np.where(x > high, x - _TURN * np.ceil((x - high) / _TURN), x)
    return np.where(wraps(arm), np.clip(x, low, high), q)


def _slide(arm: Arm, q: Array, frame: Array, start: Array) -> Array:
    """Least distances (k,) from the start of solutions near q (k, dof): projected descent, limits as an active set."""
    wrapping = wraps(arm)
    low = np.where(wrapping, -np.inf, arm.linkage.lower)
    high = np.where(wrapping, np.inf, arm.linkage.upper)
    least = np.linalg.norm(q - start, axis=1)
    for k in range(STEPS):
        error = _error(arm.linkage.frame(q, arm.link).matrix, frame)
        ways = np.linalg.norm(unwound(arm, q, start) - start, axis=1)
        least = np.where((np.linalg.norm(error, axis=1) < 1e-5) & (ways < least), ways, least)
        way = np.where(wrapping, start - q - _TURN * np.round((start - q) / _TURN), start - q)
        gain = 0.5 if k < STEPS // 2 else 0.9
        step = _step(arm.linkage.jacobian(q, arm.link), error, way * (gain if k < STEPS - 4 else 0), q, low, high)
        longest = np.abs(step).max(axis=1, keepdims=True)
        q = np.clip(q + step * np.minimum(1, 0.3 / np.maximum(longest, 1e-12)), low, high)
    return least


def _step(J: Array, error: Array, way: Array, q: Array, low: Array, high: Array) -> Array:
    """Newton's step to the goal and the part of the way (k, dof) that leaves it; joints pushed outward are held."""
    held = np.zeros(q.shape, bool)
    for _ in range(4):
        free, rest = np.where(held[:, None, :], 0, J), np.where(held, 0, way)
        A = free @ np.swapaxes(free, -1, -2) + 1e-10 * np.eye(6)
        rows = error - np.einsum("kij,kj->ki", free, rest)
        step = rest + np.einsum("kij,ki->kj", free, np.linalg.solve(A, rows[..., None])[..., 0])
        pushed = ((q <= low) & (step < 0)) | ((q >= high) & (step > 0))
        if not (pushed & ~held).any():
            break
        held |= pushed
    return step


def _error(at: Array, goal: Array) -> Array:
    """Goal minus frame (k, 6): metres, then the rotation vector in radians, world axes."""
    turn = Frame(_rigid(goal[:3, :3] @ np.swapaxes(at[:, :3, :3], -1, -2))).to_rotvec()
    return np.concatenate([goal[:3, 3] - at[:, :3, 3], turn], axis=1)


def _rigid(rotation: Array) -> Array:
    out = np.zeros((*rotation.shape[:-2], 4, 4))
    out[..., :3, :3], out[..., 3, 3] = rotation, 1
    return out
