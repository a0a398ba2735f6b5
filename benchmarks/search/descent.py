"""Bounded Levenberg-Marquardt in numpy from many starts: slow and reliable, for the offline reference.

It is independent of the search: it uses frames and Jacobians of the linkage, and the default weights of `Goal`.
"""

from __future__ import annotations

from math import pi

import numpy as np

from supple import Linkage

from .arms import AXIS, Arm
from .judge import Array, apart


def weighted(arm: Arm, found: Array, wanted: Array) -> Array:
    """The weighted error (...) of frames (..., 4, 4): pi / reach per metre, 1 per radian."""
    metres, radians = apart(found, wanted, arm.kind)
    return np.hypot(pi / arm.linkage.reach(arm.link) * metres, radians)


def _evaluate(arm: Arm, q: Array, wanted: Array) -> tuple[Array, Array]:
    """The weighted error (n, 6) of rows of q (n, dof), and its negative Jacobian (n, 6, dof).

    The angular rows are the rotation vector; with them the geometric Jacobian gives the exact gradient of the square.
    """
    frame, jacobian = arm.linkage.frame_and_jacobian(q, arm.link)
    here, weight = frame.matrix, pi / arm.linkage.reach(arm.link)
    error, rows = np.empty((len(q), 6)), np.array(jacobian)
    error[:, :3] = weight * (wanted[:, :3, 3] - here[:, :3, 3])
    rows[:, :3] *= weight
    if arm.kind == "axis":
        a, b = here[:, :3, :3] @ AXIS, wanted[:, :3, :3] @ AXIS
        across, along = np.cross(a, b), (a * b).sum(axis=1)
        rows[:, 3:] -= (
            a[:, :, None] * np.einsum("ni,nij->nj", a, rows[:, 3:])[:, None]
        )  # rotation about the axis is free
    else:
        turn = wanted[:, :3, :3] @ np.swapaxes(here[:, :3, :3], 1, 2)
        across = np.stack([turn[:, i, j] - turn[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=1)
        along = np.trace(turn, axis1=1, axis2=2) - 1
    sine = np.linalg.norm(across, axis=1)
    error[:, 3:] = across * (np.arctan2(sine, along) / np.maximum(sine, 1e-300))[:, None]
    return error, rows


def descend(arm: Arm, q: Array, wanted: Array, iterations: int) -> tuple[Array, Array]:
    """Rows of q (n, dof) moved as near to their frames (n, 4, 4) as limits allow, and the weighted errors (n,).

    A joint at a limit with the gradient outward is left out of a step; a step that increases the error is rejected.
    """
    low, high = arm.linkage.lower, arm.linkage.upper
    damping = np.full(len(q), 1e-2)
    error, rows = _evaluate(arm, q, wanted)
    size = (error**2).sum(axis=1)
    eye = np.eye(arm.linkage.dof)
    for _ in range(iterations):
        slope = np.einsum("nij,ni->nj", rows, error)
        free = ~(((q <= low) & (slope < 0)) | ((q >= high) & (slope > 0)))
        normal = np.einsum("nij,nik->njk", rows, rows) * (free[:, :, None] & free[:, None, :])
        normal += eye * np.where(free, damping[:, None], 1.0)[:, None, :]
        step = np.linalg.solve(normal, (slope * free)[:, :, None])[:, :, 0]
        step *= np.minimum(1.0, 1.0 / np.maximum(np.abs(step).max(axis=1), 1e-300))[:, None]
        tried = np.clip(q + step, low, high)
        error_there, rows_there = _evaluate(arm, tried, wanted)
        size_there = (error_there**2).sum(axis=1)
        better = size_there < size
        q, size = np.where(better[:, None], tried, q), np.where(better, size_there, size)
        error, rows = np.where(better[:, None], error_there, error), np.where(better[:, None, None], rows_there, rows)
        damping = np.clip(np.where(better, damping / 3, damping * 4), 1e-12, 1e6)
    return q, np.sqrt(size)


def nearest(arm: Arm, wanted: Array, starts: int = 200, seed: int = 0, done: float = 1e-9) -> tuple[Array, Array]:
    """The best of many starts for each frame (n, 4, 4): q (n, dof) and the weighted error (n,).

    All starts take 40 steps, the best ten 300 more. A goal with an error below ``done`` takes no further starts.
    """
    n, dof = len(wanted), arm.linkage.dof
    kept_q, kept = np.empty((n, 0, dof)), np.empty((n, 0))
    far = np.arange(n)
    begin = arm.linkage.random(n, starts, seed=seed)
    for first, last in ((0, 20), (20, starts)):
        rough_q, rough = np.zeros((n, last - first, dof)), np.full((n, last - first), np.inf)
        pieces = -(-len(far) * (last - first) // 20_000)  # to fit into memory
        for part in np.array_split(far, pieces) if pieces else ():
            q = begin[part, first:last].reshape(-1, dof)
            q, error = descend(arm, q, np.repeat(wanted[part], last - first, axis=0), 40)
            rough_q[part], rough[part] = q.reshape(len(part), -1, dof), error.reshape(len(part), -1)
        kept_q, kept = np.concatenate([kept_q, rough_q], axis=1), np.concatenate([kept, rough], axis=1)
        far = np.flatnonzero(kept.min(axis=1) > done)
    order = np.argsort(kept, axis=1)[:, :10]
    best_q, best = np.take_along_axis(kept_q, order[:, :, None], axis=1), np.take_along_axis(kept, order, axis=1)
    if len(far):
        q, error = descend(arm, best_q[far].reshape(-1, dof), np.repeat(wanted[far], order.shape[1], axis=0), 300)
        best_q[far], best[far] = q.reshape(len(far), -1, dof), error.reshape(len(far), -1)
    winner = best.argmin(axis=1)
    return best_q[np.arange(n), winner], best.min(axis=1)


def middle(linkage: Linkage) -> Array:
    """The middle of all joint ranges (dof,); 0 for joints without limits."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(linkage.lower + linkage.upper), (linkage.lower + linkage.upper) / 2, 0.0)
