"""Files: the ending of a path chooses who reads it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from supple.errors import BadInput, BadLinkage, UnknownName
from supple.linkage import Linkage
from supple.read.meshes import Finder, Folder

ENDINGS = (".urdf", ".xacro", ".xml", ".mjcf")
"""The endings of files that `load` reads."""


def load(
    path: str | os.PathLike[str],
    *,
    search: Iterable[Folder] | Folder = (),
    name: str | None = None,
    arguments: Mapping[str, str] | None = None,
) -> Linkage:
    """The linkage that a file describes: .urdf, .xacro, .mjcf, or .xml that holds URDF or MJCF.

    Args:
        path: the file.
        search: more folders to look in for packages and meshes.
        name: what the linkage is to be called, instead of what the file calls it.
        arguments: values for the ``<xacro:arg>`` of a .xacro file, by name.

    Raises:
        BadLinkage: the file does not describe a linkage; file, line and element are named.
        UnknownName: the file ends in something that is not read.
        FileNotFoundError: there is no such file.
        MissingExtra: an optional package is needed for this kind of file.
    """
    file = os.fspath(path)
    ending = os.path.splitext(file)[1].lower()
    _check_there(file)
    if ending not in ENDINGS:
        raise UnknownName(f"cannot read {file!r}: it ends in {ending!r}; supple reads " + ", ".join(ENDINGS))
    if arguments and ending != ".xacro":
        raise BadInput(f"arguments are for .xacro files, and {file!r} is not one")
    from supple.read import safe_xml, urdf

    finder = Finder(os.path.dirname(file) or ".", _folders(search))
    data = safe_xml.read_bytes(file)
    root = safe_xml.parse(data, file)
    if ending == ".xacro":
        from supple.read import xacro

        return urdf.build(xacro.expand(data, file, finder, arguments), file, finder, name, lines=False)
    if root.tag == "mujoco" and ending != ".urdf":
        from supple.read import mjcf

        return mjcf.build(file, name)
    if ending == ".mjcf" or (ending == ".xml" and not root.tag.endswith("robot")):
        expected = "<mujoco>" if ending == ".mjcf" else "<robot> (URDF) or <mujoco> (MJCF)"
        reason = f"the root element is <{root.tag[:80]}>; expected {expected}"
        raise BadLinkage(reason, file=file, line=safe_xml.line_of(root))
    return urdf.build(root, file, finder, name)


def urdf_text(
    text: str | bytes, *, file: str = "<string>", search: Iterable[Folder] | Folder = (), name: str | None = None
) -> Linkage:
    """The linkage that URDF text describes; ``file`` is what complaints call it, ``search`` where its meshes are."""
    if not isinstance(text, str | bytes):
        raise BadInput(f"text must be str or bytes, got {type(text).__name__}; use load() for a file")
    from supple.read import safe_xml, urdf

    return urdf.build(safe_xml.parse(text, file), file, Finder(None, _folders(search)), name)


def _folders(search: Iterable[Folder] | Folder) -> list[Folder]:
    return [search] if isinstance(search, str | os.PathLike) else list(search)


def _check_there(file: str) -> None:
    if os.path.isdir(file):
        raise IsADirectoryError(f"{file!r} is a folder; expected a file that ends in " + ", ".join(ENDINGS))
    if os.path.exists(file):
        return
    from supple import models

    stem = Path(file).stem
    hint = f"; the robot in the box is supple.models.{stem}()" if stem in models.names() else ""
    raise FileNotFoundError(f"no file {file!r}{hint}")
