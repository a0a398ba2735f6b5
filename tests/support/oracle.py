"""Forward kinematics again, in slow and plain numpy, straight from the chapter [K]: what the core must agree with.

Every function takes leading axes, so that one call answers for many rows of q. Nothing here knows the flattened tree.
"""

import numpy as np

from supple.joint import Kind

# -- rotations --------------------------------------------------------------------------------------------------


def cross_matrix(v):
    """The matrix (..., 3, 3) that takes a vector to its cross product with v (..., 3)."""
    x, y, z = np.moveaxis(np.asarray(v, dtype=float), -1, 0)
    o = np.zeros_like(x)
    return np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], -2)


def turn(axis, angle):
    """Rodrigues' formula: a turn (..., 3, 3) by an angle (...) about a unit axis (..., 3)."""
    k = cross_matrix(axis)
    angle = np.asarray(angle, dtype=float)[..., None, None]
    return np.eye(3) + np.sin(angle) * k + 2 * np.sin(angle / 2) ** 2 * (k @ k)


def exp_rotation(v):
    """The turn (..., 3, 3) of a rotation vector (..., 3)."""
    v = np.asarray(v, dtype=float)
    angle = np.linalg.norm(v, axis=-1)
    axis = np.where(angle[..., None] > 0, v / np.where(angle > 0, angle, 1)[..., None], [0.0, 0.0, 1.0])
    return turn(axis, angle)


def log_rotation(r):
    """The rotation vector (3,) of one turn (3, 3), at most pi long; the inverse of `exp_rotation`."""
    twice = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])  # 2 sin(angle) axis
    angle = np.arctan2(np.linalg.norm(twice), np.trace(r) - 1)
    if angle < 3:
        return twice / 2 / np.sinc(angle / np.pi)
    # near half a turn the sine is lost: R + R' = 2 cos(angle) + 2 (1 - cos(angle)) axis axis'
    outer = (r + r.T) / 2 - np.cos(angle) * np.eye(3)
    axis = outer[:, np.argmax(np.diag(outer))]
    axis = axis / np.linalg.norm(axis)
    return angle * axis * (-1 if axis @ twice < 0 else 1)


def frame(rotation, position):
    """The matrix (..., 4, 4) of a rotation (..., 3, 3) and a position (..., 3)."""
    lead = np.broadcast_shapes(np.shape(rotation)[:-2], np.shape(position)[:-1])
    matrix = np.zeros((*lead, 4, 4))
    matrix[..., :3, :3], matrix[..., :3, 3], matrix[..., 3, 3] = rotation, position, 1
    return matrix


# -- joints -----------------------------------------------------------------------------------------------------


def arcs(linkage, link):
    """The joints that emanate from a link, in the order they were given."""
    return [joint for joint in linkage.joints if joint.parent == link]


def columns(linkage):
    """First column of each joint that has values of its own: q is in the order of a depth-first walk."""
    found, first, waiting = {}, 0, arcs(linkage, linkage.root)
    while waiting:
        joint = waiting.pop(0)
        if joint.kind is not Kind.FIXED and joint.mimic is None:
            found[joint.name] = first
            first += joint.kind.dof
        waiting = arcs(linkage, joint.child) + waiting
    return found


def source(linkage, joint):
    """The joint that moves this one, itself or the one it mimics in the end, with gain and offset."""
    if joint.mimic is None:
        return joint, 1.0, 0.0
    other, gain, offset = source(linkage, next(j for j in linkage.joints if j.name == joint.mimic.joint))
    return other, joint.mimic.gain * gain, joint.mimic.gain * offset + joint.mimic.offset


def values(linkage, q, joint):
    """What a joint's variables are (..., its dof) for q (..., dof)."""
    other, gain, offset = source(linkage, joint)
    first = columns(linkage)[other.name]
    return gain * np.asarray(q)[..., first : first + other.kind.dof] + offset


def plane(axis):
    """Two directions across a normal (3,): where x and y go when z turns to it the shortest way.

    A normal that looks down is taken by half a turn about x first.
    """
    down = axis[2] < 0
    x, y, z = np.array(axis) * ([1, -1, -1] if down else [1, 1, 1])
    lean = np.hypot(x, y)
    r = turn([-y / lean, x / lean, 0], np.arctan2(lean, z)) if lean > 0 else np.eye(3)
    return (np.diag([1, -1, -1]) @ r if down else r).T[:2]


def articulation(joint, value):
    """A joint's Amatrix (..., 4, 4), that its values (..., its dof) change."""
    axis, still, origin = np.array(joint.axis), np.eye(3), np.zeros(3)
    if joint.kind in (Kind.REVOLUTE, Kind.CONTINUOUS):
        return frame(turn(axis, value[..., 0]), origin)
    if joint.kind is Kind.PRISMATIC:
        return frame(still, value * axis)
    if joint.kind is Kind.PLANAR:
        return frame(turn(axis, value[..., 2]), value[..., :2] @ plane(axis))
    if joint.kind is Kind.BALL:
        return frame(exp_rotation(value), origin)
    if joint.kind is Kind.FLOATING:
        return frame(exp_rotation(value[..., 3:]), value[..., :3])
    return np.eye(4)


# -- forward kinematics -----------------------------------------------------------------------------------------


def traverse(linkage, q):
    """[K fig. 5.13] with a matrix stack: frames (..., 4, 4) of all links, and of their geometry, readied, by link.

    Also where each joint sits, by joint: its parent's frame with the location, before the articulation.
    """
    q = np.asarray(q, dtype=float)
    frames, readied, seats, stack = {}, {}, {}, []
    links = {link.name: link for link in linkage.links}

    def node(name, matrix):
        frames[name], readied[name] = matrix, []
        for geometry in links[name].geometry:
            stack.append(matrix)  # push
            matrix = matrix @ geometry.frame.matrix  # the node's Tmatrix
            readied[name].append(matrix)  # transformData and draw
            matrix = stack.pop()
        for arc in arcs(linkage, name):
            stack.append(matrix)  # save the matrix at the node
            walk(arc, matrix)
            matrix = stack.pop()

    def walk(arc, matrix):
        matrix = matrix @ arc.location.matrix  # concatenate location: Lmatrix
        seats[arc.name] = matrix
        if arc.kind is not Kind.FIXED:
            matrix = matrix @ articulation(arc, values(linkage, q, arc))  # concatenate articulation: Amatrix
        node(arc.child, matrix)

    # the root arc holds the global transformation [K5.1]
    node(linkage.root, np.broadcast_to(linkage.base.matrix, (*q.shape[:-1], 4, 4)))
    assert not stack
    return frames, readied, seats


def jacobian(linkage, q, link, point=(0, 0, 0)):
    """[K5.11-5.17], fig. 5.16: J (..., 6, dof) of a point of a link, linear rows first, in world axes.

    A turn gives its axis, and the axis crossed with the way from it to the point; a slide gives its direction and no
    turn. A ball turns about its child's axes. A mimic moves its source's column, times its gain: the chain rule [K5.7].
    """
    q = np.asarray(q, dtype=float)
    frames, _, seats = traverse(linkage, q)
    end = frames[link][..., :3, :3] @ np.asarray(point, dtype=float) + frames[link][..., :3, 3]
    J = np.zeros((*q.shape[:-1], 6, sum(joint.dof for joint in linkage.joints)))
    above = {joint.child: joint for joint in linkage.joints}

    def turns(column, gain, axis, origin):
        J[..., :3, column] += gain * np.cross(axis, end - origin)
        J[..., 3:, column] += gain * axis

    def slides(column, gain, direction):
        J[..., :3, column] += gain * direction

    while link in above:
        joint = above[link]
        link = joint.parent
        if joint.kind is Kind.FIXED:
            continue
        other, gain, _ = source(linkage, joint)
        first = columns(linkage)[other.name]
        seat, child = seats[joint.name][..., :3, :3], frames[joint.child][..., :3, :3]
        origin = frames[joint.child][..., :3, 3]
        if joint.kind in (Kind.REVOLUTE, Kind.CONTINUOUS):
            turns(first, gain, seat @ joint.axis, origin)
        elif joint.kind is Kind.PRISMATIC:
            slides(first, gain, seat @ joint.axis)
        elif joint.kind is Kind.PLANAR:
            for k, direction in enumerate(plane(joint.axis)):
                slides(first + k, 1, seat @ direction)
            turns(first + 2, 1, seat @ joint.axis, origin)
        else:
            if joint.kind is Kind.FLOATING:
                for k in range(3):
                    slides(first + k, 1, seat[..., :, k])
                first += 3
            for k in range(3):
                turns(first + k, 1, child[..., :, k], origin)
    return J
