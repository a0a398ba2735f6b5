"""Settings of the process around a loop: signals as requests to stop."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

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


@contextmanager
def late_interrupt() -> Iterator[None]:
    """A Ctrl-C in this context raises KeyboardInterrupt at its end; a second one at once.

    For imports: Python drops an exception that is raised in some of their callbacks, and the program would go on.
    """
    received: list[int] = []
    with _first_signal((signal.SIGINT,), received.append):
        yield
    if received:
        raise KeyboardInterrupt


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
