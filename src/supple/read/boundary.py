"""The files that a description may include: ordinary ones, in its own folder or package, or in search folders."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from supple.errors import BadInput, BadLinkage
from supple.read import bounded
from supple.read.meshes import Folder
from supple.read.safe_xml import MAX_BYTES

PACKAGE_FILES = ("package.xml", "manifest.xml")
TEXTS = (".xacro", ".xml", ".urdf", ".mjcf", ".yaml", ".yml", ".srdf", ".gazebo", ".transmission", ".xmacro")
"""Endings of the files that a link may lead to outside these folders."""
MAX_INCLUDES = 1000


class Boundary:
    """Folders whose files may be included."""

    def __init__(self, file: str, search: Iterable[Folder] = ()) -> None:
        """Around a description: its package, without one its folder, and the ``search`` folders."""
        self._file = file
        folder = Path(os.path.abspath(file)).parent
        self._folders = [_package(folder) or folder, *(Path(os.path.abspath(place)) for place in search)]
        self._above = (folder, *folder.parents)

    def add_package(self, folder: str) -> None:
        """Adds a package that was found by its name: one with a package.xml, or a folder around the description."""
        place = Path(os.path.abspath(folder))
        home = Path.home()
        if _is_package(place) or (place in self._above and place not in (home, *home.parents)):
            self._folders.append(place)

    def holds(self, path: str) -> bool:
        """Whether a file is in one of the folders. A link in them may lead out of them, to a description."""
        place, target = Path(os.path.normpath(os.path.abspath(path))), Path(os.path.realpath(path))
        inside = any(place.is_relative_to(folder) for folder in self._folders)
        real = [Path(os.path.realpath(folder)) for folder in self._folders]
        return inside and (target.suffix.lower() in TEXTS or any(target.is_relative_to(folder) for folder in real))

    def check(self, path: str) -> None:
        """Raises `BadLinkage` unless a file may be included; a file that does not exist may."""
        if not self.holds(path):
            raise BadLinkage(
                f"it includes {path[:300]!r}, which is outside its folder or package; "
                "to allow that, give the folder of that file in search=",
                file=self._file,
            )
        if os.path.lexists(path):
            try:
                bounded.check_status(os.stat(path), path, MAX_BYTES)
            except (BadInput, OSError) as error:
                raise BadLinkage(f"it includes {path[:300]!r}: {error}", file=self._file) from None


def _is_package(folder: Path) -> bool:
    return any((folder / name).is_file() for name in PACKAGE_FILES)


def _package(folder: Path) -> Path | None:
    """The nearest folder upwards that is a package."""
    return next((place for place in (folder, *folder.parents) if _is_package(place)), None)
