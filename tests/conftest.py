"""What every test may count on."""

from collections.abc import Iterator

import pytest

from supple import _core


@pytest.fixture(autouse=True)
def same_again() -> Iterator[None]:
    """Whatever a test does, the instruction set in use before is in use again afterwards."""
    before = _core.instruction_set()
    yield
    _core.use(before)
