"""The arrays of one call: of one library, on one device; and results of the same library, there."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple import _check
from supple._arrays.library import Library, library_of
from supple._cuda.place import CPU
from supple.errors import BadInput

PLAIN = frozenset((np.ndarray, list, tuple, float, int, type(None)))
"""Types that are certainly not foreign."""
_FLOATS: dict[str, np.dtype[Any]] = {"float32": np.dtype(np.float32), "float64": np.dtype(np.float64)}
_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")


@dataclass(frozen=True)
class Given:
    """What the foreign arrays of a call have in common."""

    library: Library
    place: tuple[int, int]
    dtype: np.dtype[Any]
    """float32 if all are of float32, else float64."""
    like: Any
    """One of the arrays."""

    @property
    def is_on_gpu(self) -> bool:
        """Whether the arrays are in the memory of a GPU."""
        return self.place[0] != CPU

    def host(self, value: Any) -> Any:
        """The numbers of a foreign array, of a GPU as a copy; anything else as it is."""
        library = library_of(value)
        return value if library is None else library.host(value)

    def back(self, numbers: Any) -> Any:
        """Numbers of NumPy as an array of the caller's library, in its precision if they are not whole."""
        array = np.asarray(numbers)
        if array.dtype.kind == "f":
            array = array.astype(self.dtype, copy=False)
        if not (array.flags.writeable and array.flags.c_contiguous):
            array = np.array(array, order="C")
        return self.library.made(array, self.like)


def warn_of_copy(arrays: Given, what: str) -> None:
    """Warns, if the arrays are on a GPU, that a call computes on the CPU; Python shows this once for each place."""
    if arrays.is_on_gpu:
        warnings.warn(f"{what} computes on the CPU: arrays of a GPU are copied there and back", stacklevel=4)


def given_one(library: Library, value: Any, name: str) -> Given:
    """What one foreign array of a library is, the argument of that name."""
    return Given(library, library.place(value), _dtype(library, value, name) or _FLOATS["float64"], value)


def given(values: Mapping[str, object]) -> Given | None:
    """What the foreign arrays among some arguments, by their names, have in common; None if there is none.

    Arrays of one library on one device go together, and on the CPU with NumPy's, lists and numbers. Anything else
    raises `BadInput`.
    """
    found: dict[str, tuple[Library, tuple[int, int], np.dtype[Any] | None, Any]] = {}
    for name, value in values.items():
        library = None if type(value) in PLAIN else library_of(value)
        if library is not None:
            found[name] = (library, library.place(value), _dtype(library, value, name), value)
    if not found:
        return None
    (first, (library, place, _, like)), *others = found.items()
    for name, (other, there, _, _) in others:
        if other is not library:
            raise BadInput(f"{first} is an array of {library.name} and {name} one of {other.name}; give one library's")
        if there != place:
            raise BadInput(f"{first} is on {_in_words(place)} and {name} on {_in_words(there)}; put them on one device")
    result = Given(library, place, np.dtype(_common(found)), like)
    if result.is_on_gpu:
        for name, value in values.items():
            if name not in found and value is not None:
                raise BadInput(f"{first} is on {_in_words(place)} and {name} on the CPU; put them on one device")
    return result


def _common(found: Mapping[str, tuple[Any, Any, np.dtype[Any] | None, Any]]) -> Any:
    kinds = {kind for _, _, kind, _ in found.values() if kind is not None}
    return np.float32 if kinds == {np.dtype(np.float32)} else np.float64


def _dtype(library: Library, value: Any, name: str) -> np.dtype[Any] | None:
    """The type of an array's entries, if it is one that supple computes with; None for whole numbers."""
    differentiated = _check.library_of_gradients(value)
    if differentiated:
        raise BadInput(f"{name}: gradients go through supple.{differentiated}, as in supple.{differentiated}.frame")
    kind = library.dtype(value)
    if kind in _FLOATS:
        return _FLOATS[kind]
    if kind in _WHOLE:
        return None
    raise BadInput(f"{name} must be of float32 or float64, got {kind[:40]}; convert it first")


def _in_words(place: tuple[int, int]) -> str:
    return "the CPU" if place[0] == CPU else f"GPU {place[1]}"
