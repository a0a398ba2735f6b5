"""Singular configurations of an arm: joint values at which the Jacobian loses rank, and the joint motions concerned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.frame import Array
from supple.gauntlet.arms import Arm

_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class SingularPose:
    """A singular configuration."""

    q: Array
    """Joint values (dof,)."""
    null_motion: Array
    """The unit joint motion (dof,) that does not move the end effector; its largest component is positive."""
    gradient: Array
    """The unit joint motion (dof,) along which the smallest singular value changes fastest."""

    @property
    def curvature(self) -> float:
        """|null motion · gradient|: 0 if the end effector can pass through the singularity, 1 if it must turn back."""
        return abs(float(self.null_motion @ self.gradient))


def task_rank(arm: Arm) -> int:
    """The largest rank of the Jacobian over random joint values, at most 6."""
    values = arm.singular_values(arm.linkage.random(64, seed=3))
    return int((values > 1e-4 * values[:, :1]).sum(axis=1).max())


def smallest_singular_value(arm: Arm, q: ArrayLike, rank: int) -> Array:
    """The singular value number ``rank`` (...) of the weighted Jacobian at q (..., dof); ``rank`` is `task_rank`."""
    return np.asarray(arm.singular_values(q)[..., rank - 1])


def find_singular_poses(arm: Arm, rank: int, starts: Array) -> list[SingularPose]:
    """Singular configurations near joint values (N, dof), by descent on the smallest singular value."""
    q = np.array(starts)
    for _ in range(80):
        left, values, right = _svd(arm, q)
        slope = np.stack([_slope(arm, q, left, right, rank, j) for j in range(arm.dof)], axis=-1)
        step = -values[:, rank - 1, None] * slope / np.maximum((slope**2).sum(-1, keepdims=True), 1e-12)
        size = np.abs(step).max(axis=-1, keepdims=True)
        q = np.clip(q + step * np.minimum(1.0, 0.2 / np.maximum(size, 1e-12)), arm.lower, arm.upper)
    left, values, right = _svd(arm, q)
    slope = np.stack([_slope(arm, q, left, right, rank, j) for j in range(arm.dof)], axis=-1)
    steep = np.linalg.norm(slope, axis=-1)
    good = (values[:, rank - 1] < 1e-6) & (steep > 0.02)
    return [
        SingularPose(q[i], _positive(right[i, rank - 1]), _positive(slope[i] / steep[i])) for i in np.flatnonzero(good)
    ]


def _positive(vector: Array) -> Array:
    """The vector or its opposite: the one whose largest component is positive."""
    return np.asarray(vector * np.sign(vector[np.argmax(np.abs(vector))]))


def _svd(arm: Arm, q: Array) -> tuple[Array, Array, Array]:
    jacobian = arm.weights[:, None] * arm.linkage.jacobian(q, arm.link)
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    return np.asarray(left), np.asarray(values), np.asarray(right)


def _slope(arm: Arm, q: Array, left: Array, right: Array, rank: int, joint: int) -> Array:
    """Derivative (N,) of the smallest singular value with respect to one joint, by central differences."""
    nudge = _STEP * np.eye(arm.dof)[joint]
    change = arm.linkage.jacobian(q + nudge, arm.link) - arm.linkage.jacobian(q - nudge, arm.link)
    weighted = arm.weights[:, None] * change / (2 * _STEP)
    return np.asarray(np.einsum("ni,nij,nj->n", left[:, :, rank - 1], weighted, right[:, rank - 1]))
