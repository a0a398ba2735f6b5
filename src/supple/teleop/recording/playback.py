"""Playback: a source that repeats the commands of a recording at their recorded times."""

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
from supple.teleop.recording.columns import Rows
from supple.teleop.recording.recording import Recording

_BLOCK = 1024  # ticks read at a time
_READ_AHEAD = 4  # blocks


class Playback:
    """Repeats the commands of a recording at their recorded times.

    The loop applies its own mapping and tracker to them; `replay` repeats the recorded goals and joint values instead.
    A thread reads the file ahead of time.
    """

    def __init__(
        self, recording: Recording | str | os.PathLike[str], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """A playback whose time begins with the first `read`.

        Args:
            recording: the recording, or its file.
            clock: returns the time in seconds.
        """
        opened = recording if isinstance(recording, Recording) else Recording(recording)
        blocks = opened.blocks(_BLOCK)
        self._rows: Rows | None = next(blocks, None)
        if self._rows is None:
            raise BadInput(f"{opened.path}: there is no tick in it")
        self._next = 0  # the row that is due next
        self._clock, self._began = clock, math.nan
        self._read_ahead: queue.Queue[Rows | Exception | None] = queue.Queue(_READ_AHEAD)
        self._closed, self._ended = threading.Event(), False
        threading.Thread(target=self._read_blocks, args=(blocks,), name="supple playback", daemon=True).start()

    def read(self) -> Command | None:
        """The newest command that is due since the last call, or None; raises StopIteration after the last."""
        if self._ended:
            raise StopIteration
        newest: Command | None = None
        while (rows := self._current_rows()) is not None:
            if math.isnan(self._began):
                self._began = self._clock() - float(rows.t[0])
            due = int(np.searchsorted(rows.t, self._clock() - self._began, side="right"))
            arrived = np.flatnonzero(rows.fresh[self._next : due])
            if len(arrived):
                newest = rows.command(self._next + int(arrived[-1]))
            self._next = due
            if due < len(rows):
                break
            self._rows = None
        if self._ended and newest is None:
            raise StopIteration
        return newest

    def close(self) -> None:
        """Ends the playback."""
        self._closed.set()
        self._rows, self._ended = None, True

    def _current_rows(self) -> Rows | None:
        """The rows that are being played; None if none are ready, or the recording has ended."""
        if self._rows is None and not self._ended:
            try:
                rows = self._read_ahead.get_nowait()
            except queue.Empty:
                return None
            if isinstance(rows, Exception):
                self._ended = True
                raise rows
            self._rows, self._next, self._ended = rows, 0, rows is None
        return self._rows

    def _read_blocks(self, blocks: Iterator[Rows]) -> None:
        """The thread that reads ahead."""
        try:
            for rows in blocks:
                self._put(rows)
        except Exception as error:  # raised again by read
            self._put(error)
        self._put(None)

    def _put(self, item: Rows | Exception | None) -> None:
        while not self._closed.is_set():
            with suppress(queue.Full):
                return self._read_ahead.put(item, timeout=0.1)
