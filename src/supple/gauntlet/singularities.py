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
    singular = smallest_singular_value(arm, q, rank) < 1e-6
    found = [_singular_pose(arm, place, rank) for place in q[singular]]
    return [place for place, steep in found if steep > 0.02]


def _singular_pose(arm: Arm, q: Array, rank: int) -> tuple[SingularPose, float]:
    """The joint motions of a singular configuration q (dof,), and how fast the smallest singular value changes.

    Several left or right vectors can belong to the singular value 0, as with five or seven joints. With all of them in
    L and R, a motion d changes the singular values like those of L' dJ(d) R. The gradient is the d for which that
    is largest; the null motion is the direction in R that is then no longer null.
    """
    left, _, right = np.linalg.svd(arm.weights[:, None] * arm.linkage.jacobian(q, arm.link))
    null = right[rank - 1 :].T
    change = np.einsum("mk,jmn,nl->jkl", left[:, rank - 1 :], _jacobian_slopes(arm, q), null)
    _, steep, motions = np.linalg.svd(change.reshape(arm.dof, -1).T)
    turned = np.linalg.svd(np.einsum("j,jkl->kl", motions[0], change))[2][0]
    return SingularPose(q, _positive(null @ turned), _positive(motions[0])), float(steep[0])


def _positive(vector: Array) -> Array:
    """The vector or its opposite: the one whose largest component is positive."""
    return np.asarray(vector * np.sign(vector[np.argmax(np.abs(vector))]))


def _svd(arm: Arm, q: Array) -> tuple[Array, Array, Array]:
    jacobian = arm.weights[:, None] * arm.linkage.jacobian(q, arm.link)
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    return np.asarray(left), np.asarray(values), np.asarray(right)


def _slope(arm: Arm, q: Array, left: Array, right: Array, rank: int, joint: int) -> Array:
    """Derivative (N,) of the smallest singular value with respect to one joint."""
    weighted = _jacobian_slope(arm, q, joint)
    return np.asarray(np.einsum("ni,nij,nj->n", left[:, :, rank - 1], weighted, right[:, rank - 1]))


def _jacobian_slope(arm: Arm, q: Array, joint: int) -> Array:
    """Derivative (..., 6, dof) of the weighted Jacobian with respect to one joint, by central differences."""
    nudge = _STEP * np.eye(arm.dof)[joint]
    change = arm.linkage.jacobian(q + nudge, arm.link) - arm.linkage.jacobian(q - nudge, arm.link)
    return np.asarray(arm.weights[:, None] * change / (2 * _STEP))


def _jacobian_slopes(arm: Arm, q: Array) -> Array:
    """Derivatives (dof, 6, dof) of the weighted Jacobian with respect to each joint."""
    return np.stack([_jacobian_slope(arm, q, joint) for joint in range(arm.dof)])
