"""Skin of a linkage: triangles of its shapes, each bound to one link; capsules along links without shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple import _check
from supple._linkage.tree import z_to
from supple.frame import Array, Frame
from supple.joint import Kind
from supple.link import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere
from supple.linkage import Linkage

Colour = tuple[float, float, float, float]
LIMB: Colour = (0.89, 0.85, 0.78, 1.0)  # off-white
SIDES, RINGS = 16, 4  # of round shapes: around, and from the pole of a half sphere to its equator
_SLENDER = 0.12  # radius of a capsule along a link, in its length
_MARKER = 0.35  # of such a radius
_THINNEST, _THICKEST = 0.008, 0.025  # radius of such a capsule, in the size of the figure


@dataclass(frozen=True)
class Surface:
    """Triangles: vertices (n, 3) and unit normals (n, 3) in metres, and faces (m, 3) by vertex."""

    vertices: Array
    normals: Array
    faces: Any
    link: int
    """Index of the link that they move with."""
    colour: Colour


def surfaces(linkage: Linkage, q: Array) -> list[Surface]:
    """The surfaces of all shapes of a linkage in the world, for joint values q (dof,). Mesh files are left out."""
    frames = linkage.frames(_check.own(q))
    return [
        _placed(*_triangles(piece.shape), frames[linkage.links[index].name] @ piece.frame, index, piece.colour or LIMB)
        for index, piece in drawn(linkage, q)
    ]


def drawn(linkage: Linkage, q: Array) -> list[tuple[int, Geometry]]:
    """Shapes that stand for a linkage, each with the index of its link, without mesh files and what is transparent.

    If fewer than half of the links that move have such a shape, as those of most robots, capsules along the others.
    """
    shapes = [
        (index, piece)
        for index, link in enumerate(linkage.links)
        for piece in (link.geometry or ())
        if not isinstance(piece.shape, Mesh) and (piece.colour is None or piece.colour[3] > 0)
    ]
    shaped = {index for index, _ in shapes}
    moving = {joint.child for joint in linkage.joints if joint.dof}
    if shapes and 2 * sum(linkage.links[index].name in moving for index in shaped) >= len(moving):
        return shapes
    return [*shapes, *((index, piece) for index, piece in limbs(linkage, q) if index not in shaped)]


def limbs(linkage: Linkage, q: Array) -> list[tuple[int, Geometry]]:
    """Capsules from each link's origin to those of its children, as geometry of the link with that index."""
    index = {link.name: i for i, link in enumerate(linkage.links)}
    frames = linkage.frames(_check.own(q))
    places = frames.matrix[:, :3, 3]
    free = {joint.child for joint in linkage.joints if joint.kind is Kind.FLOATING and joint.parent == linkage.root}
    moved = np.array([link.name in free or i > 0 for i, link in enumerate(linkage.links)])
    size = float(np.ptp(places[moved], axis=0).max()) if moved.any() else 0.0
    size = size or 1.0
    parents = {joint.parent for joint in linkage.joints}
    movers = {joint.parent for joint in linkage.joints if joint.dof}
    ways = {j.child: (frames[j.parent].inverse() @ frames[j.child]).position for j in linkage.joints}
    # a fixed link at the end of a side branch is a sensor or a marker: of several on one link, the farthest is drawn
    markers: dict[str, list[str]] = {}
    for joint in linkage.joints:
        if not joint.dof and joint.child not in parents and joint.parent in movers:
            markers.setdefault(joint.parent, []).append(joint.child)
    farthest = {max(children, key=lambda child: float(np.linalg.norm(ways[child]))) for children in markers.values()}
    hidden = {child for children in markers.values() for child in children} - farthest
    found = []
    for joint in linkage.joints:
        ends = ways[joint.child]
        length = float(np.linalg.norm(ends))
        if joint.child in free or joint.child in hidden or length < 1e-6 * size:
            continue
        radius = min(max(_SLENDER * length, _THINNEST * size), _THICKEST * size)
        if joint.child in farthest:
            radius *= _MARKER
        axis = ends / length
        turn = Frame.at(ends / 2, z_to((float(axis[0]), float(axis[1]), float(axis[2])))[:3, :3])
        found.append((index[joint.parent], Geometry(Capsule(radius, length), turn)))
    if not found:
        found = [(i, Geometry(Sphere(0.05 * size))) for i in range(len(linkage.links))]
    return found


def _placed(vertices: Array, normals: Array, faces: Any, frame: Frame, link: int, colour: Colour) -> Surface:
    return Surface(frame.apply(vertices), normals @ frame.rotation.T, faces, link, colour)


def _triangles(shape: Shape) -> tuple[Array, Array, Any]:
    if isinstance(shape, Box):
        return _box(np.array(shape.size) / 2)
    if isinstance(shape, Cylinder):
        half, r = shape.length / 2, shape.radius
        profile = [(0, -half, 0, -1), (r, -half, 0, -1), (r, -half, 1, 0), (r, half, 1, 0), (r, half, 0, 1)]
        return _revolved(np.array([*profile, (0, half, 0, 1)], dtype=float))
    half, r = (shape.length / 2, shape.radius) if isinstance(shape, Capsule) else (0.0, shape.radius)  # type: ignore[union-attr]
    turn = np.linspace(-np.pi / 2, 0, RINGS + 1)
    round_end = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    round_end[0, 0] = 0.0
    low = np.column_stack([r * round_end + [0, -half], round_end])
    high = low[::-1] * [1, -1, 1, -1]
    return _revolved(np.concatenate([low, high]))


def _revolved(profile: Array) -> tuple[Array, Array, Any]:
    """The surface of a profile about z; its rows are radius, height, and the normal in the same two directions."""
    around = np.arange(SIDES) * (2 * np.pi / SIDES)
    circle = np.stack([np.cos(around), np.sin(around)], axis=-1)

    def turned(radius: Array, height: Array) -> Array:
        rings = np.empty((len(radius), SIDES, 3))
        rings[..., :2] = radius[:, None, None] * circle
        rings[..., 2] = height[:, None]
        return rings.reshape(-1, 3)

    i, j = np.meshgrid(np.arange(len(profile) - 1), np.arange(SIDES), indexing="ij")
    a, b = i * SIDES + j, i * SIDES + (j + 1) % SIDES
    quads = np.stack([a, b, b + SIDES, a, b + SIDES, a + SIDES], axis=-1).reshape(-1, 3)
    vertices = turned(profile[:, 0], profile[:, 1])
    corners = vertices[quads]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=-1)
    faces = quads[area > 1e-9 * area.max(initial=0)] if area.size else quads
    return vertices, turned(profile[:, 2], profile[:, 3]), faces


def _box(half: Array) -> tuple[Array, Array, Any]:
    vertices: list[Array] = []
    normals: list[Array] = []
    faces: list[tuple[int, int, int]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            normal = np.eye(3)[axis] * sign
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3] * sign
            first = len(vertices)
            for su, sv in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                vertices.append((normal + su * u + sv * v) * half)
                normals.append(normal)
            faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return np.array(vertices), np.array(normals), np.array(faces)
