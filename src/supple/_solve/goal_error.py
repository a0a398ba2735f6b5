"""The error of a goal at given joint values, as a solution reports it."""

from __future__ import annotations

import numpy as np

from supple import _core
from supple._solve import encoding
from supple.frame import Array, Frame
from supple.goal import Goal, replaced_link
from supple.linkage import Linkage

_POLE_PART = 0.05  # part of an upper limb's length within which a pole counts less; pole_part in task/goal.h
_LOOK_DISTANCE = 0.01  # metres within which a point to look at counts less; look_distance in task/goal.h


def goal_frame(linkage: Linkage, goal: Goal, q: Array) -> Frame:
    """The frame of a goal's link in the axes of the goal: the world's, or those of the link that it is relative to.

    Of a goal for the centre of mass, a frame there in world axes.
    """
    if goal.is_center_of_mass:
        return Frame.at(linkage.center_of_mass(q))
    frame = linkage.frame(q, goal.link)
    return frame if goal.relative_to is None else linkage.frame(q, goal.relative_to).inverse() @ frame


def goal_jacobian(linkage: Linkage, goal: Goal, q: Array) -> Array:
    """The Jacobian (..., 6, dof) of a goal's point in the axes of the goal: linear, then angular.

    The angular part of a goal with a point to look at is relative to the way to that point, which turns too. That of a
    pole is its angle about the limb's line, in the first angular row.
    """
    jacobian = point_jacobian(linkage, goal, q)
    if goal.pole is not None:
        return _pole_jacobian(linkage, goal, goal.pole, q, jacobian)
    if goal.look_at is None:
        return jacobian
    way = goal.look_at - goal_frame(linkage, goal, q).apply(goal.point)
    look = way / np.maximum(np.sum(way**2, axis=-1, keepdims=True), 1e-12)
    turned = jacobian[..., 3:, :] + np.cross(look[..., :, None], jacobian[..., :3, :], axis=-2)
    return np.concatenate([np.zeros_like(turned), turned], axis=-2)


def point_jacobian(linkage: Linkage, goal: Goal, q: Array) -> Array:
    """The Jacobian (..., 6, dof) of a goal's point in the axes of the goal, relative to the link that has them."""
    if goal.is_center_of_mass:
        heavy, total = [link for link in linkage.links if link.mass], linkage.mass
        jacobians = [link.mass / total * linkage.jacobian(q, link.name, point=link.center_of_mass) for link in heavy]
        mean: Array = np.sum(jacobians, axis=0)
        mean[..., 3:, :] = 0
        return mean
    jacobian = linkage.jacobian(q, goal.link, point=goal.point)
    if goal.relative_to is None:
        return jacobian
    carried = linkage.jacobian(q, goal.relative_to, point=goal_frame(linkage, goal, q).apply(goal.point))
    back = np.swapaxes(linkage.frame(q, goal.relative_to).rotation, -1, -2)
    relative = jacobian - carried
    return np.concatenate([back @ relative[..., :3, :], back @ relative[..., 3:, :]], axis=-2)


def goal_error(linkage: Linkage, goal: Goal, q: Array, shape: tuple[int, ...]) -> Array:
    """Goal minus end effector (*shape, 6): metres, then a rotation vector in radians, in the axes of the goal.

    A component that the goal leaves free is 0; with slack, only the part outside of the slack counts. Of a pole, the
    angle about the line from shoulder to point is the first of the rotation vector.
    """
    frame = goal_frame(linkage, goal, q)
    error = np.zeros((*shape, 6))
    if goal.distance is not None and goal.position is not None:
        if goal.weight is None or goal.weight[0]:
            error[..., :3] = _distance_error(goal, goal.position, frame.apply(goal.point))
    elif goal.position is not None:
        free = np.array([weight == 0 for weight in goal.weight or (1.0, 1.0, 1.0)])
        error[..., :3] = _outside(np.where(free, 0.0, goal.position - frame.apply(goal.point)), goal.slack)
    if goal.orientation is not None:
        relative = np.zeros((*shape, 4, 4))
        relative[..., :3, :3] = goal.orientation @ np.swapaxes(frame.rotation, -1, -2)
        free = np.array(goal.turn_weight) == 0
        error[..., 3:] = _outside(np.where(free, 0.0, _core.log_rotation(relative)), goal.turn_slack)
    elif goal.pole is not None:
        angle = _pole_angle(_limb_points(linkage, goal, q), goal.pole)[0]
        error[..., 3] = angle - np.clip(angle, -goal.turn_slack[0], goal.turn_slack[0])
    elif goal.axis is not None:
        direction: Array | None = goal.direction
        fade: float | Array = 1.0
        if goal.look_at is not None:
            direction, fade = _look_direction(goal.look_at - frame.apply(goal.point))
        if direction is not None:
            error[..., 3:] = _axis_error(frame.rotation @ goal.axis, direction, goal.turn_slack[0], fade)
    return error


def _limb_points(linkage: Linkage, goal: Goal, q: Array) -> tuple[Array, Array, Array]:
    """Shoulder, elbow and end (..., 3) of the limb of a goal with a pole, in metres and the goal's axes."""
    limb = encoding.limb(linkage, goal)
    assert limb is not None
    shoulder, elbow = (goal_frame(linkage, replaced_link(goal, name), q).position for name in limb)
    return shoulder, elbow, goal_frame(linkage, goal, q).apply(goal.point)


def _pole_angle(limb: tuple[Array, Array, Array], pole: Array) -> tuple[Array, Array]:
    """The angle (...) in radians about the line of a limb from its elbow to a pole (..., 3), and how its decrease
    depends on shoulder, elbow and end (3, ..., 3), in 1/m; both times what a straight limb leaves of them.

    `pole_residual` in task/goal.h has the derivation.
    """
    shoulder, elbow, end = limb

    def product(a: Array, b: Array) -> Array:
        sums: Array = np.sum(a * b, axis=-1, keepdims=True)
        return sums

    upper, line, toward = elbow - shoulder, end - shoulder, pole - shoulder
    length = np.sqrt(np.maximum(product(line, line), 1e-24))
    unit = line / length
    along, pole_along = product(upper, unit), product(toward, unit)
    bent, aside = upper - along * unit, toward - pole_along * unit
    squares = [np.maximum(product(x, x), 1e-24) for x in (bent, aside, line)]
    parts = [np.minimum(x / np.maximum(_POLE_PART**2 * product(upper, upper), 1e-24), 1.0) for x in squares]
    fade = np.prod([part * part * (3 - 2 * part) for part in parts], axis=0)
    turn, pole_turn = (fade / s * np.cross(unit, x) for s, x in zip(squares, (bent, aside), strict=False))
    share, pole_share = along / length, pole_along / length
    angle = fade * np.arctan2(product(unit, np.cross(bent, aside)), product(bent, aside))
    rates = [(1 - pole_share) * pole_turn - (1 - share) * turn, turn, pole_share * pole_turn - share * turn]
    return angle[..., 0], np.stack(np.broadcast_arrays(*rates))


def _pole_jacobian(linkage: Linkage, goal: Goal, pole: Array, q: Array, end: Array) -> Array:
    """The Jacobian (..., 6, dof) of a goal with a pole; ``end`` is that of its point."""
    limb = encoding.limb(linkage, goal)
    assert limb is not None
    rates = _pole_angle(_limb_points(linkage, goal, q), pole)[1]
    jacobians = [point_jacobian(linkage, replaced_link(goal, name), q) for name in limb]
    row = sum(np.einsum("...i,...ij->...j", g, j[..., :3, :]) for g, j in zip(rates, (*jacobians, end), strict=True))
    out = np.zeros_like(np.broadcast_to(end, (*np.shape(row)[:-1], *end.shape[-2:])))
    out[..., 3, :] = row
    return out


def _look_direction(way: Array) -> tuple[Array, Array]:
    """Unit vectors (..., 3) along ways (..., 3) in metres, and by how much they count (..., 1); see `Goal.look_at`."""
    distance = np.linalg.norm(way, axis=-1, keepdims=True)
    part = np.minimum(distance / _LOOK_DISTANCE, 1.0)
    return way / np.maximum(distance, 1e-12), part * part * (3 - 2 * part)


def _distance_error(goal: Goal, center: Array, point: Array) -> Array:
    """The way (..., 3) from a point (..., 3) to the sphere, the cylinder or the line of a goal around a centre."""
    way = center - point
    first = np.array([1.0, 0, 0])
    if goal.line is not None:
        way = way - np.sum(way * goal.line, axis=-1, keepdims=True) * goal.line
        first = _across(goal.line)
    far = np.linalg.norm(way, axis=-1, keepdims=True)
    unit = np.where(far > 1e-12, way / np.where(far > 0, far, 1), first)
    over = far - (goal.distance or 0.0)
    error: Array = (over - np.clip(over, -goal.slack[0], goal.slack[0])) * unit
    return error


def _across(axis: Array) -> Array:
    """Unit vectors (..., 3) at right angles to unit vectors (..., 3)."""
    across = np.cross(axis, np.where(np.abs(axis[..., :1]) < 0.6, [1.0, 0, 0], [0, 1.0, 0]))
    unit: Array = across / np.linalg.norm(across, axis=-1, keepdims=True)
    return unit


def _axis_error(axis: Array, direction: Array, half_angle: float, fade: float | Array = 1.0) -> Array:
    """The rotation vector (..., 3) that turns an axis (..., 3) to the edge of a cone around a direction (..., 3).

    ``fade`` (..., 1) is a factor on the angle between them.
    """
    cross = np.cross(axis, direction)
    sine = np.linalg.norm(cross, axis=-1, keepdims=True)
    cosine = np.sum(axis * direction, axis=-1, keepdims=True)
    angle = np.maximum(fade * np.arctan2(sine, cosine) - half_angle, 0.0)
    opposite = _across(axis)  # for opposite vectors, any axis of rotation across them
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
