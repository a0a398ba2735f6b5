"""What a loop asks of the process it runs in: its turn in time, and to be ended gently."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_SWITCH = 1e-4  # s: how long another Python thread may keep us waiting


@contextmanager
def prompt() -> Iterator[None]:
    """While it lasts, this thread gets its turn sooner.

    Python lets another of its threads go on for 5 ms before we get our turn: more than a tick. And Linux lets other
    programs go on for about 3 ms, unless it grants a thread a real-time priority: then we ask for the least of them.
    It does to root, and to whom its administrator allows (rtprio in limits.conf). Without it the loop runs all the
    same, and misses about one tick in a hundred while every core is busy. And the garbage collector looks through all
    that there is now and then, for tens of milliseconds in a large program: not through what was there before.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH))
    gc.collect()
    gc.freeze()
    try:
        with _urgent():
            yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)


@contextmanager
def _urgent() -> Iterator[None]:
    if sys.platform != "linux":
        yield
        return
    me = threading.get_native_id()
    policy, priority = os.sched_getscheduler(me), os.sched_getparam(me)
    # threads that a sink may start are not to inherit it
    with suppress(OSError):
        os.sched_setscheduler(me, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setscheduler(me, policy | os.SCHED_RESET_ON_FORK, priority)


@contextmanager
def interrupts(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C asks for the end, and a second one does what it always did. Only the main thread hears them."""
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
