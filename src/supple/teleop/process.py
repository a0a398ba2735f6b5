"""Settings of the process around a loop: low latency for its thread, and Ctrl-C as a request to stop."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_SWITCH_INTERVAL = 1e-4  # s


@contextmanager
def low_latency() -> Iterator[None]:
    """Reduces the latency of this thread while the context lasts, by three settings.

    - Python's switch interval: by default another Python thread may run for 5 ms, which is longer than a tick.
    - The lowest real-time priority, on Linux and where it is allowed (root, or rtprio in limits.conf): other programs
      may otherwise run for about 3 ms. Without it the loop misses about one tick in a hundred while all cores are busy.
    - Objects that exist now are excluded from garbage collection, which takes tens of milliseconds in a large program.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH_INTERVAL))
    gc.collect()
    gc.freeze()
    try:
        with _real_time_priority():
            yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)


@contextmanager
def _real_time_priority() -> Iterator[None]:
    if sys.platform != "linux":
        yield
        return
    thread = threading.get_native_id()
    policy, priority = os.sched_getscheduler(thread), os.sched_getparam(thread)
    # RESET_ON_FORK: threads that a sink starts do not inherit the priority
    with suppress(OSError):
        os.sched_setscheduler(thread, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setscheduler(thread, policy | os.SCHED_RESET_ON_FORK, priority)


@contextmanager
def stop_on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls ``stop``; the second acts as usual. Only the main thread receives them."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield
        return

    def first(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        stop()

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
