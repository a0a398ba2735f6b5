"""Linkages made from others: a part of one, one with a tool, two joined, one with joints locked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._linkage import tree
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.joint import Joint, Kind, Mimic
from supple.link import Link

if TYPE_CHECKING:
    from supple.linkage import Linkage


def part(linkage: Linkage, root: str, tips: Sequence[str]) -> Linkage:
    """The joints between ``root`` and the tips, or all below it where no tip is given; the base is the identity.

    A mimic whose source is left out becomes an independent joint with its own limits. Of several mimics of the same
    missing source the first in the tree becomes the source of the others, so that they still move together.
    """
    linkage.link(root)
    chosen = _between(linkage, root, tips)
    joints = [joint for joint in linkage.joints if joint.child in chosen and joint.child != root]
    links = [link for link in linkage.links if link.name in chosen]
    return type(linkage)(linkage.name, _with_sources(linkage, joints), links)


def with_tool(linkage: Linkage, link: str, frame: Frame, tool: Link) -> Linkage:
    """The same linkage and the link ``tool``, held at ``frame`` on ``link`` by a fixed joint called ``NAME_mount``."""
    linkage.link(link)
    mount = Joint.fixed(f"{tool.name}_mount", link, tool.name, at=_single(frame, "frame"))
    _refuse_clashes(linkage, [tool], [mount], "choose another name for the tool")
    return type(linkage)(linkage.name, (*linkage.joints, mount), (*linkage.links, tool), linkage.base)


def attach(linkage: Linkage, link: str, other: Linkage, at: Frame | None, prefix: str) -> Linkage:
    """The same linkage with ``other`` on ``link``: the other's world frame is ``at`` that frame of the link.

    The other's links and joints get the prefix. A fixed joint ``{prefix}{other.name}_mount`` holds its root.
    """
    if isinstance(link, type(linkage)):
        raise BadInput(f"the link comes first: write attach({_check.short(other)}, other)")
    linkage.link(link)
    if not isinstance(other, type(linkage)):
        raise BadInput(f"attach needs another Linkage, got {type(other).__name__}")
    _check.text(prefix, "prefix", empty=True)
    links = [dataclasses.replace(link_of_other, name=prefix + link_of_other.name) for link_of_other in other.links]
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
        try:
            names = [values] if isinstance(values, str) else list(values)
        except TypeError:
            raise BadInput(f"locked takes joint values by name, or names, got {_check.short(values)}") from None
        joints_at_rest = [linkage.joint(name) for name in names]
        wanted = {joint.name: joint.rest for joint in joints_at_rest}
    q = linkage.q(wanted)  # refuses unknown names, mimics, and values that are not finite
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
    """The motion of a joint's child from its location, for the joint's own values (kind.dof,)."""
    if joint.kind is Kind.FIXED:
        return Frame()
    if joint.kind is Kind.PRISMATIC:
        return Frame.at(values[0] * np.array(joint.axis))
    if joint.kind is Kind.PLANAR:
        plane = Frame(tree.z_to(joint.axis))
        return plane @ Frame.at([values[0], values[1], 0.0]) @ Frame.turn([0, 0, 1], values[2]) @ plane.inverse()
    if joint.kind is Kind.BALL:
        return Frame.rotvec(values)
    if joint.kind is Kind.FLOATING:
        return Frame.at(values[:3]) @ Frame.rotvec(values[3:])
    return Frame.turn(joint.axis, values[0])


def _between(linkage: Linkage, root: str, tips: Sequence[str]) -> set[str]:
    """Names of the links from the root to the tips, both included."""
    chosen = {root}
    if not tips:
        for joint in linkage.joints:  # parents come before their children
            if joint.parent in chosen:
                chosen.add(joint.child)
        return chosen
    parent = {joint.child: joint.parent for joint in linkage.joints}
    for tip in tips:
        linkage.link(tip)
        way = [tip]
        while way[-1] not in chosen:
            if way[-1] not in parent:
                raise BadInput(f"link {tip!r} is not below {root!r}, so there is no part between them")
            way.append(parent[way[-1]])
        chosen.update(way)
    return chosen


def _with_sources(linkage: Linkage, joints: Sequence[Joint]) -> list[Joint]:
    """The joints, where each mimic whose source is missing has another source or is independent."""
    chosen = {joint.name for joint in joints}
    holder = {linkage._sources[joint.name].first: joint.name for joint in linkage.joints if joint.dof}
    leaders: dict[int, str] = {}
    made = []
    for joint in joints:
        if joint.mimic is not None and joint.mimic.joint not in chosen:
            source = linkage._sources[joint.name]
            if holder[source.first] in chosen:  # only a mimic between the two was left out
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
    """Raise `BadInput` if new links or joints have names that the linkage already has."""
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
