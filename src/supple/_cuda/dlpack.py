"""DLPack, the exchange of arrays between libraries without a copy: capsules made and read through ctypes.

https://dmlc.github.io/dlpack/latest/
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any, NamedTuple

import numpy as np

_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_CODES = {kind: code for code, kind in _KINDS.items()}
_NAME = b"dltensor"
_NEW_NAME = b"dltensor_versioned"
_READ_ONLY = 1


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


class _Managed(ctypes.Structure):
    """DLManagedTensor."""


_Deleter = ctypes.CFUNCTYPE(None, POINTER(_Managed))
_Managed._fields_ = (("tensor", _Tensor), ("context", c_void_p), ("deleter", _Deleter))


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    )


_Destructor = ctypes.CFUNCTYPE(None, c_void_p)
_python = ctypes.pythonapi
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, _Destructor)(("PyCapsule_New", _python))
_is_valid = ctypes.PYFUNCTYPE(c_int, ctypes.py_object, c_char_p)(("PyCapsule_IsValid", _python))
_pointer_of = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(("PyCapsule_GetPointer", _python))
_is_valid_at = ctypes.PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", _python))
_pointer_at = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", _python))

_held: dict[int, tuple[Any, ...]] = {}  # what an exported tensor needs, by its address, until it is deleted


def _deleted(managed: Any) -> None:
    _held.pop(ctypes.addressof(managed.contents), None)


def _dropped(capsule: int) -> None:
    """Deletes the tensor of a capsule that nobody took; one that was taken has another name by now."""
    if _is_valid_at(capsule, _NAME):
        _held.pop(_pointer_at(capsule, _NAME), None)


_delete, _drop = _Deleter(_deleted), _Destructor(_dropped)
for _kept in (_delete, _drop, _NAME):  # other libraries may use these until the process ends
    _python.Py_IncRef(ctypes.py_object(_kept))


def exported(owner: Any, pointer: int, shape: tuple[int, ...], dtype: np.dtype[Any], place: tuple[int, int]) -> Any:
    """A capsule for C-contiguous memory, which holds ``owner`` until its taker is done."""
    ndim = len(shape)
    sizes, strides = (c_int64 * max(ndim, 1))(*shape), (c_int64 * max(ndim, 1))()
    step = 1
    for axis in reversed(range(ndim)):
        strides[axis], step = step, step * max(shape[axis], 1)
    managed = _Managed()
    tensor = managed.tensor
    tensor.data, tensor.device_type, tensor.device_id, tensor.ndim = pointer or None, *place, ndim
    tensor.code, tensor.bits, tensor.lanes = _CODES[dtype.kind], 8 * dtype.itemsize, 1
    tensor.shape = ctypes.cast(sizes, POINTER(c_int64))
    tensor.strides = ctypes.cast(strides, POINTER(c_int64))
    managed.deleter = _delete
    address = ctypes.addressof(managed)
    _held[address] = (owner, managed, sizes, strides)
    return _new_capsule(address, _NAME, _drop)


class Imported(NamedTuple):
    """An array of another library, as its capsule describes it."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In entries."""
    kind: str
    """The kind and size of the entries as NumPy writes it, such as f8; another text where NumPy has no such type."""
    device: tuple[int, int]
    owner: Any
    """What keeps the memory alive: the capsule, which was not taken and deletes its tensor itself."""


def imported(capsule: Any) -> Imported:
    """What a capsule of another library describes."""
    if _is_valid(capsule, _NEW_NAME):
        tensor = ctypes.cast(_pointer_of(capsule, _NEW_NAME), POINTER(_Versioned)).contents.tensor
    else:
        tensor = ctypes.cast(_pointer_of(capsule, _NAME), POINTER(_Managed)).contents.tensor
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[i] for i in range(tensor.ndim))
    else:
        strides = tuple(int(np.prod(shape[i + 1 :])) for i in range(tensor.ndim))
    code = _KINDS.get(tensor.code, "bfloat" if tensor.code == 4 else "?")
    kind = f"{code}{tensor.bits // 8}" if len(code) == 1 else f"{code}{tensor.bits}"
    place = (int(tensor.device_type), int(tensor.device_id))
    return Imported((tensor.data or 0) + tensor.byte_offset, shape, strides, kind, place, capsule)
