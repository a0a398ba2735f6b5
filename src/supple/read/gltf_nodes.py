"""Nodes of a .gltf or .glb file: a tree of links with rigid local frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple import _check
from supple._figure.names import Names
from supple.frame import Array, Frame
from supple.read.gltf_file import Document

_TOLERANCE = 1e-3  # of scale factors and of the angles between axes
_MAX_NAME = 200


@dataclass
class Node:
    """A node of the scene."""

    index: int
    name: str
    parent: int | None
    position: Array
    """In its parent, in units of the world of the file: scales above it are multiplied in."""
    rotation: Frame
    scale: Array
    above: float
    """The product of the scales above it."""
    is_joint: bool = False
    """Whether a skin names it."""
    below_joint: bool = False
    """Whether a skin names a node above it."""
    paths: set[str] = field(default_factory=set)
    """What animations change of it: translation, rotation, scale or weights."""


def scene(document: Document) -> dict[int, Node]:
    """The nodes of the scene by their index, parents before children.

    A skinned mesh has no place of its own, so its node is left out, unless something is below it.
    """
    rows = document.all("nodes")
    children = [_children(document, index, rows) for index in range(len(rows))]
    parents = _parents(document, children)
    targets = _targets(document)
    joints = {
        joint
        for k, skin in enumerate(document.all("skins"))
        for joint in document.rows(document.table(skin, f"skins[{k}]"), "joints", f"skins[{k}]")
        if isinstance(joint, int)
    }
    found: dict[int, Node] = {}
    names = Names()
    waiting = list(reversed(_roots(document, parents)))
    while waiting:
        index = waiting.pop()
        row = rows[index]
        if "skin" in row and not children[index] and index not in targets and index not in joints:
            continue
        parent = found.get(parents[index])
        node = _node(document, index, row, parent, bool(children[index]))
        name = row.get("name")
        node.name = names.fresh((name if isinstance(name, str) and name else f"node{index}")[:_MAX_NAME])
        node.is_joint, node.paths = index in joints, targets.get(index, set())
        node.below_joint = parent is not None and (parent.is_joint or parent.below_joint)
        found[index] = node
        waiting.extend(reversed(children[index]))
    if not found:
        document.refuse("there are no nodes", "nodes")
    return found


def _children(document: Document, index: int, rows: list[Any]) -> list[int]:
    place = f"nodes[{index}]"
    found = document.rows(document.table(rows[index], place), "children", place)
    for child in found:
        document.entry("nodes", child, place)
    return found


def _parents(document: Document, children: list[list[int]]) -> list[int]:
    """The parent of each node, -1 for none; refuses two parents, and circles."""
    parents = [-1] * len(children)
    for index, below in enumerate(children):
        for child in below:
            if parents[child] != -1:
                document.refuse(f"it has two parents, nodes {parents[child]} and {index}", f"nodes[{child}]")
            parents[child] = index
    waiting = [index for index, parent in enumerate(parents) if parent == -1]
    lost = set(range(len(children)))
    while waiting:
        index = waiting.pop()
        lost.remove(index)
        waiting.extend(children[index])
    if lost:
        index, passed = min(lost), set()
        while index not in passed:  # go up from a node that may hang below the circle, until a node repeats
            passed.add(index)
            index = parents[index]
        document.refuse("it is part of a circle of nodes", f"nodes[{index}]")
    return parents


def _roots(document: Document, parents: list[int]) -> list[int]:
    shown = document.scene
    if shown is None:
        return [index for index, parent in enumerate(parents) if parent == -1]
    roots = document.rows(shown, "nodes", "scene")
    for root in roots:
        document.entry("nodes", root, "scene")
        if parents[root] != -1:
            document.refuse("a root of the scene has a parent", f"nodes[{root}]")
    if len(set(roots)) < len(roots):
        document.refuse("a node is listed twice", "scene")
    return roots


def _targets(document: Document) -> dict[int, set[str]]:
    """What all animations change, by node."""
    found: dict[int, set[str]] = {}
    for k, row in enumerate(document.all("animations")):
        place = f"animations[{k}]"
        for channel in document.rows(document.table(row, place), "channels", place):
            target = document.table(document.table(channel, place).get("target"), f"{place}: target")
            node, path = target.get("node"), target.get("path")
            if not isinstance(path, str):
                document.refuse(f"path must be a string, got {_check.short(path)}", f"{place}: target")
            if node is not None:
                document.entry("nodes", node, place)
                found.setdefault(node, set()).add(path)
    return found


# -- one node ---------------------------------------------------------------------------------------------------------


def _node(document: Document, index: int, row: dict[str, Any], parent: Node | None, carries: bool) -> Node:
    place = f"nodes[{index}]"
    above = 1.0 if parent is None else parent.above * float(np.mean(parent.scale))
    if "matrix" in row:
        position, rotation, scale = _decomposed(document, row, place)
    else:
        position = document.numbers(row, "translation", 3, place, np.zeros(3))
        quaternion = document.numbers(row, "rotation", 4, place, np.array([0.0, 0.0, 0.0, 1.0]))
        if np.linalg.norm(quaternion) < 1e-3:
            document.refuse("rotation must be a quaternion that is not zero", place)
        rotation = Frame.quaternion(quaternion, order="xyzw")
        scale = document.numbers(row, "scale", 3, place, np.ones(3))
    if carries:
        uniform = float(np.mean(scale))
        if not (uniform > 1e-9 and np.abs(scale - uniform).max() <= _TOLERANCE * uniform):
            reason = "the scale of a node with children must be the same positive number in all directions"
            document.refuse(f"{reason}, since links are rigid; got {_check.short(scale.tolist())}", place)
    if not np.abs(position * above).max() <= _check.LARGEST:
        document.refuse(f"its position must be within {_check.LARGEST:g}", place)
    return Node(index, "", None if parent is None else parent.index, position * above, rotation, scale, above)


def _decomposed(document: Document, row: dict[str, Any], place: str) -> tuple[Array, Frame, Array]:
    """Position, rotation and scale of a matrix; refuses one with shear or a mirror."""
    if {"translation", "rotation", "scale"} & row.keys():
        document.refuse("a node has a matrix or translation, rotation and scale, not both", place)
    matrix = document.numbers(row, "matrix", 16, place, np.eye(4).ravel()).reshape(4, 4).T
    scale = np.linalg.norm(matrix[:3, :3], axis=0)
    axes = matrix[:3, :3] / np.maximum(scale, 1e-300)
    skewed = np.abs(axes.T @ axes - np.eye(3)).max() > _TOLERANCE or np.linalg.det(axes) < 0
    if skewed or np.abs(matrix[3] - [0, 0, 0, 1]).max() > 1e-9:
        document.refuse("its matrix must be a rotation, a positive scale and a translation", place)
    u, _, v = np.linalg.svd(axes)
    return matrix[:3, 3], Frame.at(np.zeros(3), u @ v), scale
