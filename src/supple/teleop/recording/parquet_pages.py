"""Sizes of the pages of a Parquet file, from their headers.

The sizes in the index at the end of a file are not used by the decoder, so a file may declare any. The header of each
page holds the size that is allocated for it. See the Parquet format, struct PageHeader, in Thrift's compact protocol.
"""

from __future__ import annotations

import contextlib
from typing import Any, BinaryIO

from supple.errors import BadInput

MAX_PAGES = 10_000
"""Pages of a column in a row group; the writer makes a few."""
_READS = (1 << 9, 1 << 16, 1 << 20)  # bytes read for a header, which may hold texts
_UNCOMPRESSED, _COMPRESSED = 2, 3  # fields of a page header, in bytes
_ENCODINGS = {5: 2, 7: 2, 8: 4}  # header of a data page, a dictionary page, a data page of version 2: its encoding
_ALLOWED = (0, 2, 3, 8, 9)  # plain, dictionary, run lengths, byte stream split: those that repeat no part of a text


def unpacked_size(file: str, binary: BinaryIO, row_group: Any) -> int:
    """Bytes that the pages of a row group unpack to; `BadInput` for pages that may unpack to any size."""
    total = 0
    for k in range(row_group.num_columns):
        column = row_group.column(k)
        at, first = column.data_page_offset, column.dictionary_page_offset
        if first is not None and 0 < first < at:
            at = first
        end, pages = at + column.total_compressed_size, 0
        while at < end:
            header, length = _header(file, binary, at)
            unpacked, packed = header.get(_UNCOMPRESSED, -1), header.get(_COMPRESSED, -1)
            pages += 1
            if not isinstance(unpacked, int) or not isinstance(packed, int) or min(unpacked, packed) < 0:
                raise BadInput(f"{file}: a page at byte {at} has no size")
            if pages > MAX_PAGES:
                raise BadInput(f"{file}: more than {MAX_PAGES:,} pages of a column in a row group")
            _check_encodings(file, at, header)
            total, at = total + unpacked, at + length + packed
    return total


def _check_encodings(file: str, at: int, header: dict[int, Any]) -> None:
    for kind, field in _ENCODINGS.items():
        inner = header.get(kind)
        if inner is not None and (not isinstance(inner, dict) or inner.get(field) not in _ALLOWED):
            raise BadInput(f"{file}: a page at byte {at} has an encoding that supple does not write")


def _header(file: str, binary: BinaryIO, at: int) -> tuple[dict[int, Any], int]:
    """The fields of the header at a place in the file, by number, and its length in bytes."""
    for size in _READS:
        binary.seek(at)
        with contextlib.suppress(IndexError, ValueError):
            return _struct(binary.read(size), 0, 0)
    raise BadInput(f"{file}: no header of a page at byte {at}")


def _struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """A struct and where it ends; IndexError if it ends after the data, ValueError if it is no header."""
    found: dict[int, Any] = {}
    number = 0
    while data[at]:
        step, kind = data[at] >> 4, data[at] & 15
        at += 1
        if step:
            number += step
        else:
            number, at = _zigzag(data, at)
        value: Any = None
        if kind == 3:
            at += 1
        elif kind in (4, 5, 6):
            value, at = _zigzag(data, at)
        elif kind == 7:
            at += 8
        elif kind == 8:
            length, at = _varint(data, at)
            at += length
        elif kind == 12 and depth < 4:
            value, at = _struct(data, at, depth + 1)
        elif kind not in (1, 2):  # booleans are all in their kind; a header has no lists and maps
            raise ValueError
        found[number] = value
    return found, at + 1


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
