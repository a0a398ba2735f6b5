"""A loop and the thread of its arm on one simulated clock, in one thread: the same run every time, on any machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from supple import Linkage
from supple.teleop import Connection, robot


class Stepped:
    """A clock for `Loop` and `SimulatedArm`; while the loop waits, the arm is read and written when that is due.

    ``stall(what)`` gives the seconds that "cycle" or "tick" begins too late, as on a busy machine; 0 by default.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, stall: Callable[[str], float] = lambda what: 0.0) -> None:
        self.t, self._due, self._stall = 1000.0, 1000.0, stall
        self.connection: Connection | None = None
        self._patched = monkeypatch
        clock = SimpleNamespace(**{**vars(time), "monotonic": self.now})
        monkeypatch.setattr(robot, "time", clock)
        monkeypatch.setattr(robot, "awake", self.now)

    def connect(self, arm: Any, linkage: Linkage, links: list[str], **options: Any) -> Connection:
        """A connection without a thread."""
        with self._patched.context() as patched:
            patched.setattr(threading.Thread, "start", lambda thread: None)
            self.connection = Connection(arm, linkage, links, **options)
        self.connection._ended.set()
        return self.connection

    def cycle(self) -> None:
        """Reads and writes the arm once, as its thread does."""
        assert self.connection is not None
        try:
            self.connection._cycle()
        except Exception as error:
            self.connection._end.set()  # does not wait after a failure
            with suppress(Exception):
                self.connection._fail(error)
            self.connection._end.clear()

    def now(self) -> float:
        """Seconds."""
        return self.t

    def wait(self, until: float) -> None:
        """Time passes; the arm is read and written meanwhile."""
        while self.connection is not None and self._due <= until:
            self.t = max(self.t, self._due) + self._stall("cycle")
            self.cycle()
            self._due = max(self._due + 1 / self.connection.rate, self.t)
        self.t = max(self.t, until) + self._stall("tick")
