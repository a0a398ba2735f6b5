"""Settings of the process around a loop: low latency for its thread, and signals as requests to stop."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
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
        with real_time_priority():
            yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)


@contextmanager
def real_time_priority() -> Iterator[None]:
    """This thread has the lowest real-time priority in this context, on Linux and where it is allowed."""
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


_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals by which a system or a closed terminal ends a program."""


@contextmanager
def stop_on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C, SIGTERM or SIGHUP calls ``stop``; the second acts as usual. Only the main thread receives them.

    SIGTERM and SIGHUP together, as at the end of a session, count as one.

    After SIGTERM or SIGHUP the program exits with 128 plus the number of the signal when the context ends. A signal
    that the program handles or ignores itself stays as it is.
    """
    with _first_signal((signal.SIGINT, *_ENDING), lambda number: stop()):
        yield


@contextmanager
def ending_signals() -> Iterator[None]:
    """In this context SIGTERM and SIGHUP raise KeyboardInterrupt, as Ctrl-C does.

    When it ends the program exits with 128 plus the number of the signal.
    """

    def interrupt(number: int) -> None:
        raise KeyboardInterrupt

    with _first_signal(_ENDING, interrupt):
        yield


def _leave_terminal(error: OSError) -> None:
    """After an error of a terminal that was closed, nothing more is written to it; raises any other error."""
    if error.filename is not None or error.errno not in (errno.EIO, errno.EPIPE):
        raise error
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(nowhere, stream.fileno())  # what is still buffered would end the program with another exit code
    os.close(nowhere)


@contextmanager
def _first_signal(signals: Iterable[int], act: Callable[[int], None]) -> Iterator[None]:
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in signals}
    handled = {
        number: handler
        for number, handler in before.items()
        if handler == signal.SIG_DFL or (number == signal.SIGINT and handler is not None)
    }

    def restore() -> None:
        for number, handler in handled.items():
            signal.signal(number, handler)

    def receive(number: int, _: object) -> None:
        received.append(number)
        if len(received) == 1:
            act(number)
        elif len(received) == 2 and number != received[0] and {number, received[0]} <= set(_ENDING):
            pass  # a closed session sends both: one request to end
        else:
            restore()
            signal.raise_signal(number)

    # stays until the second signal: Python reports one that is pending while its handler is reset as an error
    for number in handled:
        signal.signal(number, receive)
    try:
        yield
    except (KeyboardInterrupt, OSError) as error:
        if not received or received[0] == signal.SIGINT:
            raise
        if isinstance(error, OSError):
            _leave_terminal(error)
    finally:
        restore()
    if received and received[0] in _ENDING:
        raise SystemExit(128 + received[0])
