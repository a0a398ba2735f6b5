"""The libraries of arrays: what an array of each is, where it lies, and how one is made from numbers.

An array counts as foreign if its type has DLPack and its library can take arrays back. NumPy's own, lists and numbers
are not foreign. A library is never imported here before the caller has.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple._cuda.place import CPU, CUDA, CUDA_HOST, Stream
from supple.errors import BadInput

_HOST = (CPU, CUDA_HOST)


class Library:
    """An array library by the Python array API; see the classes below for those that differ."""

    name = ""

    def place(self, array: Any) -> tuple[int, int]:
        """The kind of memory that an array is in, as DLPack counts it, and the number of the device."""
        kind, number = array.__dlpack_device__()
        return (CPU, 0) if int(kind) in _HOST else (int(kind), int(number))

    def dtype(self, array: Any) -> str:
        """The name of the type of the entries, as NumPy writes it."""
        return str(array.dtype).rpartition(".")[2]

    def host(self, array: Any) -> NDArray[Any]:
        """The numbers of an array of the CPU, without a copy where that is possible."""
        try:
            return np.from_dlpack(array)
        except (TypeError, ValueError, BufferError, AttributeError):
            return np.asarray(array)

    def made(self, numbers: NDArray[Any], like: Any) -> Any:
        """An array of this library in the memory of the CPU; the numbers are not used by anyone else."""
        return like.__array_namespace__().from_dlpack(numbers)

    def namespace(self, array: Any) -> Any:
        """The functions of the library: ``concatenate``, ``broadcast_to`` and so on."""
        return array.__array_namespace__()

    def stream(self, array: Any, ordinal: int) -> Stream | None:
        """The caller's stream on the array's GPU, with memory from the library; None where it has no such thing."""
        return None

    def taken(self, array: Any) -> Any:
        """An array over memory of supple's own on a GPU."""
        raise BadInput(f"{self.name} cannot take arrays of a GPU")

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
        numbers: NDArray[Any] = array.detach().resolve_conj().resolve_neg().numpy()
        return numbers

    def made(self, numbers: NDArray[Any], like: Any) -> Any:
        return _module("torch").from_numpy(numbers)

    def namespace(self, array: Any) -> Any:
        return _module("torch")

    def stream(self, array: Any, ordinal: int) -> Stream | None:
        torch = _module("torch")
        device = array.device
        stream = Stream(torch.cuda.current_stream(device).cuda_stream)

        def allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, Any]:
            made = torch.empty(shape, dtype=getattr(torch, dtype.name), device=device)
            return made.data_ptr(), made

        stream.allocate = allocate
        return stream

    def contiguous(self, array: Any, dtype: np.dtype[Any]) -> Any:
        return array.detach().to(getattr(_module("torch"), dtype.name)).contiguous()

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
_by_type: dict[type, Library | None] = {}


def library_of(value: object) -> Library | None:
    """The library of a foreign array; None for anything else, also for what stands for an array under tracing."""
    kind = type(value)
    try:
        return _by_type[kind]
    except KeyError:
        return _by_type.setdefault(kind, _found(kind))


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
