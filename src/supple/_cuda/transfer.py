"""Rows of the host's arrays through a GPU, in chunks: copies in, work and copies out overlap."""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from ctypes import byref, c_int, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple import _core
from supple._cuda.device import Device, Event, device
from supple._cuda.library import call, cuda
from supple._cuda.memory import DeviceArray, copy_in, copy_out, empty

Work = Callable[[list[DeviceArray], int], list[DeviceArray]]
"""Takes chunks of the inputs on the GPU and a stream; returns chunks of the outputs, in the order of the outputs."""

_SLOTS = 4
"""Chunks under way at a time: one is filled, one comes, one is worked on, one goes."""
_MOST_CHUNK_BYTES, _CHUNKS, _LEAST_ROWS = 48 << 20, 4, 1 << 17
"""Chunks as large as that, but at least so many, unless they are smaller than that: small ones take the GPU longer."""
_MEMORY_TYPE, _PINNED = 2, 1
_FOR_ALL_CONTEXTS = 1


def in_chunks(
    inputs: Sequence[NDArray[Any]],
    outputs: Sequence[NDArray[Any]],
    work: Work,
    ordinal: int,
    chunk_rows: int | None = None,
) -> None:
    """Fills the outputs (rows, ...) with the work on the inputs (rows, ...), arrays of the host.

    Outputs are C-contiguous, and so is each row of an input; an output of int64 may be worked out as int32. Arrays in
    pinned memory are copied from where they are; others go through pinned buffers, filled by several threads.
    """
    rows = len(outputs[0])
    if not rows:
        return
    row_bytes = max(1, *(sum(each.nbytes for each in side) // rows for side in (inputs, outputs)))
    borders = chunk_borders(rows, row_bytes) if chunk_rows is None else [*range(0, rows, chunk_rows), rows]
    with _lines(ordinal) as lines:
        for number, (first, last) in enumerate(itertools.pairwise(borders)):
            line = lines[number % len(lines)]
            line.wait()
            line.begin([each[first:last] for each in inputs], [each[first:last] for each in outputs], work)
        for line in lines:
            line.wait()


def chunk_borders(rows: int, row_bytes: int) -> list[int]:
    """Where chunks of so many rows begin, and the end of the last.

    The first and the last are half as large as the others: while the first comes and the last goes, the GPU rests.
    """
    size = min(_MOST_CHUNK_BYTES // row_bytes + 1, max(-(-rows // _CHUNKS), _LEAST_ROWS))
    if size >= rows:
        return [0, rows]
    count = -(-rows // size)
    return [0, *(rows * (2 * k + 1) // (2 * count) for k in range(count)), rows]


class _Arena:
    """Memory of a GPU for one chunk after another: each takes what it needs, and all of it is free for the next.

    Memory that one stream frees and another takes makes the second wait for the first; so each line has its own.
    """

    def __init__(self, owner: Device) -> None:
        self._device, self._blocks, self._used, self._needed = owner, list[DeviceArray](), 0, 1 << 20

    def allocate(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, Any]:
        """The address of new memory, and what holds it."""
        size = -(-math.prod(shape) * dtype.itemsize // 256) * 256
        if not self._blocks or self._used + size > self._blocks[-1].nbytes:
            new = max(size, 0 if self._blocks else self._needed)
            self._blocks.append(empty((new,), np.uint8, self._device.ordinal, self._device.stream))
            self._used = 0
            self._device.synchronize(self._device.stream)  # it is there, for all streams
        begin = self._used
        self._used += size
        return self._blocks[-1].pointer + begin, self._blocks[-1]

    def reset(self) -> None:
        """All memory is free for the next chunk, as one block if it fits."""
        self._used = 0
        if len(self._blocks) > 1:
            self.release()

    def release(self) -> None:
        """Gives the memory back; as much is taken at once the next time."""
        self._needed = max(self._needed, sum(block.nbytes for block in self._blocks))
        self._blocks, self._used = [], 0


class _Line:
    """One chunk under way: a stream, pinned buffers for what comes and goes, and an event at its end."""

    def __init__(self, owner: Device) -> None:
        self._device, self._stream = owner, owner.new_stream()
        self._arena = _Arena(owner)
        self._stream.allocate = self._arena.allocate
        self._done = Event(owner)
        self._coming, self._going = _Pinned(owner), _Pinned(owner)
        self._written: Future[None] | None = None
        self._held: list[Any] = []

    def begin(self, inputs: list[NDArray[Any]], outputs: list[NDArray[Any]], work: Work) -> None:
        """Starts the copies and the work of a chunk; its outputs are written by another thread."""
        stream = self._stream
        given = []
        for host, staged in zip(inputs, self._coming.arrays(inputs, inputs), strict=True):
            if staged is not None:
                _core.copy_rows(staged, host)
            source = host if staged is None else staged
            array = empty(host.shape, host.dtype, self._device.ordinal, stream)
            copy_in(array, source, stream)
            given.append(array)
        found = work(given, stream)
        unwritten = []
        for host, staged, array in zip(outputs, self._going.arrays(outputs, found), found, strict=True):
            widened = host.dtype == np.int64 and array.dtype == np.int32
            if array.shape != host.shape or not (widened or array.dtype == host.dtype):
                raise TypeError(f"the work returned {array}, not {host.shape} of {host.dtype}")
            copy_out(host if staged is None else staged, array, stream)
            if staged is not None:
                unwritten.append((host, staged))
        self._done.record(stream)
        self._held = [given, found, inputs, outputs]
        self._written = _writer().submit(self._write, unwritten)

    def _write(self, unwritten: list[tuple[NDArray[Any], NDArray[Any]]]) -> None:
        """Waits for the chunk under way and writes its outputs."""
        with self._device.current():
            self._done.wait()
        for host, staged in unwritten:
            _core.copy_rows(host, staged)

    def wait(self) -> None:
        """Waits until the chunk under way, if there is one, is written."""
        written, self._written = self._written, None
        if written is not None:
            written.result()
        self._held = []
        self._arena.reset()

    def release(self) -> None:
        """Gives the line's memory of the GPU back."""
        self._arena.release()

    def abandon(self) -> None:
        """Waits for the chunk under way and forgets it: after an error, or Ctrl-C."""
        cuda().cuStreamSynchronize(self._stream)
        written, self._written = self._written, None
        if written is not None:
            written.exception()
        self._held = []


class _Pinned:
    """A buffer of pinned memory, which grows as needed."""

    def __init__(self, owner: Device) -> None:
        self._device, self._bytes = owner, np.empty(0, np.uint8)

    def arrays(self, host: list[NDArray[Any]], like: Sequence[Any]) -> list[NDArray[Any] | None]:
        """Arrays in the buffer of the same shapes and types as some; None where the host's is pinned memory already."""
        wanted = [
            0 if kind.dtype == each.dtype and _is_pinned(each) else -(-kind.nbytes // 256) * 256
            for each, kind in zip(host, like, strict=True)
        ]
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
    return not array.nbytes or (not unknown and kind.value == _PINNED and array.flags.c_contiguous)


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
            for line in self._lines:
                if error is not None:
                    line.abandon()
                line.release()
        finally:
            self._lock.release()


@functools.cache
def _lines(ordinal: int) -> _Lines:
    return _Lines(ordinal)


@functools.cache
def _writer() -> ThreadPoolExecutor:
    """The thread that writes outputs, in their order, while others are worked on."""
    return ThreadPoolExecutor(1, "supple-write")
