"""What every test may count on."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from supple import _core
from supple.read import isolated

# the same examples in each run, and no deadline that a busy machine misses; to search for new ones,
# give --hypothesis-profile=default
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def same_again() -> Iterator[None]:
    """Whatever a test does, the instruction set in use before is in use again afterwards."""
    before = _core.instruction_set()
    yield
    _core.use(before)


@pytest.fixture(scope="session", autouse=True)
def long_uploads() -> Iterator[None]:
    """The process that reads an upload may take long to begin on a busy machine."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(isolated, "UPLOAD", isolated.Budget(120.0, isolated.UPLOAD.memory))
        yield


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One Chromium for all tests that need one: it takes seconds to start."""
    from browser import launched  # here: the tests of a wheel need no browser

    with launched() as browser:
        yield browser


# each test of these builds pages or starts a process
SLOW = ("/tests/docs/",)


def pytest_configure() -> None:
    """A suite that a script starts in the background ignores Ctrl-C; tests of Ctrl-C and what they start must not."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: tests of threads, sockets and commands mostly wait."""
    return len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that cannot run beside others, since a browser needs all cores, and those that are slow."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.alone)
        if any(folder in item.path.as_posix() for folder in SLOW):
            item.add_marker(pytest.mark.slow)
