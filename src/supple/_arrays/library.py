"""The libraries of arrays: what an array of each is, where it lies, and how one is made from numbers.

An array counts as foreign if its type has DLPack and its library can take arrays back. NumPy's own, lists and numbers
are not foreign. A library is never imported here before the caller has.
"""

from __future__ import annotations

import math
import operator
import sys
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple._arrays import nesting
from supple._cuda.place import CPU, CUDA, CUDA_HOST, Stream
from supple.errors import BadInput, short

NOT_CONVERTED = (TypeError, ValueError, ArithmeticError, AttributeError, BufferError)
"""What numpy and Python raise for a value that is no number; exceptions of a caller's own classes pass through."""
_HOST = (CPU, CUDA_HOST)


class Library:
    """An array library by the Python array API; see the classes below for those that differ."""

    name = ""

    def place(self, array: Any) -> tuple[int, int]:
        """The kind of memory that an array is in, as DLPack counts it, and the number of the device."""
        try:
            kind, number = map(operator.index, array.__dlpack_device__())
        except (TypeError, ValueError):
            raise BadInput(f"__dlpack_device__ of {self.name} does not give two whole numbers") from None
        if kind not in (*_HOST, CUDA):
            raise BadInput(f"arrays of the device ({kind}, {number}) of DLPack are not supported; use the CPU or CUDA")
        if kind == CUDA:
            raise BadInput(f"arrays of {self.name} on a GPU are not supported; use torch, CuPy or JAX there")
        return (CPU, 0)

    def dtype(self, array: Any) -> str:
        """The name of the type of the entries, as NumPy writes it."""
        return str(array.dtype).rpartition(".")[2]

    def host(self, array: Any) -> NDArray[Any]:
        """The numbers of an array, without a copy where that is possible: of a GPU, they are copied."""
        try:
            return np.from_dlpack(array)
        except (*NOT_CONVERTED, RuntimeError):
            return _as_numbers(array)

    def made(self, numbers: NDArray[Any], like: Any) -> Any:
        """An array of this library, in the memory that ``like`` is in; the numbers are not used by anyone else."""
        space = like.__array_namespace__()
        if not hasattr(space, "from_dlpack"):
            raise BadInput(f"{self.name} has no from_dlpack, which makes the array of a result")
        try:
            made = space.from_dlpack(numbers)
        except NOT_CONVERTED as error:
            raise BadInput(f"from_dlpack of {self.name} failed: {error}") from error
        if not hasattr(made, "__dlpack__"):
            raise BadInput(f"from_dlpack of {self.name} gave no array but {short(made)}")
        return made

    def namespace(self, array: Any) -> Any:
        """The functions of the library: ``concatenate``, ``broadcast_to`` and so on."""
        return array.__array_namespace__()

    def stream(self, array: Any, ordinal: int) -> Stream | None:
        """The caller's stream on the array's GPU, with memory from the library; None where it has no such thing."""
        return None

    def taken(self, array: Any) -> Any:
        """An array over memory of supple's own on a GPU."""
        raise BadInput(f"{self.name} cannot take arrays of a GPU")

    def part(self, block: Any, begin: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
        """The array of a type and a shape that begins at a byte of a block of bytes."""
        bytes_of = block[begin : begin + math.prod(shape) * dtype.itemsize]
        return bytes_of.view(self.own_dtype(dtype)).reshape(shape)

    def own_dtype(self, dtype: np.dtype[Any]) -> Any:
        """A type of entries, as the library names it."""
        return dtype

    def contiguous(self, array: Any, dtype: np.dtype[Any]) -> Any:
        """The array with C-contiguous entries of that type; a copy on its own device where it differs."""
        space = self.namespace(array)
        return space.ascontiguousarray(array.astype(getattr(space, dtype.name), copy=False))

    def address(self, array: Any) -> int | None:
        """The address of an array of a GPU, which is ready for `stream`; None where DLPack must be asked."""
        return None

    def strides(self, array: Any) -> tuple[int, ...] | None:
        """Strides in entries; None where DLPack must be asked."""
        return None


class _Torch(Library):
    name = "torch"

    def place(self, array: Any) -> tuple[int, int]:
        kind = array.device.type
        if kind == "cpu":
            return (CPU, 0)
        if kind == "cuda":
            return (CUDA, array.device.index)
        raise BadInput(f"tensors of the device {kind!r} are not supported; use cpu or cuda")

    def host(self, array: Any) -> NDArray[Any]:
        numbers: NDArray[Any] = array.detach().resolve_conj().resolve_neg().cpu().numpy()
        return numbers

    def made(self, numbers: NDArray[Any], like: Any) -> Any:
        return _module("torch").from_numpy(numbers).to(like.device)

    def namespace(self, array: Any) -> Any:
        return _module("torch")

    def __init__(self) -> None:
        self._streams: dict[tuple[int, int], Stream] = {}  # by GPU and handle

    def stream(self, array: Any, ordinal: int) -> Stream | None:
        torch = _module("torch")
        raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # as current_stream, in a tenth of the time
        handle = torch.cuda.current_stream(array.device).cuda_stream if raw is None else raw(ordinal)
        known = self._streams.get((ordinal, handle))
        if known is not None:
            return known
        device = array.device
        kinds = {"d": torch.float64, "f": torch.float32, "i": torch.int32, "B": torch.uint8}

        def allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, Any]:
            made = torch.empty(shape, dtype=kinds[dtype.char], device=device)
            return made.data_ptr(), made

        made = Stream(handle)
        made.allocate = allocate
        if len(self._streams) > 256:
            self._streams.clear()
        self._streams[ordinal, handle] = made
        return made

    def own_dtype(self, dtype: np.dtype[Any]) -> Any:
        return getattr(_module("torch"), dtype.name)

    def contiguous(self, array: Any, dtype: np.dtype[Any]) -> Any:
        return array.detach().to(self.own_dtype(dtype)).contiguous()

    def address(self, array: Any) -> int | None:
        return int(array.data_ptr())

    def strides(self, array: Any) -> tuple[int, ...] | None:
        return tuple(array.stride())


class _Jax(Library):
    name = "jax"

    def place(self, array: Any) -> tuple[int, int]:
        devices = array.devices()
        if len(devices) != 1:
            raise BadInput(f"an array on {len(devices)} devices is not supported; gather it on one")
        device = next(iter(devices))
        if device.platform == "cpu":
            return (CPU, 0)
        if device.platform in ("gpu", "cuda"):
            return (CUDA, int(getattr(device, "local_hardware_id", None) or 0))
        raise BadInput(f"arrays of the device {device.platform!r} are not supported; use cpu or cuda")

    def host(self, array: Any) -> NDArray[Any]:
        return np.asarray(array)

    def made(self, numbers: NDArray[Any], like: Any) -> Any:
        return _module("jax").device_put(numbers, next(iter(like.devices())))

    def namespace(self, array: Any) -> Any:
        return _module("jax").numpy

    def taken(self, array: Any) -> Any:
        return _module("jax").dlpack.from_dlpack(array)

    def contiguous(self, array: Any, dtype: np.dtype[Any]) -> Any:
        return array.astype(dtype)  # other strides than those of C do not leave JAX


class _Cupy(Library):
    name = "cupy"

    def place(self, array: Any) -> tuple[int, int]:
        return (CUDA, int(array.device.id))

    def host(self, array: Any) -> NDArray[Any]:
        numbers: NDArray[Any] = array.get()
        return numbers

    def made(self, numbers: NDArray[Any], like: Any) -> Any:
        cupy = _module("cupy")
        with cupy.cuda.Device(like.device.id):
            return cupy.asarray(numbers)

    def namespace(self, array: Any) -> Any:
        return _module("cupy")

    def stream(self, array: Any, ordinal: int) -> Stream | None:
        cupy = _module("cupy")
        with cupy.cuda.Device(ordinal):
            stream = Stream(cupy.cuda.get_current_stream().ptr)

        def allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, Any]:
            with cupy.cuda.Device(ordinal):
                made = cupy.empty(shape, dtype)
            return made.data.ptr, made

        stream.allocate = allocate
        return stream

    def address(self, array: Any) -> int | None:
        return int(array.data.ptr)

    def strides(self, array: Any) -> tuple[int, ...] | None:
        return tuple(stride // array.itemsize for stride in array.strides)


_KNOWN = {"torch": _Torch(), "jax": _Jax(), "jaxlib": _Jax(), "cupy": _Cupy()}
_by_type: weakref.WeakKeyDictionary[type, Library | None] = (
    weakref.WeakKeyDictionary()
)  # classes may be made and dropped


def library_of(value: object) -> Library | None:
    """The library of a foreign array; None for anything else, also for what stands for an array under tracing."""
    kind = type(value)
    try:
        return _by_type[kind]
    except KeyError:
        return _by_type.setdefault(kind, _found(kind))


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array of any library, of a list or of a number."""
    try:
        return tuple(operator.index(size) for size in nesting.shape(value))
    except (TypeError, ValueError):
        raise BadInput(f"an array must have a shape of whole numbers, got {type(value).__name__} without one") from None


def _as_numbers(array: Any) -> NDArray[Any]:
    try:
        return np.asarray(array)
    except (TypeError, ValueError) as error:
        raise BadInput(f"the numbers of {type(array).__name__} cannot be read: {error}") from None


def _found(kind: type) -> Library | None:
    if issubclass(kind, np.ndarray | np.generic) or not hasattr(kind, "__dlpack__"):
        return None
    root = kind.__module__.partition(".")[0]
    if root in _KNOWN:
        return None if kind.__name__.endswith("Tracer") else _KNOWN[root]
    for base in kind.__mro__:  # a subclass of a tensor, such as a caller's own
        known = _KNOWN.get(base.__module__.partition(".")[0])
        if known is not None:
            return known
    if not hasattr(kind, "__array_namespace__"):
        return None  # pyarrow, for one, gives arrays and takes none
    other = Library()
    other.name = root
    return other


def _module(name: str) -> Any:
    return sys.modules[name]
