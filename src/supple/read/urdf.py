"""Reader of URDF."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from supple.errors import BadLinkage
from supple.joint import Joint, Kind, Mimic
from supple.link import FARTHEST, HEAVIEST, Geometry, Link
from supple.linkage import Linkage
from supple.read import safe_xml, shapes
from supple.read.fields import Fields
from supple.read.meshes import Finder
from supple.read.mimic_limits import narrowed

if TYPE_CHECKING:
    from lxml.etree import _Element

_KINDS = {kind.value: kind for kind in Kind} | {"spherical": Kind.BALL}
_LIMITED = (Kind.REVOLUTE, Kind.PRISMATIC)
_ONE_VALUE = (Kind.REVOLUTE, Kind.PRISMATIC, Kind.CONTINUOUS)


def read(file: str, finder: Finder, name: str | None, arguments: Mapping[str, str] | None) -> Linkage:
    """The linkage in a .urdf file."""
    return build(safe_xml.parse(safe_xml.read_bytes(file), file), file, finder, name)


def build(root: _Element, file: str, finder: Finder, name: str | None = None, *, lines: bool = True) -> Linkage:
    """The linkage of a <robot> element; raises `BadLinkage` if it has an error.

    ``lines`` is False when the XML was generated from the file, so that its lines are not the file's.
    """
    fields = Fields(file, root, lines=lines)
    if fields.tag(root) != "robot":
        raise fields.bad(root, f"the root element is <{fields.tag(root)[:80]}>; expected <robot>")
    for child in root:
        if child.tag.startswith("xacro:") or "/xacro}" in child.tag:
            raise fields.bad(
                child, "the file holds xacro that is not expanded; give the file a name that ends in .xacro"
            )
    named = shapes.colours(fields)
    links = {}
    for node in fields.children(root, "link"):
        link = fields.declare(node)
        try:
            geometry = shapes.geometry(fields, node, named, finder)
            links[link] = _link(fields, node, link, geometry)
        except BadLinkage as error:  # of a shape or a link, which know no file
            raise (error if error.file else fields.bad(node, error.reason)) from None
    if not links:
        raise fields.bad(root, "a <robot> needs at least one <link>")
    nodes = {fields.declare(node): node for node in fields.children(root, "joint")}
    try:
        joints = [_joint(fields, node, joint, links, nodes) for joint, node in nodes.items()]
        return Linkage(name or root.get("name") or "robot", narrowed(joints), links.values())
    except BadLinkage as error:
        raise (error if error.file else fields.placed(error)) from None


def _link(fields: Fields, node: _Element, name: str, geometry: tuple[Geometry, ...]) -> Link:
    """A link with the mass and the centre of mass in its <inertial>, where it has one."""
    inertial = fields.only(node, "inertial")
    if inertial is None:
        return Link(name, geometry)
    mass_node = fields.only(inertial, "mass")
    if mass_node is None:
        raise fields.bad(inertial, "<inertial> needs a <mass>")
    fields.text(mass_node, "value")
    mass = fields.number(mass_node, "value", 0.0)
    if not 0 <= mass <= HEAVIEST:
        raise fields.bad(mass_node, f"'value' of <mass> must be between 0 and {HEAVIEST:g} kg, got {mass:g}")
    origin = fields.only(inertial, "origin")
    if origin is None:
        return Link(name, geometry, mass)
    x, y, z = fields.numbers(origin, "xyz", 3) or (0.0, 0.0, 0.0)
    if max(abs(x), abs(y), abs(z)) > FARTHEST:
        raise fields.bad(origin, f"'xyz' of <origin> must be within {FARTHEST:g} m, got {max(x, y, z, key=abs):g}")
    return Link(name, geometry, mass, (x, y, z))


def _joint(
    fields: Fields, node: _Element, name: str, links: Mapping[str, Link], joints: Mapping[str, _Element]
) -> Joint:
    kind = _KINDS[fields.reference(node, "type", "kind of joint", _KINDS)]
    parent, child = (
        fields.reference(_needed(fields, node, role), "link", "link", links) for role in ("parent", "child")
    )
    location = shapes.origin(fields, node)
    axis_node = fields.only(node, "axis")
    limit = fields.only(node, "limit")
    mimic_node = fields.only(node, "mimic")
    if kind in (Kind.FIXED, Kind.FLOATING):  # neither has an axis, a scalar limit or a value to mimic with
        return Joint(name, kind, parent, child, location)
    axis = (1.0, 0.0, 0.0)
    if axis_node is not None:
        x, y, z = fields.numbers(axis_node, "xyz", 3) or axis
        axis = (x, y, z)
    if kind not in _ONE_VALUE:
        return Joint(name, kind, parent, child, location, axis)
    lower, upper, speed = -math.inf, math.inf, math.inf
    if limit is not None:
        if kind in _LIMITED:
            lower, upper = fields.number(limit, "lower", 0.0), fields.number(limit, "upper", 0.0)
        speed = fields.number(limit, "velocity", 0.0) or math.inf
    mimic = None
    if mimic_node is not None:
        source = fields.reference(mimic_node, "joint", "joint", joints)
        mimic = Mimic(source, fields.number(mimic_node, "multiplier", 1.0), fields.number(mimic_node, "offset", 0.0))
    return Joint(name, kind, parent, child, location, axis, (lower,), (upper,), (speed,), mimic=mimic)


def _needed(fields: Fields, node: _Element, tag: str) -> _Element:
    found = fields.only(node, tag)
    if found is None:
        raise fields.bad(node, f"a joint needs a <{tag}>")
    return found
