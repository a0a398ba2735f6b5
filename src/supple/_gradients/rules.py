"""The derivative of a chain's frame and of its movers' columns, and its transpose, for any array library.

With z_i and j_i the angular and the linear velocity that mover i gives the link, in world axes,

    d p / d i = j_i,   d R / d i = z_i x R,
    d j_k / d i = z_i x j_k,   d z_k / d i = z_i x z_k   where k turns with i (comes after it, or is of the same ball),
    d j_k / d i = z_k x j_i,   d z_k / d i = 0           where i comes after k.

Both sides are made of the frame and of the columns alone, so that derivatives of any order follow by applying these
rules to their own results. A step of a ball is a rotation about its child's axes; its values are a rotation vector v,
whose change dv is the step Jr(v) dv, with the right Jacobian of SO(3).

``xp`` is numpy, torch or jax.numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple._gradients.chain import Balls, Chain
from supple.frame import Array

_SMALL = 1.0
"""Squared angle below which the factors of the right Jacobian are summed as series."""
_COSINE = (1 / 2, 12, 30, 56, 90, 132, 182, 240, 306, 380, 462)
_SINE = (1 / 6, 20, 42, 72, 110, 156, 210, 272, 342, 420, 506)


def cross(xp: Any, a: Any, b: Any) -> Any:
    """Cross products of vectors in the last axis but one, (..., 3, n)."""
    ax, ay, az = a[..., 0, :], a[..., 1, :], a[..., 2, :]
    bx, by, bz = b[..., 0, :], b[..., 1, :], b[..., 2, :]
    return xp.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], -2)


def push(xp: Any, chain: Chain, values: Any, frame: Any, movers: Any, change: Any) -> tuple[Any, Any]:
    """How the frame (..., 4, 4) and the movers' columns (..., 6, count) change with the values (..., count)."""
    step = to_step(xp, chain.balls, values, change)[..., None, :]
    j, z = movers[..., :3, :], movers[..., 3:, :]
    linear, angular = j * step, z * step
    turn = angular.sum(-1)[..., None]
    rotation = cross(xp, turn, frame[..., :3, :3])
    top = xp.concatenate([rotation, linear.sum(-1)[..., None]], -1)
    frame_change = xp.concatenate([top, xp.zeros_like(frame[..., 3:, :])], -2)
    with_it = xp.asarray(chain.turns_with, dtype=movers.dtype)
    turned = angular @ with_it.T
    carried = linear @ (1 - with_it).T
    j_change = cross(xp, turned, j) + cross(xp, z, carried)
    return frame_change, xp.concatenate([j_change, cross(xp, turned, z)], -2)


def pull(xp: Any, chain: Chain, values: Any, frame: Any, movers: Any, of_frame: Any, of_movers: Any) -> Any:
    """The transpose of `push`: gradients of frame and movers, either of which may be None, to one of the values."""
    j, z = movers[..., :3, :], movers[..., 3:, :]
    step = None
    if of_frame is not None:
        torque = cross(xp, frame[..., :3, :3], of_frame[..., :3, :3]).sum(-1)
        wrench = xp.concatenate([of_frame[..., :3, 3], torque], -1)
        step = (wrench[..., None, :] @ movers)[..., 0, :]
    if of_movers is not None:
        of_j, of_z = of_movers[..., :3, :], of_movers[..., 3:, :]
        with_it = xp.asarray(chain.turns_with, dtype=movers.dtype)
        turned = (cross(xp, j, of_j) + cross(xp, z, of_z)) @ with_it
        carried = cross(xp, of_j, z) @ (1 - with_it)
        more = (z * turned + j * carried).sum(-2)
        step = more if step is None else step + more
    return to_gradient(xp, chain.balls, values, step)


def pull_frame(chain: Chain, q: Array, of_frame: Array) -> Array:
    """The gradient by q (..., dof) for one by the frame (..., 4, 4): first order, by the core."""
    step = chain.linkage._native.frame_gradient(q, chain.link, of_frame)
    gradient: Array = to_gradient(np, chain.balls_of_q, q, step)
    return gradient


def to_step(xp: Any, balls: Balls, values: Any, change: Any) -> Any:
    """The step of each mover for a change of the values: Jr(v) dv for balls, the change itself for others."""
    return _of_balls(xp, balls, values, change, -1)


def to_gradient(xp: Any, balls: Balls, values: Any, gradient: Any) -> Any:
    """Gradients by the values for gradients by the step: Jr(v)' g for balls, the gradient itself for others."""
    return _of_balls(xp, balls, values, gradient, 1)


def _of_balls(xp: Any, balls: Balls, values: Any, vectors: Any, sign: int) -> Any:
    """x + sign a v x x + b v x (v x x) for each ball, with a = (1 - cos t) / t^2, b = (t - sin t) / t^3, t = |v|."""
    if not len(balls.at):
        return vectors
    at = xp.asarray(balls.at)
    lead, count = vectors.shape[:-1], len(balls.at) // 3
    v = values[..., at].reshape(*values.shape[:-1], count, 3)
    v, x = _swapped(xp, v), _swapped(xp, vectors[..., at].reshape(*lead, count, 3))
    square = (v * v).sum(-2)
    a, b = _factors(xp, square)
    once = cross(xp, v, x)
    turned = x + sign * a[..., None, :] * once + b[..., None, :] * cross(xp, v, once)
    flat = _swapped(xp, turned).reshape(*lead, 3 * count)
    return xp.concatenate([vectors, flat], -1)[..., xp.asarray(balls.order)]


def _swapped(xp: Any, array: Any) -> Any:
    return xp.swapaxes(array, -1, -2)


def _factors(xp: Any, square: Any) -> tuple[Any, Any]:
    """(1 - cos t) / t^2 and (t - sin t) / t^3 of the squared angle; smooth at 0, to any order."""
    small = square < _SMALL
    near, far = xp.where(small, square, xp.zeros_like(square)), xp.where(small, xp.ones_like(square), square)
    angle = xp.sqrt(far)
    a = xp.where(small, _series(near, _COSINE), (1 - xp.cos(angle)) / far)
    b = xp.where(small, _series(near, _SINE), (angle - xp.sin(angle)) / (far * angle))
    return a, b


def _series(x: Any, quotients: tuple[float, ...]) -> Any:
    """c (1 - x / n1 (1 - x / n2 (1 - ...))), for ``quotients`` c, n1, n2, ..."""
    total = 1.0
    for n in reversed(quotients[1:]):
        total = 1 - x / n * total
    return quotients[0] * total
