"""The error of a goal at given joint values, as a solution reports it."""

from __future__ import annotations

import numpy as np

from supple import _core
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage


def goal_frame(linkage: Linkage, goal: Goal, q: Array) -> Frame:
    """The frame of a goal's link in the axes of the goal: the world's, or those of the link that it is relative to."""
    frame = linkage.frame(q, goal.link)
    return frame if goal.relative_to is None else linkage.frame(q, goal.relative_to).inverse() @ frame


def goal_jacobian(linkage: Linkage, goal: Goal, q: Array) -> Array:
    """The Jacobian (..., 6, dof) of a goal's point in the axes of the goal: linear, then angular."""
    jacobian = linkage.jacobian(q, goal.link, point=goal.point)
    if goal.relative_to is None:
        return jacobian
    carried = linkage.jacobian(q, goal.relative_to, point=goal_frame(linkage, goal, q).apply(goal.point))
    back = np.swapaxes(linkage.frame(q, goal.relative_to).rotation, -1, -2)
    relative = jacobian - carried
    return np.concatenate([back @ relative[..., :3, :], back @ relative[..., 3:, :]], axis=-2)


def goal_error(linkage: Linkage, goal: Goal, q: Array, shape: tuple[int, ...]) -> Array:
    """Goal minus end effector (*shape, 6): metres, then a rotation vector in radians, in the axes of the goal.

    A component that the goal leaves free is 0; with slack, only the part outside of the slack counts.
    """
    frame = goal_frame(linkage, goal, q)
    error = np.zeros((*shape, 6))
    if goal.position is not None:
        free = np.array([weight == 0 for weight in goal.weight or (1.0, 1.0, 1.0)])
        error[..., :3] = _outside(np.where(free, 0.0, goal.position - frame.apply(goal.point)), goal.slack)
    if goal.orientation is not None:
        relative = np.zeros((*shape, 4, 4))
        relative[..., :3, :3] = goal.orientation @ np.swapaxes(frame.rotation, -1, -2)
        free = np.array(goal.turn_weight) == 0
        error[..., 3:] = _outside(np.where(free, 0.0, _core.log_rotation(relative)), goal.turn_slack)
    elif goal.axis is not None and goal.direction is not None:
        error[..., 3:] = _axis_error(frame.rotation @ goal.axis, goal.direction, goal.turn_slack[0])
    return error


def _axis_error(axis: Array, direction: Array, half_angle: float) -> Array:
    """The rotation vector (..., 3) that turns an axis (..., 3) to the edge of a cone around a direction (..., 3)."""
    cross = np.cross(axis, direction)
    sine = np.linalg.norm(cross, axis=-1, keepdims=True)
    cosine = np.sum(axis * direction, axis=-1, keepdims=True)
    angle = np.maximum(np.arctan2(sine, cosine) - half_angle, 0.0)
    # for opposite vectors, any axis of rotation across them
    across = np.cross(axis, np.where(np.abs(axis[..., :1]) < 0.6, [1.0, 0, 0], [0, 1.0, 0]))
    opposite = across / np.linalg.norm(across, axis=-1, keepdims=True)
    unit = np.where(sine > 1e-12, cross / np.where(sine > 0, sine, 1), np.where(cosine > 0, 0.0, opposite))
    error: Array = unit * angle
    return error


def _outside(error: Array, slack: tuple[float, ...]) -> Array:
    """The part of an error (..., 3) that lies outside of a box with these half sides."""
    if not any(slack):
        return error
    half = np.array(slack)
    outside: Array = error - np.clip(error, -half, half)
    return outside
