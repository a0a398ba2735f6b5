"""A job on many machines: each file is one task of Ray, retried where a machine or a process dies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.errors import BadInput, missing_extra
from supple.jobs import one_file
from supple.jobs.files import Entry
from supple.jobs.receipts import JobFolder, Receipt

if TYPE_CHECKING:
    from supple.jobs.job import Job
    from supple.jobs.running import Bar

RETRIES = 3
"""How often a file is tried again after its process or machine died. Bad files are not tried again."""


def by_ray(
    job: Job, folder: JobFolder, todo: list[Entry], workers: int | None, address: bool | str, bar: Bar
) -> Iterator[tuple[Entry, Receipt | str]]:
    """The receipts of files, or why they failed, as they are done.

    All machines must see the tables, the target and its job folder under the same paths.
    """
    ray = _ray()
    own = not ray.is_initialized()
    if own:
        _start(ray, address, workers)
    try:
        here = folder.moved(Path(os.path.abspath(folder.path)))
        if isinstance(job.source, str | os.PathLike):  # a worker may have another working folder
            job = replace(job, source=os.path.abspath(job.source))
        task = ray.remote(max_retries=RETRIES, num_cpus=1)(_task)
        shared = ray.put((job, here))
        waiting = {task.remote(shared, _absolute(entry)): entry for entry in todo}
        while waiting:
            done, _ = ray.wait(list(waiting), num_returns=1, timeout=1.0)
            for reference in done:
                entry = waiting.pop(reference)
                outcome = _outcome(ray, reference)
                if isinstance(outcome, Receipt):
                    bar.step(outcome.rows)
                yield entry, outcome
    finally:
        if own:
            ray.shutdown()


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise missing_extra("ray", "a job on many machines") from error
    return ray


def _start(ray: Any, address: bool | str, workers: int | None) -> None:
    try:
        if isinstance(address, str):
            ray.init(address=address, log_to_driver=False)
        elif os.environ.get("RAY_ADDRESS"):
            ray.init(log_to_driver=False)
        else:
            ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    except ConnectionError as error:
        raise BadInput(f"no Ray cluster at {address!r}: {str(error).splitlines()[0]}") from None


def _task(shared: tuple[Job, JobFolder], entry: Entry) -> Receipt | str:
    """One file on some machine: its receipt, or why it failed."""
    job, folder = shared
    found = folder.kept(entry)  # of a task that was finished when its machine died
    if found is not None:
        return found
    try:
        return one_file.make(job, folder, entry, lambda rows: None)
    except Exception as error:
        return one_file.reason(error)


def _outcome(ray: Any, reference: Any) -> Receipt | str:
    try:
        outcome: Receipt | str = ray.get(reference)
    except ray.exceptions.RayError as error:
        return f"Ray gave up after {RETRIES} retries: {str(error).strip().splitlines()[0][:200]}"
    return outcome


def _absolute(entry: Entry) -> Entry:
    return Entry(Path(os.path.abspath(entry.source)), Path(os.path.abspath(entry.target)), entry.name)
