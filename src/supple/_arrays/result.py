"""Results whose arrays are of the caller's library: each is made from the NumPy result when it is read."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from supple._arrays.given import Given
from supple._arrays.library import library_of

T = TypeVar("T")
_OWN = frozenset(("_given", "_made", "_plain", "__class__", "__reduce__", "__reduce_ex__"))


class _Exchanged:
    """A result that shows the arrays of another one as arrays of the caller's library.

    ``_plain`` makes the NumPy result, ``_made`` has the arrays that are there already, by name.
    """

    _given: Given
    _made: dict[str, Any]
    _plain: Callable[[], Any]

    def __getattribute__(self, name: str) -> Any:
        if name in _OWN:
            return object.__getattribute__(self, name)
        if name not in self._made:
            value = getattr(self._plain(), name)
            if not isinstance(value, np.ndarray | np.generic):
                return value
            self._made[name] = self._given.back(value)
        return self._made[name]

    def __getitem__(self, index: Any) -> Any:
        whole = index if isinstance(index, tuple) else (index,)
        plain = tuple(each if library_of(each) is None else np.asarray(self._given.host(each)) for each in whole)
        part = self._plain()[plain if isinstance(index, tuple) else plain[0]]
        return exchanged(part, self._given)

    def __len__(self) -> int:
        return len(self._plain())

    def __bool__(self) -> bool:
        return bool(self._plain())

    def __str__(self) -> str:
        return str(self._plain())

    def __repr__(self) -> str:
        return repr(self._plain())

    def __reduce__(self) -> Any:
        """Pickled as the NumPy result."""
        return _itself, (self._plain(),)


class Later(dict[str, Any]):
    """Arrays by name, each made when it is first read."""

    def __init__(self, makers: dict[str, Callable[[], Any]]) -> None:
        super().__init__()
        self._makers = makers

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __missing__(self, name: str) -> Any:
        made = self[name] = self._makers[name]()
        return made


def exchanged(result: T, given: Given) -> T:
    """A NumPy result as one of the caller's library."""
    return exchanged_later(type(result), lambda: result, {}, given)


def exchanged_later(kind: type[T], plain: Callable[[], T], made: dict[str, Any], given: Given) -> T:
    """A result of a class, some of whose arrays are there already; the others come from the NumPy result, if read."""
    new: Any = object.__new__(_class_for(kind))  # type: ignore[arg-type]
    for name, value in (("_given", given), ("_made", made), ("_plain", plain)):
        object.__setattr__(new, name, value)
    found: T = new
    return found


def plain(result: T) -> T:
    """The NumPy result behind one of the caller's library; any other as it is."""
    found: T = result._plain() if isinstance(result, _Exchanged) else result
    return found


@functools.cache
def _class_for(kind: type) -> type:
    base = kind.__mro__[1] if issubclass(kind, _Exchanged) else kind
    return type(base.__name__, (_Exchanged, base), {"__doc__": base.__doc__, "__module__": base.__module__})


def _itself(result: Any) -> Any:
    return result
