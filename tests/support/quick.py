"""Parameters of which `make quick` takes the first alone."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_is_quick(values: Iterable[Any], most: int | None = None) -> list[Any]:
    """The values as parameters; all but the first are marked slow, those after ``most`` are gates."""
    first, *others = values
    marks = [pytest.mark.slow if most is None or k < most else pytest.mark.gate for k in range(1, len(others) + 1)]
    return [first, *(pytest.param(value, marks=mark) for value, mark in zip(others, marks, strict=True))]
