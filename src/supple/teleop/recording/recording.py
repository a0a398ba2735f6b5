"""Recorder and Recording: a drive on its way into a file, and the file that it is afterwards."""

from __future__ import annotations

import math
import os
import queue
import re
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple import _core
from supple.errors import BadInput, SuppleError
from supple.frame import Array
from supple.linkage import Linkage
from supple.solver import Solver
from supple.teleop.command import Tick
from supple.teleop.recording import metadata, reader, writer
from supple.teleop.recording.columns import Layout, Rows
from supple.tracker import Tracker

__all__ = ["Recorder", "Recording", "Rows"]
_FORMAT = 1
_MOST = 1 << 15  # ticks that may wait for the disk: more than half a minute at 1 kHz, some 50 MB
_EVERY, _IDLE = 0.8, 0.2  # s: how often ticks are handed on while they come, and how soon once no more come
_BLOCK = 4096  # ticks read at a time


class Recorder:
    """A sink that keeps every tick in a file: ``drive(source, mapping, tracker, Recorder("drive.parquet", tracker))``.

    The file's ending chooses: ``.parquet`` (needs the extra ``teleop``) or ``.csv``. Writing is done in a thread of its
    own, and what has come is handed to the system every second. Until a Parquet file is closed its ticks are in a
    journal beside it, named ``drive.parquet.part``; after a crash that can be read in its place.

    A replay is exact if it begins where the tracker did, so begin with the loop, or reset the arm then (`Loop.reset`).
    """

    path: Path
    """The file."""
    lost: int
    """Ticks that were not recorded, because the disk was too slow or failed. Each gap is marked in the next row."""
    failure: str
    """Why recording ended early, in words; empty if it did not. Driving goes on; `close` raises."""

    def __init__(
        self, path: str | os.PathLike[str], tracker: Tracker, rate: float = 300.0, *, overwrite: bool = False
    ) -> None:
        """A new file.

        Args:
            path: the file, in a folder that exists. One that exists is left alone, and `FileExistsError` is raised.
            tracker: what will be driven, of one arm.
            rate: ticks a second, for the record.
            overwrite: whether a file that exists may be written over.
        """
        self.path, self.lost, self.failure = Path(path), 0, ""
        if not isinstance(tracker, Tracker) or not tracker._single:
            raise BadInput(f"a recording is of the tracker of one arm, got {tracker!r}")
        if any(goal.axis is not None for goal in tracker.goals):
            raise BadInput("a recording keeps whole frames: track a link, or a goal without an axis")
        if not (isinstance(rate, int | float) and 0 < rate < math.inf):
            raise BadInput(f"rate must be finite and positive, got {rate!r}")
        if writer.ending(self.path) == writer.PART:
            raise BadInput(f"{self.path} is the name of a journal; record to a file that ends in .parquet or .csv")
        if not self.path.parent.is_dir():
            raise BadInput(f"there is no folder {self.path.parent} to record in")
        if self.path.is_symlink() or os.path.islink(os.fspath(self.path) + writer.PART):  # it could lead anywhere
            raise BadInput(f"{self.path} is a link, or its journal is; record to a file")
        self._tracker = tracker
        layout = Layout(tracker.linkage.names, [goal.link for goal in tracker.goals])
        self._store = writer.create(self.path, layout, _about(tracker, float(rate)), overwrite)
        self._gap, self._closed = 0, False
        self._queue: queue.SimpleQueue[tuple[Tick, int] | None] = queue.SimpleQueue()
        self._error: Exception | None = None
        self._writer = threading.Thread(target=self._write_all, name="supple recorder", daemon=True)
        self._writer.start()

    @classmethod
    def within(
        cls, folder: str | os.PathLike[str], tracker: Tracker, rate: float = 300.0, ending: str = ".parquet"
    ) -> Recorder:
        """A new file in a folder, named after the linkage and numbered: ``ur5-001.parquet``.

        Whatever a linkage calls itself, the file is in that folder and not one that was there before.
        """
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", tracker.linkage.name)[:60] or "arm"
        number = 1
        while True:
            path = Path(folder) / f"{name}-{number:03}{ending}"
            try:
                if not os.path.lexists(path):
                    return cls(path, tracker, rate)
            except FileExistsError:  # someone else was quicker, or a journal is left of an earlier one
                pass
            number += 1

    @property
    def behind(self) -> int:
        """Ticks that wait for the disk."""
        return self._queue.qsize()

    def write(self, tick: Tick) -> None:
        """Takes a tick; never waits, and never raises. One that comes after `close` is no part of the recording."""
        if self._closed:
            return
        if self.failure or self._queue.qsize() >= _MOST:
            if not self.lost:
                warnings.warn(f"{self.path}: the disk is too slow, ticks are lost", stacklevel=2)
            self.lost += 1
            self._gap += 1
            return
        self._queue.put((tick, self._gap))
        self._gap = 0

    def close(self) -> None:
        """Completes the file and waits for that; raises what ended the recording early, if anything did."""
        self._closed = True
        self._queue.put(None)
        self._writer.join()
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

    def _write_all(self) -> None:
        """What the thread does. All is done just after a tick has come: then the loop sleeps, and is not held up."""
        try:
            due = math.inf
            while True:
                try:
                    wait = None if math.isinf(due) else max(due + _IDLE - time.monotonic(), 0.0)
                    item = self._queue.get(timeout=wait)
                except queue.Empty:
                    self._store.flush()
                    due = math.inf
                    continue
                if item is None:
                    break
                tick, lost = item
                self._store.add(tick, lost, self._changed(tick.step._tracker))
                due = min(due, time.monotonic() + _EVERY)
                if time.monotonic() >= due:
                    self._store.flush()
                    due = math.inf
            self._store.finish()
        except Exception as error:  # a full disk, a tracker of another linkage: driving goes on
            self._error, self.failure = error, f"recording ended: {error}"
            self.lost += 1 + self._queue.qsize()
            warnings.warn(f"{self.path}: {self.failure}", stacklevel=1)

    def _changed(self, tracker: Tracker) -> str:
        """How the tracker was made, where it is another than before."""
        if tracker is self._tracker:
            return ""
        before, self._tracker = self._tracker, tracker
        if tracker.linkage != before.linkage or len(tracker.goals) != len(before.goals):
            raise BadInput(f"{self.path} is of {before!r}, and cannot go on with {tracker!r}")
        return metadata.text(metadata.tracker_data(tracker))


def _about(tracker: Tracker, rate: float) -> str:
    linkage = tracker.linkage
    return metadata.text(
        {
            "format": _FORMAT,
            "version": supple.__version__,
            "instructions": _core.instruction_set(),
            "name": linkage.name,
            "names": list(linkage.names),
            "links": [goal.link for goal in tracker.goals],
            "rate": rate,
            "start": tracker.q.tolist(),
            "tracker": metadata.tracker_data(tracker),
            "linkage": metadata.linkage_data(linkage),
        }
    )


class Recording:
    """A recorded drive in a file: what it is of, and its ticks, a block at a time."""

    path: Path
    """The file."""
    linkage: Linkage
    """What moved, without its shapes."""
    links: tuple[str, ...]
    """The end effectors that were driven."""
    solver: str
    """The text of the solver it began with."""
    rate: float
    """Ticks a second that were wanted."""
    start: Array
    """Joint values (dof,) when the recorder was made."""
    acceleration: Array
    """Acceleration bounds (dof,) it began with, per second squared."""
    version: str
    """The version of supple that recorded it."""
    instructions: str
    """The instruction set it was computed with; another gives the same answers, but not the same last bits."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Opens ``.parquet``, ``.csv``, or the journal ``.parquet.part`` that a crash has left.

        Raises `BadInput`, with file and column, unless it is a recording.
        """
        self.path = Path(path)
        said = reader.about(self.path)
        try:
            if said["format"] != _FORMAT:
                raise BadInput(f"its format is {said['format']!r}; this version of supple reads {_FORMAT}")
            self.linkage = metadata.linkage_from(said["linkage"])
            self.links = tuple(str(link) for link in said["links"])
            self.rate, self.version, self.instructions = (
                float(said["rate"]),
                str(said["version"]),
                str(said["instructions"]),
            )
            self._how = said["tracker"]
            self.solver = str(self._how["solver"])
            self.start = np.array(said["start"], dtype=float)
            self.acceleration = np.array(self._how["acceleration"], dtype=float)
            if list(self.linkage.names) != said["names"] or self.start.shape != (self.linkage.dof,):
                raise BadInput("its names and its start do not fit its linkage")
            if not self.links or not np.isfinite(self.start).all():
                raise BadInput("it has no links, or its start is not finite")
        except (SuppleError, KeyError, TypeError, ValueError, AttributeError) as error:
            what = f"there is no {error}" if type(error) is KeyError else str(error)
            raise BadInput(f"{self.path}: not a recording: {what}") from None
        self._layout = Layout(self.linkage.names, self.links)
        reader.check(self.path, self._layout)

    def blocks(self, size: int = _BLOCK) -> Iterator[Rows]:
        """Its ticks, up to ``size`` at a time; raises `BadInput` with file, column and row where something is wrong."""
        for block in reader.blocks(self.path, self._layout, size):
            yield self._layout.rows(*block)

    def rows(self) -> Rows:
        """All its ticks at once. Half an hour of an arm of six joints takes 300 MB; `blocks` takes a few."""
        parts = list(self.blocks())
        if not parts:
            raise BadInput(f"{self.path}: there is no tick in it")
        joined: dict[str, Any] = {}
        for field in fields(Rows):
            columns = [getattr(part, field.name) for part in parts]
            joined[field.name] = (
                np.concatenate(columns) if isinstance(columns[0], np.ndarray) else [x for part in columns for x in part]
            )
        return Rows(**joined)

    def tracker(
        self, solver: Solver | None = None, *, linkage: Linkage | None = None, start: Array | None = None
    ) -> Tracker:
        """A tracker made as the recorded one was; with another solver, linkage or start (dof,) where given."""
        return metadata.tracker_from(self._how, linkage or self.linkage, self.start if start is None else start, solver)

    def __repr__(self) -> str:
        return f"<Recording {os.fspath(self.path)!r}: {self.linkage.name}, {', '.join(self.links)}, {self.solver}>"
