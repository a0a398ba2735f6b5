"""Random linkages for tests: seeded, of 1 to 40 joints of every kind, with the special cases that real arms have."""

from functools import cache

import numpy as np

from oracle import exp_rotation, frame
from supple.frame import Frame
from supple.joint import Joint, Kind, Mimic
from supple.link import Box, Geometry, Link, Sphere
from supple.linkage import Linkage

KINDS = (Kind.REVOLUTE, Kind.CONTINUOUS, Kind.PRISMATIC, Kind.FIXED, Kind.PLANAR, Kind.BALL, Kind.FLOATING)
MIXES = np.array([[3, 1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0, 0], [4, 1, 2, 1, 0, 0, 0], [1, 0, 0, 0, 0, 2, 1]], float)
MIXES /= MIXES.sum(axis=1, keepdims=True)
SINGLE = (Kind.REVOLUTE, Kind.CONTINUOUS, Kind.PRISMATIC)


@cache
def right_turns():
    """The 24 rotations (24, 3, 3) that take axes to axes, exactly."""
    eye = np.eye(3)
    signed = [s * eye[list(p)] for p in np.ndindex(3, 3, 3) if len(set(p)) == 3 for s in (1.0, -1.0)]
    turned = [np.diag(d) @ m for m in signed for d in ([1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1])]
    return np.array([m for m in turned if np.linalg.det(m) > 0]) + 0.0


def directions(rng, n):
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def places(rng, n):
    """Locations (n, 4, 4): of any kind, none, at right angles, parallel, nearly parallel or nearly opposite."""
    style = rng.integers(0, 8, n)
    r, p = exp_rotation(rng.uniform(0, np.pi, (n, 1)) * directions(rng, n)), rng.uniform(-0.5, 0.5, (n, 3))
    right = right_turns()[rng.integers(0, 24, n)]
    about_z = exp_rotation(rng.choice([0, np.pi / 2, 1.0], (n, 1)) * [0.0, 0.0, 1.0])
    tilt = exp_rotation(10 ** rng.uniform(-9, -3, (n, 1)) * directions(rng, n))
    rounded = exp_rotation(rng.choice([-1, 1, 2], (n, 1)) * np.pi / 2 * np.eye(3)[rng.integers(0, 3, n)])
    along = p * np.eye(3)[rng.integers(0, 3, n)]
    for i, (turned, at) in enumerate(
        [(np.eye(3), 0 * p), (right, along), (rounded, along), (about_z, p), (tilt, p), (right @ tilt, along)]
    ):
        here = (style == i)[:, None]
        r, p = np.where(here[..., None], turned, r), np.where(here, at, p)
    return frame(r, p)


def axes(rng, n):
    """Axes (n, 3), not of unit length: any, along x, y and z, or almost along z."""
    style = rng.integers(0, 5, n)[:, None]
    main = np.eye(3)[rng.integers(0, 3, n)] * rng.choice([-1, 1], (n, 1))
    nearly = [0, 0, 1] + 10 ** rng.uniform(-9, -3, (n, 1)) * directions(rng, n)
    axis = np.where(style == 0, rng.normal(size=(n, 3)), np.where(style == 1, main, nearly))
    return np.where(style >= 3, [0.0, 0.0, 1.0], axis)


def random_tree(seed, count=None, geometry=False):
    """A linkage of `count` joints (1 to 40 when not said); the same one for the same seed.

    Mimics follow any joint of one freedom, also another mimic, before or after it in the tree.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 41)) if count is None else count
    kinds = [KINDS[k] for k in rng.choice(7, n, p=MIXES[rng.integers(0, 4)])]
    straight = rng.choice([1, 0.9, 0.5, 0])  # how often a joint goes on from the one before
    older = np.where(rng.random(n) < straight, np.arange(n), (rng.random(n) * np.arange(1, n + 1)).astype(int))
    at = Frame(np.concatenate([places(rng, n), base(rng)]))
    axis = axes(rng, n).tolist()
    single = [i for i in rng.permutation(n).tolist() if kinds[i] in SINGLE]
    follows = (rng.random(n) < rng.choice([0, 0.3, 0.7])).tolist()
    which, gain, offset = rng.random(n), rng.choice([-1.5, -1, 0.3, 1, 1.25], n), rng.uniform(-1, 1, n)
    mimics = {  # each follows one that stands before it in a random order, so that none follows itself
        i: Mimic(f"j{single[int(which[i] * k)]}", float(gain[i]), float(offset[i]))
        for k, i in enumerate(single)
        if k and follows[i]
    }
    joints = [
        Joint(f"j{i}", kinds[i], f"l{older[i]}", f"l{i + 1}", at[i], tuple(axis[i]), mimic=mimics.get(i))
        for i in range(n)
    ]
    links = []
    if geometry:
        shapes = [Geometry(Box((1, 2, 3)), at[0]), Geometry(Sphere(1), at[n])]
        links = [Link(f"l{i}", shapes[: i % 3]) for i in range(n + 1)]
    return Linkage(f"tree{seed}", joints, links, at[n])


def base(rng):
    """Where the root is, (1, 4, 4): at the origin, or anywhere."""
    if rng.random() < 0.3:
        return np.eye(4)[None]
    return frame(exp_rotation(rng.uniform(-2, 2, (1, 3))), rng.uniform(-1, 1, (1, 3)))


def random_q(linkage, seed, *lead):
    """Joint values (*lead, dof) for a linkage without limits."""
    return np.random.default_rng(seed).uniform(-3, 3, (*lead, linkage.dof))
