"""Arrays in the memory of a GPU, and copies to and from the host."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from ctypes import byref, c_ulonglong, c_void_p
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from supple._cuda import dlpack
from supple._cuda.device import LEGACY_STREAM, Device, Stream, device, in_order
from supple._cuda.library import OUT_OF_MEMORY, call, cuda, failure
from supple._cuda.place import CUDA
from supple.errors import BadInput, DeviceError


class DeviceArray:
    """A C-contiguous array in the memory of a GPU; it holds what owns that memory.

    Work on it is ordered by ``stream``: results are ready for later work of that stream, and for others through
    ``__dlpack__`` or `numpy`.
    """

    __slots__ = ("__weakref__", "dtype", "ordinal", "owner", "pointer", "shape", "stream")

    def __init__(
        self, pointer: int, shape: tuple[int, ...], dtype: DTypeLike, ordinal: int, stream: int, owner: Any
    ) -> None:
        self.pointer, self.shape, self.dtype = pointer, shape, np.dtype(dtype)
        self.ordinal, self.stream, self.owner = ordinal, stream, owner

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self.size * self.dtype.itemsize

    def reshape(self, *shape: int) -> DeviceArray:
        """The same memory with another shape of the same size."""
        if math.prod(shape) != self.size:
            raise BadInput(f"an array of shape {self.shape} cannot have the shape {shape}")
        return DeviceArray(self.pointer, shape, self.dtype, self.ordinal, self.stream, self)

    def numpy(self) -> NDArray[Any]:
        """A copy in the host's memory; waits for the array."""
        return download(self)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (CUDA, self.ordinal)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The array for another library, ready for later work of ``stream``, a handle; -1 is for no order."""
        if dl_device not in (None, (CUDA, self.ordinal)) or copy:
            raise BufferError("an array of supple is given as it is: not copied, and not to another device")
        if stream != -1:
            self._ready_for(LEGACY_STREAM if stream is None else stream)
        return dlpack.exported(self, self.pointer, self.shape, self.dtype, (CUDA, self.ordinal))

    def _ready_for(self, stream: int) -> None:
        """Orders the array before later work of a stream, and the freeing of its memory after it."""
        in_order(device(self.ordinal), self.stream, stream)
        owner = self
        while isinstance(owner, DeviceArray):
            owner = owner.owner
        if isinstance(owner, _Block):
            owner.used_by.add(stream)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer, False),
            "strides": None,
            "stream": self.stream or LEGACY_STREAM,
            "version": 3,
        }

    def __repr__(self) -> str:
        return f"<DeviceArray {self.shape} of {self.dtype} on GPU {self.ordinal}>"


class _Block:
    """Memory that supple itself took, given back when nobody holds it any more."""

    __slots__ = ("_device", "_from_pool", "_stream", "pointer", "used_by")

    def __init__(self, owner: Device, size: int, stream: int) -> None:
        self._device, self._stream, self.used_by = owner, stream, set[int]()
        found, pool = c_ulonglong(), owner.pool
        self._from_pool, self.pointer = pool is not None, 0
        with owner.current():
            failed = _take(found, size, pool, stream)
            if failed == OUT_OF_MEMORY and pool is not None:  # memory that the pool keeps may be in the way
                cuda().cuStreamSynchronize(stream)
                cuda().cuMemPoolTrimTo(pool, 0)
                failed = _take(found, size, pool, stream)
        if failed == OUT_OF_MEMORY:
            raise DeviceError(
                f"too little memory on GPU {owner.ordinal} ({owner.name}): {_in_words(size)} more are needed, "
                f"{_in_words(owner.free_bytes())} of {_in_words(owner.total_bytes)} are free; pass fewer rows at a time"
            )
        if failed:
            raise failure(failed, "cuMemAlloc", "taking memory")
        self.pointer = found.value

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:  # at exit `sys` may be gone
        if not self.pointer or is_finalizing():
            return
        with self._device.current():
            if self._from_pool:
                for stream in self.used_by:
                    in_order(self._device, stream, self._stream)
                cuda().cuMemFreeAsync(self.pointer, self._stream)
            else:
                cuda().cuMemFree_v2(self.pointer)  # waits for all work


def _take(found: c_ulonglong, size: int, pool: int | None, stream: int) -> int:
    if pool is None:
        return int(cuda().cuMemAlloc_v2(byref(found), size))
    return int(cuda().cuMemAllocFromPoolAsync(byref(found), size, pool, stream))


def _in_words(size: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size} bytes"


def empty(shape: tuple[int, ...], dtype: DTypeLike, ordinal: int, stream: int) -> DeviceArray:
    """A new array, with any content, for work of that stream.

    Its memory comes from the library of a `Stream` with ``allocate`` (its owner is then an array of that library), or
    else from supple's own pool.
    """
    kind = np.dtype(dtype)
    if isinstance(stream, Stream) and stream.allocate is not None:
        pointer, owner = stream.allocate(shape, kind)
        return DeviceArray(pointer, shape, kind, ordinal, stream, owner)
    size = math.prod(shape) * kind.itemsize
    if not size:
        return DeviceArray(0, shape, kind, ordinal, stream, None)
    block = _Block(device(ordinal), size, stream)
    return DeviceArray(block.pointer, shape, kind, ordinal, stream, block)


def wrapped(
    pointer: int, shape: tuple[int, ...], dtype: DTypeLike, ordinal: int, stream: int, owner: Any
) -> DeviceArray:
    """An array over memory of another library, which ``owner`` keeps alive."""
    return DeviceArray(pointer, shape, dtype, ordinal, stream, owner)


def upload(data: bytes | bytearray | memoryview | NDArray[Any], ordinal: int, stream: int | None = None) -> DeviceArray:
    """A copy of bytes, or of a NumPy array, on a GPU; it is there when this returns, for all streams.

    Bytes become an array of uint8. The memory belongs to ``stream``, or else to supple's own stream.
    """
    given = np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else data
    host = given if given.flags.c_contiguous else np.ascontiguousarray(given)
    target = device(ordinal)
    chosen = target.stream if stream is None else stream
    made = empty(host.shape, host.dtype, ordinal, chosen)
    if host.size:
        copy_in(made, host, chosen)
        target.synchronize(chosen)
    return made


def download(array: DeviceArray, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """A copy of a device array in a new NumPy array, or in ``out``; waits for it."""
    host: NDArray[Any] = np.empty(array.shape, array.dtype) if out is None else out
    if host.shape != array.shape or host.dtype != array.dtype or not host.flags.c_contiguous:
        raise BadInput(f"out must be a C-contiguous array of {array.dtype} of shape {array.shape}")
    if array.size:
        copy_out(host, array, array.stream)
        device(array.ordinal).synchronize(array.stream)
    return host


def copy_in(array: DeviceArray, host: NDArray[Any], stream: int) -> None:
    """Starts a copy from contiguous memory of the host, which must stay as it is until the stream has done it."""
    with device(array.ordinal).current():
        call("cuMemcpyHtoDAsync_v2", array.pointer, c_void_p(host.ctypes.data), host.nbytes, stream, doing="copying")


def copy_out(host: NDArray[Any], array: DeviceArray, stream: int) -> None:
    """Starts a copy to contiguous memory of the host."""
    with device(array.ordinal).current():
        call("cuMemcpyDtoHAsync_v2", c_void_p(host.ctypes.data), array.pointer, host.nbytes, stream, doing="copying")


def fill(pointer: int, size: int, ordinal: int, stream: int) -> None:
    """Starts setting bytes of a GPU to 0."""
    with device(ordinal).current():
        call("cuMemsetD8Async", pointer, 0, size, stream)
