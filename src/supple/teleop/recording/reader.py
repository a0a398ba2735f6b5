"""Recordings from disk: their rows, a block at a time, with the place of whatever is wrong."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import BadInput
from supple.frame import Array
from supple.step import TrackingStatus
from supple.teleop.recording.columns import FLAGS, TEXTS, WHOLE, Layout
from supple.teleop.recording.writer import HEAD, KEY, PART, arrow, ending, schema

_LINE = 1 << 22  # letters in the longest line of a csv that is read
_OUTCOMES = tuple(state.name.lower() for state in TrackingStatus)
Block = tuple[dict[str, Any], dict[str, Sequence[str]], Array]
"""Whole numbers and flags by name; words by name; numbers (n, columns)."""


def about(path: Path) -> Any:
    """What a file says of itself, before any of its rows is read; raises `BadInput` where that is no recording."""
    kind, file = ending(path), os.fspath(path)
    if kind == ".csv":
        with open(path, encoding="utf-8", newline="") as text:
            try:
                first = text.readline(_LINE)
            except UnicodeDecodeError as error:
                raise BadInput(f"{file}: not a text: {error}") from None
        if not first.startswith(HEAD) or not first.endswith("\n"):
            raise BadInput(f"{file}:1: not a recording: its first line should begin with {HEAD.strip()!r}")
        said: str | bytes = first[len(HEAD) :]
    else:
        found = _arrow_schema(path).metadata or {}
        if KEY not in found:
            raise BadInput(f"{file}: not a recording: its schema says nothing of {KEY.decode()!r}")
        said = found[KEY]
    try:
        return json.loads(said)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file}: what it says of itself is no JSON: {error}") from None


def check(path: Path, layout: Layout) -> None:
    """Raises `BadInput`, naming the column, unless the file has the columns of its layout."""
    file = os.fspath(path)
    if ending(path) == ".csv":
        for words in _csv_rows(path):
            _match(f"{file}:2:", words, layout.columns)
            return
        raise BadInput(f"{file}: there is no line with the names of its columns")
    found, wanted = _arrow_schema(path), schema(layout)
    _match(f"{file}:", found.names, layout.columns)
    for mine, other in zip(found, wanted, strict=True):
        if mine.type != other.type:
            raise BadInput(f"{file}: column {mine.name!r} must be {other.type}, not {mine.type}")


def blocks(path: Path, layout: Layout, size: int) -> Iterator[Block]:
    """The rows of a file, up to ``size`` at a time; raises `BadInput` with file, column and row at what is wrong."""
    read = _csv_blocks if ending(path) == ".csv" else _arrow_blocks
    first, last = 0, -np.inf
    for whole, texts, numbers in read(path, layout, size):
        _judge(os.fspath(path), layout, first, last, texts, numbers)
        yield whole, texts, numbers
        first, last = first + len(numbers), numbers[-1, layout.parts["t"].start]


def _judge(file: str, layout: Layout, first: int, last: float, texts: dict[str, Sequence[str]], numbers: Array) -> None:
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
        if word not in _OUTCOMES:
            raise BadInput(
                f"{file}: row {first + row}, column 'outcome': {word[:40]!r} is none of {', '.join(_OUTCOMES)}"
            )
        if hands.strip("h-") or len(hands) > layout.links + 1:
            raise BadInput(
                f"{file}: row {first + row}, column 'hands': expected a letter h or - a hand, got {hands[:40]!r}"
            )


def _match(place: str, found: Sequence[str], wanted: Sequence[str]) -> None:
    for k, (name, expected) in enumerate(zip(found, wanted, strict=False)):
        if name != expected:
            raise BadInput(f"{place} column {k + 1} is {name[:80]!r}; it should be {expected!r}")
    if len(found) != len(wanted):
        more = f"no {wanted[len(found)]!r}" if len(found) < len(wanted) else f"also {found[len(wanted)][:80]!r}"
        raise BadInput(f"{place} expected {len(wanted)} columns, got {len(found)}: there is {more}")


def _csv_rows(path: Path) -> Iterator[list[str]]:
    """The lines of a table below the first, cut into words; none may be huge, or not whole."""
    file, number = os.fspath(path), 0

    def lines(text: Any) -> Iterator[str]:
        nonlocal number
        while line := text.readline(_LINE):
            number += 1
            if not line.endswith("\n"):
                raise BadInput(f"{file}:{number}: this line is cut short, or longer than {_LINE} letters")
            if number > 1:
                yield line

    with open(path, encoding="utf-8", newline="") as text:
        try:
            yield from csv.reader(lines(text), strict=True)
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadInput(f"{file}:{number + 1}: not a table of words between commas: {error}") from None


def _csv_blocks(path: Path, layout: Layout, size: int) -> Iterator[Block]:
    file, count = os.fspath(path), len(layout.columns)
    heads, texts = len(WHOLE) + len(FLAGS), len(TEXTS)
    rows: list[tuple[list[int], list[str], list[float]]] = []

    def block() -> Block:
        whole = np.array([row[0] for row in rows], dtype=np.int64)
        named: dict[str, Any] = {name: whole[:, k] for k, name in enumerate((*WHOLE, *FLAGS))}
        named |= {name: named[name] != 0 for name in FLAGS}
        words: dict[str, Sequence[str]] = {name: [row[1][k] for row in rows] for k, name in enumerate(TEXTS)}
        return named, words, np.array([row[2] for row in rows])

    for line, words in enumerate(_csv_rows(path), 2):
        if line == 2:
            continue
        if len(words) != count:
            raise BadInput(f"{file}:{line}: expected {count} words, one for each column; got {len(words)}")
        try:
            whole = [int(word) for word in words[:heads]]
            numbers = [float(word) if word else np.nan for word in words[heads + texts :]]
            if not all(abs(x) < 1 << 63 for x in whole):
                raise ValueError
        except ValueError:
            raise BadInput(f"{file}:{line}: {_misfit(layout, words)}") from None
        rows.append((whole, words[heads : heads + texts], numbers))
        if len(rows) == size:
            yield block()
            rows = []
    if rows:
        yield block()


def _misfit(layout: Layout, words: Sequence[str]) -> str:
    """Which word of a line is no number."""
    for name, word in zip(layout.columns, words, strict=True):
        if name not in TEXTS and not _is_number(word, name in (*WHOLE, *FLAGS)):
            return f"column {name!r}: expected a number, got {word[:40]!r}"
    return "expected numbers"


def _is_number(word: str, whole: bool) -> bool:
    try:
        return abs(int(word)) < 1 << 63 if whole else not word or isinstance(float(word), float)
    except ValueError:
        return False


# -- arrow ------------------------------------------------------------------------------------------------------------


def _arrow_schema(path: Path) -> Any:
    pa, parquet = arrow()
    file, part = os.fspath(path), Path(os.fspath(path) + PART)
    kind = "journal" if ending(path) == PART else "Parquet file"
    open(path, "rb").close()  # a file that is not there is an OSError that knows its name
    with pa.OSFile(file) as binary:
        try:
            opened = pa.ipc.open_stream(binary) if ending(path) == PART else parquet.ParquetFile(binary)
            found = opened.schema if ending(path) == PART else opened.schema_arrow
            _ = found.names  # a damaged name is found out when it is asked for
        except (pa.ArrowException, OSError, ValueError, EOFError) as error:
            hint = f"; what was recorded until then is in {part}" if part.exists() else ""
            raise BadInput(f"{file}: not a whole {kind}: {error}{hint}") from None
    return found


def _arrow_blocks(path: Path, layout: Layout, size: int) -> Iterator[Block]:
    pa, parquet = arrow()
    file, first = os.fspath(path), 0
    with pa.OSFile(file) as binary:  # reads without Python's lock, so that no loop waits for it
        batches = (
            _journal_batches(pa, binary, file) if ending(path) == PART else _row_groups(pa, parquet, binary, size, file)
        )
        for batch in batches:
            try:
                batch.validate(full=True)  # a damaged one may point anywhere, or hold words that are none
            except pa.ArrowException as error:
                raise BadInput(f"{file}: from row {first} on: {error}") from None
            for start in range(0, batch.num_rows, size):
                yield _arrow_block(batch.slice(start, size), layout, file, first)
                first += min(size, batch.num_rows - start)


def _row_groups(pa: Any, parquet: Any, binary: Any, size: int, file: str) -> Iterator[Any]:
    first, group = 0, 0
    try:
        table = parquet.ParquetFile(binary, page_checksum_verification=True)
        for group in range(table.num_row_groups):
            for batch in table.iter_batches(batch_size=size, row_groups=[group]):
                yield batch
                first += batch.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(f"{file}: row group {group}, from row {first} on: {error}") from None


def _journal_batches(pa: Any, binary: Any, file: str) -> Iterator[Any]:
    """The whole batches of a journal; the last one may never have been finished."""
    stream, count = pa.ipc.open_stream(binary), 0
    try:
        while True:
            yield stream.read_next_batch()
            count += 1
    except StopIteration:
        return
    except (pa.ArrowException, OSError, EOFError) as error:
        if binary.tell() < binary.size():
            raise BadInput(f"{file}: batch {count}: {error}") from None


def _arrow_block(batch: Any, layout: Layout, file: str, first: int) -> Block:
    for name, column in zip(layout.columns, batch.columns, strict=True):
        if column.null_count:
            row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise BadInput(f"{file}: row {first + row}, column {name!r}: there is nothing")
    whole = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in (*WHOLE, *FLAGS)}
    texts = {name: batch.column(name).to_pylist() for name in TEXTS}
    heads = len(WHOLE) + len(FLAGS) + len(TEXTS)
    return whole, texts, np.stack([column.to_numpy() for column in batch.columns[heads:]], axis=1)
