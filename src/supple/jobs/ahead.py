"""Runs an iterator ahead in a thread, so that reading, computing and writing go on at the same time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
_END = object()


def ahead(items: Iterable[T], depth: int = 1) -> Iterator[T]:
    """The same items, made in a thread up to ``depth`` ahead; its exceptions are raised here.

    >>> list(ahead(range(3)))
    [0, 1, 2]
    """
    made: queue.Queue[object] = queue.Queue(depth)
    stopped = threading.Event()
    failed: list[BaseException] = []

    def put(item: object) -> None:
        while not stopped.is_set():
            with suppress(queue.Full):
                made.put(item, timeout=0.1)
                return

    def work() -> None:
        iterator = iter(items)
        try:
            for item in iterator:
                put(item)
                if stopped.is_set():
                    break
        except BaseException as error:
            failed.append(error)
        finally:
            close = getattr(iterator, "close", None)
            if close is not None:
                close()
            put(_END)

    thread = threading.Thread(target=work, name="supple-ahead", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no thread can be started: one after the other
        yield from items
        return
    try:
        while (item := made.get()) is not _END:
            yield item  # type: ignore[misc]
        if failed:
            raise failed[0]
    finally:
        stopped.set()
        thread.join()
