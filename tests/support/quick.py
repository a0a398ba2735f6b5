"""Parameters of which `make quick` takes the first alone."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_is_quick(values: Iterable[Any]) -> list[Any]:
    """The values as parameters; all but the first are marked slow."""
    first, *others = values
    return [first, *(pytest.param(value, marks=pytest.mark.slow) for value in others)]
