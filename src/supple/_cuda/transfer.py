"""Rows of the host's arrays through a GPU, in chunks: copies in, work and copies out overlap."""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from ctypes import byref, c_int, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple._cuda.device import Device, Event, device
from supple._cuda.library import call, cuda
from supple._cuda.memory import DeviceArray, copy_in, copy_out, empty

Work = Callable[[list[DeviceArray], int], list[DeviceArray]]
"""Takes chunks of the inputs on the GPU and a stream; returns chunks of the outputs, in the order of the outputs."""

_SLOTS = 3
"""Chunks under way at a time: one comes, one is worked on, one goes."""
_CHUNK_BYTES = 48 << 20
_PIECE_BYTES = 1 << 20  # least part of a chunk that a thread copies
_MEMORY_TYPE, _PINNED = 2, 1
_FOR_ALL_CONTEXTS = 1


def in_chunks(
    inputs: Sequence[NDArray[Any]],
    outputs: Sequence[NDArray[Any]],
    work: Work,
    ordinal: int,
    chunk_rows: int | None = None,
) -> None:
    """Fills the outputs (rows, ...) with the work on the inputs (rows, ...), all C-contiguous arrays of the host.

    Arrays in pinned memory are copied from where they are; others go through pinned buffers, filled by several threads.
    """
    rows = len(outputs[0])
    if not rows:
        return
    row_bytes = max(1, *(sum(each.nbytes for each in side) // rows for side in (inputs, outputs)))
    size = min(rows, chunk_rows or max(1024, _CHUNK_BYTES // row_bytes))
    with _lines(ordinal) as lines:
        chunks = [(first, min(first + size, rows)) for first in range(0, rows, size)]
        for number, (first, last) in enumerate(chunks):
            line = lines[number % len(lines)]
            line.finish()
            line.begin([each[first:last] for each in inputs], [each[first:last] for each in outputs], work)
        for line in lines:
            line.finish()


class _Line:
    """One chunk under way: a stream, pinned buffers for what comes and goes, and an event at its end."""

    def __init__(self, owner: Device) -> None:
        self._device, self._stream = owner, owner.new_stream()
        self._done = Event(owner)
        self._coming, self._going = _Pinned(owner), _Pinned(owner)
        self._unwritten: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self._held: list[Any] = []

    def begin(self, inputs: list[NDArray[Any]], outputs: list[NDArray[Any]], work: Work) -> None:
        """Starts the copies and the work of a chunk."""
        stream = self._stream
        given = []
        for host, staged in zip(inputs, self._coming.arrays(inputs), strict=True):
            if staged is not None:
                _copy(staged, host)
            source = host if staged is None else staged
            array = empty(host.shape, host.dtype, self._device.ordinal, stream)
            copy_in(array, source, stream)
            given.append(array)
        found = work(given, stream)
        for host, staged, array in zip(outputs, self._going.arrays(outputs), found, strict=True):
            if array.shape != host.shape or array.dtype != host.dtype:
                raise TypeError(f"the work returned {array}, not {host.shape} of {host.dtype}")
            copy_out(host if staged is None else staged, array, stream)
            if staged is not None:
                self._unwritten.append((host, staged))
        self._held = [given, found, inputs, outputs]
        self._done.record(stream)

    def finish(self) -> None:
        """Waits for the chunk under way, if there is one, and writes its outputs."""
        if not self._held:
            return
        self._held = []
        unwritten, self._unwritten = self._unwritten, []
        self._done.wait()
        for host, staged in unwritten:
            _copy(host, staged)

    def abandon(self) -> None:
        """Waits for the chunk under way and forgets it: after an error, or Ctrl-C."""
        cuda().cuStreamSynchronize(self._stream)
        self._held, self._unwritten = [], []


class _Pinned:
    """A buffer of pinned memory, which grows as needed."""

    def __init__(self, owner: Device) -> None:
        self._device, self._bytes = owner, np.empty(0, np.uint8)

    def arrays(self, like: list[NDArray[Any]]) -> list[NDArray[Any] | None]:
        """Arrays in the buffer of the same shapes and types; None for those that are in pinned memory already."""
        wanted = [0 if _is_pinned(each) else -(-each.nbytes // 256) * 256 for each in like]
        if sum(wanted) > len(self._bytes):
            self._bytes = _pinned_bytes(self._device, sum(wanted))
        found: list[NDArray[Any] | None] = []
        first = 0
        for each, size in zip(like, wanted, strict=True):
            part = self._bytes[first : first + each.nbytes]
            found.append(part.view(each.dtype).reshape(each.shape) if size else None)
            first += size
        return found


def _pinned_bytes(owner: Device, size: int) -> NDArray[np.uint8]:
    address = c_void_p()
    with owner.current():
        call("cuMemHostAlloc", byref(address), size, _FOR_ALL_CONTEXTS, doing="taking pinned memory of the host")
    memory: Any = (ctypes.c_ubyte * size).from_address(address.value or 0)
    memory.block = _HostBlock(owner, address.value or 0)
    return np.frombuffer(memory, np.uint8)


class _HostBlock:
    """Pinned memory, given back with the array over it."""

    def __init__(self, owner: Device, address: int) -> None:
        self._device, self._address = owner, address

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:  # at exit `sys` may be gone
        if not is_finalizing():
            with self._device.current():
                cuda().cuMemFreeHost(self._address)


def _is_pinned(array: NDArray[Any]) -> bool:
    kind = c_int()
    unknown = cuda().cuPointerGetAttribute(byref(kind), _MEMORY_TYPE, array.ctypes.data)
    return not array.nbytes or (not unknown and kind.value == _PINNED)


class _Lines:
    """The lines of a GPU, for one caller at a time."""

    def __init__(self, ordinal: int) -> None:
        self._lock, self._device = threading.Lock(), device(ordinal)
        self._lines: list[_Line] = []

    def __enter__(self) -> list[_Line]:
        self._lock.acquire()
        try:
            while len(self._lines) < _SLOTS:
                self._lines.append(_Line(self._device))
        except BaseException:
            self._lock.release()
            raise
        return self._lines

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if error is not None:
                for line in self._lines:
                    line.abandon()
        finally:
            self._lock.release()


@functools.cache
def _lines(ordinal: int) -> _Lines:
    return _Lines(ordinal)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(8, os.cpu_count() or 1), "supple-copy")


def _copy(target: NDArray[Any], source: NDArray[Any]) -> None:
    """Copies rows with several threads: one alone is slower than the bus."""
    pieces = max(1, min(8, source.nbytes // _PIECE_BYTES, len(source)))
    if pieces == 1:
        np.copyto(target, source)
        return
    bounds = [len(source) * k // pieces for k in range(pieces + 1)]
    tasks: list[Future[None]] = [
        _threads().submit(np.copyto, target[first:last], source[first:last])
        for first, last in itertools.pairwise(bounds)
    ]
    for task in tasks:
        task.result()
