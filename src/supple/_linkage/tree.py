"""The tree of a linkage: joints checked, ordered depth first, and flattened for the native core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from supple import _check, _core
from supple.errors import BadLinkage
from supple.frame import Frame
from supple.joint import Joint, Kind
from supple.link import Link


def arrange(joints: Iterable[Joint], links: Iterable[Link]) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """Links and joints in depth-first order, parents before children; raises `BadLinkage` unless they are one tree.

    Links that are not given are made from the names in the joints.
    """
    by_name: dict[str, Link] = {}
    for link in links:
        if not isinstance(link, Link):
            raise BadLinkage(f"expected a Link, got {type(link).__name__}")
        if link.name in by_name:
            raise BadLinkage("two links have this name", element=f"link {link.name!r}")
        by_name[link.name] = link
    made: list[tuple[str, Joint, str]] = []  # the links that were not given
    given = bool(by_name)
    parent_of: dict[str, Joint] = {}
    children: dict[str, list[Joint]] = {}
    seen: set[str] = set()
    for joint in joints:
        if not isinstance(joint, Joint):
            hint = "; put a * before it to pass its joints one by one" if isinstance(joint, tuple | list) else ""
            raise BadLinkage(f"expected a Joint, got {type(joint).__name__}{hint}")
        if joint.name in seen:
            raise BadLinkage("two joints have this name", element=f"joint {joint.name!r}")
        seen.add(joint.name)
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in by_name:
                made.append((role, joint, name))
                by_name[name] = Link(name)
        if joint.child in parent_of:
            other = parent_of[joint.child].name
            raise BadLinkage(
                f"link {joint.child!r} has two parents: it is also the child of joint {other!r}",
                element=f"joint {joint.name!r}",
            )
        parent_of[joint.child] = joint
        children.setdefault(joint.parent, []).append(joint)
    if not by_name:
        raise BadLinkage("a linkage needs at least one link")
    roots = [name for name in by_name if name not in parent_of]
    if not roots:
        raise BadLinkage("the joints form a circle: every link has a parent", element=f"link {next(iter(by_name))!r}")
    ordered_links, ordered_joints = [by_name[roots[0]]], []
    waiting = list(reversed(children.get(roots[0], ())))
    while waiting:
        joint = waiting.pop()
        ordered_joints.append(joint)
        ordered_links.append(by_name[joint.child])
        waiting.extend(reversed(children.get(joint.child, ())))
    if len(ordered_links) < len(by_name):
        if given and made:  # a link that was given is not in the tree: likely its name is misspelt in a joint
            role, joint, name = made[0]
            alone = [one for one in by_name if one not in parent_of and one not in children]
            hint = f", and no joint names the link {alone[0]!r}" if alone else ""
            raise BadLinkage(f"its {role} link {name!r} does not exist{hint}", element=f"joint {joint.name!r}")
        reached = {link.name for link in ordered_links}
        if len(roots) > 1:
            raise BadLinkage(
                f"a tree has one root, but {roots[1]!r} has no parent either, like {roots[0]!r}",
                element=f"link {roots[1]!r}",
            )
        lost = next(name for name in by_name if name not in reached)
        above: set[str] = set()
        while lost not in above:  # go up from a link that may hang below the circle, until a link repeats
            above.add(lost)
            lost = parent_of[lost].parent
        raise BadLinkage("it is part of a circle of joints", element=f"link {lost!r}")
    return tuple(ordered_links), tuple(ordered_joints)


@dataclass(frozen=True)
class Source:
    """The values of q that move a joint: ``gain * q[first:first + dof] + offset``."""

    first: int
    gain: float
    offset: float


def sources(joints: Sequence[Joint]) -> dict[str, Source]:
    """Where each moving joint's values come from, mimics of mimics resolved; raises `BadLinkage` on a bad mimic."""
    by_name = {joint.name: joint for joint in joints}
    found: dict[str, Source] = {}
    first = 0
    for joint in joints:
        if joint.dof:
            found[joint.name] = Source(first, 1.0, 0.0)
            first += joint.dof
    for joint in joints:
        if joint.mimic is None:
            continue
        chain: list[Joint] = []
        passed: set[str] = set()
        at = joint
        while at.name not in found:  # up to a joint with values of its own
            if at.mimic is None:
                raise _no_source(at, chain[-1])
            chain.append(at)
            passed.add(at.name)
            if at.mimic.joint not in by_name:
                raise BadLinkage(f"it mimics {at.mimic.joint!r}, which does not exist", element=f"joint {at.name!r}")
            at = by_name[at.mimic.joint]
            if at.name in passed:
                circle = [repr(j.name) for j in chain[chain.index(at) :]]
                what = "itself" if len(circle) == 1 else "in a circle: " + ", ".join([*circle, repr(at.name)])
                raise BadLinkage(f"it mimics {what}", element=f"joint {at.name!r}")
        if chain and at.kind.dof != 1:
            raise _no_source(at, chain[-1])
        for follower in reversed(chain):
            mimic = follower.mimic
            assert mimic is not None
            source = found[mimic.joint]
            gain, offset = mimic.gain * source.gain, mimic.gain * source.offset + mimic.offset
            if not (abs(gain) <= _check.LARGEST and abs(offset) <= _check.LARGEST):
                raise BadLinkage(
                    f"gain and offset of a chain of mimics, multiplied, must be within {_check.LARGEST:g}",
                    element=f"joint {follower.name!r}",
                )
            found[follower.name] = Source(source.first, gain, offset)
    return found


def _no_source(source: Joint, follower: Joint) -> BadLinkage:
    reason = (
        f"it mimics {source.name!r}, a {source.kind.value} joint; only joints of one degree of freedom can be mimicked"
    )
    return BadLinkage(reason, element=f"joint {follower.name!r}")


def flatten(
    links: Sequence[Link], joints: Sequence[Joint], base: Frame, values: dict[str, Source], dof: int
) -> _core.Tree:
    """The native tree: fixed joints folded into others, every axis along z, joints of several values split up."""
    revolute, prismatic, ball = 0, 1, 2
    motion: list[int] = []
    parent: list[int] = []
    index: list[int] = []
    gain: list[float] = []
    offset: list[float] = []
    location: list[np.ndarray] = []
    node: dict[str, int] = {links[0].name: -1}
    post: dict[str, np.ndarray] = {links[0].name: base.matrix}

    def add(kind: int, after: int, q: int, source: Source, frame: np.ndarray) -> int:
        motion.append(kind)
        parent.append(after)
        index.append(q)
        gain.append(source.gain)
        offset.append(source.offset)
        location.append(frame)
        return len(motion) - 1

    for joint in joints:
        after = node[joint.parent]
        here = post[joint.parent] @ joint.location.matrix
        if joint.kind is not Kind.FIXED:
            source = values[joint.name]
            q = source.first
            if joint.kind in (Kind.BALL, Kind.FLOATING):
                if joint.kind is Kind.FLOATING:
                    for rotation in (_FROM_X, _FROM_Y, _FROM_Z):
                        after, here, q = add(prismatic, after, q, source, here @ rotation), rotation.T, q + 1
                after, here = add(ball, after, q, source, here), np.eye(4)
            else:
                rotation = z_to(joint.axis)
                if joint.kind is Kind.PLANAR:
                    for along in (_FROM_X, _FROM_Y):
                        after, here, q = (
                            add(prismatic, after, q, source, here @ rotation @ along),
                            along.T @ rotation.T,
                            q + 1,
                        )
                kind = prismatic if joint.kind is Kind.PRISMATIC else revolute
                after, here = add(kind, after, q, source, here @ rotation), rotation.T
        node[joint.child], post[joint.child] = after, here
    names = tuple(link.name for link in links)
    return _core.Tree(
        np.array(motion, np.int32),
        np.array(parent, np.int32),
        np.array(index, np.int32),
        np.array(gain, float),
        np.array(offset, float),
        np.array(location, float).reshape(-1, 4, 4),
        names,
        np.array([node[name] for name in names], np.int32),
        np.array([post[name] for name in names], float),
        dof,
    )


def z_to(axis: tuple[float, float, float]) -> np.ndarray:
    """A rotation (4, 4) that takes z to a unit axis: the shortest for z >= 0; exact for the three main axes."""
    x, y, z = axis
    rotation = np.eye(4)
    if z < 0:  # after half a turn about x, since 1 + z may be nearly zero
        half: np.ndarray = np.diag([1.0, -1.0, -1.0, 1.0]) @ z_to((x, -y, -z))
        return half
    k = 1 / (1 + z)
    rotation[:3, :3] = [[1 - k * x * x, -k * x * y, x], [-k * x * y, 1 - k * y * y, y], [-x, -y, z]]
    return rotation


_FROM_X, _FROM_Y, _FROM_Z = (z_to(axis) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
