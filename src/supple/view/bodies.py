"""Bodies: which solids each link is drawn with, from its geometry or, where there is none, as limbs and joints."""

from __future__ import annotations

import math

import numpy as np

from supple.frame import Array
from supple.joint import Joint, Kind
from supple.link import Link
from supple.linkage import Linkage
from supple.view import solids
from supple.view.solids import Colour, Solid

LIMB: Colour = (0.89, 0.85, 0.78, 1.0)  # warm off-white, with room above it for highlights
JOINT: Colour = (0.42, 0.58, 0.59, 1.0)  # one muted accent
RAIL: Colour = (0.62, 0.61, 0.59, 1.0)


def bodies(linkage: Linkage) -> tuple[tuple[Solid, ...], ...]:
    """The solids of each link, in the order of the links and in each link's own axes.

    Geometry that cannot be read is replaced, never fatal.
    """
    read = [_geometry(link) for link in linkage.links]
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
    """The longest way from the root to a link in metres; 1 if it has no length at all."""
    return max(ways(linkage).values()) or 1.0


def thickness(linkage: Linkage) -> float:
    """Radius of the thickest limb in metres."""
    return 0.034 * length(linkage)


def _geometry(link: Link) -> tuple[Solid, ...]:
    found = []
    for geometry in link.geometry:
        try:
            parts = solids.solids(geometry.shape, geometry.colour, LIMB)
        except Exception:  # mesh files are read by others, who raise anything; a picture is not worth a crash
            continue
        found += [part.apply_transform(geometry.frame.matrix) for part in parts]
    return tuple(found)


def ways(linkage: Linkage) -> dict[str, float]:
    """Length of the way from the root to each link, along the links, in metres."""
    way = {linkage.root: 0.0}
    for joint in linkage.joints:
        way[joint.child] = way[joint.parent] + float(np.linalg.norm(joint.location.position))
    return way


def _radii(linkage: Linkage) -> dict[str, float]:
    way, thick = ways(linkage), thickness(linkage)
    longest = length(linkage)
    return {name: thick * (1 - 0.5 * far / longest) for name, far in way.items()}


def _limbs(linkage: Linkage, link: Link, radius: dict[str, float]) -> list[Solid]:
    """A limb from the link's origin to each joint it carries, and a rail for each slide."""
    carried = [joint for joint in linkage.joints if joint.parent == link.name]
    parents = {joint.parent for joint in linkage.joints}
    moves = any(joint.kind is not Kind.FIXED or joint.child in parents for joint in carried)
    made = []
    for joint in carried:
        end: Array = joint.location.position
        # a rigid link at the end of a side branch is a sensor or a label: drawn, but thin
        thin = 0.35 if moves and joint.kind is Kind.FIXED and joint.child not in parents else 1.0
        if np.linalg.norm(end) > 1e-6 * radius[linkage.root]:
            made.append(solids.limb((0, 0, 0), end, thin * radius[link.name], thin * radius[joint.child], LIMB))
        if joint.kind is Kind.PRISMATIC and math.isfinite(joint.lower[0]) and math.isfinite(joint.upper[0]):
            along = joint.location.rotation @ np.array(joint.axis)
            r = 0.4 * radius[joint.child]
            made.append(solids.limb(end + joint.lower[0] * along, end + joint.upper[0] * along, r, r, RAIL))
    return made


def _marker(linkage: Linkage, link: Link, radius: float) -> list[Solid]:
    """A body at the link's origin that shows how its joint moves; nothing for a fixed one."""
    joint: Joint | None = next((joint for joint in linkage.joints if joint.child == link.name), None)
    kind = joint.kind if joint else Kind.FIXED
    if joint is None or kind is Kind.FIXED or kind is Kind.FLOATING:
        return []
    if kind is Kind.PRISMATIC:
        return [solids.slab((1.9 * radius, 1.9 * radius, 2.6 * radius), JOINT, joint.axis)]
    if kind is Kind.PLANAR:
        return [solids.slab((4 * radius, 4 * radius, 0.8 * radius), JOINT, joint.axis)]
    if kind is Kind.BALL:
        return [solids.ball(1.45 * radius, JOINT)]
    return [solids.drum(1.25 * radius, 2.9 * radius, JOINT, joint.axis)]
