"""Reader of mesh files with trimesh; runs in a separate process, see `supple.read.isolated`."""

from __future__ import annotations

import os
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

from supple.errors import BadInput
from supple.read import bounded
from supple.read.mesh_limits import MAX_FILE, MAX_MEMBERS, MAX_PARTS, MAX_PIXELS, MAX_TRIANGLES, MAX_UNPACKED

_ARCHIVES = (".zip", ".3mf", ".zae", ".usdz", ".gz", ".bz2", ".xz", ".tar", ".tgz")
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read(file: str, guard: Callable[[Callable[[str], None]], None]) -> tuple[dict[str, Any], list[Any]]:
    """The colour of each part, and for each its vertices (n, 3), triangles (m, 3) and placement (4, 4).

    The file may name others, such as images, in its own folder only. Raises `BadInput`.
    """
    guard(_beside(file))
    _check(file)
    _bound_images()
    loaded = trimesh.load(Path(file))
    if isinstance(loaded, trimesh.Scene):
        nodes = [loaded.graph[name] for name in loaded.graph.nodes_geometry]
        parts = [(loaded.geometry[geometry], placed) for placed, geometry in nodes]
    else:
        parts = [(loaded, np.eye(4))]
    parts = [(mesh, placed) for mesh, placed in parts if len(getattr(mesh, "faces", ()))]
    if not parts:
        raise BadInput(f"{file} holds no triangles")
    if sum(len(mesh.faces) for mesh, _ in parts) > MAX_TRIANGLES:
        raise BadInput(f"{file}: more than {MAX_TRIANGLES:,} triangles")
    colours: dict[int, _Colour] = {}  # of each mesh, which many nodes may share
    groups: dict[_Colour, list[_Placed]] = {}
    for mesh, placed in parts:
        vertices, faces = np.array(mesh.vertices, dtype=float), np.array(mesh.faces, dtype=np.int64)
        if not np.isfinite(vertices).all() or not np.isfinite(placed).all():
            raise BadInput(f"{file}: a vertex is not finite")
        if faces.min() < 0 or faces.max() >= len(vertices):
            raise BadInput(f"{file}: a triangle of vertices that do not exist")
        if id(mesh) not in colours:
            colours[id(mesh)] = _own_colour(mesh)
        groups.setdefault(colours[id(mesh)], []).append((vertices, faces, np.array(placed, dtype=float)))
        if len(groups) > MAX_PARTS:
            raise BadInput(f"{file}: more than {MAX_PARTS:,} parts in different colours")
    return {"parts": [{"colour": colour} for colour in groups]}, [
        array for group in groups.values() for array in _merged(group)
    ]


_Colour = tuple[float, ...] | None
_Placed = tuple[Any, Any, Any]


def _merged(parts: list[_Placed]) -> _Placed:
    """Parts in one colour as one: vertices (n, 3), triangles (m, 3), placement (4, 4)."""
    if len(parts) == 1:
        return parts[0]
    vertices, faces, first = [], [], 0
    for corners, triangles, placed in parts:
        mirrored = np.linalg.det(placed[:3, :3]) < 0
        vertices.append(corners @ placed[:3, :3].T + placed[:3, 3])
        faces.append(first + (triangles[:, ::-1] if mirrored else triangles))
        first += len(corners)
    return np.concatenate(vertices), np.concatenate(faces), np.eye(4)


def _check(file: str) -> None:
    """Raises `BadInput` for a device or a pipe, a file that is too large, and an archive that unpacks to too much."""
    with bounded.open_binary(file, MAX_FILE) as binary:
        if not zipfile.is_zipfile(binary):
            if file.lower().endswith(_ARCHIVES):
                raise BadInput(f"{file}: an archive of this kind is not read")
            return
        try:
            with zipfile.ZipFile(binary) as archive:
                members = archive.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise BadInput(f"{file}: {error}") from None
    total = sum(member.file_size for member in members)
    if total > MAX_UNPACKED or len(members) > MAX_MEMBERS:
        raise BadInput(
            f"{file}: it unpacks to {len(members):,} files of {total:,} bytes; "
            f"at most {MAX_MEMBERS:,} of {MAX_UNPACKED:,} are read"
        )
    for member in members:
        if member.filename.lower().endswith(_ARCHIVES) or member.compress_type not in _PACKED:
            raise BadInput(f"{file}: {member.filename[:100]!r} is an archive in an archive, or packed in an odd way")


def _beside(file: str) -> Callable[[str], None]:
    folder = os.path.dirname(os.path.abspath(file))
    real = os.path.realpath(folder)

    def check(path: str) -> None:
        if os.path.abspath(path) == os.path.abspath(file):
            return
        if not os.path.realpath(path).startswith(real + os.sep):
            raise BadInput(f"{file}: it names {path[:300]!r}, outside its folder")
        bounded.check_status(os.stat(path), path, MAX_FILE)

    return check


def _bound_images() -> None:
    try:
        from PIL import Image
    except ImportError:
        return
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)


def _own_colour(mesh: Any) -> _Colour:
    visual = mesh.visual
    if not visual.defined:
        return None
    colour = np.asarray(visual.material.main_color if visual.kind == "texture" else visual.main_color) / 255
    red, green, blue, opacity = colour
    return float(red), float(green), float(blue), float(opacity)
