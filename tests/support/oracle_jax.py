"""Forward kinematics once more, in plain JAX: for its automatic derivatives."""

import jax.numpy as jnp
import numpy as np

import oracle
from supple.joint import Kind


def skew(v):
    x, y, z = v
    return jnp.array([[0.0 * x, -z, y], [z, 0.0 * x, -x], [-y, x, 0.0 * x]])


def exp_rotation(v):
    """Rodrigues' formula: the turn (3, 3) of a rotation vector (3,) that is not 0."""
    angle = jnp.sqrt(v @ v)
    return turn(v / angle, angle)


def turn(axis, angle):
    k = skew(axis)
    return jnp.eye(3) + jnp.sin(angle) * k + (1 - jnp.cos(angle)) * (k @ k)


def placed(rotation, position):
    return jnp.vstack([jnp.hstack([rotation, jnp.reshape(position, (3, 1))]), jnp.array([[0.0, 0.0, 0.0, 1.0]])])


def articulation(joint, value):
    axis, still, origin = np.array(joint.axis), jnp.eye(3), jnp.zeros(3)
    if joint.kind in (Kind.REVOLUTE, Kind.CONTINUOUS):
        return placed(turn(axis, value[0]), origin)
    if joint.kind is Kind.PRISMATIC:
        return placed(still, value * axis)
    if joint.kind is Kind.PLANAR:
        return placed(turn(axis, value[2]), value[:2] @ oracle.plane(joint.axis))
    if joint.kind is Kind.BALL:
        return placed(exp_rotation(value), origin)
    if joint.kind is Kind.FLOATING:
        return placed(exp_rotation(value[3:]), value[:3])
    return jnp.eye(4)


def frame(linkage, q, link):
    """The frame (4, 4) of a link for q (dof,)."""
    above, columns = {joint.child: joint for joint in linkage.joints}, oracle.columns(linkage)
    found = jnp.eye(4)
    while link in above:
        joint = above[link]
        value = q[:0]
        if joint.kind is not Kind.FIXED:
            other, gain, offset = oracle.source(linkage, joint)
            first = columns[other.name]
            value = gain * q[first : first + other.kind.dof] + offset
        found = joint.location.matrix @ articulation(joint, value) @ found
        link = joint.parent
    return linkage.base.matrix @ found
