"""Converts Arrow columns to NumPy arrays and back; without a copy where the memory layout allows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.errors import BadInput, missing_extra
from supple.frame import Array

_NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"


def arrow() -> Any:
    """pyarrow; raises `MissingExtra` where it is not installed."""
    try:
        import pyarrow
    except ImportError as error:
        raise missing_extra("jobs", "a job over tables") from error
    return pyarrow


def is_list(kind: Any) -> bool:
    """Whether an Arrow type has lists of any kind as values."""
    types = arrow().types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def plain(kind: Any) -> Any:
    """An Arrow type without extension and dictionary."""
    pa = arrow()
    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind):
            kind = kind.value_type
        else:
            return kind


def number_type(kind: Any) -> Any | None:
    """The Arrow type of the numbers in a column, inside lists at most two deep; None if it holds none."""
    types = arrow().types
    kind = plain(kind)
    for _ in range(2):
        if is_list(kind):
            kind = plain(kind.value_type)
    return kind if types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind) else None


def tells_apart(kind: Any) -> bool:
    """Whether values of an Arrow type tell episodes apart: single values that equal others."""
    types = arrow().types
    tests = (
        "integer",
        "floating",
        "decimal",
        "boolean",
        "string",
        "large_string",
        "binary",
        "large_binary",
        "temporal",
    )
    return any(getattr(types, f"is_{test}")(plain(kind)) for test in tests)


def list_size(kind: Any) -> int | None:
    """The number of numbers in each row, if the type says it; 1 for a column of numbers."""
    kind, size = plain(kind), 1
    while is_list(kind):
        if not arrow().types.is_fixed_size_list(kind):
            return None
        size *= kind.list_size
        kind = plain(kind.value_type)
    return size


def numbers(array: Any, width: int, shape: tuple[int, ...] = ()) -> Array:
    """The numbers (rows, width) of a column as float64; nan where a row is null or has another number of entries.

    ``shape`` is that of lists of lists, such as (4, 4).
    """
    array = decoded(array)
    if not is_list(array.type):
        return _flat(array).reshape(-1, 1)
    outer = shape[0] if shape and is_list(plain(array.type.value_type)) else width
    inner = width // outer
    values, rows = _list_rows(array, outer)
    if rows is None:
        return numbers(values, inner, shape[1:]).reshape(-1, width)
    made = np.full((len(array), width), np.nan)
    if len(rows):
        good, places = rows[:, 0], rows[:, 1]
        made[good] = numbers(values, inner, shape[1:])[places[:, None] + np.arange(outer)].reshape(-1, width)
    return made


def decoded(array: Any) -> Any:
    """An array without extension and dictionary."""
    pa = arrow()
    while True:
        if isinstance(array.type, pa.BaseExtensionType):
            array = array.storage
        elif pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        else:
            return array


def _flat(array: Any) -> Array:
    """Numbers (n,) of an array of numbers; nan for null."""
    pa = arrow()
    array = decoded(array)
    if pa.types.is_string(array.type):
        array = _parsed(array)
    if pa.types.is_decimal(array.type) or pa.types.is_float16(array.type):
        array = array.cast(pa.float64(), safe=False)
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)


def _parsed(array: Any) -> Any:
    """Numbers from texts of a csv file; null for a text that is not a number."""
    import pyarrow.compute as compute

    text = compute.utf8_ltrim(compute.utf8_trim_whitespace(array), characters="+")
    is_number = compute.match_substring_regex(text, _NUMBER)
    return compute.if_else(is_number, text, None).cast(arrow().float64())


def _list_rows(array: Any, size: int) -> tuple[Any, Any]:
    """The values of lists, and for lists of that size their row and where they begin; None if that is all rows."""
    pa = arrow()
    valid = None if not array.null_count else array.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_fixed_size_list(array.type):
        if array.type.list_size != size:
            return array.values, np.empty((0, 2), dtype=np.int64)
        begin = array.offset * size
        values = array.values.slice(begin, len(array) * size)
        if valid is None:
            return values, None
        rows = np.flatnonzero(valid)
        return values, np.stack([rows, rows * size], axis=1)
    offsets = array.offsets.to_numpy()
    fits = np.diff(offsets) == size
    if valid is not None:
        fits &= valid
    if len(offsets) and fits.all():
        return array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0])), None
    rows = np.flatnonzero(fits)
    first = int(offsets[0]) if len(offsets) else 0
    values = array.values.slice(first, int(offsets[-1]) - first if len(offsets) else 0)
    return values, np.stack([rows, offsets[rows] - first], axis=1)


def lengths(array: Any) -> Array:
    """The number of numbers in each row of a column of lists, with those of the lists inside; null counts as 0."""
    array = decoded(array)
    if not is_list(array.type):
        return np.ones(len(array))
    inner = decoded(array.values)
    counts = np.append(0, np.cumsum(lengths(inner)))
    if arrow().types.is_fixed_size_list(array.type):
        size = array.type.list_size
        begins = (array.offset + np.arange(len(array))) * size
        ends = begins + size
    else:
        offsets = array.offsets.to_numpy()
        begins, ends = offsets[:-1], offsets[1:]
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    return np.where(valid, counts[ends] - counts[begins], 0)


def lists(values: Array, single: bool) -> Any:
    """An Arrow column of lists of one size, from numbers (rows, n)."""
    pa = arrow()
    flat = np.ascontiguousarray(values, dtype=np.float32 if single else np.float64).reshape(-1)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat), values.shape[1])


def column(values: Any, single: bool) -> Any:
    """An Arrow column of numbers, from numbers (rows,)."""
    return arrow().array(np.ascontiguousarray(values, dtype=np.float32 if single else np.float64))


def words(codes: Any, known: tuple[str, ...]) -> Any:
    """An Arrow column of a few words, from their indices (rows,)."""
    pa = arrow()
    return pa.DictionaryArray.from_arrays(pa.array(np.asarray(codes, dtype=np.int8)), pa.array(known, pa.string()))


def refuse_type(name: str, kind: Any) -> BadInput:
    """The error for a column that holds no numbers."""
    return BadInput(f"column {name!r} must hold numbers or lists of numbers, not {kind}")
