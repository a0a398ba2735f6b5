"""The joint values within limits that come nearest to a frame: Newton's method on the weighted error, in a box."""

from __future__ import annotations

import numpy as np

from supple.frame import Array
from supple.gauntlet.arms import Arm

_STEP = 1e-5  # rad or m, for the difference of gradients


def nearest(
    arm: Arm,
    start: Array,
    goal: Array,
    lower: Array | None = None,
    upper: Array | None = None,
    *,
    iterations: int = 80,
    curved: bool = True,
) -> tuple[Array, float]:
    """The local minimum of the weighted error from a start: joint values (dof,) and the weighted error there.

    The Hessian is the exact one, by central differences of the gradient, with eigenvalues made positive. Joints at a
    bound with the gradient outward are left out of a step (active set); a step is halved until the error decreases.

    Args:
        arm: the arm.
        start: joint values (dof,); clipped to the bounds first.
        goal: frame (4, 4).
        lower: bounds (dof,), by default the joint limits.
        upper: bounds (dof,), by default the joint limits.
        iterations: largest number of steps.
        curved: use the exact Hessian. Without it (Gauss-Newton) there is no motion in the null space, and the minimum
            is less exact.
    """
    low, high = arm.lower if lower is None else lower, arm.upper if upper is None else upper
    q = np.clip(start, low, high)
    error, jacobian = arm.evaluate(q, goal)
    cost = float(error @ error)
    for _ in range(iterations):
        if cost < 1e-24:
            break
        gradient = -jacobian.T @ error
        free = ~(((q <= low) & (gradient > 0)) | ((q >= high) & (gradient < 0)))
        if not free.any() or np.abs(gradient[free]).max() < 1e-15:
            break
        step = _newton(arm, q, goal, gradient, free, jacobian, curved and cost > 1e-12)
        moved = _shortened(arm, q, step, goal, low, high, cost)
        if moved is None:
            break
        gain = cost - moved[3]
        q, error, jacobian, cost = moved
        if gain <= 1e-16 * cost and np.abs(step).max() < 1e-9:
            break
    return q, float(np.sqrt(cost))


def _newton(arm: Arm, q: Array, goal: Array, gradient: Array, free: Array, jacobian: Array, curved: bool) -> Array:
    """The step (dof,) to the minimum of the quadratic model over the free joints, at most 0.5 in each joint."""
    if curved:
        nudge = _STEP * np.eye(arm.dof)[free]
        error, slope = arm.evaluate(np.concatenate([q + nudge, q - nudge]), goal)
        slopes = -np.einsum("kij,ki->kj", slope, error)[:, free]
        n = len(nudge)
        hessian = (slopes[:n] - slopes[n:]) / (2 * _STEP)
    else:  # the residual is so small that its second derivative does not matter
        hessian = jacobian[:, free].T @ jacobian[:, free]
    values, vectors = np.linalg.eigh(0.5 * (hessian + hessian.T))
    values = np.maximum(np.abs(values), 1e-9 * max(np.abs(values).max(), 1e-12))
    if not curved:
        null = values <= 1e-8 * values.max()
        values[null] = np.inf  # no step in the null space
    step = np.zeros(arm.dof)
    step[free] = -vectors @ ((vectors.T @ gradient[free]) / values)
    return np.asarray(step * min(1.0, 0.5 / max(np.abs(step).max(), 1e-300)))


def _shortened(
    arm: Arm, q: Array, step: Array, goal: Array, low: Array, high: Array, cost: float
) -> tuple[Array, Array, Array, float] | None:
    """The first of a step and its halves, clipped to the bounds, that decreases the cost; None if none does."""
    for _ in range(40):
        moved = np.clip(q + step, low, high)
        error, jacobian = arm.evaluate(moved, goal)
        now = float(error @ error)
        if now < cost:
            return moved, error, jacobian, now
        step = 0.5 * step
    return None
