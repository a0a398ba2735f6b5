"""Parser of untrusted XML, in bounded time and memory; every error names file and line."""

from __future__ import annotations

import codecs
import os
import re
from typing import TYPE_CHECKING, Any

from supple.errors import BadInput, BadLinkage
from supple.read import bounded

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_BYTES = 64 * 1024 * 1024
"""Larger files are refused before they are read; the largest known robot descriptions have some megabytes."""
MAX_MARKS = 400_000
"""Greatest number of tags and attributes, enough for some thousand links: each takes time and memory."""

MAX_PREFIXES = 100
"""Greatest number of prefixes that are used without a declaration."""

_TAG = re.compile(rb"<[^\s/>]+")
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_DECLARED = re.compile(rb"""\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_PLAIN = re.compile(r"ascii|iso8859-\d+|cp\d+|koi8-[ru]|mac-\w+|gb2312|gbk|gb18030|big5|shift_jis|euc_jp|euc_kr")
_SPACE = re.compile(rb"\s*")


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file; raises `BadLinkage` for a device or a pipe, and for one above `MAX_BYTES`."""
    file = os.fspath(path)
    try:
        with bounded.open_binary(file, MAX_BYTES) as stream:
            data = stream.read(MAX_BYTES + 1)  # it may grow
    except BadInput as error:
        raise BadLinkage(str(error).removeprefix(f"{file}: "), file=file) from None
    return data


def parse(data: bytes | str, file: str) -> _Element:
    """The root element of an XML document; raises `BadLinkage` if it is malformed, hostile or too large.

    Entities are not expanded, nothing is fetched, and a document type declaration is an error.
    """
    if len(data) > MAX_BYTES:
        raise BadLinkage(f"the text is larger than {MAX_BYTES // 2**20} MiB; no robot needs this much", file=file)
    text = utf8(data, file)
    if not text.strip():
        raise BadLinkage("the file is empty; expected an XML document", file=file)
    if text.count(b"<") + text.count(b"=") > MAX_MARKS:
        raise BadLinkage(f"more than {MAX_MARKS:,} tags and attributes; no robot needs this many", file=file)
    line = _doctype(text)
    if line:
        raise BadLinkage("a document type declaration (<!DOCTYPE ...>) is not allowed; remove it", file=file, line=line)
    return _parse(text, file)


def line_of(node: _Element) -> int:
    """The line of an element in its file, 0 when it is not known."""
    line: Any = node.sourceline or 0
    # some builds of the parser store lines in 16 bits, so greater numbers may be wrong
    return int(line) if line < 65535 else 0


def _parse(text: bytes, file: str) -> _Element:
    from lxml import etree

    # huge_tree=False is what bounds depth (256), attributes and text (10 MB each)
    settings: dict[str, Any] = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
    settings |= {"remove_comments": True, "remove_pis": True}
    try:
        return etree.fromstring(text, etree.XMLParser(encoding="utf-8", **settings))
    except etree.XMLSyntaxError as error:
        if getattr(error, "code", 0) != etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE:
            raise _malformed(error, file) from None
    # files often use undeclared prefixes for elements of a simulator: this one error is accepted
    parser = etree.XMLParser(encoding="utf-8", recover=True, **settings)
    root = etree.fromstring(text, parser)
    for entry in parser.error_log:
        if entry.type != etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE:
            raise BadLinkage(f"not well-formed XML: {entry.message[:200]}", file=file, line=entry.line)
    if root is None:
        raise BadLinkage("not well-formed XML", file=file)
    # after an undeclared prefix the parser reports no text behind the root element and no repeated attribute
    try:
        etree.fromstring(_with_prefixes(text, root, file), etree.XMLParser(encoding="utf-8", **settings))
    except etree.XMLSyntaxError as error:
        raise _malformed(error, file) from None
    return root


def _with_prefixes(text: bytes, root: _Element, file: str) -> bytes:
    """The document with a declaration of each undeclared prefix in its root element; lines stay as they are."""
    prefixes: set[str] = set()
    for node in root.iter():
        for name in (node.tag, *node.attrib):
            if isinstance(name, str) and ":" in name and not name.startswith("{"):
                prefixes.add(name.partition(":")[0])
        if len(prefixes) > MAX_PREFIXES:
            raise BadLinkage(f"more than {MAX_PREFIXES} undeclared prefixes", file=file, line=line_of(node))
    tag = _TAG.match(text, _prologue_end(text))
    if tag is None:
        raise BadLinkage("not well-formed XML", file=file)
    declared = "".join(f' xmlns:{prefix}="undeclared:{prefix}"' for prefix in sorted(prefixes)).encode()
    return text[: tag.end()] + declared + text[tag.end() :]


def _malformed(error: SyntaxError, file: str) -> BadLinkage:
    message = (error.msg or "not well-formed").split(", line ")[0].strip()[:200]
    if "XML_PARSE_HUGE" in message:  # remove the advice for programmers that use the parser
        message = message.split(", ")[0] + "; no robot needs this much"
    return BadLinkage(f"not well-formed XML: {message}", file=file, line=error.lineno or 0)


def utf8(data: bytes | str, file: str) -> bytes:
    """The document as UTF-8, so that what is checked before parsing is what the parser will see."""
    try:
        if isinstance(data, str):
            return data.removeprefix("\ufeff").encode()
        if data.startswith(codecs.BOM_UTF8):
            return data[len(codecs.BOM_UTF8) :]
        for mark, encoding in _BOMS:
            if data.startswith(mark):
                return data.decode(encoding).removeprefix("\ufeff").encode()
        declared = _DECLARED.match(data)
        name = declared.group(1).decode() if declared else "utf-8"
        if name.lower().startswith(
            ("utf", "ucs", "iso-10646")
        ):  # no byte order mark and ASCII-compatible: it is UTF-8 whatever it declares
            return data
        try:
            codec = codecs.lookup(name).name
        except LookupError:
            codec = ""
        if not _PLAIN.fullmatch(codec):
            raise BadLinkage(f"encoding {name!r} is not supported; save the file as UTF-8", file=file, line=1)
        return data.decode(codec).encode()
    except UnicodeError as error:
        raise BadLinkage(f"the text is not valid {getattr(error, 'encoding', 'Unicode')}", file=file) from None


def _doctype(text: bytes) -> int:
    """The line of a document type declaration, 0 without one: only comments and instructions may come before it."""
    at = _prologue_end(text)
    return text.count(b"\n", 0, at) + 1 if text.startswith(b"<!", at) and not text.startswith(b"<!--", at) else 0


def _prologue_end(text: bytes) -> int:
    """Where the comments and instructions before the first element end; one that is never closed ends nowhere."""
    at = 0
    while True:
        space = _SPACE.match(text, at)
        at = space.end() if space else at
        if text.startswith(b"<!--", at):
            end = text.find(b"-->", at + 4) + 3
        elif text.startswith(b"<?", at):
            end = text.find(b"?>", at + 2) + 2
        else:
            return at
        if end <= at:  # never closed: the parser reports it
            return at
        at = end


def wrong_root(root: _Element, file: str, expected: str) -> BadLinkage:
    """The error for a root element that is not the one of the format."""
    return BadLinkage(f"the root element is <{root.tag[:80]}>; expected {expected}", file=file, line=line_of(root))
