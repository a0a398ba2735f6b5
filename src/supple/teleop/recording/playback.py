"""Recorded: a source that plays a recording back as an operator, at its own times."""

from __future__ import annotations

import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from supple.errors import BadInput
from supple.teleop.command import Command
from supple.teleop.recording.recording import Recording, Rows

_BLOCK = 1024  # ticks read at a time
_AHEAD = 4  # blocks that are read ahead


class Recorded:
    """A recording as an operator: its commands come again, at the times they came at.

    Mapping and tracker make of them what they will; for the very goals and joint values see `replay`. The file is read
    in a thread of its own, a little ahead.
    """

    def __init__(
        self, recording: Recording | str | os.PathLike[str], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """Ready to play; its time begins with the first `read`.

        Args:
            recording: what to play, or its file.
            clock: tells the time, in seconds.
        """
        opened = recording if isinstance(recording, Recording) else Recording(recording)
        blocks = opened.blocks(_BLOCK)
        self._rows: Rows | None = next(blocks, None)
        if self._rows is None:
            raise BadInput(f"{opened.path}: there is no tick in it")
        self._next = 0  # the row that is due next
        self._clock, self._began = clock, math.nan
        self._ahead: queue.Queue[Rows | Exception | None] = queue.Queue(_AHEAD)
        self._closed, self._ended = threading.Event(), False
        threading.Thread(target=self._read, args=(blocks,), name="supple recorded", daemon=True).start()

    def read(self) -> Command | None:
        """The newest command that has come by now, or None; raises StopIteration after the last."""
        if self._ended:
            raise StopIteration
        newest: Command | None = None
        while (rows := self._present()) is not None:
            if math.isnan(self._began):
                self._began = self._clock() - float(rows.t[0])
            due = int(np.searchsorted(rows.t, self._clock() - self._began, side="right"))
            came = np.flatnonzero(rows.fresh[self._next : due])
            if len(came):
                newest = rows.command(self._next + int(came[-1]))
            self._next = due
            if due < len(rows):
                break
            self._rows = None
        if self._ended and newest is None:
            raise StopIteration
        return newest

    def close(self) -> None:
        """Reads no further."""
        self._closed.set()
        self._rows, self._ended = None, True

    def _present(self) -> Rows | None:
        """The rows that are being played; None where none are ready, or no more come."""
        if self._rows is None and not self._ended:
            try:
                came = self._ahead.get_nowait()
            except queue.Empty:
                return None
            if isinstance(came, Exception):
                self._ended = True
                raise came
            self._rows, self._next, self._ended = came, 0, came is None
        return self._rows

    def _read(self, blocks: Iterator[Rows]) -> None:
        """What the thread does."""
        try:
            for rows in blocks:
                self._put(rows)
        except Exception as error:  # it is raised where someone reads
            self._put(error)
        self._put(None)

    def _put(self, item: Rows | Exception | None) -> None:
        while not self._closed.is_set():
            with suppress(queue.Full):
                return self._ahead.put(item, timeout=0.1)
