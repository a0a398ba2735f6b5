"""Sizes of the pages of a Parquet file, from their headers.

The sizes in the footer of a file are not used by the decoder, so a file may declare any. The header of each page holds
the size that is allocated for it. See the Parquet format, structs FileMetaData and PageHeader, in Thrift's compact
protocol. The footer is read here too: pyarrow's own view of a column ends the process if its statistics are damaged.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO

from supple.errors import BadInput

MAX_PAGES = 10_000
"""Pages of a column in a row group; the writer makes a few."""
_READS = (1 << 9, 1 << 16, 1 << 20)  # bytes read for a header, which may hold texts
_MAX_FOOTER = 1 << 26  # bytes
_MAGIC = b"PAR1"
_I32, _I64, _TEXT, _LIST, _STRUCT = 5, 6, 8, 9, 12  # kinds of values in the protocol
_MAX_DEPTH = 8
# fields of structs, by number and kind: the decoder skips a field of another kind too
_ROW_GROUPS, _COLUMNS, _COLUMN_DATA = (4, _LIST), (1, _LIST), (3, _STRUCT)
_COLUMN_BYTES, _FIRST_PAGE, _DICTIONARY_PAGE = (7, _I64), (9, _I64), (11, _I64)
_UNCOMPRESSED, _COMPRESSED = (2, _I32), (3, _I32)  # of a page header, in bytes
# header of a data page, a dictionary page, a data page of version 2: its encoding
_ENCODINGS = {(5, _STRUCT): (2, _I32), (7, _STRUCT): (2, _I32), (8, _STRUCT): (4, _I32)}
_ALLOWED = (0, 2, 3, 8, 9)  # plain, dictionary, run lengths, byte stream split: those that repeat no part of a text
Fields = dict[tuple[int, int], Any]
"""Values of a struct by number and kind of the field."""
Extent = tuple[int, int]
"""Where the pages of a column begin and end, in bytes."""


def row_groups(file: str, binary: BinaryIO) -> list[list[Extent]]:
    """Where the columns of each row group are, from the footer; `BadInput` if it is damaged."""
    size = binary.seek(0, os.SEEK_END)
    binary.seek(max(size - 8, 0))
    length, magic = struct.unpack("<I4s", binary.read(8).rjust(8, b"\0"))
    if magic != _MAGIC or length > min(size - 8, _MAX_FOOTER):
        raise BadInput(f"{file}: no footer of a Parquet file")
    binary.seek(size - 8 - length)
    try:
        footer, _ = _struct(binary.read(length), 0, 0)
        return [[_extent(column) for column in group[_COLUMNS]] for group in footer[_ROW_GROUPS]]
    except (IndexError, ValueError, KeyError, TypeError):
        raise BadInput(f"{file}: its footer is damaged") from None


def _extent(column: Fields) -> Extent:
    data = column[_COLUMN_DATA]
    at, dictionary = data[_FIRST_PAGE], data.get(_DICTIONARY_PAGE)
    if dictionary is not None and 0 < dictionary < at:
        at = dictionary
    if at < 0:
        raise ValueError
    return at, at + data[_COLUMN_BYTES]


def unpacked_size(file: str, binary: BinaryIO, columns: Sequence[Extent]) -> int:
    """Bytes that the pages of these columns unpack to; `BadInput` for pages that may unpack to any size."""
    total = 0
    for begin, end in columns:
        at, pages = begin, 0
        while at < end:
            header, length = _header(file, binary, at)
            unpacked, packed = header.get(_UNCOMPRESSED, -1), header.get(_COMPRESSED, -1)
            pages += 1
            if min(unpacked, packed) < 0:
                raise BadInput(f"{file}: a page at byte {at} has no size")
            if pages > MAX_PAGES:
                raise BadInput(f"{file}: more than {MAX_PAGES:,} pages of a column in a row group")
            _check_encodings(file, at, header)
            total, at = total + unpacked, at + length + packed
    return total


def _check_encodings(file: str, at: int, header: Fields) -> None:
    for kind, field in _ENCODINGS.items():
        inner = header.get(kind)
        if inner is not None and inner.get(field) not in _ALLOWED:
            raise BadInput(f"{file}: a page at byte {at} has an encoding that supple does not write")


def _header(file: str, binary: BinaryIO, at: int) -> tuple[Fields, int]:
    """The header of a page at a place in the file, and its length in bytes."""
    for size in _READS:
        binary.seek(at)
        with contextlib.suppress(IndexError, ValueError):
            return _struct(binary.read(size), 0, 0)
    raise BadInput(f"{file}: no header of a page at byte {at}")


def _struct(data: bytes, at: int, depth: int) -> tuple[Fields, int]:
    """A struct and where it ends; IndexError if it ends after the data, ValueError if it is none."""
    found: Fields = {}
    number = 0
    while data[at]:
        step, kind = data[at] >> 4, data[at] & 15
        at += 1
        if step:
            number += step
        else:
            number, at = _zigzag(data, at)
        if kind in (1, 2):  # a boolean: its kind is its value
            continue
        found[number, kind], at = _value(data, at, kind, depth + 1)
    return found, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """A value of a kind, None if its content is not needed, and where it ends."""
    if depth > _MAX_DEPTH:
        raise ValueError
    if kind in (1, 2, 3):  # a boolean of a list, a byte
        return None, at + 1
    if kind in (4, _I32, _I64):
        return _zigzag(data, at)
    if kind == 7:  # a double
        return None, at + 8
    if kind == _TEXT:
        length, at = _varint(data, at)
        return None, at + length
    if kind == _LIST:
        count, kind = data[at] >> 4, data[at] & 15
        at += 1
        if count == 15:
            count, at = _varint(data, at)
        values = []
        for _ in range(count):
            value, at = _value(data, at, kind, depth)
            values.append(value)
        return values, at
    if kind == _STRUCT:
        return _struct(data, at, depth)
    raise ValueError


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError


def _zigzag(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at
