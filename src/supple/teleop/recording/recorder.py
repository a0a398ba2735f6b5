"""Recorder: a sink that writes every tick to a file, in a thread of its own."""

from __future__ import annotations

import math
import os
import queue
import re
import threading
import time
import warnings
from pathlib import Path

from supple import _check
from supple.errors import BadInput
from supple.teleop.command import Tick
from supple.teleop.recording import metadata, writer
from supple.teleop.recording.columns import Layout
from supple.tracker import Tracker

_MAX_QUEUE = 1 << 15  # ticks waiting for the disk: more than half a minute at 1 kHz, some 50 MB
_FLUSH_INTERVAL, _FLUSH_DELAY = 0.8, 0.2  # s: between flushes while ticks arrive; extra wait once none arrive


class Recorder:
    """Records every tick in a file: ``drive(source, mapping, tracker, Recorder("drive.parquet", tracker))``.

    The suffix of the file chooses the format: ``.parquet`` (needs the extra ``teleop``) or ``.csv``. A thread writes,
    and flushes to the operating system at least once a second. Until a Parquet file is closed its ticks are in a
    journal beside it, named ``drive.parquet.part``, which can be read in its place after a crash.

    A replay is exact if the recording begins with the loop, or with a reset of the arm (`Loop.reset`).
    """

    path: Path
    """The file."""
    lost: int
    """Ticks that were not recorded because the disk was too slow or failed. Each gap is marked in the next row."""
    failure: str
    """Why recording ended early; empty if it did not. The loop continues; `close` raises the exception."""

    def __init__(
        self, path: str | os.PathLike[str], tracker: Tracker, rate: float = 300.0, *, overwrite: bool = False
    ) -> None:
        """Creates the file.

        Args:
            path: the file, in a folder that exists. If the file exists, `FileExistsError` is raised.
            tracker: the tracker that will be driven, of one arm.
            rate: ticks per second, for the metadata; a `Loop` that writes to the recorder sets its own.
            overwrite: whether an existing file may be overwritten.
        """
        self.path, self.lost, self.failure = Path(_check.file_name(path)), 0, ""
        _check_tracker(tracker)
        rate = _check.positive(rate, "rate")
        _check_path(self.path)
        overwrite = _check.flag(overwrite, "overwrite")
        self._tracker = tracker
        self._rate = rate
        layout = Layout(tracker.linkage.names, [goal.link for goal in tracker.goals])
        self._writer = writer.create(self.path, layout, self._metadata(), overwrite)
        self._gap, self._closed, self._begun = 0, False, False
        self._queue: queue.SimpleQueue[tuple[Tick, int] | None] = queue.SimpleQueue()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._write_all, name="supple recorder", daemon=True)
        self._thread.start()

    @classmethod
    def within(
        cls, folder: str | os.PathLike[str], tracker: Tracker, rate: float = 300.0, ending: str = ".parquet"
    ) -> Recorder:
        """A new file in a folder, named after the linkage and numbered: ``ur5-001.parquet``.

        No name of a linkage leads out of the folder, and no existing file is overwritten.
        """
        _check_tracker(tracker)
        folder, ending = _check.file_name(folder, "folder"), _check.text(ending, "ending")
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", tracker.linkage.name)[:60] or "arm"
        number = 1
        while True:
            path = Path(folder) / f"{name}-{number:03}{ending}"
            try:
                if not os.path.lexists(path):
                    return cls(path, tracker, rate)
            except FileExistsError:  # another process has just made it, or an old journal is left
                pass
            number += 1

    @property
    def behind(self) -> int:
        """Number of ticks waiting for the disk."""
        return self._queue.qsize()

    def write(self, tick: Tick) -> None:
        """Takes a tick; never blocks and never raises. Ticks after `close` are ignored."""
        if self._closed:
            return
        self._begun = True
        if self.failure or self._queue.qsize() >= _MAX_QUEUE:
            if not self.lost:
                warnings.warn(f"{self.path}: the disk is too slow, ticks are lost", stacklevel=2)
            self.lost += 1
            self._gap += 1
            return
        self._queue.put((tick, self._gap))
        self._gap = 0

    def close(self) -> None:
        """Completes the file and waits for that; raises the exception that ended the recording early, if any."""
        self._closed = True
        self._queue.put(None)
        self._thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error
        if self.lost and not self.failure:
            self.failure = f"{self.lost} ticks were lost, because the disk was too slow"
            warnings.warn(f"{self.path}: {self.failure}", stacklevel=2)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _metadata(self) -> str:
        return metadata.Metadata.of(self._tracker, self._rate).to_json()

    def _at_rate(self, rate: float) -> None:
        """Sets the rate of the metadata before the first tick, for which the thread that writes still waits."""
        if self._begun or self._closed or rate == self._rate:
            return
        self._rate = rate
        self._writer.restart(self._metadata())

    def _write_all(self) -> None:
        """The thread. It works just after a tick has arrived: then the loop sleeps and is not delayed."""
        try:
            due = math.inf
            while True:
                try:
                    timeout = None if math.isinf(due) else max(due + _FLUSH_DELAY - time.monotonic(), 0.0)
                    item = self._queue.get(timeout=timeout)
                except queue.Empty:
                    self._writer.flush()
                    due = math.inf
                    continue
                if item is None:
                    break
                tick, lost = item
                self._writer.add(tick, lost, self._new_tracker(tick.step._tracker))
                due = min(due, time.monotonic() + _FLUSH_INTERVAL)
                if time.monotonic() >= due:
                    self._writer.flush()
                    due = math.inf
            self._writer.finish()
        except Exception as error:  # such as a full disk: the loop continues
            self._error, self.failure = error, f"recording ended: {error}"
            self.lost += 1 + self._queue.qsize()
            warnings.warn(f"{self.path}: {self.failure}", stacklevel=1)

    def _new_tracker(self, tracker: Tracker) -> str:
        """The tracker as JSON if it is not the one before; else empty."""
        if tracker is self._tracker:
            return ""
        before, self._tracker = self._tracker, tracker
        if tracker.linkage != before.linkage or len(tracker.goals) != len(before.goals):
            raise BadInput(f"{self.path} is a recording of {before!r}, and cannot go on with {tracker!r}")
        return metadata.to_json(metadata.tracker_to_dict(tracker))


def _check_tracker(tracker: Tracker) -> None:
    if not isinstance(tracker, Tracker) or not tracker._single:
        raise BadInput(f"tracker must be a Tracker of one arm, got {_check.short(tracker)}")


def _check_path(path: Path) -> None:
    if writer.suffix(path) == writer.PART:
        raise BadInput(f"{path} is the name of a journal; record to a file that ends in .parquet or .csv")
    if not path.parent.is_dir():
        raise BadInput(f"there is no folder {path.parent} to record in")
    if path.is_symlink() or os.path.islink(os.fspath(path) + writer.PART):  # it could point anywhere
        raise BadInput(f"{path} is a link, or its journal is; record to a file")
