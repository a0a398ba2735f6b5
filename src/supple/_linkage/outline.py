"""The convex outline of points in a plane."""

from __future__ import annotations

import math

import numpy as np

from supple.frame import Array


def directions(normal: Array) -> tuple[Array, Array]:
    """Two unit vectors (3,) of a plane, from its normal (3,): in a picture one to the right, one upward."""
    up = np.array([0.0, 0.0, 1.0] if abs(normal[2]) < 0.9 else [0.0, 1.0, 0.0])
    v = up - (up @ normal) * normal
    v = v / np.linalg.norm(v)
    u = np.cross(v, normal)
    return (u if u[np.argmax(np.abs(u))] > 0 else -u), v


def hull(points: Array) -> Array:
    """Corners (k, 2) of the convex hull of points (n, 2), in order."""
    if len(points) > 1000:  # no point inside the hull of the extremes in 64 directions is a corner
        angles = np.linspace(0, 2 * math.pi, 64, endpoint=False)
        ways = np.stack([np.cos(angles), np.sin(angles)])
        rough = hull(points[(points @ ways).argmax(axis=0)])
        edges = np.roll(rough, -1, axis=0) - rough
        normals = np.stack([edges[:, 1], -edges[:, 0]])
        points = points[(points @ normals - (rough * normals.T).sum(axis=-1) >= 0).any(axis=-1)]
    ordered = np.unique(points, axis=0)
    halves: list[list[Array]] = []
    for row in (ordered, ordered[::-1]):
        half: list[Array] = []
        for p in row:
            while len(half) > 1 and _turn(half[-2], half[-1], p) <= 0:
                half.pop()
            half.append(p)
        halves.append(half[:-1] if len(half) > 1 else half[: 1 - len(halves)])
    return np.array(halves[0] + halves[1]).reshape(-1, 2)


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
