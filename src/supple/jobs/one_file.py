"""One file of a job: read, computed, written beside and renamed when it is whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.errors import BadInput, SuppleError
from supple.jobs.ahead import ahead
from supple.jobs.arrow_arrays import arrow
from supple.jobs.files import Entry
from supple.jobs.layout import Layout
from supple.jobs.outcomes import BY_WORK
from supple.jobs.receipts import JobFolder, Receipt
from supple.jobs.tables import Table, TableWriter
from supple.jobs.work import WORKS, EpisodeWork, Result

if TYPE_CHECKING:
    from supple.jobs.job import Job

Report = Callable[[int], None]
"""Called with the number of rows that are done; it may raise to end the work."""


def reason(error: BaseException) -> str:
    """Why a file failed, in a line."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, SuppleError | OSError) and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


class _Tally:
    """Counts of a file, added up as results are made."""

    def __init__(self, work: str) -> None:
        self.words = BY_WORK[work]
        self.counts = np.zeros(len(self.words), dtype=np.int64)
        self.reconfigured = 0
        self.note = ""

    def add(self, result: Result) -> None:
        self.counts += result.counts
        self.reconfigured += result.reconfigured
        self.note = self.note or result.note

    def whole_note(self, job: Job) -> str:
        """What the rows of a whole file may have been misread as; empty if nothing tells it."""
        rows = int(self.counts.sum())
        if job.work != "forward" or job.joints.degrees or not rows or "rad" not in job.linkage.units:
            return self.note
        if self.counts[self.words.index("outside_limits")] < rows:
            return self.note
        return (
            "every row is outside the joint limits: angles are read as radians; if they are degrees, give degrees=True"
        )


def make(job: Job, folder: JobFolder, entry: Entry, report: Report) -> Receipt:
    """Make the result of one table, or raise and leave nothing; its receipt is written last."""
    before = os.stat(entry.source)
    layout = Layout(job, Table(entry.source))
    tally = _Tally(job.work)
    part = folder.part(entry)
    rows = 0
    try:
        table = layout.table
        with TableWriter(part, layout.schema, layout.out_format, table.is_stream, table.groups) as writer:
            for batch in ahead(_completed(job, layout, tally)):
                writer.write(batch)
                rows += batch.num_rows
                report(batch.num_rows)
        counted = table.rows
        if counted is not None and rows != counted:
            raise BadInput(f"{entry.source}: it has {counted:,} rows by its own count, and {rows:,} were read")
        size = _to_disk(part)
        entry.target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(part, entry.target)
        _folder_to_disk(entry.target.parent)
    except arrow().ArrowException as error:
        with suppress(OSError):
            part.unlink()
        raise BadInput(f"{entry.source}: {str(error).splitlines()[0][:200]}") from None
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if isinstance(error, OSError) and error.filename in (None, os.fspath(part)):
            error.filename = os.fspath(entry.target)
        raise
    counts = dict(zip(tally.words, tally.counts.tolist(), strict=True))
    receipt = Receipt(
        entry.name, before.st_size, before.st_mtime_ns, size, rows, counts, tally.reconfigured, tally.whole_note(job)
    )
    folder.write(entry, receipt)
    return receipt


def _completed(job: Job, layout: Layout, tally: _Tally) -> Iterator[Any]:
    """The batches of a table with the columns that the job adds."""
    work = WORKS[job.work](job, layout)
    if isinstance(work, EpisodeWork):
        results = ahead(work.results(layout.table.batches(layout.needed)))
        yield from _side_by_side(layout, layout.table.batches(), results, tally)
        return
    for batch in ahead(layout.table.batches()):
        result = work.rows(batch)
        tally.add(result)
        yield _with(layout, batch, result.arrays)


def _side_by_side(layout: Layout, batches: Iterator[Any], results: Iterator[Result], tally: _Tally) -> Iterator[Any]:
    """Batches with results that have other boundaries: both streams are cut where either of them ends."""
    arrays: list[Any] = []
    first = left = 0
    for batch in batches:
        taken = 0
        while taken < batch.num_rows:
            if not left:
                result = next(results, None)
                if result is None:
                    raise BadInput(f"{layout.table.path}: it has more rows than were read; it changed meanwhile")
                tally.add(result)
                arrays, first, left = result.arrays, 0, result.rows
            count = min(left, batch.num_rows - taken)
            yield _with(layout, batch.slice(taken, count), [array.slice(first, count) for array in arrays])
            taken, first, left = taken + count, first + count, left - count


def _with(layout: Layout, batch: Any, arrays: list[Any]) -> Any:
    return arrow().RecordBatch.from_arrays([*batch.columns, *arrays], schema=layout.schema)


def _to_disk(path: Path) -> int:
    """Pass a file to the disk, where some systems report only now that it is full; its size in bytes."""
    number = os.open(path, os.O_RDWR)
    try:
        os.fsync(number)
        return os.fstat(number).st_size
    finally:
        os.close(number)


def _folder_to_disk(folder: Path) -> None:
    """Pass the names in a folder to the disk, where the system can do this."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
