"""Triangle meshes of boxes, cylinders, spheres, limbs and mesh files, with smooth shading."""

from __future__ import annotations

from typing import Any

import numpy as np
import trimesh
from numpy.typing import ArrayLike, NDArray

from supple.frame import Array, Frame
from supple.link import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from supple.read import isolated

Colour = tuple[float, float, float, float]
Solid = Any  # a trimesh.Trimesh
ROUND = 40  # sides of a cylinder
CREASE = np.cos(np.radians(40))  # cosine of the angle between faces; sharper edges stay sharp
FAN = 64  # largest number of neighbours of a vertex that are compared
COMPARED = 20_000_000  # comparisons of all corners; above, fewer neighbours of each are compared, at least eight


def solids(shape: Shape, colour: Colour | None, default: Colour) -> list[Solid]:
    """The coloured triangles of a shape in its own axes; raises what the reader of a mesh file raises."""
    if isinstance(shape, Mesh):
        return _from_file(shape, colour, default)
    paint_with = colour or default
    if isinstance(shape, Box):
        return [slab(shape.size, paint_with)]
    if isinstance(shape, Sphere):
        return [ball(shape.radius, paint_with)]
    if isinstance(shape, Cylinder):
        return [drum(shape.radius, shape.length, paint_with)]
    assert isinstance(shape, Capsule)
    half, r = shape.length / 2, shape.radius
    return [limb([0, 0, -half], [0, 0, half], r, r, paint_with)]


def _from_file(shape: Mesh, colour: Colour | None, default: Colour) -> list[Solid]:
    """The parts of a mesh file, each in one colour: the given one, its own main colour, or the default."""
    scaled = np.diag([*shape.scale, 1.0])
    return [
        paint(trimesh.Trimesh(vertices, faces, process=False), colour or _colour(own) or default, scaled @ placed)
        for vertices, faces, own, placed in isolated.mesh(shape.path)
    ]


def _colour(own: list[float] | None) -> Colour | None:
    return None if own is None else (own[0], own[1], own[2], own[3])


def drum(radius: float, length: float, colour: Colour, axis: ArrayLike = (0, 0, 1)) -> Solid:
    """A cylinder along an axis, with bevelled edges, centred at the origin."""
    bevel, half = 0.12 * min(radius, length / 2), length / 2
    rim = [(0, -half), (radius - bevel, -half), (radius, bevel - half)]
    body = trimesh.creation.revolve([*rim, *((r, -z) for r, z in reversed(rim))], sections=ROUND)
    return paint(body, colour, _facing(axis))


def slab(size: tuple[float, float, float], colour: Colour, axis: ArrayLike = (0, 0, 1)) -> Solid:
    """A box whose z axis points along an axis, centred at the origin."""
    return paint(trimesh.creation.box(size), colour, _facing(axis))


def ball(radius: float, colour: Colour) -> Solid:
    """A ball, centred at the origin."""
    return paint(trimesh.creation.icosphere(subdivisions=3, radius=radius), colour)


def limb(start: ArrayLike, end: ArrayLike, thick: float, thin: float, colour: Colour) -> Solid:
    """A round limb between two points, from radius ``thick`` to radius ``thin``, with rounded ends."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(b - a))
    turn = np.linspace(-np.pi / 2, 0, 9)
    low = np.stack([thick * np.cos(turn), thick * np.sin(turn)], axis=-1)
    high = np.stack([thin * np.cos(turn), length - thin * np.sin(turn)], axis=-1)[::-1]
    profile = np.concatenate([low, high])
    profile[[0, -1], 0] = 0.0
    body = trimesh.creation.revolve(profile, sections=ROUND)
    return paint(body, colour, Frame.at(a).matrix @ _facing((b - a) / length if length else (0, 0, 1)))


def paint(mesh: Solid, colour: Colour, placed: Array | None = None) -> Solid:
    """The mesh transformed, in one colour, with normals that keep sharp edges sharp."""
    if placed is not None:
        mesh.apply_transform(placed)
    vertices, faces, normals = _creased(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    material = trimesh.visual.material.PBRMaterial(
        baseColorFactor=np.round(np.append(np.array(colour[:3]) ** 2.2, colour[3]) * 255).astype(
            np.uint8
        ),  # linear light
        metallicFactor=0.0,
        roughnessFactor=0.65,
        alphaMode="OPAQUE" if colour[3] >= 1 else "BLEND",
        doubleSided=True,
    )
    skin = trimesh.visual.TextureVisuals(material=material)
    return trimesh.Trimesh(vertices, faces, vertex_normals=normals, visual=skin, process=False)


def _facing(axis: ArrayLike) -> Array:
    """A rotation (4, 4) of the z axis to a unit vector."""
    x, y, z = (float(value) for value in np.asarray(axis, dtype=float))
    around = np.array([-y, x, 0.0])
    length = float(np.linalg.norm(around))
    if length < 1e-12:
        return np.eye(4) if z > 0 else np.diag([1.0, -1.0, -1.0, 1.0])
    return Frame.turn(around, np.arctan2(length, z)).matrix


def _creased(vertices: Array, faces: NDArray[np.intp]) -> tuple[Array, NDArray[np.intp], Array]:
    """Vertices (n, 3), faces (m, 3) and normals (n, 3); faces share a vertex only if they meet smoothly.

    A browser shades each vertex with the mean normal of its faces, so faces that share no vertex have a sharp edge.
    """
    _, same = np.unique(np.round(vertices / max(float(np.ptp(vertices)), 1e-12), 7), axis=0, return_inverse=True)
    at = same.reshape(-1)[faces.reshape(-1)]  # index of the position of each corner; equal for corners that touch
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    big = np.cross(b - a, c - a)  # its length is twice the area of the face, which is its weight
    unit = np.repeat(big / np.maximum(np.linalg.norm(big, axis=-1, keepdims=True), 1e-30), 3, axis=0)
    big = np.repeat(big, 3, axis=0)
    order = np.argsort(at, kind="stable")
    count = np.bincount(at, minlength=int(at.max(initial=-1)) + 1)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    normals = big.copy()
    fan = min(FAN, max(8, COMPARED // max(len(at), 1)))
    for step in range(min(int(count.max(initial=0)), fan)):  # the step-th neighbour of every corner
        has = np.flatnonzero(count[at] > step)
        other = order[first[at[has]] + step]
        smooth = (np.sum(unit[has] * unit[other], axis=-1) > CREASE) & (other != has)
        normals[has] += np.where(smooth[:, None], big[other], 0.0)
    normals /= np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-30)
    alike = np.column_stack([at, np.round(normals, 3) + 0.0])
    _, first, corner = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    return vertices[faces.reshape(-1)[first]], corner.reshape(-1, 3), normals[first]
