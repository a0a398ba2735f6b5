"""The GPUs of this machine: their properties, contexts, streams and events.

Contexts are the primary ones, which torch, CuPy and JAX use too, so that addresses and streams are shared with them.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Callable
from ctypes import byref, c_float, c_int, c_size_t, c_ulonglong, c_void_p
from types import TracebackType

from supple._cuda.library import NOT_READY, call, cuda, failure
from supple._cuda.place import Stream as Stream
from supple.errors import BadInput

LEGACY_STREAM = 1
"""The default stream of a device, which waits for all other blocking streams; 0 means the same."""
_NON_BLOCKING = 1
_NO_TIMING = 2
_MULTIPROCESSORS, _MAJOR, _MINOR, _SHARED_PER_BLOCK, _HAS_POOLS = 16, 75, 76, 97, 115
_RELEASE_THRESHOLD = 4


class _PoolProperties(ctypes.Structure):
    """CUmemPoolProps: pinned memory (1) of one device (1, ordinal), for this process only."""

    _fields_ = (
        ("allocation_type", c_int),
        ("handle_types", c_int),
        ("location_type", c_int),
        ("location_id", c_int),
        ("security", c_void_p),
        ("most_bytes", c_size_t),
        ("reserved", ctypes.c_ubyte * 56),
    )


class Device:
    """One GPU; see `device`."""

    def __init__(self, ordinal: int) -> None:
        handle, context = c_int(), c_void_p()
        call("cuDeviceGet", byref(handle), ordinal)
        name, memory = ctypes.create_string_buffer(200), c_size_t()
        call("cuDeviceGetName", name, 200, handle)
        call("cuDeviceTotalMem_v2", byref(memory), handle)
        self.ordinal = ordinal
        self.name = name.value.decode(errors="replace")
        self.total_bytes = memory.value
        self.multiprocessors = self._attribute(handle, _MULTIPROCESSORS)
        self.capability = 10 * self._attribute(handle, _MAJOR) + self._attribute(handle, _MINOR)
        self.shared_bytes = self._attribute(handle, _SHARED_PER_BLOCK)
        """Most shared memory of a block, if the kernel asks for it."""
        call("cuDevicePrimaryCtxRetain", byref(context), handle, doing=f"starting {self.name}")
        self.context = context.value
        self._has_pools = bool(self._attribute(handle, _HAS_POOLS))

    @staticmethod
    def _attribute(handle: c_int, number: int) -> int:
        value = c_int()
        call("cuDeviceGetAttribute", byref(value), number, handle)
        return value.value

    def current(self) -> _Current:
        """Makes the device current in a ``with`` block, in this thread; afterwards the one before it is."""
        return _Current(self.context)

    @functools.cached_property
    def pool(self) -> int | None:
        """The handle of supple's own pool of memory, which keeps freed memory for the next call; None without pools."""
        if not self._has_pools:
            return None
        properties, pool = _PoolProperties(1, 0, 1, self.ordinal), c_void_p()
        kept = c_ulonglong(self.total_bytes // 8)
        with self.current():
            if cuda().cuMemPoolCreate(byref(pool), byref(properties)):
                return None
            call("cuMemPoolSetAttribute", pool, _RELEASE_THRESHOLD, byref(kept))
        return pool.value

    @functools.cached_property
    def stream(self) -> Stream:
        """A stream of supple's own, for callers that have none."""
        return self.new_stream()

    def new_stream(self) -> Stream:
        """A new stream that does not wait for the default one. It is kept to the end of the process."""
        made = c_void_p()
        with self.current():
            call("cuStreamCreate", byref(made), _NON_BLOCKING)
        return Stream(made.value or 0)

    def free_bytes(self) -> int:
        """Memory that is free now."""
        free, total = c_size_t(), c_size_t()
        with self.current():
            call("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value

    def synchronize(self, stream: int) -> None:
        """Waits until all work of a stream is done; an error of a kernel is raised here."""
        with self.current():
            call("cuStreamSynchronize", stream, doing="work")

    def __repr__(self) -> str:
        return f"<GPU {self.ordinal}: {self.name}, {self.multiprocessors} multiprocessors, {self.capability / 10}>"


class _Inside(threading.local):
    """The context of the ``with`` block that a thread is in."""

    context: int | None = None


_inside = _Inside()


class _Current:
    """A ``with`` block in which a context is current. One inside another for the same context does nothing."""

    __slots__ = ("_context", "_outer", "_pushed")

    def __init__(self, context: int | None) -> None:
        self._context, self._pushed = context, False

    def __enter__(self) -> None:
        self._outer = _inside.context
        if self._outer == self._context:
            return
        now = c_void_p()
        cuda().cuCtxGetCurrent(byref(now))
        if now.value != self._context:
            call("cuCtxPushCurrent_v2", self._context)
            self._pushed = True
        _inside.context = self._context

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _inside.context = self._outer
        if self._pushed:
            cuda().cuCtxPopCurrent_v2(byref(c_void_p()))


class Event:
    """A mark in a stream, to wait for or, with ``timing``, to measure with."""

    def __init__(self, device: Device, *, timing: bool = False) -> None:
        self._device, made = device, c_void_p()
        with device.current():
            call("cuEventCreate", byref(made), 0 if timing else _NO_TIMING)
        self.handle = made.value

    def record(self, stream: int) -> Event:
        """Sets the mark after the work that is in a stream now."""
        with self._device.current():
            call("cuEventRecord", self.handle, stream)
        return self

    def hold(self, stream: int) -> None:
        """Makes later work of a stream wait for the mark; the caller does not wait."""
        with self._device.current():
            call("cuStreamWaitEvent", stream, self.handle, 0)

    def done(self) -> bool:
        """Whether the work before the mark is done."""
        state = cuda().cuEventQuery(self.handle)
        if state not in (0, NOT_READY):
            raise failure(state, "cuEventQuery", "work")
        return bool(state == 0)

    def wait(self) -> None:
        """Waits until the work before the mark is done."""
        call("cuEventSynchronize", self.handle, doing="work")

    def seconds_until(self, later: Event) -> float:
        """Time between two marks, both with timing, in seconds; waits for the later one."""
        later.wait()
        between = c_float()
        call("cuEventElapsedTime", byref(between), self.handle, later.handle)
        return 1e-3 * between.value

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:  # at exit `sys` may be gone
        handle = getattr(self, "handle", None)
        if handle is not None and not is_finalizing():
            cuda().cuEventDestroy_v2(handle)


def count() -> int:
    """The number of GPUs that this process may use."""
    found = c_int()
    call("cuDeviceGetCount", byref(found))
    return found.value


@functools.cache
def device(ordinal: int) -> Device:
    """The GPU of a number, as torch and CUDA count them; `DeviceError` or `BadInput` where there is none."""
    known = count()
    if not 0 <= ordinal < known:
        raise BadInput(f"there is no GPU {ordinal}: this process has {known}, counted from 0")
    return Device(ordinal)


def in_order(device: Device, first: int, then: int) -> None:
    """Makes later work of the stream ``then`` wait for the present work of the stream ``first``."""
    if (first or LEGACY_STREAM) != (then or LEGACY_STREAM):
        Event(device).record(first).hold(then)
