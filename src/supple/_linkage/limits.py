"""Position limits: whether joint values are within them, the nearest that are, and random ones that are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _core
from supple._linkage.joint_checks import LARGEST_ANGLE as LARGEST_ANGLE
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.joint import Joint, Kind

if TYPE_CHECKING:
    from supple.linkage import Linkage

MAX_VALUES = 1 << 31
"""Joint values of one array of random ones: 16 GiB; more is taken for a mistake."""

# The limits of a mimic itself are not used: its value follows from its source, whose limits hold.


def inside(linkage: Linkage, q: ArrayLike, tolerance: float) -> Any:
    """Whether q (..., dof) is within limits, to a tolerance in radians or metres: bool, or an array (...)."""
    values = checked(linkage, q)
    _check.positive(tolerance, "tolerance", zero=True)
    within = (values >= linkage.lower - tolerance) & (values <= linkage.upper + tolerance)
    good = within.all(axis=-1)
    for first, joint in _limited_balls(linkage):
        vector = values[..., first : first + 3]
        nearest = Frame.rotvec(_clamp_ball(joint, vector))
        off = (Frame.rotvec(vector).inverse() @ nearest).to_rotvec()
        good = good & (np.linalg.norm(off, axis=-1) <= tolerance)
    return bool(good) if good.ndim == 0 else good


def clamp(linkage: Linkage, q: ArrayLike) -> Array:
    """The nearest q (..., dof) within limits, joint by joint; a ball's twist and swing are brought in one by one."""
    nearest = checked(linkage, q)
    np.clip(nearest, linkage.lower, linkage.upper, out=nearest)
    firsts, ranges = linkage._ball_limits
    if firsts:
        _core.clamp_balls(nearest.reshape(-1, linkage.dof), firsts, ranges)
    return nearest


def random(linkage: Linkage, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Uniform joint values (*shape, dof).

    A rotation without limits spans 2 pi about 0, a translation without limits 2 m about 0. With one limit the span is
    the same and begins there. Ball joints and the rotation of floating ones are uniform as rotations: the axis on the
    spherical cap that its swing allows, the twist within its range.
    """
    if not all(isinstance(n, int | np.integer) and not isinstance(n, bool) and n >= 0 for n in shape):
        wanted = "whole numbers that are not negative, such as random(100, 7)"
        raise BadInput(f"shape must be {wanted}; got {_check.short(shape)}")
    if len(shape) > 16 or math.prod(map(int, shape)) * max(linkage.dof, 1) > MAX_VALUES:
        raise BadInput(f"shape is too large: at most {MAX_VALUES:g} numbers are made; got {_check.short(shape)}")
    half = np.array([math.pi if unit == "rad" else 1.0 for unit in linkage.units])
    low, high = linkage.lower, linkage.upper
    start = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * half, -half))
    stop = np.where(np.isfinite(high), high, np.where(np.isfinite(low), low + 2 * half, half))
    share = rng.random((*shape, linkage.dof))
    q = np.clip(start * (1 - share) + stop * share, low, high)  # as two products, since stop - start could overflow
    for first, joint in columns(linkage):
        if joint.kind is Kind.BALL:
            q[..., first : first + 3] = _random_rotation(joint, shape, rng)
        elif joint.kind is Kind.FLOATING:
            q[..., first + 3 : first + 6] = _random_rotation(joint, shape, rng)
    return q


def checked(linkage: Linkage, q: ArrayLike) -> Array:
    """A copy of q (..., dof) as floats; `BadInput` unless it has that shape and is finite."""
    return np.array(_check.rows(q, linkage.dof, "q"))


def columns(linkage: Linkage) -> Iterator[tuple[int, Joint]]:
    """Each joint with values of its own, and the first of its columns in q."""
    for joint in linkage.joints:
        if joint.dof:
            yield linkage._sources[joint.name].first, joint


def turning(linkage: Linkage) -> Any:
    """Which values (dof,) are angles of a revolute or continuous joint that no mimic follows."""
    followed = {linkage._sources[joint.name].first for joint in linkage.joints if joint.mimic is not None}
    found = np.zeros(linkage.dof, dtype=bool)
    for first, joint in columns(linkage):
        found[first] = joint.kind in (Kind.REVOLUTE, Kind.CONTINUOUS) and first not in followed
    return found


def unlimited(linkage: Linkage) -> tuple[list[int], Any]:
    """First columns of rotation vectors without limits, and which values (dof,) are angles without limits."""
    firsts = []
    for first, joint in columns(linkage):
        if joint.kind is Kind.FLOATING:
            firsts.append(first + 3)
        elif joint.kind is Kind.BALL and joint.swing >= math.pi and joint.twist == (-math.pi, math.pi):
            firsts.append(first)
    return firsts, turning(linkage) & np.isneginf(linkage.lower) & np.isposinf(linkage.upper)


def exact(linkage: Linkage, q: Array) -> Array:
    """The same q (..., dof); angles beyond `LARGEST_ANGLE` lose whole turns if the limits allow a full turn."""
    long = np.abs(q) > LARGEST_ANGLE
    if not long.any():
        return q
    lower, upper = linkage.lower, linkage.upper
    whole = turning(linkage) & ~(upper - lower < 2 * math.pi)
    angle = np.arctan2(np.sin(q), np.cos(q))
    angle = angle + 2 * math.pi * (angle < lower) - 2 * math.pi * (angle > upper)
    return np.where(long & whole, angle, q)


def _limited_balls(linkage: Linkage) -> Iterator[tuple[int, Joint]]:
    for first, joint in columns(linkage):
        if joint.kind is Kind.BALL and (joint.swing < math.pi or joint.twist != (-math.pi, math.pi)):
            yield first, joint


def of_balls(linkage: Linkage) -> tuple[list[int], Array]:
    """First columns of ball joints with limits, and their axis, swing and range of twist (balls, 6)."""
    found = list(_limited_balls(linkage))
    ranges = [(*joint.axis, joint.swing, *joint.twist) for _, joint in found]
    return [first for first, _ in found], np.array(ranges, dtype=float).reshape(-1, 6)


def _clamp_ball(joint: Joint, vector: Array) -> Array:
    rows = np.ascontiguousarray(vector).reshape(-1, 3)
    axis = np.array(joint.axis)
    return np.asarray(_core.clamp_ball(rows, axis, joint.swing, *joint.twist)).reshape(vector.shape)


def _random_rotation(joint: Joint, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Rotation vectors (*shape, 3): a twist about the axis, then a swing of the axis to anywhere on its cap."""
    axis = np.array(joint.axis)
    twist = rng.uniform(*joint.twist, shape)
    # area grows with sin²(swing / 2); this form stays exact for narrow cones
    swing = 2 * np.arcsin(np.sqrt(rng.random(shape)) * math.sin(joint.swing / 2))
    around = rng.uniform(-math.pi, math.pi, shape)[..., None]
    side = np.eye(3)[np.argmin(np.abs(axis))]
    u = np.cross(axis, side) / np.linalg.norm(np.cross(axis, side))
    hinge = np.cos(around) * u + np.sin(around) * np.cross(axis, u)
    rotation = Frame.rotvec(swing[..., None] * hinge) @ Frame.rotvec(twist[..., None] * axis)
    return rotation.to_rotvec()
