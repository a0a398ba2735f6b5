"""Queue: the actions of one browser, done in order in a thread of their own; few may wait."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

_log = logging.getLogger(__name__)


class Queue:
    """Actions that are done one after the other. No thread runs while there are none. Safe from any thread."""

    def __init__(self, name: str, most: int) -> None:
        """No actions; at most ``most`` wait or run at once. The thread has the name ``name``."""
        self._name, self._most = name, most
        self._lock = threading.Lock()
        self._waiting: deque[Callable[[], object]] = deque()
        self._count, self._closed = 0, False  # of those that wait or run

    def put(self, act: Callable[[], object]) -> bool:
        """Does something soon; False if too many wait, or it is closed."""
        with self._lock:
            if self._closed or self._count >= self._most:
                return False
            self._waiting.append(act)
            self._count += 1
            if self._count == 1:
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
            return True

    def close(self) -> None:
        """Drops what waits."""
        with self._lock:
            self._closed = True
            self._count -= len(self._waiting)
            self._waiting.clear()

    def _run(self) -> None:
        act = self._next(0)
        while act is not None:
            try:
                act()
            except Exception:
                _log.exception("an action of the page failed")
            act = self._next(1)

    def _next(self, done: int) -> Callable[[], object] | None:
        """The next action, after so many were done; None if there is none, and the thread ends."""
        with self._lock:
            self._count -= done
            return self._waiting.popleft() if self._waiting else None
