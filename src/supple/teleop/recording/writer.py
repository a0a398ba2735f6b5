"""Writes recordings: Parquet, through a journal that survives a crash, and csv."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from supple import _check
from supple.errors import BadInput, missing_extra
from supple.teleop.command import Tick
from supple.teleop.recording.columns import FLAGS, INTEGERS, TEXTS, Layout
from supple.write import atomic

PART = ".part"
"""Added to the name of a Parquet file while it is being recorded."""
SUFFIXES = (".parquet", ".csv")
KEY = b"supple"
"""Key of the metadata in the schema of a Parquet file."""
CSV_START = "# supple recording "
"""Start of the first line of a csv file; the metadata follows."""
_BATCH = 256  # most ticks in a flush; more would take longer than a tick of a fast loop
_ROW_GROUP = 1 << 14  # ticks in a row group of a finished file: about a minute, some megabytes
_MODES = {True: ("wb", "w"), False: ("xb", "x")}  # by whether an existing file may be overwritten


class Writer(Protocol):
    """Writes rows to a file."""

    def add(self, tick: Tick, lost: int, new_tracker: str) -> None:
        """Appends a tick; ``lost`` ticks before it were not recorded."""
        ...

    def flush(self) -> None:
        """Passes all ticks so far to the operating system."""
        ...

    def finish(self) -> None:
        """Completes and closes the file."""
        ...

    def restart(self, metadata: str) -> None:
        """Begins the file again, with other metadata; the ticks so far are lost."""
        ...


def create(path: Path, layout: Layout, metadata: str, overwrite: bool) -> Writer:
    """A new file in the format of its suffix; raises `FileExistsError` if it exists and may not be overwritten."""
    try:
        return (CsvWriter if path.suffix.lower() == ".csv" else ParquetWriter)(path, layout, metadata, overwrite)
    except FileExistsError as error:
        exists = "File exists; choose another name, or pass overwrite=True in a program"
        raise FileExistsError(error.errno, exists, error.filename) from None


def suffix(path: Path) -> str:
    """The suffix of a recording, ``.part`` for one that was not finished; raises `BadInput` for any other."""
    name = path.name.lower()
    if name.endswith(SUFFIXES):
        return path.suffix.lower()
    if name.endswith(".parquet" + PART):
        return PART
    raise BadInput(f"a recording is a file that ends in {' or '.join(SUFFIXES)}, not {_check.short(os.fspath(path))}")


class ParquetWriter:
    """Writes a journal of Arrow record batches, one for each flush, and converts it to Parquet at the end.

    A Parquet file has its index at its end, so an unfinished one cannot be read. A journal can be read up to its last
    complete batch.
    """

    def __init__(self, path: Path, layout: Layout, metadata: str, overwrite: bool) -> None:
        self._arrow, _ = arrow()
        self._path, self._layout, self._mode = path, layout, _MODES[overwrite][0]
        if not overwrite and path.exists():
            raise FileExistsError(17, "File exists", str(path))
        open(os.fspath(path) + PART, self._mode).close()
        self._numbers = np.empty((_BATCH, len(layout.numbers)))
        self._pending: list[tuple[Any, ...]] = []
        self._begin(metadata)

    def add(self, tick: Tick, lost: int, new_tracker: str) -> None:
        """Appends a tick; ``lost`` ticks before it were not recorded."""
        integers, flags, texts = self._layout.fill(self._numbers[len(self._pending)], tick, lost, new_tracker)
        self._pending.append((*integers, *flags, *texts))
        if len(self._pending) == _BATCH:
            self.flush()

    def flush(self) -> None:
        """Passes all ticks so far to the operating system."""
        if not self._pending:
            return
        arrow = self._arrow
        numbers = np.ascontiguousarray(self._numbers[: len(self._pending)].T)
        others = [list(column) for column in zip(*self._pending, strict=True)]
        kinds = self._schema.types
        columns = [arrow.array(column, type=kind) for column, kind in zip(others, kinds, strict=False)]
        columns += [arrow.array(column) for column in numbers]
        self._journal.write_batch(arrow.RecordBatch.from_arrays(columns, schema=self._schema))
        self._pending = []

    def finish(self) -> None:
        """Completes and closes the file."""
        self.flush()
        self._journal.close()
        self._file.close()
        _, parquet = arrow()
        options = {"compression": "zstd", "use_dictionary": list(TEXTS), "write_page_checksum": True}
        options["use_byte_stream_split"] = list(self._layout.numbers)  # compresses slowly changing numbers well
        journal = Path(os.fspath(self._path) + PART)
        if self._mode == "xb" and self._path.exists():
            raise FileExistsError(17, "File exists", str(self._path))
        with (
            atomic.replacing(self._path) as new,
            parquet.ParquetWriter(os.fspath(new), self._schema, **options) as writer,
        ):
            for table in _tables(self._arrow, journal):
                writer.write_table(table, row_group_size=_ROW_GROUP)
        journal.unlink()

    def restart(self, metadata: str) -> None:
        """Begins the journal again, with other metadata; the ticks so far are lost."""
        self._journal.close()
        self._file.close()
        self._begin(metadata)

    def _begin(self, metadata: str) -> None:
        self._schema = schema(self._layout).with_metadata({KEY: metadata})
        self._file = self._arrow.OSFile(os.fspath(self._path) + PART, "wb")  # unbuffered, and without the GIL
        self._journal = self._arrow.ipc.new_stream(self._file, self._schema)
        self._pending = []


def _tables(arrow: Any, journal: Path) -> Iterator[Any]:
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


class CsvWriter:
    """Writes lines of text: the metadata, the names of the columns, then one line for each tick."""

    def __init__(self, path: Path, layout: Layout, metadata: str, overwrite: bool) -> None:
        self._layout, self._row = layout, np.empty(len(layout.numbers))
        self._file = open(path, _MODES[overwrite][1], encoding="utf-8", newline="")  # noqa: SIM115
        self._lines = csv.writer(self._file, lineterminator="\n")
        self._begin(metadata)

    def add(self, tick: Tick, lost: int, new_tracker: str) -> None:
        """Appends a tick; ``lost`` ticks before it were not recorded."""
        integers, flags, texts = self._layout.fill(self._row, tick, lost, new_tracker)
        # csv writes a float by repr, the shortest text that reads back exactly; an empty value stands for nan
        numbers = ["" if x != x else x for x in self._row.tolist()]
        self._lines.writerow([*integers, *map(int, flags), *texts, *numbers])

    def flush(self) -> None:
        """Passes all ticks so far to the operating system."""
        self._file.flush()

    def finish(self) -> None:
        """Completes and closes the file."""
        self._file.close()

    def restart(self, metadata: str) -> None:
        """Begins the file again, with other metadata; the ticks so far are lost."""
        self._file.seek(0)
        self._file.truncate()
        self._begin(metadata)

    def _begin(self, metadata: str) -> None:
        self._file.write(f"{CSV_START}{metadata}\n")
        self._lines.writerow(self._layout.columns)


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
    kinds = [(name, pa.int64()) for name in INTEGERS] + [(name, pa.bool_()) for name in FLAGS]
    kinds += [(name, pa.string()) for name in TEXTS] + [(name, pa.float64()) for name in layout.numbers]
    return pa.schema(kinds)
