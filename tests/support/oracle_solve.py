"""Inverse kinematics again, in slow and plain numpy, from the chapter [K] and its errata: what solvers must agree with.

All is for a single q. Matrices have a column for each value of q; `moving` says which of them a method may use.
"""

import numpy as np

from oracle import columns, exp_rotation, frame, jacobian, log_rotation, source, traverse
from supple.joint import Kind

# -- what is asked ----------------------------------------------------------------------------------------------


def weights(linkage, goal):
    """Weights (3,) of the position error and (3,) of the turn, 0 where nothing is asked [D30]."""
    place, turn = np.zeros(3), np.zeros(3)
    if goal.position is not None:
        reach = linkage.reach(goal.link) + np.linalg.norm(goal.point)
        place[:] = (np.pi / reach if 1e-6 < reach < np.inf else 1) if goal.weight is None else goal.weight
    if goal.orientation is not None:
        turn[:] = goal.turn_weight
    elif goal.axis is not None:
        turn[:] = goal.turn_weight[0]
    return place, turn


def turn_between(a, b):
    """The shortest turn (3,) that takes the unit vector a to b."""
    across = np.cross(a, b)
    sine = np.linalg.norm(across)
    if sine > 1e-12:
        return np.arctan2(sine, a @ b) / sine * across
    return across if a @ b > 0 else np.pi * basis_across(a)[0]


def basis_across(a):
    """Two directions across a unit vector."""
    u = np.cross(a, [1.0, 0, 0] if abs(a[0]) < 0.6 else [0, 1.0, 0])
    u = u / np.linalg.norm(u)
    return u, np.cross(a, u)


def tip_frames(linkage, goals, q):
    """Frame (..., 4, 4) of each goal's end effector, its origin at the goal's point."""
    frames = traverse(linkage, q)[0]
    return [frames[goal.link] @ frame(np.eye(3), goal.point) for goal in goals]


def error(linkage, goal, tip):
    """The weighted error of one goal: position, then log(R_goal R') or the two parts of the turn across the axis."""
    place, turn = weights(linkage, goal)
    rows = []
    if goal.position is not None:
        rows.append((place * (goal.position - tip[:3, 3]))[place > 0])
    if goal.orientation is not None:
        rows.append((turn * log_rotation(goal.orientation @ tip[:3, :3].T))[turn > 0])
    elif goal.axis is not None and turn[0] > 0:
        at = tip[:3, :3] @ goal.axis
        rows.append(turn[0] * np.array(basis_across(at)) @ turn_between(at, goal.direction))
    return np.concatenate(rows)


def look(linkage, goals, q, pull=False):
    """Weighted error (rows,) and Jacobian (rows, dof) of all goals, stacked [K5.11-5.17].

    With ``pull`` the goal's position stands in for the end effector's: the alternative Jacobian.
    """
    errors, rows = [], []
    for goal, tip in zip(goals, tip_frames(linkage, goals, q), strict=True):
        place, turn = weights(linkage, goal)
        errors.append(error(linkage, goal, tip))
        point = goal.point
        if pull and goal.position is not None:
            origin = tip @ frame(np.eye(3), -goal.point)
            point = origin[:3, :3].T @ (goal.position - origin[:3, 3])
        J = jacobian(linkage, q, goal.link, point)
        if goal.position is not None:
            rows.append((place[:, None] * J[:3])[place > 0])
        if goal.orientation is not None:
            rows.append((turn[:, None] * J[3:])[turn > 0])
        elif goal.axis is not None and turn[0] > 0:
            rows.append(turn[0] * np.array(basis_across(tip[:3, :3] @ goal.axis)) @ J[3:])
    return np.concatenate(errors), np.concatenate(rows)


def groups(linkage, goals):
    """Which rows belong to one end effector's position, or to its turn: a list of index lists."""
    found, at = [], 0
    for goal in goals:
        place, turn = weights(linkage, goal)
        n = np.count_nonzero(place)
        m = np.count_nonzero(turn) if goal.axis is None else 2 * bool(turn[0])
        found += [list(range(at, at + n)), list(range(at + n, at + n + m))]
        at += n + m
    return [rows for rows in found if rows]


def path(linkage, link):
    """The joints between the root and a link, outermost first."""
    above = {joint.child: joint for joint in linkage.joints}
    while link in above:
        yield above[link]
        link = above[link].parent


def moving(linkage, goals):
    """Whether each value of q (dof,) moves the end effector of some goal."""
    where, found = columns(linkage), np.zeros(linkage.dof, bool)
    for joint in {joint.name: joint for goal in goals for joint in path(linkage, goal.link)}.values():
        if joint.kind is not Kind.FIXED:
            other = source(linkage, joint)[0]
            found[where[other.name] : where[other.name] + other.kind.dof] = True
    return found


def balls(linkage):
    """First column of each turn of three values, and the joint's axis, swing and twist range."""
    where = columns(linkage)
    for joint in linkage.joints:
        if joint.kind is Kind.BALL:
            yield where[joint.name], np.array(joint.axis), joint.swing, joint.twist
        elif joint.kind is Kind.FLOATING:
            yield where[joint.name] + 3, np.array(joint.axis), np.pi, (-np.pi, np.pi)


# -- steps ------------------------------------------------------------------------------------------------------


def inverse(e, J):
    """[K5.19] for a square J."""
    return np.linalg.solve(J, e)


def pseudoinverse(e, J, v=0.0):
    """[K5.20-5.23], and with a wish v the control expression [K5.28]: J+ e + (J+ J - I) z, where z = -v."""
    # J J' has lost what is below the root of the rounding error, so nobody may ask for more
    inverse = np.linalg.pinv(J, rcond=1e-7)
    z = -np.broadcast_to(v, J.shape[1])
    return inverse @ e + (inverse @ J - np.eye(J.shape[1])) @ z


def damped(e, J, alpha, v=0.0):
    """[K5.24], lambda squared being alpha; the control expression [K5.25] is not damped, or it would move the hand."""
    return J.T @ np.linalg.solve(J @ J.T + alpha * np.eye(len(e)), e) + pseudoinverse(np.zeros(len(e)), J, v)


def transpose(e, J, scale=None):
    """A multiple of J'e: by default the one that brings J dq nearest to e."""
    along = J.T @ e
    moved = J @ along
    if scale is None:
        scale = moved @ e / (moved @ moved) if moved.any() else 0.0
    return scale * along


def clamp_largest(step, most):
    """A step, scaled down whole so that no value changes by more than `most`."""
    largest = np.abs(step).max(initial=0)
    return step * (most / largest) if largest > most else step


def selective(e, J, ends, most=np.pi / 4):
    """Buss and Kim 2005; `ends` says which rows make up each end effector."""
    U, sigma, Vt = np.linalg.svd(J, full_matrices=False)
    rho = np.array([np.linalg.norm(J[rows], axis=0) for rows in ends])  # |d s_l / d theta_j|
    step = np.zeros(J.shape[1])
    for u, s, v in zip(U.T, sigma, Vt, strict=True):
        if s <= 1e-7 * sigma.max(initial=0):
            continue
        N = sum(np.linalg.norm(u[rows]) for rows in ends)
        M = (rho @ np.abs(v)).sum() / s
        gamma = min(1, N / M) * most
        step += clamp_largest(u @ e / s * v, gamma)
    return clamp_largest(step, most)


def hold_limits(e, J, v, q, lower, upper):
    """J and wish without the joints at a limit that the error presses outward: their weight is 0 [D13]."""
    press = J.T @ e
    held = ((q <= lower) & (press < 0)) | ((q >= upper) & (press > 0))
    return np.where(held, 0, J), np.where(held, 0, v)


# -- wishes: the opposite of the chapter's z [K5.27, its sign kept] -----------------------------------------------


def way(linkage, q, values):
    """From q to other values (dof,): their difference; for balls the turn that is left."""
    left = np.asarray(values, float) - q
    for k, *_ in balls(linkage):
        left[k : k + 3] = log_rotation(exp_rotation(q[k : k + 3]).T @ exp_rotation(np.array(values[k : k + 3])))
    return left


def wish_rest(linkage, q, values, gain):
    """z = a (theta - theta_c)."""
    return gain * way(linkage, q, values)


def wish_away(linkage, q, values, gain, width, used):
    """Downhill from a hill of that width around some values, in the columns that are used."""
    to = np.where(used, way(linkage, q, values), 0)
    return -gain * to * np.exp(-(to @ to) / (2 * width**2))


def freedom(linkage, goals, q, used):
    """Product of the singular values of J, as many as rows and columns can have together."""
    return np.prod(np.linalg.svd(look(linkage, goals, q)[1][:, used], compute_uv=False))


def wish_dexterity(linkage, goals, q, gain, used, h=1e-5):
    """Uphill in the product of the singular values of J, by the four-point difference."""
    slope = np.zeros(linkage.dof)
    for k in np.flatnonzero(used):
        there = [freedom(linkage, goals, q + s * h * np.eye(linkage.dof)[k], used) for s in (-2, -1, 1, 2)]
        slope[k] = np.array([1, -8, 8, -1]) @ there / (12 * h)
    return gain * slope


# -- taking a step ----------------------------------------------------------------------------------------------


def clamp_ball(turn, axis, swing, twist):
    """A ball's values (3,) with twist about the axis (which comes first), then swing, brought into their ranges."""
    R = exp_rotation(turn)
    lean = turn_between(axis, R @ axis)
    T = exp_rotation(lean).T @ R
    u, v = basis_across(axis)
    angle = np.arctan2(v @ T @ u, u @ T @ u)
    low, high = twist
    if not low <= angle <= high:
        # the nearer end, the way round the circle
        to = [min(abs(angle - end), 2 * np.pi - abs(angle - end)) for end in (low, high)]
        angle = low if to[0] <= to[1] else high
    elif np.linalg.norm(lean) <= swing:
        return turn
    size = np.linalg.norm(lean)
    lean = lean * (swing / size) if size > swing else lean
    return log_rotation(exp_rotation(lean) @ exp_rotation(angle * axis))


def clamp(linkage, q):
    """q within limits."""
    low, high = (np.array([x for j in linkage.joints if j.dof for x in getattr(j, s)]) for s in ("lower", "upper"))
    q = np.clip(q, low, high)
    for k, *limits in balls(linkage):
        q[k : k + 3] = clamp_ball(q[k : k + 3], *limits)
    return q


def integrate(linkage, q, dq):
    """q + dq, explicit Euler; balls turn on about their own axes."""
    moved = q + dq
    for k, *_ in balls(linkage):
        moved[k : k + 3] = log_rotation(exp_rotation(q[k : k + 3]) @ exp_rotation(dq[k : k + 3]))
    return moved


def squared_error(linkage, goals, q):
    """The weighted squared error of all goals."""
    tips = tip_frames(linkage, goals, q)
    return sum(np.sum(error(linkage, goal, tip) ** 2) for goal, tip in zip(goals, tips, strict=True))


def chordal(linkage, goals, tips):
    """What descent lowers (...): w_p^2 |g - p|^2 + w_o^2 (3 - tr(R_g' R)), or 2 w_o^2 (1 - cos) for an axis."""
    total = 0.0
    for goal, tip in zip(goals, tips, strict=True):
        place, turn = weights(linkage, goal)
        if goal.position is not None:
            total = total + np.sum(place**2 * (goal.position - tip[..., :3, 3]) ** 2, axis=-1)
        if goal.orientation is not None:
            mean = np.mean(turn**2)
            total = total + mean * (3 - np.sum(goal.orientation * tip[..., :3, :3], axis=(-1, -2)))
        elif goal.axis is not None:
            total = total + 2 * turn[0] ** 2 * (1 - tip[..., :3, :3] @ goal.axis @ goal.direction)
    return total
