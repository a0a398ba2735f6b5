"""Geometry of the links in a URDF file, with colours and paths of meshes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from supple.frame import Frame
from supple.link import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere
from supple.read.fields import Fields
from supple.read.meshes import Finder

if TYPE_CHECKING:
    from lxml.etree import _Element

Colour = tuple[float, float, float, float]


def origin(fields: Fields, node: _Element) -> Frame:
    """The frame in the <origin> of an element; the identity without one."""
    place = fields.only(node, "origin")
    if place is None:
        return Frame()
    position = fields.numbers(place, "xyz", 3) or (0.0, 0.0, 0.0)
    angles = fields.numbers(place, "rpy", 3)
    quaternion = fields.numbers(place, "quat_xyzw", 4)
    if quaternion is None:
        return Frame.at(position, Frame.fixed("xyz", angles or (0.0, 0.0, 0.0)))
    if angles is not None:
        raise fields.bad(place, "<origin> has both 'rpy' and 'quat_xyzw'; expected one of them")
    length = max(map(abs, quaternion))
    if length == 0:
        raise fields.bad(place, "'quat_xyzw' of <origin> must not be zero")
    x, y, z, w = (value / length for value in quaternion)
    return Frame.at(position, Frame.quaternion((w, x, y, z)))


def colours(fields: Fields) -> dict[str, Colour]:
    """Colours by the name of their material; those at the top of the file come first."""
    found: dict[str, Colour] = {}
    top = list(fields.children(fields.root, "material"))
    inside = [
        material
        for link in fields.children(fields.root, "link")
        for visual in fields.children(link, "visual")
        for material in fields.children(visual, "material")
    ]
    for material in top + inside:
        colour = _own_colour(fields, material)
        if colour is not None:
            found.setdefault(material.get("name", ""), colour)
    return found


def geometry(fields: Fields, link: _Element, named: dict[str, Colour], finder: Finder) -> tuple[Geometry, ...]:
    """Geometry of a link: its <visual> elements, or its <collision> elements if it has none."""
    pieces = list(fields.children(link, "visual")) or list(fields.children(link, "collision"))
    found = []
    for piece in pieces:
        frame = origin(fields, piece)
        holder = fields.only(piece, "geometry")
        shape = None if holder is None else _shape(fields, holder, finder)
        if shape is not None:
            material = fields.only(piece, "material")
            colour = None
            if material is not None:
                colour = _own_colour(fields, material) or named.get(material.get("name", ""))
            found.append(Geometry(shape, frame, colour))
    return tuple(found)


def _own_colour(fields: Fields, material: _Element) -> Colour | None:
    node = fields.only(material, "color")
    values = None if node is None else fields.numbers(node, "rgba", 4)
    if values is None:
        return None
    red, green, blue, opacity = (min(max(value, 0.0), 1.0) for value in values)
    return red, green, blue, opacity


def _shape(fields: Fields, holder: _Element, finder: Finder) -> Shape | None:
    """The first shape of a kind that is known; None where there is none, which changes nothing about the motion."""
    node = next(fields.children(holder, "box", "sphere", "cylinder", "capsule", "mesh"), None)
    if node is None:
        return None
    tag = fields.tag(node)
    if tag == "mesh":
        path, there = finder.find(fields.text(node, "filename"))
        x, y, z = fields.numbers(node, "scale", 3) or (1.0, 1.0, 1.0)
        return Mesh(path, (x, y, z), there)
    if tag == "box":
        x, y, z = _lengths(fields, node, "size", 3)
        return Box((x, y, z))
    (radius,) = _lengths(fields, node, "radius", 1)
    if tag == "sphere":
        return Sphere(radius)
    (length,) = _lengths(fields, node, "length", 1)
    return Cylinder(radius, length) if tag == "cylinder" else Capsule(radius, length)


def _lengths(fields: Fields, node: _Element, attribute: str, count: int) -> tuple[float, ...]:
    fields.text(node, attribute)
    values = fields.numbers(node, attribute, count) or ()
    if min(values) < 0:
        raise fields.bad(node, f"{attribute!r} of <{fields.tag(node)}> must not be negative, got {min(values):g}")
    return values
