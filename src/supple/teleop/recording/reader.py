"""Reads recordings: metadata and blocks of rows, with the place of invalid data in the error."""

from __future__ import annotations

import csv
import json
import os
import struct
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import BadInput
from supple.frame import Array
from supple.read import bounded
from supple.step import TrackingStatus
from supple.teleop.recording import parquet_pages
from supple.teleop.recording.columns import FLAGS, INTEGERS, TEXTS, Layout
from supple.teleop.recording.writer import CSV_START, KEY, PART, arrow, schema, suffix

_MAX_LINE = 1 << 22  # bytes in a line of a csv file
_MAX_FILE = 1 << 40  # bytes of a recording, which is read in blocks
_MAX_UNPACKED = 1 << 29  # bytes of a row group of a Parquet file; the writer makes some megabytes
_MAX_TEXTS = 1 << 26  # bytes of the different texts of a column in a block
_STATUSES = tuple(status.name.lower() for status in TrackingStatus)
Block = tuple[dict[str, Any], dict[str, Sequence[str]], Array]
"""Integers and flags by name; texts by name; floating-point numbers (n, columns)."""


def metadata(path: Path) -> Any:
    """The metadata as plain data, before any row is read; raises `BadInput` if the file is not a recording."""
    kind, file = suffix(path), os.fspath(path)
    if kind == ".csv":
        with bounded.open_binary(path, _MAX_FILE) as binary:
            try:
                first = binary.readline(_MAX_LINE).decode()
            except UnicodeDecodeError as error:
                raise BadInput(f"{file}: not a text file: {error}") from None
        if first.startswith(CSV_START) and not first.endswith("\n"):
            raise BadInput(f"{file}:1: not a whole recording: its first line is cut short, so no row can be read")
        if not first.startswith(CSV_START) or not first.endswith("\n"):
            raise BadInput(f"{file}:1: not a recording: its first line should begin with {CSV_START.strip()!r}")
        text_data: str | bytes = first[len(CSV_START) :]
    else:
        found = _arrow_schema(path).metadata or {}
        if KEY not in found:
            raise BadInput(f"{file}: not a recording: its schema has no metadata {KEY.decode()!r}")
        text_data = found[KEY]
    try:
        return json.loads(text_data)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file}: its metadata is not JSON: {error}") from None


def check_columns(path: Path, layout: Layout) -> None:
    """Raises `BadInput`, with the column, unless the file has the columns of its layout."""
    file = os.fspath(path)
    if suffix(path) == ".csv":
        for words in _csv_rows(path):
            _check_names(f"{file}:2:", words, layout.columns)
            return
        raise BadInput(f"{file}: there is no line with the names of its columns")
    found, wanted = _arrow_schema(path), schema(layout)
    _check_names(f"{file}:", found.names, layout.columns)
    for column, expected in zip(found, wanted, strict=True):
        if column.type != expected.type:
            raise BadInput(f"{file}: column {column.name!r} must be {expected.type}, not {column.type}")


def blocks(path: Path, layout: Layout, size: int) -> Iterator[Block]:
    """The rows of a file, up to ``size`` at a time; raises `BadInput` with file, column and row of invalid data."""
    read = _csv_blocks if suffix(path) == ".csv" else _arrow_blocks
    first, last = 0, -np.inf
    for integers, texts, numbers in read(path, layout, size):
        _check_block(os.fspath(path), layout, first, last, texts, numbers)
        yield integers, texts, numbers
        first, last = first + len(numbers), numbers[-1, layout.parts["t"].start]


def _check_block(
    file: str, layout: Layout, first: int, last: float, texts: dict[str, Sequence[str]], numbers: Array
) -> None:
    bad = np.argwhere(~np.isfinite(numbers) & layout.finite)
    if len(bad):
        row, column = bad[0]
        raise BadInput(
            f"{file}: row {first + row}, column {layout.numbers[column]!r}: must be finite, got {numbers[row, column]}"
        )
    back = np.flatnonzero(np.diff(numbers[:, layout.parts["t"].start], prepend=last) < 0)
    if len(back):
        raise BadInput(f"{file}: row {first + back[0]}, column 't': time must not go back")
    for row, (word, hands) in enumerate(zip(texts["outcome"], texts["hands"], strict=True)):
        if word not in _STATUSES:
            raise BadInput(
                f"{file}: row {first + row}, column 'outcome': {word[:40]!r} is none of {', '.join(_STATUSES)}"
            )
        if hands.strip("h-") or len(hands) > layout.links + 1:
            raise BadInput(
                f"{file}: row {first + row}, column 'hands': expected a letter h or - for each hand, got {hands[:40]!r}"
            )


def _check_names(place: str, found: Sequence[str], wanted: Sequence[str]) -> None:
    for k, (name, expected) in enumerate(zip(found, wanted, strict=False)):
        if name != expected:
            raise BadInput(f"{place} column {k + 1} is {name[:80]!r}; it should be {expected!r}")
    if len(found) != len(wanted):
        more = f"no {wanted[len(found)]!r}" if len(found) < len(wanted) else f"also {found[len(wanted)][:80]!r}"
        raise BadInput(f"{place} expected {len(wanted)} columns, got {len(found)}: there is {more}")


def _csv_rows(path: Path) -> Iterator[list[str]]:
    """The lines of a csv file below the first, split into values.

    A full disk or a crash cuts the last line; it is left out, with a warning. A line that is too long is an error.
    """
    file, number, cut, ended = os.fspath(path), 0, False, False

    def lines(binary: Any) -> Iterator[str]:
        nonlocal number, cut, ended
        while line := binary.readline(_MAX_LINE):
            number += 1
            if not line.endswith(b"\n"):
                if len(line) == _MAX_LINE:
                    raise BadInput(f"{file}:{number}: this line is longer than {_MAX_LINE} characters")
                cut = True
            elif number > 1:
                yield line.decode()
        ended = True

    rows = 0
    with bounded.open_binary(path, _MAX_FILE) as binary:
        try:
            for words in csv.reader(lines(binary), strict=True):
                yield words
                rows += 1
        except UnicodeDecodeError as error:
            raise BadInput(f"{file}:{number}: not a csv table: {error}") from None
        except csv.Error as error:
            if not ended:
                raise BadInput(f"{file}:{number}: not a csv table: {error}") from None
            cut = True  # inside a quoted text
    if cut and not rows:
        raise BadInput(f"{file}:2: not a whole recording: the names of its columns are cut short")
    if cut:
        _warn_of_cut(file, rows - 1)


def _warn_of_cut(file: str, rows: int) -> None:
    warnings.warn(
        f"{file}: the recording is cut short, as by a full disk or a crash; the {rows:,} whole rows before are read",
        stacklevel=3,
    )


def _csv_blocks(path: Path, layout: Layout, size: int) -> Iterator[Block]:
    file, count = os.fspath(path), len(layout.columns)
    heads, texts = len(INTEGERS) + len(FLAGS), len(TEXTS)
    rows: list[tuple[list[int], list[str], list[float]]] = []

    def block() -> Block:
        table = np.array([row[0] for row in rows], dtype=np.int64)
        integers: dict[str, Any] = {name: table[:, k] for k, name in enumerate((*INTEGERS, *FLAGS))}
        integers |= {name: integers[name] != 0 for name in FLAGS}
        words: dict[str, Sequence[str]] = {name: [row[1][k] for row in rows] for k, name in enumerate(TEXTS)}
        return integers, words, np.array([row[2] for row in rows])

    for line, words in enumerate(_csv_rows(path), 2):
        if line == 2:
            continue
        if len(words) != count:
            raise BadInput(f"{file}:{line}: expected {count} values, one for each column; got {len(words)}")
        try:
            integers = [int(word) for word in words[:heads]]
            numbers = [float(word) if word else np.nan for word in words[heads + texts :]]
            if not all(abs(x) < 1 << 63 for x in integers):
                raise ValueError
        except ValueError:
            raise BadInput(f"{file}:{line}: {_misfit(layout, words)}") from None
        rows.append((integers, words[heads : heads + texts], numbers))
        if len(rows) == size:
            yield block()
            rows = []
    if rows:
        yield block()


def _misfit(layout: Layout, words: Sequence[str]) -> str:
    """Which value of a line is not a number."""
    for name, word in zip(layout.columns, words, strict=True):
        if name not in TEXTS and not _is_number(word, name in (*INTEGERS, *FLAGS)):
            return f"column {name!r}: expected a number, got {word[:40]!r}"
    return "expected numbers"


def _is_number(word: str, integer: bool) -> bool:
    try:
        return abs(int(word)) < 1 << 63 if integer else not word or isinstance(float(word), float)
    except ValueError:
        return False


# -- arrow ------------------------------------------------------------------------------------------------------------


def _arrow_schema(path: Path) -> Any:
    pa, parquet = arrow()
    file, part = os.fspath(path), Path(os.fspath(path) + PART)
    kind = "journal" if suffix(path) == PART else "Parquet file"
    bounded.open_binary(path, _MAX_FILE).close()  # a missing file raises an OSError with its name
    with pa.OSFile(file) as binary:
        try:
            opened = pa.ipc.open_stream(binary) if suffix(path) == PART else parquet.ParquetFile(binary)
            found = opened.schema if suffix(path) == PART else opened.schema_arrow
            _ = found.names  # a damaged name is detected only when it is read
        except (pa.ArrowException, OSError, ValueError, EOFError) as error:
            hint = f"; the ticks recorded until then are in {part}" if part.exists() else ""
            raise BadInput(f"{file}: not a whole {kind}: {error}{hint}") from None
    return found


def _arrow_blocks(path: Path, layout: Layout, size: int) -> Iterator[Block]:
    pa, parquet = arrow()
    file, first = os.fspath(path), 0
    with pa.OSFile(file) as binary:  # reads without the GIL, so that a loop is not delayed
        batches = (
            _journal_batches(pa, binary, file) if suffix(path) == PART else _row_groups(pa, parquet, binary, size, file)
        )
        for batch in batches:
            try:
                batch.validate(full=True)  # damaged offsets may point anywhere, and texts may not be UTF-8
            except pa.ArrowException as error:
                raise BadInput(f"{file}: from row {first} on: {error}") from None
            for start in range(0, batch.num_rows, size):
                yield _arrow_block(batch.slice(start, size), layout, file, first)
                first += min(size, batch.num_rows - start)


def _row_groups(pa: Any, parquet: Any, binary: Any, size: int, file: str) -> Iterator[Any]:
    first, group = 0, 0
    try:
        # texts stay in their dictionary: a few bytes of a file can repeat a long text a million times
        table = parquet.ParquetFile(binary, page_checksum_verification=True, read_dictionary=list(TEXTS))
        with bounded.open_binary(file, _MAX_FILE) as pages:
            extents = parquet_pages.row_groups(file, pages)
        if len(extents) != table.num_row_groups:
            raise BadInput(f"{file}: its footer is damaged")
        for group, columns in enumerate(extents):
            with bounded.open_binary(file, _MAX_FILE) as pages:
                unpacked = parquet_pages.unpacked_size(file, pages, columns)
            if unpacked > _MAX_UNPACKED:
                raise BadInput(f"{file}: row group {group} unpacks to {unpacked:,} bytes; at most {_MAX_UNPACKED:,}")
            for batch in table.iter_batches(batch_size=size, row_groups=[group]):
                yield batch
                first += batch.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{file}: row group {group}, from row {first} on: {error}") from None


def _journal_batches(pa: Any, binary: Any, file: str) -> Iterator[Any]:
    """The complete batches of a journal; the last one may be incomplete."""
    count, rows = 0, 0
    try:
        messages = pa.ipc.MessageReader.open_stream(binary)
        found = pa.ipc.read_schema(messages.read_next_message())
        while True:
            message = messages.read_next_message()
            # a journal is written without compression; a small compressed buffer may claim any size
            if message.type != "record batch" or _compressed(message.metadata.to_pybytes()):
                raise BadInput(f"{file}: batch {count}: it is compressed, or not a batch of rows")
            batch = pa.ipc.read_record_batch(message, found)
            yield batch
            count, rows = count + 1, rows + batch.num_rows
    except StopIteration:
        return
    except (pa.ArrowException, OSError, EOFError) as error:
        if binary.tell() < binary.size():
            raise BadInput(f"{file}: batch {count}: {error}") from None
        _warn_of_cut(file, rows)


def _compressed(message: bytes) -> bool:
    """Whether the flatbuffer of a record batch names a compression, or is damaged.

    It is the fourth field of the table `RecordBatch`, which is the third field of the table `Message`.
    """

    def field(table: int, number: int) -> int:
        """The place of a field of a table; 0 without the field."""
        sizes = table - struct.unpack_from("<i", message, table)[0]
        entry = sizes + 4 + 2 * number
        if sizes < 0 or entry + 2 > sizes + int(struct.unpack_from("<H", message, sizes)[0]):
            return 0
        offset = int(struct.unpack_from("<H", message, entry)[0])
        return table + offset if offset else 0

    try:
        header = field(struct.unpack_from("<I", message, 0)[0], 2)
        batch = header + struct.unpack_from("<I", message, header)[0]
        return field(batch, 3) != 0
    except struct.error:
        return True


def _arrow_block(batch: Any, layout: Layout, file: str, first: int) -> Block:
    for name, column in zip(layout.columns, batch.columns, strict=True):
        if column.null_count:
            row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise BadInput(f"{file}: row {first + row}, column {name!r}: the value is missing")
    integers = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in (*INTEGERS, *FLAGS)}
    place = f"{file}: from row {first} on"
    texts: dict[str, Sequence[str]] = {name: _texts(batch.column(name), name, place) for name in TEXTS}
    heads = len(INTEGERS) + len(FLAGS) + len(TEXTS)
    return integers, texts, np.stack([column.to_numpy() for column in batch.columns[heads:]], axis=1)


def _texts(column: Any, name: str, place: str) -> list[str]:
    """The texts of a column; equal ones of a dictionary are one object."""
    has_dictionary = hasattr(column, "dictionary")
    values = column.dictionary if has_dictionary else column
    if values.nbytes > _MAX_TEXTS:
        raise BadInput(f"{place}, column {name!r}: {values.nbytes:,} bytes of texts; at most {_MAX_TEXTS:,} in a block")
    words: list[str] = values.to_pylist()
    return [words[k] for k in column.indices.to_pylist()] if has_dictionary else words
