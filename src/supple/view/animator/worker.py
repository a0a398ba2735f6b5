"""Worker: one thread that does all that browsers ask for, in order, and calls a function at equal times."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

_log = logging.getLogger(__name__)


class Worker:
    """A thread with a queue. A job with a name replaces one of the same name that still waits, as drags do."""

    def __init__(self, period: float, tick: Callable[[float], None]) -> None:
        """Start; ``tick`` is called about every ``period`` seconds with the time since its last call, in seconds."""
        self._jobs: list[tuple[str, Callable[[], None]]] = []
        self._wake = threading.Condition()
        self._closed = False
        self._period, self._tick = period, tick
        self._thread = threading.Thread(target=self._run, name="supple animator", daemon=True)
        self._thread.start()

    def put(self, job: Callable[[], None], name: str = "") -> None:
        """Do a job in the thread; with a name it takes the place of the last waiting job, if that has the same name."""
        with self._wake:
            if name and self._jobs and self._jobs[-1][0] == name:
                self._jobs.pop()
            self._jobs.append((name, job))
            self._wake.notify()

    def close(self) -> None:
        """Stop, after the job that runs."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join(5.0)

    def _run(self) -> None:
        last = time.monotonic()
        while True:
            with self._wake:
                if not self._jobs and not self._closed:
                    self._wake.wait(max(0.0, last + self._period - time.monotonic()))
                if self._closed:
                    return
                jobs, self._jobs = self._jobs, []
            for _, job in jobs:
                self._guarded(job)
            now = time.monotonic()
            if now - last >= self._period:
                passed, last = now - last, now
                self._guarded(lambda passed=passed: self._tick(passed))  # type: ignore[misc]

    def _guarded(self, job: Callable[[], None]) -> None:
        """Run a job; an error in one must not end the page."""
        try:
            job()
        except Exception:
            _log.exception("the page of an animation went on after an error")
