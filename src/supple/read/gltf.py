"""Reader of .gltf and .glb files: their nodes as a linkage, and one of their animations as joint values in time."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from supple import _check
from supple._figure.convention import Convention
from supple._figure.names import Names
from supple._linkage import limits
from supple.errors import BadInput, BadLinkage
from supple.frame import Array, Frame
from supple.joint import Joint, Kind
from supple.link import Link
from supple.linkage import Linkage
from supple.read import gltf_nodes
from supple.read.gltf_file import Document
from supple.read.gltf_nodes import Node
from supple.read.gltf_sampler import Sampler

_WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}
_FEW, _RATIO = 2**24, 64  # most joint values of a motion: _FEW, or _RATIO times the numbers of its animation


def read(file: str, name: str | None, convention: Convention) -> Linkage:
    """The linkage in a .gltf or .glb file; its buffers are not looked at. Raises `BadLinkage`."""
    document = Document(file)
    return _linkage(document, gltf_nodes.scene(document), name, convention)


def read_motion(file: str, convention: Convention, animation: int | str) -> tuple[Linkage, Array, Array]:
    """The linkage of a file, and times (n,) in seconds and joint values (n, dof) of one of its animations.

    Values between keys are linear. Raises `BadLinkage`, or `BadInput` where there is no such animation.
    """
    document = Document(file)
    nodes = gltf_nodes.scene(document)
    linkage = _linkage(document, nodes, None, convention)
    return linkage, *_motion(document, nodes, linkage, _chosen(document, animation), convention)


# -- the linkage ------------------------------------------------------------------------------------------------------


def _linkage(document: Document, nodes: dict[int, Node], name: str | None, convention: Convention) -> Linkage:
    """A node that does not move and is the only root is the root link; otherwise the root link is ``world``."""
    roots = [node for node in nodes.values() if node.parent is None]
    base, root = convention.turn, ""
    if len(roots) == 1 and _kind(roots[0]) is Kind.FIXED:
        root = roots[0].name
        base = base @ Frame.at(roots[0].position * convention.unit, roots[0].rotation)
    else:
        root = Names(node.name for node in nodes.values()).fresh("world")
    title = os.path.splitext(os.path.basename(document.file))[0] if name is None else name
    try:
        joints = [_joint(node, nodes, root, convention.unit) for node in nodes.values() if node.name != root]
        links = [Link(root), *(Link(node.name) for node in nodes.values() if node.name != root)]
        return Linkage(title, joints, links, base)
    except BadLinkage as error:
        raise BadLinkage(error.reason, element=error.element, file=document.file) from None


def _kind(node: Node) -> Kind:
    """Floating: its translation is animated, or it is the first joint of a skin. Ball: other joints of a skin, and
    nodes whose rotation is animated. Fixed: all others."""
    if "translation" in node.paths or (node.is_joint and not node.below_joint):
        return Kind.FLOATING
    return Kind.BALL if node.is_joint or "rotation" in node.paths else Kind.FIXED


def _joint(node: Node, nodes: dict[int, Node], root: str, unit: float) -> Joint:
    parent = root if node.parent is None else nodes[node.parent].name
    kind = _kind(node)
    position = node.position * unit
    if kind is Kind.FLOATING:
        return Joint.floating(node.name, parent, node.name, rest=[*position, *node.rotation.to_rotvec()])
    at = Frame.at(position, node.rotation)
    make = Joint.ball if kind is Kind.BALL else Joint.fixed
    return make(node.name, parent, node.name, at=at)


# -- the motion -------------------------------------------------------------------------------------------------------


def _chosen(document: Document, animation: int | str) -> int:
    rows = document.all("animations")
    if not rows:
        raise BadInput(f"{document.file}: it has no animation; supple.load reads its linkage")
    names = [row.get("name") if isinstance(row, dict) else None for row in rows]
    if isinstance(animation, str) and animation in names:
        return names.index(animation)
    if isinstance(animation, int) and not isinstance(animation, bool) and 0 <= animation < len(rows):
        return animation
    known = ", ".join(_check.short(name) for name in names[:12])
    raise BadInput(f"{document.file}: no animation {_check.short(animation)}; it has {len(rows)}: {known}")


def _motion(
    document: Document, nodes: dict[int, Node], linkage: Linkage, index: int, convention: Convention
) -> tuple[Array, Array]:
    samplers = _samplers(document, nodes, index)
    moving = {key: sampler for key, sampler in samplers.items() if key[1] != "scale"}
    if not moving:
        raise BadInput(f"{document.file}: animations[{index}] moves no node of the scene")
    times = np.unique(np.concatenate([sampler.keys() for sampler in moving.values()]))
    numbers = sum(sampler.values.size for sampler in moving.values())
    if times.size * linkage.dof > max(_FEW, _RATIO * numbers):
        reason = f"{times.size:,} different times for {linkage.dof:,} joint values need too much memory"
        document.refuse(f"{reason}, for {numbers:,} numbers", f"animations[{index}]")
    q = np.tile(linkage.rest, (len(times), 1))
    node_named = {node.name: node for node in nodes.values()}
    for first, joint in limits.columns(linkage):
        node = node_named[joint.name]
        turns, slides = (samplers.get((node.index, path)) for path in ("rotation", "translation"))
        if slides is not None:
            q[:, first : first + 3] = slides.at(times) * node.above * convention.unit
        if turns is not None:
            rotation = turns.rotation_at(times)
            if joint.kind is Kind.BALL:
                rotation = node.rotation.inverse() @ rotation
            q[:, first + joint.dof - 3 : first + joint.dof] = rotation.to_rotvec()
    return times, q


def _samplers(document: Document, nodes: dict[int, Node], index: int) -> dict[tuple[int, str], Sampler]:
    """The samplers of an animation, by node and path. Animated weights are left out."""
    place = f"animations[{index}]"
    row = document.entry("animations", index, "animations")
    rows = document.rows(row, "samplers", place)
    found: dict[tuple[int, str], Sampler] = {}
    inputs: dict[int, Array] = {}
    for k, channel in enumerate(document.rows(row, "channels", place)):
        here = f"{place}.channels[{k}]"
        target: dict[str, Any] = document.table(channel, here)["target"]
        node, path = nodes.get(target.get("node", -1)), target["path"]
        if path not in _WIDTHS and path != "weights":
            document.refuse(f"unknown path {_check.short(path)}; known: {', '.join(_WIDTHS)}, weights", here)
        if node is None or path == "weights":
            continue
        if (node.index, path) in found:
            document.refuse(f"the {path} of node {node.index} is animated twice", here)
        which = document.whole(channel, "sampler", here)
        if which >= len(rows):
            document.refuse(f"there are {len(rows)} samplers; got index {which}", here)
        sampler = Sampler(
            document, document.table(rows[which], here), path, _WIDTHS[path], f"{place}.samplers[{which}]", inputs
        )
        found[node.index, path] = sampler
        if path == "scale" and not np.abs(sampler.keyed() - node.scale).max() <= 1e-3 * np.abs(node.scale).max():
            document.refuse("its scale changes; links are rigid", f"nodes[{node.index}]")
    return found
