"""What a search must agree with, in slow and plain numpy: how far q is from its goals, and how near many starts get.

Every function takes leading axes. Errors are in metres and radians, not weighted, and count only outside the slack.
"""

import numpy as np

from oracle import jacobian, log_rotation, traverse
from oracle_solve import basis_across, weights

# -- how far ----------------------------------------------------------------------------------------------------


def logs(r):
    """Rotation vectors (..., 3) of turns (..., 3, 3)."""
    twice = np.stack([r[..., 2, 1] - r[..., 1, 2], r[..., 0, 2] - r[..., 2, 0], r[..., 1, 0] - r[..., 0, 1]], -1)
    angle = np.arctan2(np.linalg.norm(twice, axis=-1), np.trace(r, axis1=-2, axis2=-1) - 1)
    out = twice / 2 / np.sinc(np.minimum(angle, 3) / np.pi)[..., None]
    for i in np.argwhere(angle >= 3):  # near half a turn the sine is lost
        out[tuple(i)] = log_rotation(r[tuple(i)])
    return out


def turns_between(a, b):
    """The shortest turns (..., 3) that take unit vectors a (..., 3) to b (..., 3)."""
    across = np.cross(a, b)
    sine = np.linalg.norm(across, axis=-1)
    angle = np.arctan2(sine, np.sum(a * b, axis=-1))
    out = np.where(sine > 1e-12, angle / np.where(sine > 0, sine, 1), 0)[..., None] * across
    for i in np.argwhere((sine <= 1e-12) & (angle > 3)):
        out[tuple(i)] = np.pi * basis_across(np.broadcast_to(a, out.shape)[tuple(i)])[0]
    return out


def missing(linkage, goal, q):
    """Goal minus end effector (..., 6), position then turn, what lies outside the slack; 0 where nothing is asked."""
    tip = traverse(linkage, q)[0][goal.link]
    place, turn = weights(linkage, goal)
    out = np.zeros((*np.broadcast_shapes(tip.shape[:-2], goal.shape), 6))
    if goal.position is not None:
        at = tip[..., :3, :3] @ goal.point + tip[..., :3, 3]
        out[..., :3] = np.where(place > 0, _outside(goal.position - at, goal.slack), 0)
    if goal.orientation is not None:
        left = logs(goal.orientation @ np.swapaxes(tip[..., :3, :3], -1, -2))
        out[..., 3:] = np.where(turn > 0, _outside(left, goal.turn_slack), 0)
    elif goal.axis is not None and turn[0] > 0:
        left = turns_between(tip[..., :3, :3] @ goal.axis, goal.direction)
        angle = np.linalg.norm(left, axis=-1, keepdims=True)
        out[..., 3:] = left * np.maximum(angle - goal.turn_slack[0], 0) / np.where(angle > 0, angle, 1)
    return out


def _outside(error, slack):
    return error - np.clip(error, -np.array(slack), slack)


def there(linkage, goals, q, position=1e-6, angle=1e-6):
    """Whether q (..., dof) is within tolerance of all goals (...)."""
    left = [missing(linkage, goal, q) for goal in goals]
    near = [np.linalg.norm(e[..., :3], axis=-1) <= position for e in left]
    return np.all(near + [np.linalg.norm(e[..., 3:], axis=-1) <= angle for e in left], axis=0)


def cost(linkage, goals, q):
    """The weighted error (...) of all goals together."""
    squares = 0.0
    for goal in goals:
        squares = squares + np.sum((np.concatenate(weights(linkage, goal)) * missing(linkage, goal, q)) ** 2, axis=-1)
    return np.sqrt(squares)


# -- the nearest ------------------------------------------------------------------------------------------------


def step_of(linkage, q, e, J, alpha):
    """One damped step from q within limits; a joint at its limit that is pressed outward is held."""
    low, high = linkage.lower, linkage.upper
    slope = np.einsum("...ij,...i->...j", J, e)
    held = ((q <= low) & (slope < 0)) | ((q >= high) & (slope > 0))
    J = np.where(held[..., None, :], 0, J)
    A = J @ np.swapaxes(J, -1, -2) + (alpha + 1e-12)[..., None, None] * np.eye(e.shape[-1])
    step = np.einsum("...ij,...i->...j", J, np.linalg.solve(A, e[..., None])[..., 0])
    return np.clip(q + step / np.maximum(np.abs(step).max(axis=-1, keepdims=True), 1), low, high)


def look(linkage, goals, q, half=False):
    """Weighted errors and Jacobian of goals without slack, all their rows; ``half``: turns by a as 2 sin(a/2)."""
    errors, rows = [], []
    for goal in goals:
        w, e = np.concatenate(weights(linkage, goal)), missing(linkage, goal, q)
        if half:
            e[..., 3:] *= np.sinc(np.linalg.norm(e[..., 3:], axis=-1, keepdims=True) / 2 / np.pi)
        errors.append(w * e)
        rows.append(w[:, None] * jacobian(linkage, q, goal.link, goal.point))
    return np.concatenate(errors, axis=-1), np.concatenate(rows, axis=-2)


def followed(linkage, goals, q, steps=30):
    """Where one start of the search leads: q (..., dof), and whether it was not given up on the way (...).

    The damping is 0.02 of the squared error; a start that has not halved its error in four steps is given up.
    """
    kept, before = np.ones(q.shape[:-1], bool), []
    for _ in range(steps):
        e, J = look(linkage, goals, q, half=True)
        square = np.sum(e**2, axis=-1)
        near = there(linkage, goals, q)
        kept &= near | (len(before) < 4) | (square <= 0.5 * np.array(before)[-4:][0] if before else True)
        before.append(square)
        q = np.where(near[..., None], q, step_of(linkage, q, e, J, 0.02 * square))
    return q, kept


def settled(linkage, goals, q, steps):
    """q (..., dof) as near as it gets: steps only lower the error; the damping grows after one that would not."""
    damping = np.full(q.shape[:-1], 1e-2)
    e, J = look(linkage, goals, q)
    for _ in range(steps):
        square = np.sum(e**2, axis=-1)
        tried = step_of(linkage, q, e, J, damping * square)
        after, rows = look(linkage, goals, tried)
        better = np.sum(after**2, axis=-1) < square
        damping = np.clip(np.where(better, damping / 3, damping * 4), 1e-9, 1e9)
        q, e = np.where(better[..., None], tried, q), np.where(better[..., None], after, e)
        J = np.where(better[..., None, None], rows, J)
    return q


def nearest(linkage, goals, starts, steps=60):
    """The smallest weighted error (...) of many starts (k, dof), for goals with leading axes (...)."""
    shape = goals[0].shape
    q = np.broadcast_to(starts.reshape(-1, *(1 for _ in shape), linkage.dof), (len(starts), *shape, linkage.dof))
    return cost(linkage, goals, settled(linkage, goals, q, steps)).min(axis=0)
