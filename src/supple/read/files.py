"""`load`: reads a robot description with the reader that its file ending names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path

from supple import _check
from supple._figure.convention import convention
from supple.errors import BadInput, UnknownName
from supple.linkage import Linkage
from supple.read.meshes import Finder, Folder

_DATA = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data")
_READERS = {".urdf": "urdf", ".xacro": "xacro", ".xml": "xml", ".mjcf": "mjcf"}
"""The module of `supple.read` for each ending; its ``read(file, finder, name, arguments)`` returns the linkage."""
_FIGURES = {".bvh": ("bvh", "z"), ".gltf": ("gltf", "y"), ".glb": ("gltf", "y")}
"""The module for each ending of an animation file, whose ``read(file, name, convention)`` returns the linkage; and the
axis that points up if none is given."""
ENDINGS = (*_READERS, *_FIGURES)
"""The endings of files that `load` reads."""

_LONGEST_NAME = 500  # characters of the name of a text in an error


def load(
    path: str | os.PathLike[str],
    *,
    search: Iterable[Folder] | Folder = (),
    name: str | None = None,
    arguments: Mapping[str, str] | None = None,
    up: str | None = None,
    unit: float | str | None = None,
) -> Linkage:
    """The linkage in a file: .urdf, .xacro, .mjcf, .xml with URDF or MJCF in it, .bvh, .gltf or .glb.

    ``arm = supple.load("arm.urdf")`` reads one; `models` has bundled ones.

    Args:
        path: the file.
        search: more folders to search for packages and meshes.
        name: a name for the linkage instead of that in the file.
        arguments: values of the ``<xacro:arg>`` of a .xacro file, by name.
        up: the axis of an animation file that points up, "x", "y" or "z": it becomes the world's z. By default the
            axes of a .bvh stay as they are, and a .gltf or .glb has y up, as its specification says.
        unit: length of the unit of an animation file in metres, or its name: "m", "cm", "mm", "in", "ft". By default
            numbers stay as they are.

    Raises:
        BadLinkage: the file does not describe a linkage; names file, line and element.
        UnknownName: files with this ending are not read.
        FileNotFoundError: there is no such file.
        MissingExtra: an optional package is needed for this kind of file.
    """
    file = _check.file_name(path)
    _check_options(name, arguments)
    ending = os.path.splitext(file)[1].lower()
    _check_there(file)
    if ending not in ENDINGS:
        raise UnknownName(f"cannot read {file!r}: it ends in {ending!r}; supple reads " + ", ".join(ENDINGS))
    if arguments and ending != ".xacro":
        raise BadInput(f"arguments are for .xacro files, and {file!r} is not one")
    if ending in _FIGURES:
        module, default_up = _FIGURES[ending]
        figure: Linkage = import_module(f"supple.read.{module}").read(file, name, convention(up, unit, default_up))
        return figure
    if up is not None or unit is not None:
        raise BadInput(f"up and unit are for {', '.join(_FIGURES)}; {ending} files are in metres, with z up")
    reader = import_module(f"supple.read.{_READERS[ending]}")
    finder = Finder(os.path.dirname(file) or ".", _folders(search))
    linkage: Linkage = reader.read(file, finder, name, arguments)
    return linkage


def urdf_text(
    text: str | bytes, *, file: str = "<string>", search: Iterable[Folder] | Folder = (), name: str | None = None
) -> Linkage:
    """The linkage in URDF text; errors call it ``file``, and ``search`` are folders with its meshes.

    >>> from supple.read import urdf_text
    >>> urdf_text('<robot name="one"><link name="base"/></robot>').root
    'base'
    """
    if not isinstance(text, str | bytes):
        raise BadInput(f"text must be str or bytes, got {type(text).__name__}; use load() for a file")
    _check_options(name)
    named = _check.text(file, "file", empty=True)[:_LONGEST_NAME]
    from supple.read import safe_xml, urdf

    return urdf.build(safe_xml.parse(text, named), named, Finder(None, _folders(search)), name)


def _folders(search: Iterable[Folder] | Folder) -> list[Folder]:
    try:
        folders = [search] if isinstance(search, str | os.PathLike) else list(search)
    except TypeError:
        folders = [search]  # type: ignore[list-item]
    return [_check.file_name(folder, "a folder of search") for folder in folders]


def _check_options(name: str | None, arguments: Mapping[str, str] | None = None) -> None:
    if name is not None:
        _check.text(name, "name", empty=True)
    if arguments is not None and not isinstance(arguments, Mapping):
        raise BadInput(f"arguments must be values by name, got {_check.short(arguments)}")


def _check_there(file: str) -> None:
    if os.path.isdir(file):
        raise IsADirectoryError(f"{file!r} is a folder; expected a file that ends in " + ", ".join(ENDINGS))
    if os.path.exists(file):
        return
    stem = Path(file).stem
    bundled = os.path.isfile(os.path.join(_DATA, f"{stem}.urdf"))
    hint = f"; the bundled model is supple.models.{stem}()" if bundled else ""
    raise FileNotFoundError(f"no file {file!r}{hint}")
