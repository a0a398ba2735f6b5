"""Hierarchy of a .bvh file: joints with offsets and channels, read word by word with line numbers."""

from __future__ import annotations

import math
import re
from collections import deque
from dataclasses import dataclass, field
from typing import TextIO

from supple import _check
from supple._figure.names import Names
from supple.errors import BadLinkage, near_matches
from supple.read.bounded import MAX_NUMBER

CHANNELS = {f"{axis}{kind}": (axis.lower(), kind) for kind in ("position", "rotation") for axis in "XYZ"}
"""The axis and the kind of each channel, by its name."""
_MAX_LINE = 10_000  # characters of a line of the hierarchy
_MAX_NAME = 200  # characters
NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")  # in linear time
"""A number as it is written in a file."""
_WHOLE = re.compile(r"[0-9]{1,18}")


@dataclass
class Node:
    """A joint or an end site of the hierarchy."""

    name: str
    parent: str | None
    """Name of the node above; None for a root."""
    offset: tuple[float, float, float] | tuple[()] = ()
    channels: list[tuple[str, str]] | tuple[()] = ()
    """Axis and kind of each channel, in the order of the file."""
    line: int = 0
    ends: bool = False
    """Whether it is an end site, which has no channels."""
    described: bool = field(default=False, repr=False)


class Words:
    """The words of a text one after the other, with the number of their line."""

    def __init__(self, text: TextIO, file: str) -> None:
        self.file, self.line = file, 0
        self._text = text
        self._words: deque[str] = deque()

    def place(self) -> str:
        """File and line, as errors begin."""
        return f"{self.file}:{self.line}:"

    def error(self, reason: str, element: str = "") -> BadLinkage:
        """An error at this line."""
        return BadLinkage(reason, element=element, file=self.file, line=self.line)

    def next(self, wanted: str) -> str:
        """The next word; an error that names what was wanted at the end of the file."""
        while not self._words:
            line = self._text.readline(_MAX_LINE)
            if not line:
                raise self.error(f"the file ends where {wanted} is expected")
            self.line += 1
            if len(line) == _MAX_LINE and not line.endswith("\n"):
                raise self.error(f"a line of more than {_MAX_LINE:,} characters")
            self._words.extend(line.replace("{", " { ").replace("}", " } ").split())
        return self._words.popleft()

    def name(self) -> str:
        """The words up to a brace or the end of the line, with one space between them."""
        parts = []
        while self._words and self._words[0] not in "{}":
            parts.append(self._words.popleft())
        name = " ".join(parts)
        if not name or len(name) > _MAX_NAME:
            raise self.error(f"a joint needs a name of 1 to {_MAX_NAME} characters, got {_check.short(name)}")
        return name

    def end_of_line(self) -> None:
        """Refuses words that are left in the line."""
        if self._words:
            raise self.error(f"expected the end of the line, got {_check.short(self._words[0])}")

    def expect(self, wanted: str) -> None:
        """The next word must be this one, in capitals or not; a colon may stand apart."""
        word = self.next(repr(wanted))
        if wanted.endswith(":") and word.lower() == wanted[:-1].lower():
            word += self.next("':'")
        if word.lower() == wanted.lower():
            return
        if wanted.endswith(":") and word.lower().startswith(wanted.lower()):  # such as Frames:2752
            self._words.appendleft(word[len(wanted) :])
            return
        raise self.error(f"expected {wanted!r}, got {_check.short(word)}")

    def number(self, what: str) -> float:
        """The next word as a finite number."""
        word = self.next(what)
        if len(word) <= MAX_NUMBER and NUMBER.fullmatch(word) and math.isfinite(float(word)):
            return float(word)
        raise self.error(f"{what} must be a finite number written like 0.5, got {_check.short(word)}")

    def whole(self, what: str, most: int) -> int:
        """The next word as a whole number from 0 to ``most``."""
        word = self.next(what)
        if _WHOLE.fullmatch(word) and int(word) <= most:
            return int(word)
        raise self.error(f"{what} must be a whole number from 0 to {most:,}, got {_check.short(word)}")


def read(words: Words) -> list[Node]:
    """The joints and end sites, parents before children, up to the word MOTION or the end of the file."""
    words.expect("HIERARCHY")
    nodes: list[Node] = []
    above: list[Node] = []
    names: dict[str, int] = {}  # and their lines
    while True:
        if not above and nodes:
            try:
                word = words.next("MOTION")
            except BadLinkage:  # a hierarchy without motion
                break
            if word.upper() == "MOTION":
                words._words.appendleft(word)
                break
        else:
            word = words.next("ROOT" if not above else "'}'")
        _statement(words, word, nodes, above, names)
    free = Names(names)
    for node in nodes:
        node.name = free.fresh(f"{node.parent}_End") if node.ends else node.name
    return nodes


def _statement(words: Words, word: str, nodes: list[Node], above: list[Node], names: dict[str, int]) -> None:
    known = word.upper()
    here = above[-1] if above else None
    if known in ("ROOT", "JOINT") and (here is None) == (known == "ROOT") and not (here and here.ends):
        name = words.name()
        if name in names:
            reason = f"two joints have this name; the first is on line {names[name]}"
            raise words.error(reason, f"joint {_check.short(name)}")
        names[name] = words.line
        _open(words, Node(name, here.name if here else None, line=words.line), nodes, above)
    elif known == "END" and here is not None and not here.ends:
        words.expect("Site")
        while words._words and words._words[0] not in "{}":
            words._words.popleft()  # some files give the end site a name
        _open(words, Node("", here.name, line=words.line, ends=True), nodes, above)
    elif known == "OFFSET" and here is not None:
        if here.offset:
            raise words.error("OFFSET stands twice", _element(here))
        x, y, z = (words.number("each of the three numbers of OFFSET") for _ in range(3))
        here.offset = (x, y, z)
    elif known == "CHANNELS" and here is not None and not here.ends:
        if here.described:
            raise words.error("CHANNELS stands twice", _element(here))
        here.channels, here.described = _channels(words, here), True
    elif known == "}" and here is not None:
        _close(words, above.pop())
    else:
        expected = "'ROOT'" if here is None else "OFFSET, CHANNELS, JOINT, 'End Site' or '}'"
        raise words.error(f"expected {expected}, got {_check.short(word)}", _element(here))


def _open(words: Words, node: Node, nodes: list[Node], above: list[Node]) -> None:
    words.expect("{")
    nodes.append(node)
    above.append(node)


def _close(words: Words, node: Node) -> None:
    if not node.offset:
        raise words.error("it has no OFFSET", _element(node))
    if not node.ends and not node.described:
        raise words.error("it has no CHANNELS", _element(node))


def _channels(words: Words, node: Node) -> list[tuple[str, str]]:
    count = words.whole("the number of channels", 6)
    found: list[tuple[str, str]] = []
    known = {name.lower(): channel for name, channel in CHANNELS.items()}
    for _ in range(count):
        word = words.next("a channel")
        channel = known.get(word.lower())
        if channel is None:
            near = near_matches(word[:100], CHANNELS)
            hint = f"did you mean {near[0]}?" if near else "known: " + ", ".join(CHANNELS)
            raise words.error(f"unknown channel {_check.short(word)}; {hint}", _element(node))
        if channel in found:
            raise words.error(f"channel {word} stands twice", _element(node))
        found.append(channel)
    return found


def _element(node: Node | None) -> str:
    if node is None:
        return ""
    return f"end site of joint {_check.short(node.parent)}" if node.ends else f"joint {_check.short(node.name)}"
