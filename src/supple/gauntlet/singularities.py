"""Singular places of a linkage: where they are, which joints and which motion of the hand they are about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.frame import Array
from supple.gauntlet.arms import Arm

_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class Place:
    """A singular place."""

    q: Array
    """Joint values (dof,)."""
    joints: Array
    """The unit motion of the joints (dof,) that the hand does not feel, its largest component positive."""
    across: Array
    """The unit motion of the joints (dof,) that leads through it fastest: how the smallest singular value changes."""

    @property
    def curvature(self) -> float:
        """How much of the way across is felt by no joint: 0 where the hand may pass, 1 where it is bent back."""
        return abs(float(self.joints @ self.across))


def rank(arm: Arm) -> int:
    """How many ways the hand can move at once, at best: the greatest rank of the Jacobian, at most 6."""
    values = arm.singular_values(arm.linkage.random(64, seed=3))
    return int((values > 1e-4 * values[:, :1]).sum(axis=1).max())


def sigma(arm: Arm, q: ArrayLike, full: int) -> Array:
    """The smallest singular value (...) among as many as the arm can have, of the weighted Jacobian at q (..., dof)."""
    return np.asarray(arm.singular_values(q)[..., full - 1])


def places(arm: Arm, full: int, starts: Array) -> list[Place]:
    """Singular places near some joint values (N, dof), found by descent on the smallest singular value."""
    q = np.array(starts)
    for _ in range(80):
        left, values, right = _parts(arm, q)
        slope = np.stack([_slope(arm, q, left, right, full, j) for j in range(arm.dof)], axis=-1)
        step = -values[:, full - 1, None] * slope / np.maximum((slope**2).sum(-1, keepdims=True), 1e-12)
        size = np.abs(step).max(axis=-1, keepdims=True)
        q = np.clip(q + step * np.minimum(1.0, 0.2 / np.maximum(size, 1e-12)), arm.lower, arm.upper)
    left, values, right = _parts(arm, q)
    slope = np.stack([_slope(arm, q, left, right, full, j) for j in range(arm.dof)], axis=-1)
    steep = np.linalg.norm(slope, axis=-1)
    good = (values[:, full - 1] < 1e-6) & (steep > 0.02)
    return [Place(q[i], _upright(right[i, full - 1]), _upright(slope[i] / steep[i])) for i in np.flatnonzero(good)]


def _upright(vector: Array) -> Array:
    """The vector or its opposite: the one whose largest component is positive."""
    return np.asarray(vector * np.sign(vector[np.argmax(np.abs(vector))]))


def _parts(arm: Arm, q: Array) -> tuple[Array, Array, Array]:
    jacobian = arm.weights[:, None] * arm.linkage.jacobian(q, arm.link)
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    return np.asarray(left), np.asarray(values), np.asarray(right)


def _slope(arm: Arm, q: Array, left: Array, right: Array, full: int, joint: int) -> Array:
    """How fast the smallest singular value grows (N,) when one joint moves."""
    nudge = _STEP * np.eye(arm.dof)[joint]
    change = arm.linkage.jacobian(q + nudge, arm.link) - arm.linkage.jacobian(q - nudge, arm.link)
    weighted = arm.weights[:, None] * change / (2 * _STEP)
    return np.asarray(np.einsum("ni,nij,nj->n", left[:, :, full - 1], weighted, right[:, full - 1]))
