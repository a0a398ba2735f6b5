"""Threads: as many as can be started, none in the worst case."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any


def pool(count: int, name: str = "supple") -> Executor:
    """An executor with at most so many threads; where none can be started, the caller does the work as it submits."""
    startable = _startable(count)
    return ThreadPoolExecutor(startable, thread_name_prefix=name) if startable else _Caller()


def started(
    work: Callable[[], object], count: int, name: str = "supple", daemon: bool = False
) -> list[threading.Thread]:
    """So many threads that do the work, or as many as can be started: memory and processes may be limited."""
    threads: list[threading.Thread] = []
    try:
        for k in range(count):
            thread = threading.Thread(target=work, name=f"{name}_{k}", daemon=daemon)
            thread.start()
            threads.append(thread)
    except (RuntimeError, MemoryError):  # "can't start new thread"
        pass
    return threads


def _startable(count: int) -> int:
    """How many threads can be started at once."""
    released = threading.Event()
    try:
        threads = started(released.wait, count, daemon=True)
    finally:
        released.set()
    for thread in threads:
        thread.join()
    return len(threads)


class _Caller(Executor):
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done
