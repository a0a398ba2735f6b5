"""Clock: tells the time, and waits for it precisely on any system."""

from __future__ import annotations

import time
from typing import Protocol

_MOST = 1e-3  # s: no sleep teaches more than this, lest one long stall make the loop burn its processor


class Timer(Protocol):
    """Tells the time and waits for it: a `Clock`, or a simulated one."""

    def now(self) -> float:
        """Seconds since some moment."""
        ...

    def wait(self, until: float) -> None:
        """Returns at that time, or at once if it has passed."""
        ...


class Clock:
    """The machine's steady clock.

    To wait it sleeps until shortly before, and then watches the clock. How shortly, it learns: twice as long as sleeps
    last too long on average, on Linux about 0.2 ms. That costs some percent of a core, and is a hundred times as
    precise as sleep alone.
    """

    def __init__(self) -> None:
        self._over = 1e-4

    def now(self) -> float:
        """Seconds since some moment."""
        return time.perf_counter()

    def wait(self, until: float) -> None:
        """Returns at that time, or at once if it has passed."""
        now = time.perf_counter()
        sleep = until - now - 2 * self._over
        if sleep > 0:
            time.sleep(sleep)
            self._over += 0.02 * (min(time.perf_counter() - now - sleep, _MOST) - self._over)
        while time.perf_counter() < until:
            pass
