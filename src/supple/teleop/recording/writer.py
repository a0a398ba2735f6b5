"""Recordings on their way to disk: Parquet by way of a journal that outlives a crash, and csv."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from supple.errors import BadInput, missing_extra
from supple.teleop.command import Tick
from supple.teleop.recording.columns import FLAGS, TEXTS, WHOLE, Layout

PART = ".part"
"""What is added to the name of a Parquet file while it is being recorded."""
ENDINGS = (".parquet", ".csv")
KEY, HEAD = b"supple", "# supple recording "
_GROUP = 256  # ticks that are flushed at once at most: more would take longer than a tick of a quick loop
_ROW_GROUP = 1 << 14  # ticks in a row group of a finished file: about a minute, some megabytes
_OPENS = {True: ("wb", "w"), False: ("xb", "x")}  # whether a file that exists may be written over


class Store(Protocol):
    """Where rows go."""

    def add(self, tick: Tick, lost: int, how: str) -> None:
        """Append a tick; ``lost`` ticks before it were not recorded."""
        """Takes a tick."""
        ...

    def flush(self) -> None:
        """Hand the ticks that wait to the system."""
        """Hands all ticks so far to the operating system."""
        ...

    def finish(self) -> None:
        """Write what is left and close the file."""
        """Completes the file."""
        ...


def create(path: Path, layout: Layout, about: str, overwrite: bool) -> Store:
    """A new file by its ending; raises `FileExistsError` rather than write over one."""
    return (CsvStore if path.suffix.lower() == ".csv" else ParquetStore)(path, layout, about, overwrite)


def ending(path: Path) -> str:
    """The ending of a recording's name, with ``.part`` for one that was not finished; raises `BadInput` for others."""
    name = path.name.lower()
    if name.endswith(ENDINGS):
        return path.suffix.lower()
    if name.endswith(".parquet" + PART):
        return PART
    raise BadInput(f"a recording is kept in a file that ends in {' or '.join(ENDINGS)}, not {os.fspath(path)!r}")


# -- writing ----------------------------------------------------------------------------------------------------------


class ParquetStore:
    """A journal beside the file while it is recorded, each flush one of Arrow's record batches; Parquet in the end.

    A Parquet file has its table of contents at its end: one that was not finished cannot be read at all. A journal can
    be, up to its last whole batch.
    """

    def __init__(self, path: Path, layout: Layout, about: str, overwrite: bool) -> None:
        self._arrow, _ = arrow()
        self._path, self._layout, self._mode = path, layout, _OPENS[overwrite][0]
        if not overwrite and path.exists():
            raise FileExistsError(17, "File exists", str(path))
        self._schema = schema(layout).with_metadata({KEY: about})
        journal = os.fspath(path) + PART
        open(journal, self._mode).close()
        self._file = self._arrow.OSFile(journal, "wb")  # writes at once, and without Python's lock
        self._journal = self._arrow.ipc.new_stream(self._file, self._schema)
        self._numbers = np.empty((_GROUP, len(layout.numbers)))
        self._others: list[tuple[Any, ...]] = []

    def add(self, tick: Tick, lost: int, how: str) -> None:
        """Append a tick; ``lost`` ticks before it were not recorded."""
        whole, flags, words = self._layout.fill(self._numbers[len(self._others)], tick, lost, how)
        self._others.append((*whole, *flags, *words))
        if len(self._others) == _GROUP:
            self.flush()

    def flush(self) -> None:
        """Hand the ticks that wait to the system."""
        if not self._others:
            return
        arrow = self._arrow
        numbers = np.ascontiguousarray(self._numbers[: len(self._others)].T)
        others = [list(column) for column in zip(*self._others, strict=True)]
        kinds = self._schema.types
        columns = [arrow.array(column, type=kind) for column, kind in zip(others, kinds, strict=False)]
        columns += [arrow.array(column) for column in numbers]
        self._journal.write_batch(arrow.RecordBatch.from_arrays(columns, schema=self._schema))
        self._others = []

    def finish(self) -> None:
        """Write what is left and close the file."""
        self.flush()
        self._journal.close()
        self._file.close()
        _, parquet = arrow()
        options = {"compression": "zstd", "use_dictionary": list(TEXTS), "write_page_checksum": True}
        options["use_byte_stream_split"] = list(
            self._layout.numbers
        )  # numbers that hardly change share their first bytes
        journal = Path(os.fspath(self._path) + PART)
        open(self._path, self._mode).close()
        with parquet.ParquetWriter(os.fspath(self._path), self._schema, **options) as writer:
            for table in _gathered(self._arrow, journal):
                writer.write_table(table, row_group_size=_ROW_GROUP)
        journal.unlink()


def _gathered(arrow: Any, journal: Path) -> Iterator[Any]:
    """The batches of a journal, as tables of about a row group each."""
    batches, count = [], 0
    with arrow.OSFile(os.fspath(journal), "rb") as file, arrow.ipc.open_stream(file) as stream:
        for batch in stream:
            batches.append(batch)
            count += batch.num_rows
            if count >= _ROW_GROUP:
                yield arrow.Table.from_batches(batches)
                batches, count = [], 0
    if batches:
        yield arrow.Table.from_batches(batches)


class CsvStore:
    """Lines of text: what the recording is about, the names of the columns, a line for each tick."""

    def __init__(self, path: Path, layout: Layout, about: str, overwrite: bool) -> None:
        self._layout, self._row = layout, np.empty(len(layout.numbers))
        self._file = open(path, _OPENS[overwrite][1], encoding="utf-8", newline="")  # noqa: SIM115
        self._lines = csv.writer(self._file, lineterminator="\n")
        self._file.write(f"{HEAD}{about}\n")
        self._lines.writerow(layout.columns)

    def add(self, tick: Tick, lost: int, how: str) -> None:
        """Append a tick; ``lost`` ticks before it were not recorded."""
        whole, flags, words = self._layout.fill(self._row, tick, lost, how)
        # a float is written by repr, the shortest text that reads back as the same number; nothing stands for nan
        numbers = ["" if x != x else x for x in self._row.tolist()]
        self._lines.writerow([*whole, *map(int, flags), *words, *numbers])

    def flush(self) -> None:
        """Hand the ticks that wait to the system."""
        self._file.flush()

    def finish(self) -> None:
        """Write what is left and close the file."""
        self._file.close()


# -- arrow ------------------------------------------------------------------------------------------------------------


def arrow() -> tuple[Any, Any]:
    """pyarrow and its Parquet part; raises `MissingExtra` where they are not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise missing_extra("teleop", "a recording in Parquet") from error
    return pyarrow, pyarrow.parquet


def schema(layout: Layout) -> Any:
    """Names and types of all columns."""
    pa, _ = arrow()
    kinds = [(name, pa.int64()) for name in WHOLE] + [(name, pa.bool_()) for name in FLAGS]
    kinds += [(name, pa.string()) for name in TEXTS] + [(name, pa.float64()) for name in layout.numbers]
    return pa.schema(kinds)
