"""The pages of the documentation, and the fenced blocks in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOT_RUN = "<!-- not run: opens a browser -->"


class Block(NamedTuple):
    """A fenced block."""

    language: str
    code: str
    line: int
    """The line of its first line of code."""
    is_run: bool
    output: str | None
    """The `text` block right after it."""


def name_of(page: Path) -> str:
    """A page as tests name it."""
    return str(page.relative_to(ROOT))


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    text = page.read_text(encoding="utf-8")
    end = 0
    for match in re.finditer(r"^```([^`\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        between = text[end : match.start()]
        if match[1] == "text" and not between.strip() and found:
            found[-1] = found[-1]._replace(output=match[2])
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(match[1], match[2], line, not between.rstrip().endswith(NOT_RUN), None))
        end = match.end()
    return found
