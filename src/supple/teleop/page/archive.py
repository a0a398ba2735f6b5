"""Archives: a robot description with its meshes, uploaded as a zip file."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from supple.errors import BadInput
from supple.link import Geometry, Link, Mesh

MAX_ARCHIVE = 32 * 1024 * 1024
"""Largest zip file from a browser, in bytes."""
MAX_UNPACKED = 128 * 1024 * 1024
"""Bytes that it may unpack to."""
MAX_MEMBERS = 500
"""Files in it."""
MESHES = (".stl", ".obj", ".mtl", ".dae", ".ply", ".glb", ".gltf", ".bin", ".off")
"""Endings of the files that are unpacked."""
_ENCRYPTED = 1  # bit of the flags of a member
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of the other ways Python unpacks a member at once, of any size
_ENTRY = b"PK\x01\x02"  # begins the entry of a member


def is_archive(name: str) -> bool:
    """Whether a file is one, by its name."""
    return name.lower().endswith(".zip")


class Archive:
    """The files of a zip file: one robot description, and meshes that are unpacked into a folder."""

    def __init__(self, name: str, content: bytes, folder: Path) -> None:
        """Unpacks the meshes into a folder, under numbers; raises `BadInput` with the reason."""
        self._name, self._left = name, MAX_UNPACKED
        entries = content.count(_ENTRY)  # before all of them are read, which takes long
        if entries > 4 * MAX_MEMBERS:
            raise BadInput(f"{name} has {entries:,} files; at most {MAX_MEMBERS} are read")
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as packed:
                self._unpack(packed, folder)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise BadInput(f"{name} is not a zip file that can be read: {error}") from None

    def _unpack(self, packed: zipfile.ZipFile, folder: Path) -> None:
        members = [member for member in packed.infolist() if not member.is_dir()]
        if len(members) > MAX_MEMBERS:
            raise BadInput(f"{self._name} has {len(members):,} files; at most {MAX_MEMBERS} are read")
        if any(member.flag_bits & _ENCRYPTED for member in members):
            raise BadInput(f"{self._name} is encrypted")
        if any(member.compress_type not in _PACKED for member in members):
            raise BadInput(f"{self._name} is packed in another way than by deflation; pack it again")
        shown = [member for member in members if not member.filename.startswith("__MACOSX/")]
        found = [one for ending in (".urdf", ".xml") for one in shown if one.filename.lower().endswith(ending)]
        descriptions = [one for one in found if one.filename.lower().endswith(".urdf")] or found
        if len(descriptions) != 1:
            names = ", ".join(one.filename[-60:] for one in descriptions[:5])
            raise BadInput(
                f"{self._name} must have one .urdf file, it has {len(descriptions)}" + (f": {names}" if names else "")
            )
        self.description = self._read(packed, descriptions[0])
        """The robot description."""
        self._files: dict[str, dict[tuple[str, ...], Path]] = {}  # by the last parts of their names
        for number, member in enumerate(shown):
            ending = PurePosixPath(member.filename.lower()).suffix
            if ending in MESHES:
                path = folder / f"{number}{ending}"
                path.write_bytes(self._read(packed, member))
                parts = _parts(member.filename)
                self._files.setdefault(parts[-1], {})[parts] = path

    def _read(self, packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
        with packed.open(member) as file:
            data = file.read(self._left + 1)  # the size that it declares may be wrong
        self._left -= len(data)
        if self._left < 0:
            raise BadInput(f"{self._name} unpacks to more than {MAX_UNPACKED:,} bytes")
        return data

    def with_meshes(self, links: Sequence[Link]) -> list[Link]:
        """The links with the files of their meshes, without meshes that it does not have; empty if it has none of them.

        The name in a description is never opened: it may be that of any file of this machine.
        """
        meshes = {name: self._file(name) for name in _mesh_names(links)}
        if not any(meshes.values()):
            return []
        return [replace(link, geometry=tuple(self._resolved(link, meshes))) for link in links]

    def _resolved(self, link: Link, meshes: dict[str, Path | None]) -> Iterator[Geometry]:
        for geometry in link.geometry:
            if not isinstance(geometry.shape, Mesh):
                yield geometry
            elif (file := meshes[geometry.shape.path]) is not None:
                yield replace(geometry, shape=replace(geometry.shape, path=str(file)))

    def _file(self, name: str) -> Path | None:
        """The file whose path ends most like a name; at least the last part must be the same."""
        wanted = _parts(name)
        files = self._files.get(wanted[-1] if wanted else "", {})
        return files[max(files, key=lambda parts: _common_end(parts, wanted))] if files else None


def _mesh_names(links: Sequence[Link]) -> set[str]:
    shapes = (geometry.shape for link in links for geometry in link.geometry)
    return {shape.path for shape in shapes if isinstance(shape, Mesh)}


def _parts(path: str) -> tuple[str, ...]:
    """The folders and the name of a file, in lower case."""
    return tuple(part for part in path.replace("\\", "/").lower().split("/") if part not in ("", "."))


def _common_end(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many of the last parts of two paths are the same."""
    same = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        same += 1
    return same
