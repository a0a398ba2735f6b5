"""Attributes and children of XML elements, read strictly; errors name the element and the line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from supple.errors import BadLinkage, unknown
from supple.read import safe_xml
from supple.read.bounded import MAX_NUMBER

if TYPE_CHECKING:
    from lxml.etree import _Element

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")  # in linear time
_LONGEST_NAME = 1000
_NAMED = ("joint", "link", "material")


class Fields:
    """Reads fields of elements; every error names the file, the line and the joint or link."""

    def __init__(self, file: str, root: _Element, *, lines: bool = True) -> None:
        """For a document from ``file``; ``lines`` is False when its lines are not those of the file."""
        self.file = file
        self.root = root
        self._lines = lines
        self._space = root.tag[: root.tag.index("}") + 1] if root.tag.startswith("{") else ""
        self._seen: dict[str, _Element] = {}

    def tag(self, node: _Element) -> str:
        """The tag without the document's own namespace; elements of other namespaces keep theirs."""
        name = node.tag if isinstance(node.tag, str) else ""
        return name.removeprefix(self._space)

    def children(self, node: _Element, *tags: str) -> Iterator[_Element]:
        """The direct children with one of these tags, in the order of the file."""
        return (child for child in node if self.tag(child) in tags)

    def only(self, node: _Element, tag: str) -> _Element | None:
        """The only child with this tag, or None; two are an error."""
        found = list(self.children(node, tag))
        if len(found) > 1:
            raise self.bad(found[1], f"a second <{tag}>; expected at most one")
        return found[0] if found else None

    def text(self, node: _Element, attribute: str) -> str:
        """An attribute that must be there and not be empty."""
        value = node.get(attribute)
        if not value:
            got = ", got an empty one" if value == "" else ""
            raise self.bad(node, f"<{self.tag(node)}> needs a {attribute!r}{got}")
        if len(value) > _LONGEST_NAME:
            raise self.bad(node, f"{attribute!r} of <{self.tag(node)}> is longer than {_LONGEST_NAME} characters")
        return value

    def numbers(self, node: _Element, attribute: str, count: int) -> tuple[float, ...] | None:
        """Exactly ``count`` finite numbers from an attribute, or None without the attribute."""
        value = node.get(attribute)
        if value is None:
            return None
        what = f"{attribute!r} of <{self.tag(node)}> must be " + ("a number" if count == 1 else f"{count} numbers")
        if len(value) > MAX_NUMBER * count:
            raise self.bad(node, f"{what}, finite and written like 0.5; got {_short(value)}")
        words = value.split()
        for word in words:
            if not _NUMBER.fullmatch(word) or not math.isfinite(float(word)):
                raise self.bad(node, f"{what}, finite and written like 0.5; got {_short(word)}")
        if len(words) != count:
            raise self.bad(node, f"{what}, got {len(words)}: {_short(value)}")
        return tuple(map(float, words))

    def number(self, node: _Element, attribute: str, default: float) -> float:
        """One finite number from an attribute, or the default without it."""
        values = self.numbers(node, attribute, 1)
        return default if values is None else values[0]

    def reference(self, node: _Element, attribute: str, what: str, known: Iterable[str]) -> str:
        """An attribute that must be one of the known names; the error lists near matches."""
        name = self.text(node, attribute)
        if name not in known:
            # the search for near matches is slow, so a hostile file gets a bounded one
            near = [other for _, other in zip(range(2000), known, strict=False) if len(other) <= 100]
            raise self.bad(node, f"<{self.tag(node)}>: {unknown(what, name, near)}")
        return name

    def declare(self, node: _Element) -> str:
        """The name of a joint or link, which must be unique; its line is stored for later errors."""
        name = self.text(node, "name")
        label = f"{self.tag(node)} {name!r}"
        if label in self._seen:
            at = safe_xml.line_of(self._seen[label]) if self._lines else 0
            first = f"; the first is on line {at}" if at else ""
            raise self.bad(node, f"two {self.tag(node)}s have this name{first}")
        self._seen[label] = node
        return name

    def bad(self, node: _Element, reason: str) -> BadLinkage:
        """A `BadLinkage` about an element, with the name of the joint, link or material that contains it."""
        label = ""
        at: _Element | None = node
        while at is not None and not label:
            if self.tag(at) in _NAMED:
                label = f"{self.tag(at)} {_short(at.get('name'))}" if at.get("name") else f"<{self.tag(at)}>"
            at = at.getparent()
        return BadLinkage(reason, element=label, file=self.file, line=safe_xml.line_of(node) if self._lines else 0)

    def placed(self, error: BadLinkage) -> BadLinkage:
        """The same error with the file, and the line of the joint or link that it names."""
        node = self._seen.get(error.element)
        line = safe_xml.line_of(node) if node is not None and self._lines else 0
        reason = error.reason if len(error.reason) <= 1000 else error.reason[:997] + "..."
        return BadLinkage(reason, element=error.element, file=self.file, line=line)


def _short(text: str | None) -> str:
    shown = repr(text[:100] if text else text)
    return shown if len(shown) <= 80 else shown[:77] + "..."
