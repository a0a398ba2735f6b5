"""Functions that XLA calls: its foreign function interface, as ``xla/ffi/api/c_api.h`` of jaxlib states it.

XLA calls a `target` with a call frame: arrays in and out by their addresses, attributes, and functions to ask for the
stream and for memory. A function reads them from a `Call`, starts its work in the stream and returns. An exception in
it becomes an error of XLA.

Version 0 of the interface is understood. Its structs only grow at their ends, so that one description serves all.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any

import numpy as np

from supple._cuda.place import Stream
from supple.errors import BadInput, DeviceError

METADATA = 1
"""The type of the extension by which XLA asks what a target is."""
BUFFER = 1
SCALAR = 3
INVALID_ARGUMENT, INTERNAL = 3, 13
S64 = 5
DTYPES: dict[int, np.dtype[Any]] = {11: np.dtype(np.float32), 12: np.dtype(np.float64)}
"""Types of entries by their numbers."""
_ALIGNMENT = 16  # the most that XLA takes; its blocks begin at multiples of 128 or 256
_ORDINAL_OF_POINTER = 9


class Extension(ctypes.Structure):
    """XLA_FFI_Metadata_Extension; other extensions begin in the same way."""

    _fields_ = (("struct_size", c_size_t), ("type", c_int), ("next", c_void_p), ("metadata", c_void_p))


class Version(ctypes.Structure):
    """XLA_FFI_Api_Version."""

    _fields_ = (("struct_size", c_size_t), ("extension", c_void_p), ("major", c_int), ("minor", c_int))


class Metadata(ctypes.Structure):
    """XLA_FFI_Metadata, as far as all versions have it."""

    _fields_ = (("struct_size", c_size_t), ("version", Version), ("traits", c_uint32))


class Buffer(ctypes.Structure):
    """XLA_FFI_Buffer: an array of C order."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("dtype_number", c_int),
        ("data", c_void_p),
        ("rank", c_int64),
        ("dims", POINTER(c_int64)),
    )

    @property
    def pointer(self) -> int:
        """The address; 0 for an array without entries."""
        return self.data or 0

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return tuple(self.dims[: self.rank])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the entries."""
        if self.dtype_number not in DTYPES:
            raise BadInput(f"an array must be of float32 or float64, got type {self.dtype_number} of XLA")
        return DTYPES[self.dtype_number]


class Text(ctypes.Structure):
    """XLA_FFI_ByteSpan."""

    _fields_ = (("pointer", c_void_p), ("length", c_size_t))


class Scalar(ctypes.Structure):
    """XLA_FFI_Scalar."""

    _fields_ = (("dtype_number", c_int), ("value", c_void_p))


class Arrays(ctypes.Structure):
    """XLA_FFI_Args and XLA_FFI_Rets."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("size", c_int64),
        ("types", POINTER(c_int)),
        ("values", POINTER(c_void_p)),
    )


class Attributes(ctypes.Structure):
    """XLA_FFI_Attrs."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("size", c_int64),
        ("types", POINTER(c_int)),
        ("names", POINTER(POINTER(Text))),
        ("values", POINTER(c_void_p)),
    )


class Functions(ctypes.Structure):
    """XLA_FFI_Api, up to the last function that is used here."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("version", Version),
        ("internal", c_void_p),
        ("create_error", c_void_p),
        ("get_message", c_void_p),
        ("destroy_error", c_void_p),
        ("register_handler", c_void_p),
        ("get_stream", c_void_p),
        ("register_type", c_void_p),
        ("get_context", c_void_p),
        ("set_state", c_void_p),
        ("get_state", c_void_p),
        ("allocate", c_void_p),
        ("free", c_void_p),
    )


class Frame(ctypes.Structure):
    """XLA_FFI_CallFrame, as far as all versions have it."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", POINTER(Extension)),
        ("functions", POINTER(Functions)),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", Arrays),
        ("results", Arrays),
        ("attributes", Attributes),
    )


class _ErrorArguments(ctypes.Structure):
    _fields_ = (("struct_size", c_size_t), ("extension", c_void_p), ("message", c_char_p), ("code", c_int))


class _MessageArguments(ctypes.Structure):
    _fields_ = (("struct_size", c_size_t), ("extension", c_void_p), ("error", c_void_p), ("message", c_char_p))


class _StreamArguments(ctypes.Structure):
    _fields_ = (("struct_size", c_size_t), ("extension", c_void_p), ("context", c_void_p), ("stream", c_void_p))


class _AllocateArguments(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("context", c_void_p),
        ("size", c_size_t),
        ("alignment", c_size_t),
        ("data", c_void_p),
    )


class _FreeArguments(ctypes.Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("context", c_void_p),
        ("size", c_size_t),
        ("data", c_void_p),
    )


HANDLER = ctypes.CFUNCTYPE(c_void_p, c_void_p)
"""XLA_FFI_Handler: takes the address of a call frame; returns that of an error, or none."""
_as_function = functools.cache(HANDLER)  # functions of XLA have the same type: a struct's address in, an error out


class Call:
    """One call of a target by XLA."""

    def __init__(self, frame: Frame) -> None:
        self._frame, self._functions, self._taken = frame, frame.functions.contents, list[tuple[int, int]]()
        self.arguments = _buffers(frame.arguments)
        self.results = _buffers(frame.results)

    def number(self, name: str) -> int:
        """An attribute that is a whole number of 64 bits."""
        attributes = self._frame.attributes
        for k in range(attributes.size):
            text = attributes.names[k].contents
            if ctypes.string_at(text.pointer, text.length) == name.encode() and attributes.types[k] == SCALAR:
                scalar = Scalar.from_address(attributes.values[k])
                if scalar.dtype_number == S64:
                    return c_int64.from_address(scalar.value).value
        raise BadInput(f"XLA called without the attribute {name}")

    @property
    def ordinal(self) -> int:
        """The number of the GPU that the results are on."""
        from supple._cuda.library import call

        found = c_int()
        call("cuPointerGetAttribute", byref(found), _ORDINAL_OF_POINTER, self.results[0].pointer)
        return found.value

    @functools.cached_property
    def stream(self) -> Stream:
        """The stream of the computation. Arrays asked for on it are XLA's, and given back when the call ends.

        XLA orders work by streams, as this call does: whoever has the memory next writes to it after this work.
        """
        arguments = _StreamArguments(ctypes.sizeof(_StreamArguments), None, self._frame.context)
        self._ask(self._functions.get_stream, arguments)
        stream = Stream(arguments.stream or 0)
        stream.allocate = self._allocate
        return stream

    def _allocate(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, Any]:
        size = math.prod(shape) * dtype.itemsize
        if not size:
            return 0, None
        place = (ctypes.sizeof(_AllocateArguments), None, self._frame.context, size, _ALIGNMENT)
        arguments = _AllocateArguments(*place)
        self._ask(self._functions.allocate, arguments)
        self._taken.append((size, arguments.data))
        return arguments.data, None

    def finish(self) -> None:
        """Gives memory back to XLA."""
        while self._taken:
            size, data = self._taken.pop()
            self._ask(
                self._functions.free,
                _FreeArguments(ctypes.sizeof(_FreeArguments), None, self._frame.context, size, data),
            )

    def _ask(self, function: int, arguments: ctypes.Structure) -> None:
        """Calls a function of XLA; its error is raised as `DeviceError`."""
        error = _as_function(function)(ctypes.addressof(arguments))
        if error:
            asked = _MessageArguments(ctypes.sizeof(_MessageArguments), None, error)
            _as_function(self._functions.get_message)(ctypes.addressof(asked))
            message = (asked.message or b"no message").decode(errors="replace")
            _as_function(self._functions.destroy_error)(ctypes.addressof(asked))  # its struct begins in the same way
            raise DeviceError(f"XLA: {message}")


def target(work: Callable[[Call], None], version: tuple[int, int]) -> Any:
    """A function of C, to be registered with XLA and held to the end of the process.

    ``version`` is that of the interface in the header of jaxlib, in case XLA does not say its own.
    """

    def handler(address: int) -> int | None:
        frame = Frame.from_address(address)
        try:
            if frame.extension and frame.extension.contents.type == METADATA:
                _describe(frame, version)
                return None
            call = Call(frame)
            try:
                work(call)
            finally:
                call.finish()
        except BaseException as error:  # no exception passes through C
            return _error_of_xla(frame, error)
        return None

    return HANDLER(handler)


def _describe(frame: Frame, version: tuple[int, int]) -> None:
    """Says the version of XLA itself, and no traits: the launches are not to be recorded and repeated by XLA."""
    metadata = Metadata.from_address(frame.extension.contents.metadata)
    if frame.functions:
        version = frame.functions.contents.version.major, frame.functions.contents.version.minor
    metadata.version = Version(ctypes.sizeof(Version), None, *version)
    metadata.traits = 0


def _buffers(arrays: Arrays) -> list[Buffer]:
    if any(arrays.types[k] != BUFFER for k in range(arrays.size)):
        raise BadInput("XLA called with an argument that is no array")
    return [Buffer.from_address(arrays.values[k]) for k in range(arrays.size)]


def _error_of_xla(frame: Frame, error: BaseException) -> int | None:
    if not frame.functions:
        return None
    code = INVALID_ARGUMENT if isinstance(error, BadInput) else INTERNAL
    message = f"{type(error).__name__}: {error}".encode(errors="replace").replace(b"\0", b"")
    arguments = _ErrorArguments(ctypes.sizeof(_ErrorArguments), None, message, code)
    made: int | None = _as_function(frame.functions.contents.create_error)(ctypes.addressof(arguments))
    return made
