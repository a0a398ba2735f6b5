"""A recorded drive that several tests read."""

import pytest

from drives import ENDINGS, START, UR5, drive
from supple import Solver


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    """A drive of the UR5 in both kinds of files, and its ticks."""
    folder = tmp_path_factory.mktemp("kept")
    both = {}
    for ending in ENDINGS:
        ticks, recorder = drive(folder / f"drive.{ending}", Solver().track(UR5, "tool0", START), late=1)
        both[ending] = recorder.path
    return both, ticks
