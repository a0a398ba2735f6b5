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


# real time, sockets of this machine or a browser: these tests need the machine for themselves
ALONE = ("teleop/test_loop.py", "teleop/test_torture.py", "teleop/test_network.py", "teleop/test_page.py")
# each test of these builds pages or starts a process
SLOW = ("/tests/docs/",)
# takes minutes: beside all others, not after them
FIRST = ("test_it_installs_from_its_source_archive_into_an_empty_environment",)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that cannot run beside others, and those that are slow; begin with the longest."""
    for item in items:
        if item.get_closest_marker("browser") or item.path.as_posix().endswith(ALONE):
            item.add_marker(pytest.mark.alone)
        if any(folder in item.path.as_posix() for folder in SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.name not in FIRST)
