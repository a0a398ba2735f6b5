"""Sphinx extension: docstrings that read well with `help()` become valid reStructuredText.

- A formula such as ``|L1 - L2|`` or ``*shape`` is text, not markup.
- An indented block after a line that ends with a colon is shown as it is written.
- Emphasis and code in backticks stay markup.
- The first line of an attribute's docstring is a sentence, not ``type: description``.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from sphinx.application import Sphinx

HIDDEN_COLON = "\ue000"  # a private character, so that napoleon sees no "type: description"
MARKUP = re.compile(r"(``.*?``|`[^`]*`|(?<!\w)(\*\*?)[A-Za-z][^*]*[A-Za-z.]\2(?!\w))")  # code and emphasis stay


def escaped(line: str) -> str:
    """The line with ``*`` and ``|`` escaped outside of markup."""
    done, out = 0, []
    for match in MARKUP.finditer(line):
        out += [re.sub(r"(?<!\\)([*|])", r"\\\1", line[done : match.start()]), match[0]]
        done = match.end()
    return "".join([*out, re.sub(r"(?<!\\)([*|])", r"\\\1", line[done:])])


def indent(line: str) -> int:
    """The number of blanks before the text."""
    return len(line) - len(line.lstrip())


def process(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Called by autodoc with the lines of one docstring, which are changed in place."""
    block: int | None = None  # the indentation of the line before a literal block
    doctest = False
    for k, line in enumerate(lines):
        if not line.strip():
            doctest = False
            continue
        if block is not None and indent(line) > block:
            continue
        block = None
        doctest = doctest or line.lstrip().startswith(">>>")
        if doctest:
            continue
        following = next((text for text in lines[k + 1 :] if text.strip()), "")
        if (
            line.endswith(":")
            and not line.endswith("::")
            and lines[k + 1 : k + 2] == [""]
            and indent(following) > indent(line)
        ):
            line, block = line + ":", indent(line)
        lines[k] = escaped(line)
    if what in ("attribute", "property", "data") and lines:
        lines[0] = lines[0].replace(":", HIDDEN_COLON)


def restore(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Called after napoleon: puts the colons back."""
    lines[:] = [line.replace(HIDDEN_COLON, ":") for line in lines]


def constant(module: object, name: str) -> str:
    """The value of a private constant of a module, as text; its name if there is none."""
    value = getattr(module, name, None)
    return name if value is None else str(value.tolist() if hasattr(value, "tolist") else value)


def short_types(
    app: Sphinx, what: str, name: str, thing: object, options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Called by autodoc with a signature: aliases by name, constants by value, no catch-all for misspelt options."""
    signature = re.sub(r",\s*\*\*unknown: [~\w.]*NoReturn", "", signature or "") or signature
    module = sys.modules.get(getattr(thing, "__module__", ""))
    signature = re.sub(r"(?<== )_[A-Z]+\b", lambda name: constant(module, name[0]), signature or "") or signature
    pattern = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
    return pattern.sub(r"\1", signature or "") or signature, pattern.sub(r"\1", returns or "") or returns


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx. Napoleon has priority 500."""
    app.connect("autodoc-process-docstring", process, priority=400)
    app.connect("autodoc-process-docstring", restore, priority=600)
    app.connect("autodoc-process-signature", short_types)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
