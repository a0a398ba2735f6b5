"""Finder of the files that a robot description names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

Folder = str | os.PathLike[str]


class Finder:
    """Searches for files from the folder of a description upwards and in search paths; opens none of them."""

    def __init__(self, folder: Folder | None, search: Iterable[Folder] = ()) -> None:
        """``folder`` is that of the description, None for a string; ``search`` are more folders."""
        here = [] if folder is None else [Path(folder).resolve()]
        self._up = [place for start in here for place in (start, *start.parents)]
        self._search = [Path(place).absolute() for place in search]
        self.search = [str(place) for place in self._search]
        """The folders that were given, absolute."""
        ros = [Path(place) for place in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if place]
        ament = [Path(place, "share") for place in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if place]
        self._ros = ros + ament
        self._package = lru_cache(maxsize=1000)(self._look_for_package)

    def find(self, name: str) -> tuple[str, bool]:
        """The absolute path of a file and True, or its name as written and False if it is not found."""
        scheme, rest = re.fullmatch(r"(?s)(?:([A-Za-z][A-Za-z0-9+.-]{1,40})://)?(.*)", name).groups()  # type: ignore[union-attr]
        if scheme in ("package", "model"):
            package, _, inside = rest.partition("/")
            places = [place / inside for place in self._package(package)] if _stays(inside) else []
        elif scheme == "file":
            plain = unquote(rest.removeprefix("localhost"))
            places = [Path(plain)] if Path(plain).is_absolute() else self._beside(plain)
        elif scheme:
            places = []
        else:
            places = [Path(name)] if Path(name).is_absolute() else self._beside(name)
        for place in places:
            path = os.path.normpath(place)
            if os.path.isfile(path):
                return path, True
        return name, False

    def package(self, name: str) -> str | None:
        """The folder of a package, or None."""
        return next((str(place) for place in self._package(name) if place.name == name), None)

    def _beside(self, name: str) -> list[Path]:
        return [place / name for place in (*self._up, *self._search)]

    def _look_for_package(self, name: str) -> tuple[Path, ...]:
        """Folders that may be the package, best first: those of its name, then all that are searched."""
        if not name or name in (".", "..") or len(name) > 255:
            return ()
        named: list[Path] = []
        for place in (*self._up, *self._search, *self._ros):
            if place.name == name:
                named.append(place)
            if os.path.isdir(place / name):
                named.append(place / name)
        return (*named, *self._search, *self._up)


def _stays(inside: str) -> bool:
    """Whether a path within a package stays within it."""
    depth = 0
    for part in PurePosixPath(inside).parts:
        depth += -1 if part == ".." else 1
        if depth < 0 or part == "/":
            return False
    return True
