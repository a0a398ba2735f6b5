"""Latency: what a process does so that the thread of a loop gets the processor and Python's lock in time."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

LOOP, BESIDE = 2, 1
"""Real-time priorities of the loop's thread, and of threads beside it that often hold Python's lock."""
_WAITING = 5e-5  # s; switch interval while the loop waits: so long others keep the lock after it has asked for it
_TICKING = 2.5e-4  # s; switch interval in a tick: longer than most ticks, so that others do not take the lock meanwhile
_YOUNG = 10_000  # new objects at which Python collects garbage by itself; before that the loop does it
_MANY = (500, 10, 100)  # new objects, collections of these, and of those that survived, after which the loop collects
_SPARE = (3e-4, 1e-3, 1e-3)  # s; time to the next tick that the collection of each generation needs
_URGENT = 10  # times as many: it collects at the next tick, however short the time


class _Settings:
    """Python's switch interval and thresholds of collection while loops run; as before when the last has ended."""

    def __init__(self) -> None:
        self.loops = 0
        self.collects = True
        """Whether the loop may collect garbage: not where the program has switched the collector off by threshold 0."""
        self._lock = threading.Lock()
        self._before = sys.getswitchinterval(), gc.get_threshold()

    def begin(self) -> None:
        with self._lock:
            self.loops += 1
            if self.loops == 1:
                self._before = sys.getswitchinterval(), gc.get_threshold()
                young, *older = self._before[1]
                gc.collect()
                gc.freeze()
                self.collects = young > 0
                if self.collects:
                    gc.set_threshold(max(young, _YOUNG), *older)

    def end(self) -> None:
        with self._lock:
            self.loops -= 1
            if not self.loops:
                interval, thresholds = self._before
                gc.unfreeze()
                gc.set_threshold(*thresholds)
                sys.setswitchinterval(interval)


_settings = _Settings()


@contextmanager
def low_latency() -> Iterator[None]:
    """Reduces the latency of this thread while the context lasts, by three settings.

    - Python's switch interval, see `give_lock` and `keep_lock`: by default another thread may run for 5 ms, which is
      longer than a tick.
    - A real-time priority, on Linux and where it is allowed (root, or rtprio in limits.conf): other programs may
      otherwise run for about 3 ms. Without it the loop misses many ticks while all cores are busy.
    - Garbage: objects that exist now are excluded, since a collection takes tens of milliseconds in a large program;
      new ones are collected between ticks, see `collect`.
    """
    _settings.begin()
    try:
        with real_time_priority(LOOP):
            yield
    finally:
        _settings.end()


def give_lock() -> None:
    """The loop begins to wait: other threads may take Python's lock, and give it back soon when it is asked for."""
    if _settings.loops:
        sys.setswitchinterval(_WAITING)


def keep_lock() -> None:
    """The loop has the lock and a tick is due: other threads wait for it for longer than a tick lasts."""
    if _settings.loops:
        sys.setswitchinterval(_TICKING)


def collect(left: float) -> None:
    """Collects garbage if there is enough of it, and ``left`` seconds to the next tick are enough for that.

    A thread that collects keeps Python's lock: where it is the loop itself, at a moment of its choice, no tick is late.
    """
    if not (_settings.collects and gc.isenabled()):
        return
    counts = gc.get_count()
    for generation in (2, 1, 0):
        count, many = counts[generation], _MANY[generation]
        if count >= many and (left > _SPARE[generation] or count >= _URGENT * many):
            gc.collect(generation)
            return


@contextmanager
def real_time_priority(level: int = BESIDE) -> Iterator[None]:
    """This thread has a real-time priority in this context, on Linux and where it is allowed.

    Threads beside the loop have one too, below that of the loop: where another program interrupts a thread that holds
    Python's lock, the loop must wait for both.
    """
    if sys.platform != "linux":
        yield
        return
    thread = threading.get_native_id()
    policy, priority = os.sched_getscheduler(thread), os.sched_getparam(thread)
    raise_priority(level)
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setscheduler(thread, policy | os.SCHED_RESET_ON_FORK, priority)


def raise_priority(level: int = BESIDE) -> None:
    """Gives this thread a real-time priority for the rest of its life, as far as that is allowed."""
    if sys.platform != "linux":
        return
    for allowed in range(level, 0, -1):
        with suppress(OSError):
            # RESET_ON_FORK: threads that it starts do not inherit the priority
            os.sched_setscheduler(
                threading.get_native_id(), os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(allowed)
            )
            return
