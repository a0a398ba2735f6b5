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


class _Over(BaseException):
    """Ends the thread of the arm, wherever it stands."""


class Paused(Stepped):
    """The thread of the arm may stand still for a time at any call of the arm, while the loop goes on.

    It is a thread of its own here, but only one of the two runs at a time. ``pause(what)`` gives the seconds for which
    it stands still; an arm calls `stand_still` where that may happen.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, pause: Callable[[str], float]) -> None:
        super().__init__(monkeypatch)
        self._pause, self._wake = pause, self.t
        self._goes_on, self._stands = threading.Semaphore(0), threading.Semaphore(0)
        self._helper = threading.Thread(target=self._cycles, daemon=True)
        self._over = False

    def stand_still(self, what: str) -> None:
        """Time passes for the loop alone, if that happens now."""
        seconds = self._pause(what)
        if seconds and threading.current_thread() is self._helper:
            self._sleep(self.t + seconds)

    def wait(self, until: float) -> None:
        """Time passes; the thread of the arm runs meanwhile, when it wakes up."""
        if not self._helper.is_alive():
            self._helper.start()
        while self._wake <= until:
            self.t = max(self.t, self._wake)
            self._goes_on.release()
            self._stands.acquire()
        self.t = max(self.t, until)

    def end(self) -> None:
        """Ends the thread."""
        self._over = True
        self._goes_on.release()
        self._helper.join()

    def _cycles(self) -> None:
        self._goes_on.acquire()
        with suppress(_Over):
            while True:
                self.cycle()
                assert self.connection is not None
                self._due = max(self._due + 1 / self.connection.rate, self.t)
                self._sleep(self._due)

    def _sleep(self, until: float) -> None:
        self._wake = until
        self._stands.release()
        self._goes_on.acquire()
        if self._over:
            raise _Over
