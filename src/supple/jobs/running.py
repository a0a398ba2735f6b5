"""Runs a job: several files at the same time, with a bar, kept results, and failures at the end."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from supple._progress import Progress
from supple._threads import started
from supple.jobs import one_file
from supple.jobs.files import Entry, Files
from supple.jobs.layout import Layout
from supple.jobs.outcomes import BY_WORK
from supple.jobs.receipts import JobFolder, Receipt
from supple.jobs.result import FilePlan, JobFailed, JobResult, Plan
from supple.jobs.tables import Table

if TYPE_CHECKING:
    from supple.jobs.job import Job

T = TypeVar("T")
MOST_WORKERS = 8
"""Files at the same time by default: each of them uses several cores."""


class _Stopped(Exception):
    """Another thread wants the work to end."""


def plan(job: Job, files: Files, folder: JobFolder) -> Plan:
    """What would be done; raises `BadInput` for whatever the job would refuse."""
    folder.check(job.overwrite)
    if job.is_dataset:
        from supple.jobs import lerobot

        lerobot.check(job)
    first: Layout | None = None
    rows: list[FilePlan] = []
    for entry in files.entries:
        receipt = folder.kept(entry)
        if receipt is not None:
            rows.append(FilePlan(entry.name, receipt.rows, True))
            if first is not None or entry is not files.entries[-1]:
                continue
        layout = Layout(job, Table(entry.source))
        first = first or layout
        if receipt is None:
            rows.append(FilePlan(entry.name, layout.table.rows, False, layout.table.about))
    assert first is not None
    schema = first.table.schema
    reads = {name: str(schema.field(schema.names.index(name)).type) for name in first.needed}
    adds = {field.name: str(field.type) for field in first.fields}
    return Plan(job.work, os.fspath(job.target), tuple(rows), reads, adds, folder.stale())


def run(
    job: Job, files: Files, folder: JobFolder, workers: int | None, ray: bool | str, progress: bool | None
) -> JobResult:
    """Do the work; see `Job.run`."""
    began = time.perf_counter()
    planned = plan(job, files, folder)
    with folder.opened(job.overwrite):
        kept = {entry.name: receipt for entry in files.entries if (receipt := folder.kept(entry)) is not None}
        todo = [entry for entry in files.entries if entry.name not in kept]
        made: dict[str, Receipt] = {}
        failed: dict[str, str] = {}
        with _bar(job, planned, progress) as bar:
            if ray is False:
                done = _by_threads(job, folder, todo, workers, bar)
            else:
                from supple.jobs import cluster

                done = cluster.by_ray(job, folder, todo, workers, ray, bar)
            for entry, outcome in done:
                if isinstance(outcome, Receipt):
                    made[entry.name] = outcome
                else:
                    failed[entry.name] = outcome
        if not failed and job.is_dataset:
            from supple.jobs import lerobot_meta

            lerobot_meta.write_meta(job, files)
    result = _result(job, made, kept, failed, time.perf_counter() - began, planned.stale)
    if failed:
        raise JobFailed(result)
    return result


class Bar:
    """The progress of all threads: the rows that are done."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._lock = progress, threading.Lock()

    def step(self, rows: int) -> None:
        """Count rows as done."""
        with self._lock:
            self._progress.step(rows)


@contextmanager
def _bar(job: Job, planned: Plan, progress: bool | None) -> Iterator[Bar]:
    shown, anywhere = progress is not False, progress is True
    with Progress(job.work, planned.rows, unit="rows", shown=shown, anywhere=anywhere) as bar:
        yield Bar(bar)


def _by_threads(
    job: Job, folder: JobFolder, todo: list[Entry], workers: int | None, bar: Bar
) -> Iterator[tuple[Entry, Receipt | str]]:
    """The receipts of files, or why they failed, as they are done.

    The calling thread, where Ctrl-C is raised, only takes results from a queue: raised within the locks of a pool of
    threads, Ctrl-C can leave them locked.
    """
    stop = threading.Event()
    left: queue.SimpleQueue[Entry] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Entry, Receipt | BaseException]] = queue.SimpleQueue()
    for entry in todo:
        left.put(entry)

    def report(rows: int) -> None:
        if stop.is_set():
            raise _Stopped
        bar.step(rows)

    def work() -> None:
        while not stop.is_set():
            try:
                entry = left.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((entry, one_file.make(job, folder, entry, report)))
            except BaseException as error:
                done.put((entry, error))

    threads = started(work, max(1, min(workers or min(cores(), MOST_WORKERS), len(todo))), "supple-job")
    try:
        if not threads:
            work()
        for _ in todo:
            entry, outcome = _next(done)
            if isinstance(outcome, BaseException) and not isinstance(outcome, Exception):
                raise outcome
            yield entry, one_file.reason(outcome) if isinstance(outcome, Exception) else outcome
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _next(results: queue.SimpleQueue[T]) -> T:
    """The next result; Ctrl-C is noticed within a second, also where waiting cannot be interrupted."""
    while True:
        with suppress(queue.Empty):
            return results.get(timeout=1.0)


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _result(
    job: Job,
    made: dict[str, Receipt],
    kept: dict[str, Receipt],
    failed: dict[str, str],
    seconds: float,
    stale: tuple[str, ...],
) -> JobResult:
    receipts = [*made.values(), *kept.values()]
    counts: Counter[str] = Counter(dict.fromkeys(BY_WORK[job.work], 0))
    for receipt in receipts:
        counts.update(receipt.counts)
    return JobResult(
        job.work,
        len(made),
        len(kept),
        dict(sorted(failed.items())),
        sum(receipt.rows for receipt in receipts),
        dict(counts),
        sum(receipt.reconfigured for receipt in receipts),
        sum(receipt.rows for receipt in made.values()),
        seconds,
        stale,
        {receipt.name: receipt.note for receipt in sorted(receipts, key=lambda each: each.name) if receipt.note},
    )
