"""Checks the files that an MJCF file names, before MuJoCo opens them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from supple.errors import BadLinkage
from supple.read import safe_xml
from supple.read.boundary import MAX_INCLUDES, Boundary
from supple.read.mesh_limits import MAX_FILE

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_ELEMENTS = 100_000
"""Greatest number of elements after <replicate> and includes are expanded."""
_INCLUDES = ("include", "model")


def check(file: str, search: Sequence[str]) -> None:
    """Raises `BadLinkage` for a file that may not be included, a circle of includes, and too many elements."""
    boundary = Boundary(file, search)
    path = os.path.abspath(file)
    root = safe_xml.parse(safe_xml.read_bytes(file), file)
    folders = {os.path.dirname(path)}
    count = files = 0
    nested: list[tuple[_Element, str, int, tuple[str, ...]]] = [(root, path, 1, (path,))]
    while nested:
        node, inside, copies, above = nested.pop()
        for child, times in _elements(node, copies):
            count += times
            if count > MAX_ELEMENTS:
                raise BadLinkage(f"it expands to more than {MAX_ELEMENTS:,} elements", file=file)
            if child.tag == "compiler":
                folders |= {os.path.join(os.path.dirname(path), child.get(d, "")) for d in _DIRECTORIES}
            if child.tag not in _INCLUDES or not child.get("file"):
                continue
            files += 1
            target = _target(child.get("file", ""), (os.path.dirname(inside), os.path.dirname(path)))
            boundary.check(target)
            if target in above:
                raise BadLinkage(f"it includes itself through {child.get('file')!r}", file=file)
            if files > MAX_INCLUDES:
                raise BadLinkage(f"it includes more than {MAX_INCLUDES:,} files", file=file)
            if os.path.isfile(target) and target.lower().endswith((".xml", ".mjcf", ".urdf")):
                included = safe_xml.parse(safe_xml.read_bytes(target), target)
                nested.append((included, target, times, (*above, target)))
    for name in _assets(root):
        for folder in folders:
            _check_asset(os.path.join(folder, name), file)


_DIRECTORIES = ("meshdir", "texturedir", "assetdir")


def _elements(root: _Element, copies: int) -> Iterator[tuple[_Element, int]]:
    """The elements below one, with the number of copies that <replicate> makes of each."""
    waiting = [(root, copies)]
    while waiting:
        node, times = waiting.pop()
        yield node, times
        inner = times
        if node.tag == "replicate":
            inner = times * max(_whole(node.get("count", "1")), 1)
        elif node.tag in ("composite", "flexcomp"):
            inner = times
            size = [max(_whole(word), 1) for word in node.get("count", "").split()[:3]]
            for factor in size:
                times = min(times * factor, MAX_ELEMENTS + 1)
            yield node, times
        inner = min(inner, MAX_ELEMENTS + 1)
        waiting += [(child, inner) for child in node if isinstance(child.tag, str)]


def _whole(word: str) -> int:
    try:
        return min(int(float(word[:40])), MAX_ELEMENTS + 1)
    except (ValueError, OverflowError):
        return MAX_ELEMENTS + 1 if word else 1


def _target(name: str, folders: Sequence[str]) -> str:
    """The included file: relative to the file that includes it, or to the whole description."""
    places = [os.path.normpath(os.path.join(folder, name)) for folder in folders]
    return next((place for place in places if os.path.lexists(place)), places[0])


def _assets(root: _Element) -> Iterator[str]:
    for node in root.iter():
        if isinstance(node.tag, str) and node.tag not in _INCLUDES:
            for name, value in node.attrib.items():
                if str(name).startswith("file") and value:
                    yield str(value)
                    yield os.path.basename(str(value))


def _check_asset(path: str, file: str) -> None:
    """An asset may be missing, but not a device, a pipe or too large."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise BadLinkage(f"{path[:300]!r} is not an ordinary file; a device or a pipe is not read", file=file)
    if status.st_size > MAX_FILE:
        raise BadLinkage(f"{path[:300]!r} has {status.st_size:,} bytes; at most {MAX_FILE:,} are read", file=file)
