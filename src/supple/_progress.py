"""Progress: a bar on a terminal, for work that takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

DELAY = 1.0  # seconds before the bar appears
INTERVAL = 0.1  # seconds between two updates
WIDTH = 30  # characters


class Progress:
    """A bar that appears after one second, only on a terminal, and is erased at the end.

    >>> with Progress("sampling", 1000) as progress:
    ...     for _ in range(10):
    ...         progress.step(100)
    """

    def __init__(
        self,
        what: str,
        total: int,
        *,
        unit: str = "",
        shown: bool = True,
        anywhere: bool = False,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """A bar for ``total`` steps, written to ``stream``, by default the standard error.

        ``anywhere``: also if the stream is no terminal. ``unit``: what a step is, to show the steps in a second.
        """
        self.what, self.total, self.done, self.unit = what, total, 0, unit
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._on = shown and self._stream is not None and (anywhere or self._stream.isatty())
        self._start = clock()
        self._next = self._start + DELAY
        self._drawn = 0

    def step(self, n: int = 1) -> None:
        """Count ``n`` more steps as done."""
        self.done += n
        if self._on:
            now = self._clock()
            if now >= self._next:
                self._next = now + INTERVAL
                self._draw(self.line(now - self._start))

    def line(self, seconds: float) -> str:
        """The text of the bar after so many seconds."""
        part = min(1.0, self.done / self.total) if self.total else 1.0
        filled = int(part * WIDTH)
        left = seconds * (1 - part) / part if part else float("inf")
        rest = f", {_duration_text(left)} left" if left < 1e6 else ""
        speed = f", {self.done / seconds:,.0f} {self.unit}/s" if self.unit and seconds > 0 else ""
        return f"{self.what} [{'#' * filled}{'.' * (WIDTH - filled)}] {100 * part:3.0f} %{speed}{rest}"

    def _draw(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._drawn))
        self._stream.flush()
        self._drawn = len(text)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()
            self._drawn = 0


def _duration_text(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
