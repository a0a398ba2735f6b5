"""Bounds on nested lists, checked before NumPy converts them: a list may contain itself, or one list many times."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_AXES = 24
"""Most axes of an array: numpy's own functions take 32, and results have some more than what they are made of."""
MOST_LISTED = 2**27
"""Most numbers of nested lists: as objects of their own they would take 4 GiB, as an array they take 1."""


def check(value: Any) -> None:
    """Raises ValueError for nested lists for which NumPy would need time and memory without bound.

    The first entries tell it: NumPy takes the number of axes and their lengths from them.
    """
    size = 1
    for _ in range(MOST_AXES + 1):
        kind = type(value)
        if kind is str or kind is bytes or hasattr(kind, "__array__") or not hasattr(kind, "__getitem__"):
            return
        try:
            size *= len(value)
            value = value[0]
        except Exception:  # of an empty list, a mapping, or a class that has its own
            return
        if size > MOST_LISTED:
            raise ValueError(f"nested lists of more than {MOST_LISTED:,} numbers; give an array")
    raise ValueError(f"lists nested more than {MOST_AXES} deep")


def shape(value: Any) -> tuple[int, ...]:
    """The shape that NumPy gives a value; as `check`, and ValueError too for rows of different lengths."""
    if type(value) is not np.ndarray:
        check(value)
    return np.shape(value)
