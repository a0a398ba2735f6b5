"""Reader of .bvh files: a hierarchy of joints with channels, and a table of their values in time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import TextIO

import numpy as np

from supple import _check
from supple._figure.convention import Convention
from supple._figure.names import Names
from supple._linkage import limits
from supple._progress import Progress
from supple.errors import BadInput, BadLinkage
from supple.frame import Array, Frame
from supple.joint import Joint
from supple.linkage import Linkage
from supple.read import bounded, bvh_hierarchy
from supple.read.bounded import MAX_NUMBER
from supple.read.bvh_hierarchy import NUMBER, Node, Words

MAX_BYTES = 2 * 2**30
"""Largest file that is read."""
_BLOCK = 50_000  # rotations that are converted at once
_AXES = np.eye(3)


def read(file: str, name: str | None, convention: Convention) -> Linkage:
    """The linkage in a .bvh file; its table of motion is not looked at. Raises `BadLinkage`."""
    with bounded.open_text(file, MAX_BYTES) as text:
        try:
            return _linkage(bvh_hierarchy.read(Words(text, file)), file, name, convention)
        except UnicodeDecodeError as error:
            raise BadLinkage(f"not a text: {error}", file=file) from None


def read_motion(file: str, convention: Convention) -> tuple[Linkage, Array, Array]:
    """The linkage of a .bvh file, times (n,) in seconds and joint values (n, dof).

    Raises `BadLinkage` for the hierarchy and `BadInput`, with file and line, for the table.
    """
    with bounded.open_text(file, MAX_BYTES) as text:
        try:
            words = Words(text, file)
            nodes = bvh_hierarchy.read(words)
            linkage = _linkage(nodes, file, None, convention)
            count, step = _head(words)
            table = _table(text, words, count, sum(len(node.channels) for node in nodes))
        except UnicodeDecodeError as error:
            raise BadInput(f"{file}: not a text: {error}") from None
    return linkage, np.arange(count, dtype=float) * step, _joint_values(linkage, nodes, table, convention)


# -- the linkage ------------------------------------------------------------------------------------------------------


def _linkage(nodes: list[Node], file: str, name: str | None, convention: Convention) -> Linkage:
    world = Names(node.name for node in nodes).fresh("world")
    title = file.replace("\\", "/").rpartition("/")[2].rpartition(".")[0] if name is None else name
    try:
        joints = [_joint(node, world if node.parent is None else node.parent, convention.unit) for node in nodes]
        return Linkage(title, joints, base=convention.turn)
    except BadLinkage as error:
        raise BadLinkage(error.reason, element=error.element, file=file) from None


def _joint(node: Node, parent: str, unit: float) -> Joint:
    """Position channels: a floating joint. One rotation channel: a revolute joint. Several: a ball joint."""
    offset = [unit * value for value in node.offset]
    if any(kind == "position" for _, kind in node.channels):
        return Joint.floating(node.name, parent, node.name, rest=[*offset, 0.0, 0.0, 0.0])
    at = Frame.at(offset)
    if not node.channels:
        return Joint.fixed(node.name, parent, node.name, at=at)
    if len(node.channels) == 1:
        return Joint.continuous(node.name, parent, node.name, at=at, axis=_AXES["xyz".index(node.channels[0][0])])
    return Joint.ball(node.name, parent, node.name, at=at)


# -- the motion -------------------------------------------------------------------------------------------------------


def _head(words: Words) -> tuple[int, float]:
    """The number of frames and the seconds between them."""
    words.expect("MOTION")
    words.expect("Frames:")
    count = words.whole("the number of frames", 10**9)
    words.expect("Frame")
    words.expect("Time:")
    step = words.number("the frame time")
    words.end_of_line()
    if not 1e-9 <= step <= 1e9:
        raise BadInput(f"{words.place()} the frame time must be positive, in seconds, got {step:g}")
    if count < 1:
        raise BadInput(f"{words.place()} there are no frames, so there is no motion")
    if count * step > 1e12:
        raise BadInput(f"{words.place()} {count:,} frames of {step:g} s are too long")
    return count, step


def _table(text: TextIO, words: Words, count: int, width: int) -> Array:
    """Channel values (count, width), as in the file."""
    first = words.line + 1
    lines = bounded.lines(text, words.file, 1000 + (MAX_NUMBER + 1) * width, words.line)
    if width == 0:
        raise BadInput(f"{words.file}: no joint has a channel, so nothing moves")
    numbered = _Counted(lines, first)
    rows = filter(str.strip, numbered)
    try:
        line = next(rows, None)
        if line is None:  # numpy would warn
            raise BadInput(f"{words.file}: expected {count:,} frames, got none")
        _check_count(line, width, f"{words.file}:{numbered.line}:")  # numpy compares the others with it
        with Progress("reading", count) as numbered.progress:
            # max_rows of numpy would reserve memory for all rows that the file claims to have
            table = np.loadtxt(islice(chain([line], rows), count), comments=None, ndmin=2)
    except ValueError as error:
        if isinstance(error, BadInput | UnicodeDecodeError):
            raise
        place = f"{words.file}:{numbered.line}:"
        _check_count(numbered.text, width, place)
        raise BadInput(f"{place} expected {width} numbers, got {_check.short(_first_word(numbered.text))}") from None
    if len(table) != count:
        raise BadInput(f"{words.file}: expected {count:,} frames, got {len(table):,}")
    if next(rows, None) is not None:
        raise BadInput(f"{words.file}:{numbered.line}: more lines than the {count:,} frames")
    bad = np.flatnonzero(~(np.abs(table) <= _check.LARGEST).all(axis=1))
    if len(bad):
        raise BadInput(f"{words.file}: frame {int(bad[0])}: its numbers must be finite and within {_check.LARGEST:g}")
    return table


def _check_count(line: str, width: int, place: str) -> None:
    found = len(line.split())
    if found != width:
        raise BadInput(f"{place} {found} number{'s' * (found != 1)}, {width} expected, one for each channel")


def _first_word(line: str) -> str:
    """The first word of a line that is no number; the line, if all are."""
    return next((word for word in line.split() if not NUMBER.fullmatch(word)), line)


class _Counted:
    """Lines, the last one and its number, and the bar that shows it."""

    progress: Progress

    def __init__(self, lines: Iterator[str], first: int) -> None:
        self._lines, self.line, self.text = lines, first - 1, ""
        self.progress = Progress("reading", 0, shown=False)

    def __iter__(self) -> _Counted:
        return self

    def __next__(self) -> str:
        self.text = next(self._lines)
        self.line += 1
        self.progress.step()
        return self.text


def _joint_values(linkage: Linkage, nodes: list[Node], table: Array, convention: Convention) -> Array:
    """Joint values (n, dof): positions replace the offset, and three angles become a rotation vector."""
    q = np.tile(linkage.rest, (len(table), 1))
    first_of = {joint.name: first for first, joint in limits.columns(linkage)}
    groups: dict[str, list[tuple[list[int], int]]] = {}  # by order of axes: columns of the table, column of q
    column = 0
    for node in nodes:
        turns: list[tuple[str, int]] = []
        for axis, kind in node.channels:
            if kind == "position":
                q[:, first_of[node.name] + "xyz".index(axis)] = convention.unit * table[:, column]
            else:
                turns.append((axis, column))
            column += 1
        floats = len(turns) < len(node.channels)
        if len(turns) == 1 and not floats:
            q[:, first_of[node.name]] = np.radians(table[:, turns[0][1]])
        elif turns:
            order = "".join(axis for axis, _ in turns)
            order += "".join(axis for axis in "xyz" if axis not in order)  # the others do not turn
            groups.setdefault(order, []).append(([at for _, at in turns], first_of[node.name] + 3 * floats))
    for order, members in groups.items():
        _rotations(q, table, order, members)
    return q


def _rotations(q: Array, table: Array, order: str, members: list[tuple[list[int], int]]) -> None:
    rows = max(1, _BLOCK // len(members))
    targets = np.array([first for _, first in members])[:, None] + np.arange(3)
    for start in range(0, len(table), rows):
        block = table[start : start + rows]
        angles = np.zeros((len(block), len(members), 3))
        for k, (columns, _) in enumerate(members):
            angles[:, k, : len(columns)] = block[:, columns]
        angles = np.radians(np.fmod(angles, 360.0))
        q[start : start + rows, targets] = Frame.euler(order, angles).to_rotvec()
