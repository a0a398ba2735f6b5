"""Sphinx extension: tags of the source texts, such as [K5.24], [K fig. 5.13] or [D22, D23], link to the bibliography.

The directive ``source-entries`` makes a table of the entries of one source text. Each row has an anchor:

    ```{source-entries} K
    5.24 | damped least squares
    fig. 5.13 | pseudocode of forward kinematics
    ```

A tag that names an entry without a row is a warning, so the site cannot be built with a tag that leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

PAGE = "bibliography"
TAG = re.compile(r"\[(?=[KD](?:\]|\d|,? ?(?:sec|section|fig|\d)))([^\[\]]+)\]")
PART = re.compile(
    r"\b(?P<source>[KD])?(?:,? ?(?P<kind>fig\.|section|sec\.))? ?(?P<number>\d+(?:\.\d+)*)(?!\w)|(?P<whole>\b[KD]\b)"
)
logger = logging.getLogger(__name__)


def anchor(source: str, kind: str, number: str) -> str:
    """The id of an entry: K, "", 5.24 is ``k-5-24``; K, "fig.", 5.13 is ``k-fig-5-13``."""
    word = {"fig.": "fig-", "section": "sec-", "sec.": "sec-"}.get(kind, "")
    return f"{source.lower()}-{word}{number.replace('.', '-')}".rstrip("-")


def parts(tag: str) -> Iterator[tuple[int, int, str]]:
    """Begin, end and anchor of each entry that the inside of a tag names."""
    source = tag[0]
    for match in PART.finditer(tag):
        source = match["source"] or match["whole"] or source
        kind, number = match["kind"] or "", match["number"] or ""
        if source == "K" and not kind and number.count(".") == 2:
            kind = "section"  # [K 5.3.1]: equations and figures have two numbers
        if source == "K" and not kind and number in ("5.1", "5.2", "5.3") and tag.startswith("K "):
            kind = "section"  # [K 5.3] is a section, [K5.3] an equation
        yield match.start(), match.end(), anchor(source, kind, number)


class SourceEntries(SphinxDirective):
    """A table of the entries of one source text, a line each: ``number | what it says``."""

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The table."""
        source = self.arguments[0]
        table = nodes.table(classes=["source-entries"])
        group = nodes.tgroup(cols=2)
        table += group
        group += [nodes.colspec(colwidth=18), nodes.colspec(colwidth=82)]
        body = nodes.tbody()
        group += body
        for line in self.content:
            name, _, text = (part.strip() for part in line.partition("|"))
            match = re.match(r"(fig\.|section)? ?([\d.]+)$", name)
            if not match:
                raise self.error(f"an entry is 'number | text', got {line!r}")
            key = anchor(source, match[1] or "", match[2])
            row = nodes.row(ids=[key])
            self.known().add(key)
            shown, _ = self.state.inline_text(text, self.lineno)
            label = f"{source} {name}" if match[1] else f"{source}{name}"
            row += nodes.entry("", nodes.paragraph("", "", nodes.strong(text=label)))
            row += nodes.entry("", nodes.paragraph("", "", *shown))
            body += row
        return [table]

    def known(self) -> set[str]:
        """The anchors that exist, kept with the build environment."""
        if not hasattr(self.env, "source_tags"):
            self.env.source_tags = {"k", "d"}  # type: ignore[attr-defined]
        return self.env.source_tags  # type: ignore[attr-defined,no-any-return]


class LinkTags(SphinxPostTransform):
    """Turns tags in the text of every page and docstring into links."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Replace the tags of one page."""
        for text in list(self.document.findall(nodes.Text)):
            if TAG.search(text) and not self._is_code(text):
                text.parent.replace(text, list(self._linked(str(text), text)))

    def _is_code(self, node: nodes.Node) -> bool:
        parent = node.parent
        while parent is not None:
            if isinstance(parent, nodes.literal | nodes.literal_block | nodes.reference | nodes.title):
                return True
            parent = parent.parent
        return False

    def _linked(self, text: str, node: nodes.Node) -> Iterator[nodes.Node]:
        done = 0
        for tag in TAG.finditer(text):
            yield nodes.Text(text[done : tag.start(1)])
            done = tag.start(1)
            for begin, end, key in parts(tag[1]):
                begin, end = tag.start(1) + begin, tag.start(1) + end
                yield nodes.Text(text[done:begin])
                yield self._link(text[begin:end], key, node)
                done = end
        yield nodes.Text(text[done:])

    def _link(self, shown: str, key: str, node: nodes.Node) -> nodes.Node:
        if key not in getattr(self.env, "source_tags", set()):
            logger.warning("the bibliography has no entry for [%s] (%s)", shown, key, location=node.parent)
            return nodes.Text(shown)
        uri = self.app.builder.get_relative_uri(self.env.docname, PAGE) + "#" + key
        return nodes.reference("", "", nodes.inline(text=shown), refuri=uri, internal=True, classes=["source-tag"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("source-entries", SourceEntries)
    app.add_post_transform(LinkTags)
    return {"version": "1", "env_version": 1, "parallel_read_safe": False, "parallel_write_safe": True}
