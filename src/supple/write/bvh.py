"""Writer of .bvh files: the hierarchy of a linkage, and a line of channel values for each key."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TextIO

import numpy as np

from supple._figure import local_frames
from supple._figure.convention import Convention
from supple._figure.names import Names
from supple._progress import Progress
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.joint import Joint, Kind
from supple.linkage import Linkage
from supple.write import atomic

_ORDER = "zyx"  # of the rotation channels
_POSITIONS, _ROTATIONS = "Xposition Yposition Zposition", "Zrotation Yrotation Xrotation"
_SINGLE = 1 / 30  # seconds: the frame time of a motion of one key
_DEEPEST = 60  # tabs of indentation


@dataclass
class _Node:
    """A joint of the file: a link of the linkage."""

    name: str
    link: int
    """Index of the link."""
    offset: Array
    moves: bool
    """Whether it has position channels."""
    children: list[_Node] = field(default_factory=list)
    end: Array | None = None
    """The offset of its end site, if a link of the linkage is one."""


def write(file: str, linkage: Linkage, times: Array, q: Array, convention: Convention) -> None:
    """Write a linkage and its keys, times (n,) in seconds at equal steps and q (n, dof).

    Each link is a joint of the file. Its rotation channels hold its rotation in its parent, constant ones too, since
    the joints of a .bvh are parallel to the world when their channels are zero.
    """
    step = _step(times)
    root = _tree(linkage, convention)
    nodes = _flat(root)
    with atomic.replacing(file) as new, open(new, "w", encoding="utf-8", newline="\n") as text:
        _write_hierarchy(text, root)
        text.write(f"MOTION\nFrames: {len(q)}\nFrame Time: {step:.10g}\n")
        _write_table(text, linkage, q, nodes, convention)


def _step(times: Array) -> float:
    """Seconds between two keys."""
    if len(times) == 1:
        return _SINGLE
    step = float(times[-1] - times[0]) / (len(times) - 1)
    off = np.abs(times - times[0] - step * np.arange(len(times))).max()
    if off > 0.01 * step:  # times of a .glb are in single precision
        raise BadInput("the keys of a .bvh must be at equal times: give a rate, such as save(path, rate=60)")
    return step


# -- the hierarchy ----------------------------------------------------------------------------------------------------


def _tree(linkage: Linkage, convention: Convention) -> _Node:
    """The root of the file, with all nodes below it.

    A root link that only carries one floating joint is the world itself; the file begins with that joint's child.
    """
    below: dict[str, list[Joint]] = {}
    for joint in linkage.joints:
        below.setdefault(joint.parent, []).append(joint)
    index = {link.name: i for i, link in enumerate(linkage.links)}
    first = below.get(linkage.root, [])
    skips = len(first) == 1 and first[0].kind is Kind.FLOATING and not linkage.links[0].geometry
    start = first[0].child if skips else linkage.root
    taken = Names()
    root = _Node(_file_name(start, taken), index[start], np.zeros(3), True)
    waiting = [(root, start)]
    while waiting:
        node, link = waiting.pop()
        joints = below.get(link, [])
        if len(joints) == 1 and _is_end(joints[0], below):
            node.end = joints[0].location.position / convention.unit
            continue
        for joint in joints:
            offset = np.zeros(3) if local_frames.slides(joint) else joint.location.position / convention.unit
            name = _file_name(joint.child, taken)
            node.children.append(_Node(name, index[joint.child], offset, local_frames.slides(joint)))
        waiting.extend(zip(node.children, (joint.child for joint in joints), strict=True))
    return root


def _is_end(joint: Joint, below: dict[str, list[Joint]]) -> bool:
    """Whether a link is what an end site becomes when it is read: rigid, not turned, and named after its parent."""
    named = joint.child.startswith(f"{joint.parent}_End")
    still = joint.kind is Kind.FIXED and np.array_equal(joint.location.rotation, np.eye(3))
    return named and still and joint.child not in below


def _file_name(link: str, taken: Names) -> str:
    """The name of a link without braces and line ends, which nothing else has."""
    return taken.fresh(" ".join(re.sub(r"[{}]", "_", link).split())[:190] or "_")


def _flat(root: _Node) -> list[_Node]:
    """All nodes, depth first."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting.extend(reversed(node.children))
    return found


def _write_hierarchy(text: TextIO, root: _Node) -> None:
    text.write("HIERARCHY\n")
    waiting: list[tuple[_Node | None, int]] = [(root, 0)]  # None closes a brace
    while waiting:
        node, depth = waiting.pop()
        indent = "\t" * min(depth, _DEEPEST)
        if node is None:
            text.write(f"{indent}}}\n")
            continue
        channels = f"6 {_POSITIONS} {_ROTATIONS}" if node.moves else f"3 {_ROTATIONS}"
        text.write(f"{indent}{'JOINT' if depth else 'ROOT'} {node.name}\n{indent}{{\n")
        text.write(f"{indent}\tOFFSET {_numbers(node.offset)}\n{indent}\tCHANNELS {channels}\n")
        if not node.children:
            end = _numbers(np.zeros(3) if node.end is None else node.end)
            text.write(f"{indent}\tEnd Site\n{indent}\t{{\n{indent}\t\tOFFSET {end}\n{indent}\t}}\n")
        waiting.append((None, depth))
        waiting.extend((child, depth + 1) for child in reversed(node.children))


def _numbers(row: Array) -> str:
    return " ".join(f"{value:.10g}" for value in (np.round(row, 10) + 0.0).tolist())


# -- the table --------------------------------------------------------------------------------------------------------


def _write_table(text: TextIO, linkage: Linkage, q: Array, nodes: list[_Node], convention: Convention) -> None:
    links = np.array([node.link for node in nodes])
    moves = np.array([node.moves for node in nodes])
    widths = np.where(moves, 6, 3)
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    turn_columns = (starts + widths - 3)[:, None] + np.arange(3)
    position_columns = starts[moves][:, None] + np.arange(3)
    row_format = " ".join(["%.10g"] * int(widths.sum())) + "\n"
    before: Array | None = None  # the last angles of the block before
    with Progress("writing", len(q)) as progress:
        for part, relative in local_frames.blocks(linkage, q, convention.turn):
            frames = relative.matrix[:, links]
            if links[0] != 0:  # the root link is the world: its child is given in it
                frames[:, 0] = relative.matrix[:, 0] @ frames[:, 0]
            angles = np.degrees(Frame._trusted(frames).to_euler(_ORDER))
            # without jumps by whole turns, since players interpolate each channel on its own
            angles = np.unwrap(angles if before is None else np.concatenate([before, angles]), period=360.0, axis=0)
            angles = angles if before is None else angles[1:]
            before = angles[-1:]
            table = np.empty((len(frames), int(widths.sum())))
            table[:, turn_columns] = angles
            table[:, position_columns] = frames[:, moves][..., :3, 3] / convention.unit
            text.writelines(row_format % tuple(row) for row in (np.round(table, 9) + 0.0).tolist())
            progress.step(part.stop - part.start)
