"""The solids of each link: its geometry, or simple shapes for limbs and joints if it has none."""

from __future__ import annotations

import math

import numpy as np

from supple.frame import Array
from supple.joint import Joint, Kind
from supple.link import Link, Mesh
from supple.linkage import Linkage
from supple.read.mesh_limits import MAX_DRAWN
from supple.view import solids
from supple.view.solids import Colour, Solid

LIMB: Colour = (0.89, 0.85, 0.78, 1.0)  # off-white
JOINT: Colour = (0.42, 0.58, 0.59, 1.0)  # muted teal
RAIL: Colour = (0.62, 0.61, 0.59, 1.0)


def bodies(linkage: Linkage) -> tuple[tuple[Solid, ...], ...]:
    """The solids of each link in its own axes, in the order of the links.

    Geometry that cannot be read is replaced by simple shapes, as are meshes beyond `MAX_DRAWN` triangles in all.
    """
    read, drawn = [], 0
    for link in linkage.links:
        found, drawn = _geometry(link, drawn)
        read.append(found)
    bare = not any(read)
    radius = _radii(linkage)
    made = []
    for link, own in zip(linkage.links, read, strict=True):
        parts = list(own)
        if bare or (link.geometry and not own):
            parts += _limbs(linkage, link, radius)
        if not own:
            parts += _marker(linkage, link, radius[link.name] if bare else 0.8 * radius[link.name])
        made.append(tuple(parts))
    return tuple(made)


def length(linkage: Linkage) -> float:
    """The longest path from the root to a link in metres; 1 for a linkage without any length."""
    return max(ways(linkage).values()) or 1.0


def thickness(linkage: Linkage) -> float:
    """Radius of the thickest limb in metres."""
    return 0.034 * length(linkage)


def _geometry(link: Link, drawn: int) -> tuple[tuple[Solid, ...], int]:
    """The solids of a link, and the number of triangles of meshes so far, of which ``drawn`` were before."""
    found = []
    for geometry in link.geometry:
        is_mesh = isinstance(geometry.shape, Mesh)
        if is_mesh and drawn > MAX_DRAWN:
            continue
        try:
            parts = solids.solids(geometry.shape, geometry.colour, LIMB)
        except Exception:  # readers of mesh files raise all kinds of exceptions; a picture must not fail
            continue
        found += [part.apply_transform(geometry.frame.matrix) for part in parts]
        drawn += sum(len(part.faces) for part in parts) if is_mesh else 0
    return tuple(found), drawn


def ways(linkage: Linkage) -> dict[str, float]:
    """Length of the path from the root to each link, along the links, in metres."""
    way = {linkage.root: 0.0}
    for joint in linkage.joints:
        way[joint.child] = way[joint.parent] + float(np.linalg.norm(_place(linkage, joint)))
    return way


def _place(linkage: Linkage, joint: Joint) -> Array:
    """Where a joint is in its parent (3,), in metres.

    One that floats within a figure, as where a file has position channels for every joint, is where it rests.
    """
    if joint.kind is Kind.FLOATING and joint.parent != linkage.root:
        return joint.location.apply(np.array(joint.rest[:3]))
    return joint.location.position


def _radii(linkage: Linkage) -> dict[str, float]:
    way, thick = ways(linkage), thickness(linkage)
    longest = length(linkage)
    return {name: thick * (1 - 0.5 * far / longest) for name, far in way.items()}


def _limbs(linkage: Linkage, link: Link, radius: dict[str, float]) -> list[Solid]:
    """A limb from the origin of a link to each of its joints, and a rail for each prismatic joint."""
    carried = [joint for joint in linkage.joints if joint.parent == link.name]
    parents = {joint.parent for joint in linkage.joints}
    moves = any(joint.kind is not Kind.FIXED or joint.child in parents for joint in carried)
    made = []
    for joint in carried:
        end = _place(linkage, joint)
        # a fixed link at the end of a side branch is a sensor or a marker: drawn thin
        thin = 0.35 if moves and joint.kind is Kind.FIXED and joint.child not in parents else 1.0
        if np.linalg.norm(end) > 1e-6 * radius[linkage.root]:
            made.append(solids.limb((0, 0, 0), end, thin * radius[link.name], thin * radius[joint.child], LIMB))
        if joint.kind is Kind.PRISMATIC and math.isfinite(joint.lower[0]) and math.isfinite(joint.upper[0]):
            along = joint.location.rotation @ np.array(joint.axis)
            r = 0.4 * radius[joint.child]
            made.append(solids.limb(end + joint.lower[0] * along, end + joint.upper[0] * along, r, r, RAIL))
    return made


def _marker(linkage: Linkage, link: Link, radius: float) -> list[Solid]:
    """A solid at the origin of a link that shows the kind of its joint; none for a fixed joint."""
    joint: Joint | None = next((joint for joint in linkage.joints if joint.child == link.name), None)
    kind = joint.kind if joint else Kind.FIXED
    if joint is None or kind is Kind.FIXED or (kind is Kind.FLOATING and joint.parent == linkage.root):
        return []
    if kind is Kind.PRISMATIC:
        return [solids.slab((1.9 * radius, 1.9 * radius, 2.6 * radius), JOINT, joint.axis)]
    if kind is Kind.PLANAR:
        return [solids.slab((4 * radius, 4 * radius, 0.8 * radius), JOINT, joint.axis)]
    if kind in (Kind.BALL, Kind.FLOATING):
        return [solids.ball(1.45 * radius, JOINT)]
    return [solids.drum(1.25 * radius, 2.9 * radius, JOINT, joint.axis)]
