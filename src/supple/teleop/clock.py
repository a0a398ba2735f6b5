"""Clock: the time, and a precise wait on any operating system."""

from __future__ import annotations

import time
from typing import Protocol

from supple import _check
from supple.errors import BadInput
from supple.teleop.latency import give_lock, keep_lock

SLOWEST, FASTEST = 0.01, 100_000.0
"""Least and most ticks per second of a loop, and readings per second of an arm."""

_MAX_OVERSLEEP = 1e-3  # s; a single long stall must not make the clock spin for long ever after


class Timer(Protocol):
    """The time and a wait: a `Clock`, or a simulated one."""

    def now(self) -> float:
        """Seconds since a fixed moment."""
        ...

    def wait(self, until: float) -> None:
        """Returns at that time, or at once if it has passed."""
        ...


def checked_rate(value: float, what: str = "rate") -> float:
    """Ticks a second, within what a clock can wait for."""
    rate = _check.positive(value, what)
    if not SLOWEST <= rate <= FASTEST:
        raise BadInput(f"{what} must be from {SLOWEST:g} to {FASTEST:,.0f} a second, got {_check.short(value)}")
    return rate


class Clock:
    """The machine's monotonic clock.

    To wait, it sleeps until shortly before the time and then polls the clock. It sleeps less by twice the average
    oversleep, which it measures (about 0.2 ms on Linux). This uses a few percent of a core and is a hundred times as
    precise as sleeping alone.
    """

    def __init__(self) -> None:
        self._oversleep = 1e-4

    def now(self) -> float:
        """Seconds since a fixed moment."""
        return time.perf_counter()

    def wait(self, until: float) -> None:
        """Returns at that time, or at once if it has passed."""
        now = time.perf_counter()
        sleep = until - now - 2 * self._oversleep
        if sleep > 0:
            give_lock()
            time.sleep(sleep)
            keep_lock()
            self._oversleep += 0.02 * (min(time.perf_counter() - now - sleep, _MAX_OVERSLEEP) - self._oversleep)
        while time.perf_counter() < until:
            pass
