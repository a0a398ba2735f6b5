"""Linkages made from linkages: a part, a tool, another one attached, joints locked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple._linkage import tree as _tree
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.joint import Joint, Kind, Mimic
from supple.link import Geometry, Link

if TYPE_CHECKING:
    from supple.linkage import Linkage


def part(linkage: Linkage, root: str, tips: Sequence[str]) -> Linkage:
    """The joints on the ways from ``root`` to the tips, or all below it where no tip is given; base at identity.

    A mimic whose source is left out becomes a joint of its own, with its own limits. Of several that followed the same
    lost source the first in the tree becomes the source of the others, so that they still move together.
    """
    linkage.link(root)
    kept = _between(linkage, root, tips)
    joints = [joint for joint in linkage.joints if joint.child in kept and joint.child != root]
    links = [link for link in linkage.links if link.name in kept]
    return type(linkage)(linkage.name, _adopted(linkage, joints), links)


def with_tool(linkage: Linkage, link: str, frame: Frame, name: str, geometry: Iterable[Geometry]) -> Linkage:
    """The same linkage and a link ``name``, held at ``frame`` on ``link`` by a fixed joint called ``name_mount``."""
    linkage.link(link)
    tool = Link(name, tuple(geometry))
    mount = Joint.fixed(f"{name}_mount", link, name, at=_single(frame, "frame"))
    _refuse_clashes(linkage, [tool], [mount], "choose another name for the tool")
    return type(linkage)(linkage.name, (*linkage.joints, mount), (*linkage.links, tool), linkage.base)


def attach(linkage: Linkage, link: str, other: Linkage, at: Frame | None, prefix: str) -> Linkage:
    """The same linkage with ``other`` on ``link``: its world comes to lie ``at`` that frame of the link.

    Its links and joints get the prefix; the fixed joint that holds its root is called ``{prefix}{other.name}_mount``.
    """
    linkage.link(link)
    if not isinstance(other, type(linkage)):
        raise BadInput(f"attach needs another Linkage, got {type(other).__name__}")
    if not isinstance(prefix, str):
        raise BadInput(f"prefix must be a string, got {prefix!r}")
    links = [dataclasses.replace(carried, name=prefix + carried.name) for carried in other.links]
    joints = [_prefixed(joint, prefix) for joint in other.joints]
    mount = f"{prefix}{other.name}_mount"
    while any(mount == joint.name for joint in joints):
        mount += "_"
    where = _single(Frame() if at is None else at, "at") @ other.base
    joints.insert(0, Joint.fixed(mount, link, links[0].name, at=where))
    _refuse_clashes(linkage, links, joints, f"give a prefix, such as prefix={f'{other.name}_'!r}")
    return type(linkage)(linkage.name, (*linkage.joints, *joints), (*linkage.links, *links), linkage.base)


def locked(linkage: Linkage, values: Mapping[str, ArrayLike] | Iterable[str]) -> Linkage:
    """The same linkage with joints fixed, at values by name or (names only) at rest; their mimics are fixed too."""
    if isinstance(values, Mapping):
        wanted = dict(values)
    else:
        names = [values] if isinstance(values, str) else list(values)
        wanted = {name: linkage.joint(name).rest for name in names}
    q = linkage.q(wanted)  # refuses names that are unknown or follow, and values that are not finite
    columns = {linkage._sources[name].first for name in wanted}
    joints = []
    for joint in linkage.joints:
        source = linkage._sources.get(joint.name)
        if source is not None and source.first in columns:
            own = source.gain * q[source.first : source.first + joint.kind.dof] + source.offset
            joint = Joint.fixed(joint.name, joint.parent, joint.child, at=joint.location @ articulation(joint, own))
        joints.append(joint)
    return type(linkage)(linkage.name, joints, linkage.links, linkage.base)


def articulation(joint: Joint, values: Array) -> Frame:
    """How far a joint has moved its child from its location, for the joint's own values (kind.dof,)."""
    if joint.kind is Kind.FIXED:
        return Frame()
    if joint.kind is Kind.PRISMATIC:
        return Frame.at(values[0] * np.array(joint.axis))
    if joint.kind is Kind.PLANAR:
        plane = Frame(_tree.z_to(joint.axis))
        return plane @ Frame.at([values[0], values[1], 0.0]) @ Frame.turn([0, 0, 1], values[2]) @ plane.inverse()
    if joint.kind is Kind.BALL:
        return Frame.rotvec(values)
    if joint.kind is Kind.FLOATING:
        return Frame.at(values[:3]) @ Frame.rotvec(values[3:])
    return Frame.turn(joint.axis, values[0])


def _between(linkage: Linkage, root: str, tips: Sequence[str]) -> set[str]:
    """Names of the links from the root to the tips, both included."""
    kept = {root}
    if not tips:
        for joint in linkage.joints:  # parents come before their children
            if joint.parent in kept:
                kept.add(joint.child)
        return kept
    parent = {joint.child: joint.parent for joint in linkage.joints}
    for tip in tips:
        linkage.link(tip)
        way = [tip]
        while way[-1] not in kept:
            if way[-1] not in parent:
                raise BadInput(f"link {tip!r} is not below {root!r}, so no part leads from the one to the other")
            way.append(parent[way[-1]])
        kept.update(way)
    return kept


def _adopted(linkage: Linkage, joints: Sequence[Joint]) -> list[Joint]:
    """The joints, with a source among them for each mimic that has lost its own."""
    kept = {joint.name for joint in joints}
    holder = {linkage._sources[joint.name].first: joint.name for joint in linkage.joints if joint.dof}
    leaders: dict[int, str] = {}
    made = []
    for joint in joints:
        if joint.mimic is not None and joint.mimic.joint not in kept:
            source = linkage._sources[joint.name]
            if holder[source.first] in kept:  # only a mimic between the two was left out
                joint = dataclasses.replace(joint, mimic=Mimic(holder[source.first], source.gain, source.offset))
            elif source.gain == 0:
                moved = articulation(joint, np.array([source.offset]))
                joint = Joint.fixed(joint.name, joint.parent, joint.child, at=joint.location @ moved)
            elif source.first not in leaders:
                leaders[source.first] = joint.name
                rest = source.gain * linkage.rest[source.first] + source.offset
                inside = min(max(rest, joint.lower[0]), joint.upper[0])
                joint = dataclasses.replace(joint, mimic=None, rest=(inside,))
            else:
                leader = linkage._sources[leaders[source.first]]
                gain = source.gain / leader.gain
                mimic = Mimic(leaders[source.first], gain, source.offset - gain * leader.offset)
                joint = dataclasses.replace(joint, mimic=mimic)
        made.append(joint)
    return made


def _prefixed(joint: Joint, prefix: str) -> Joint:
    mimic = joint.mimic and dataclasses.replace(joint.mimic, joint=prefix + joint.mimic.joint)
    name, parent, child = (prefix + old for old in (joint.name, joint.parent, joint.child))
    return dataclasses.replace(joint, name=name, parent=parent, child=child, mimic=mimic)


def _single(frame: Frame, what: str) -> Frame:
    if not isinstance(frame, Frame) or frame.shape != ():
        raise BadInput(f"{what} must be a single Frame")
    return frame


def _refuse_clashes(linkage: Linkage, links: Iterable[Link], joints: Iterable[Joint], remedy: str) -> None:
    """Raise `BadInput` where new links or joints have names that the linkage has already."""
    clashes = []
    for what, new, known in (
        ("link", [link.name for link in links], linkage._link_named),
        ("joint", [joint.name for joint in joints], linkage._joint_named),
    ):
        taken = [name for name in new if name in known]
        if taken:
            shown = ", ".join(map(repr, taken[:6])) + (f" and {len(taken) - 6} more" if len(taken) > 6 else "")
            clashes.append(f"{what}{'s' if len(taken) > 1 else ''} {shown}")
    if clashes:
        raise BadInput(f"{linkage.name!r} already has {' and '.join(clashes)}; {remedy}")
