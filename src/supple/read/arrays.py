"""Reads arrays from untrusted .npz archives, in bounded memory."""

from __future__ import annotations

import io
import math
import os
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from supple.errors import BadInput
from supple.read import bounded

MAX_BYTES = 2 * 2**30
"""Largest archive, and the most that its arrays may unpack to."""
MAX_SMALL = 256 * 2**20
"""An archive may unpack to this many bytes, however small it is."""
MAX_RATIO = 20
"""An archive may unpack to this many times its own size. Measured joint values shrink by less than 2."""
_MAX_HEADER = 10_000  # bytes; numpy's own limit for arrays that are not trusted
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what numpy writes; others need memory for their dictionaries
_MAX_MEMBERS = 1000


def read(file: str, names: Mapping[str, int], most: str = "") -> tuple[dict[str, Any], list[str]]:
    """The arrays of these names that are in an archive, and the names of all its arrays.

    ``names`` has the greatest number of entries of each, and ``most`` is this number in words. The limit of what an
    archive unpacks to counts at least eight bytes for each entry: arrays of small integers become floats.

    Only arrays of numbers and texts are read: others can run code when they are read. Raises `BadInput`.
    """
    with bounded.open_binary(file, MAX_BYTES) as binary:
        try:
            with zipfile.ZipFile(binary) as archive:
                members, limit = _members(file, archive, binary)
                found: dict[str, Any] = {}
                total = 0
                for name, entries in names.items():
                    if name not in members:
                        continue
                    too_long = members[name].file_size > 8 * entries + _MAX_HEADER
                    count, size = (0, 0) if too_long else _entries(file, archive, members[name], name)
                    if too_long or count > entries:
                        raise BadInput(f"{file}: {name} holds more than {most or f'{entries:,} entries'}")
                    total += count * max(size, 8)
                    if total > limit:
                        raise BadInput(f"{file}: as floats its arrays take more than {limit:,} bytes")
                    found[name] = _array(file, archive, members[name], name)
                return found, list(members)
        except BadInput:
            raise
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError) as error:
            raise _not_arrays(file, error) from None
        except (RuntimeError, SyntaxError, TypeError, KeyError, RecursionError, OverflowError) as error:
            raise _not_arrays(file, error) from None  # encrypted members; headers that are no Python literal


def _not_arrays(file: str, error: object) -> BadInput:
    return BadInput(f"{file}: not an archive of plain arrays: {str(error)[:300]}")


def _members(file: str, archive: zipfile.ZipFile, binary: BinaryIO) -> tuple[dict[str, zipfile.ZipInfo], int]:
    """The members by the name of their array, and the bytes that they may unpack to.

    The sizes that they declare bound what is unpacked.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    infos = archive.infolist()
    if len(infos) > _MAX_MEMBERS:
        raise _not_arrays(file, f"{len(infos):,} members")
    for info in infos:
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise _not_arrays(file, f"two members are called {name[:80]!r}")
        if info.compress_type not in _PACKED:
            raise _not_arrays(file, f"{name[:80]!r} is neither stored nor deflated")
        members[name] = info
    size, total = os.fstat(binary.fileno()).st_size, sum(info.file_size for info in infos)
    most = min(max(MAX_SMALL, MAX_RATIO * size), MAX_BYTES)
    if total > most:
        raise BadInput(f"{file}: it unpacks to {total:,} bytes; an archive of {size:,} may unpack to {most:,}")
    return members, most


def _entries(file: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> tuple[int, int]:
    """The number of entries of an array, and the bytes of one."""
    with archive.open(info) as member:
        head = io.BytesIO(member.read(_MAX_HEADER + 12))
        shape, _, dtype = _header(file, head, name)
    expected = math.prod(shape) * dtype.itemsize
    if expected != info.file_size - head.tell():
        raise _not_arrays(file, f"{name} has {info.file_size - head.tell():,} bytes; its shape needs {expected:,}")
    return math.prod(shape), dtype.itemsize


def _header(file: str, head: io.BytesIO, name: str) -> Any:
    """The shape of an array, whether its columns come first, and its dtype."""
    version = np.lib.format.read_magic(head)
    if version not in ((1, 0), (2, 0)):  # the third is for names of fields
        raise _not_arrays(file, f"version {version} of {name!r}")
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return reader(head, max_header_size=_MAX_HEADER)


def _array(file: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Any:
    with archive.open(info) as member:
        # zipfile unpacks no more than the declared size
        head = io.BytesIO(member.read(_MAX_HEADER + 12))
        shape, columns_first, dtype = _header(file, head, name)
        if dtype.kind not in "fiubcSU" or dtype.hasobject:
            raise _not_arrays(file, f"{name} must be numbers or texts, not {dtype.kind}")
        expected = math.prod(shape) * dtype.itemsize
        data = bytearray(head.read())
        while block := member.read(1 << 20):
            data += block
    if len(data) != expected:
        raise _not_arrays(file, f"{name} is cut short")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if columns_first else "C")
