"""Tables in files: Parquet, Arrow and CSV, read in batches of bounded size and written in fixed row groups."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from supple import _check
from supple.errors import BadInput
from supple.jobs.arrow_arrays import arrow

ENDINGS = {".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".csv": "csv"}
"""Formats by the ending of a file's name."""
FORMATS = {"parquet": ".parquet", "arrow": ".arrow", "csv": ".csv"}
"""The ending of a written file by its format."""
BATCH_ROWS = 1 << 15
BATCH_BYTES = 8 << 20
"""A batch has at most BATCH_ROWS rows and about BATCH_BYTES bytes."""
GROUP_ROWS = 1 << 17
GROUP_BYTES = 32 << 20
"""Row groups are those of the table that is read; one ends earlier when it has GROUP_ROWS rows or GROUP_BYTES bytes."""
_BUFFER = 1 << 18  # bytes of each column that are read at once
_CSV_BLOCK = 4 << 20
_MAGIC = b"ARROW1"


def format_of(path: str | os.PathLike[str]) -> str:
    """The format of a file by its ending; raises `BadInput`."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in ENDINGS:
        raise BadInput(f"a table ends in {', '.join(ENDINGS)}, not {_check.short(os.fspath(path))}")
    return ENDINGS[ending]


class Table:
    """A table in a file, which is open only while it is read."""

    def __init__(self, path: Path) -> None:
        """Reads the schema; raises `BadInput`, with the name of the file, if it is no table."""
        self.path, self.format = path, format_of(path)
        pa = arrow()
        self.rows: int | None = None
        self.about = 0  # rows, if only reading the table would tell their number
        self.groups: tuple[int, ...] = ()
        self.is_stream = False
        try:
            if os.path.getsize(path) == 0:
                raise BadInput(f"{path}: the file is empty")
            read = {"parquet": self._open_parquet, "arrow": self._open_arrow, "csv": self._open_csv}[self.format]
            self.schema, self.batch_rows = read()
            _ = self.schema.names  # decoded only here
        except (pa.ArrowException, EOFError, UnicodeDecodeError) as error:
            raise _unreadable(path, error) from None
        except OSError as error:
            if error.errno is None:  # of Arrow, about the content
                raise _unreadable(path, error) from None
            raise

    def batches(self, columns: Sequence[str] | None = None, rows: int | None = None) -> Iterator[Any]:
        """Record batches in the order of the file; of some columns, if given."""
        size = min(rows or self.batch_rows, self.batch_rows)
        read = {"parquet": self._parquet, "arrow": self._arrow, "csv": self._csv}[self.format]
        pa = arrow()
        try:
            yield from read(columns, size)
        except (pa.ArrowException, EOFError) as error:
            raise _unreadable(self.path, error) from None
        except OSError as error:
            if error.errno is None:
                raise _unreadable(self.path, error) from None
            raise

    # -- Parquet ------------------------------------------------------------------------------------------------

    def _parquet_file(self) -> Any:
        import pyarrow.parquet as parquet

        # without pre_buffer a row group of any size is read page by page; pages without checksum are read as they are
        return parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=_BUFFER, page_checksum_verification=True)

    def _open_parquet(self) -> tuple[Any, int]:
        with self._parquet_file() as file:
            meta = file.metadata
            self.rows = meta.num_rows
            groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
            self.groups = tuple(group.num_rows for group in groups if group.num_rows)
            widest = max((g.total_byte_size / g.num_rows for g in groups if g.num_rows > 0), default=1)
            return file.schema_arrow, max(1, min(BATCH_ROWS, int(BATCH_BYTES / max(widest, 1))))

    def _parquet(self, columns: Sequence[str] | None, size: int) -> Iterator[Any]:
        with self._parquet_file() as file:
            for batch in file.iter_batches(size, columns=None if columns is None else list(columns)):
                if batch.num_rows:
                    yield batch

    # -- Arrow --------------------------------------------------------------------------------------------------

    def _arrow_batches(self) -> tuple[Any, Iterator[Any]]:
        pa = arrow()
        source = pa.memory_map(os.fspath(self.path))
        if self.is_stream:
            stream = pa.ipc.open_stream(source)
            return stream.schema, iter(stream)
        file = pa.ipc.open_file(source)
        return file.schema, (file.get_batch(i) for i in range(file.num_record_batches))

    def _open_arrow(self) -> tuple[Any, int]:
        with open(self.path, "rb") as file:
            self.is_stream = file.read(len(_MAGIC)) != _MAGIC
        schema, batches = self._arrow_batches()
        rows, widest = 0, 1.0
        for batch in batches:
            rows += batch.num_rows
            if batch.num_rows:
                widest = max(widest, batch.get_total_buffer_size() / batch.num_rows)
        self.rows = rows
        return schema, max(1, min(BATCH_ROWS, int(BATCH_BYTES / widest)))

    def _arrow(self, columns: Sequence[str] | None, size: int) -> Iterator[Any]:
        _, batches = self._arrow_batches()
        for batch in batches:
            chosen = batch if columns is None else batch.select(list(columns))
            chosen.validate(full=True)  # Arrow's files are mapped as they are: offsets may lead anywhere
            for first in range(0, batch.num_rows, size):
                yield chosen.slice(first, size)

    # -- CSV ----------------------------------------------------------------------------------------------------

    def _csv_file(self, types: dict[str, Any] | None, columns: Sequence[str] | None = None) -> Any:
        from pyarrow import csv

        convert = csv.ConvertOptions(column_types=types, strings_can_be_null=False)
        if columns is not None:
            convert.include_columns = list(columns)
        parse = csv.ParseOptions(newlines_in_values=True)
        read = csv.ReadOptions(block_size=_CSV_BLOCK, use_threads=False)
        return csv.open_csv(self.path, read_options=read, parse_options=parse, convert_options=convert)

    def _open_csv(self) -> tuple[Any, int]:
        pa = arrow()
        with self._csv_file(None) as file:
            names = file.schema.names
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        if twice:
            raise BadInput(f"{self.path}: column {twice[0]!r} is there twice")
        with open(self.path, "rb") as binary:
            head = binary.read(1 << 16)
        self.about = os.path.getsize(self.path) * head.count(b"\n") // max(len(head), 1)
        return pa.schema([(name, pa.string()) for name in names]), BATCH_ROWS  # texts pass through as they are

    def _csv(self, columns: Sequence[str] | None, size: int) -> Iterator[Any]:
        with self._csv_file({field.name: field.type for field in self.schema}, columns) as file:
            for batch in file:
                for first in range(0, batch.num_rows, size):
                    yield batch.slice(first, size)


def _unreadable(path: Path, error: BaseException) -> BadInput:
    return BadInput(f"{path}: not a whole {format_of(path)} file: {str(error).splitlines()[0][:200]}")


class TableWriter:
    """Writes batches to a file of a format; the same batches give the same bytes, however they are cut."""

    def __init__(self, path: Path, schema: Any, format: str, stream: bool = False, groups: Sequence[int] = ()) -> None:
        """Opens the file; raises `BadInput` for columns that the format cannot hold.

        ``groups`` are the numbers of rows of the row groups to keep; larger ones are divided. Later row groups have the
        usual size.
        """
        pa = arrow()
        self.schema, self.format = schema, format
        self._pending: list[Any] = []
        self._rows = self._bytes = 0
        self._groups = iter(groups)
        self._left = next(self._groups, -1)  # rows until the end of a group; below 0 without end
        self._sink = pa.OSFile(os.fspath(path), "wb")
        try:
            self._writer = self._open(schema, stream)
        except (pa.ArrowException, TypeError) as error:
            self._sink.close()
            raise BadInput(f"a column cannot be written as {format}: {str(error).splitlines()[0][:200]}") from None

    def _open(self, schema: Any, stream: bool) -> Any:
        pa = arrow()
        if self.format == "parquet":
            import pyarrow.parquet as parquet

            return parquet.ParquetWriter(self._sink, schema, **parquet_options(schema))
        if self.format == "csv":
            from pyarrow import csv

            return csv.CSVWriter(self._sink, schema, write_options=csv.WriteOptions(quoting_style="needed"))
        return pa.ipc.new_stream(self._sink, schema) if stream else pa.ipc.new_file(self._sink, schema)

    def write(self, batch: Any) -> None:
        """Adds a batch of any number of rows."""
        while batch.num_rows:
            most = GROUP_ROWS - self._rows if self._left < 0 else min(GROUP_ROWS - self._rows, self._left)
            part, batch = batch.slice(0, most), batch.slice(most)
            self._pending.append(part)
            self._rows += part.num_rows
            self._bytes += part.nbytes
            if self._left > 0:
                self._left -= part.num_rows
            if self._left == 0:
                self._left = next(self._groups, -1)
                self._flush()
            elif self._rows >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
                self._flush()

    def _flush(self) -> None:
        if not self._pending:
            return
        table = arrow().Table.from_batches(self._pending, self.schema)
        if self.format == "parquet":
            self._writer.write_table(table, row_group_size=GROUP_ROWS)
        elif self.format == "arrow":
            for batch in table.combine_chunks().to_batches():
                self._writer.write_batch(batch)
        else:
            self._writer.write_table(table)
        self._pending, self._rows, self._bytes = [], 0, 0

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._flush()
            self._writer.close()
        except Exception:
            if kind is None:
                raise
        finally:
            self._sink.close()


def parquet_options(schema: Any) -> dict[str, Any]:
    """How Parquet is written: fixed, so that the same table gives the same bytes.

    Floats have no dictionary, since they hardly repeat; that halves the time.
    """
    import pyarrow.parquet as parquet

    pa = arrow()
    sink = pa.BufferOutputStream()
    parquet.ParquetWriter(sink, schema).close()
    leaves = parquet.ParquetFile(pa.BufferReader(sink.getvalue())).schema
    columns = [leaves.column(i) for i in range(len(leaves))]
    repeating = [leaf.path for leaf in columns if leaf.physical_type not in ("FLOAT", "DOUBLE")]
    return {"compression": "snappy", "version": "2.6", "use_dictionary": repeating, "write_page_checksum": True}
