"""Strict reading of packets: what is not exactly as the wire format says is malformed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supple.errors import SuppleError


class Malformed(SuppleError, ValueError):
    """A packet that is too long, not in this format, or has numbers out of range."""


def read(read: Callable[[], Any]) -> Any:
    """What reading returns; `Malformed` for what it refuses."""
    try:
        return read()
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)) from None


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of a JSON object whose names are all different."""
    fields = dict(pairs)
    require(len(fields) == len(pairs), "each name once")
    return fields


def refuse_constant(name: str) -> None:
    """Refuses NaN and Infinity of JSON."""
    raise Malformed(f"expected numbers, not {name}")


def require(true: bool, what: str) -> None:
    """Raises `Malformed` unless it is true."""
    if not true:
        raise Malformed(f"expected {what}")


def text(value: object, length: int) -> str:
    """A printable ASCII text of at most so many characters."""
    if type(value) is str and len(value) <= length and value.isascii() and value.isprintable():
        return value
    raise Malformed(f"expected a text of at most {length} characters")


def number(value: object, bound: float) -> float:
    """A finite number of at most that size."""
    if type(value) is int or type(value) is float:
        require(abs(value) <= min(bound, 1e300), "finite numbers within bounds")
        return float(value)
    raise Malformed("expected numbers")


def numbers(values: object, count: int, bound: float) -> tuple[float, ...]:
    """A list of so many finite numbers."""
    if type(values) is list and len(values) == count:
        return tuple(number(value, bound) for value in values)
    raise Malformed(f"expected {count} numbers")


def whole(value: object) -> int:
    """A whole number of 32 bits."""
    if type(value) is int and 0 <= value < 2**32:
        return value
    raise Malformed("expected a whole number of 32 bits")
