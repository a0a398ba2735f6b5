"""What the tests of tele-operation share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

PATIENCE = 120.0  # s; longer than a busy machine keeps a thread waiting


@pytest.fixture
def ages(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Old readings of an arm do not hold it, unless the test calls this with True, nor latch, unless ``latched``.

    On a busy machine an arm may be read late at any time.
    """
    from supple.teleop import robot

    holds, latches = robot.MAX_AGE, robot.LATCH_AFTER

    def count(held: bool, latched: bool = False) -> None:
        monkeypatch.setattr(robot, "MAX_AGE", holds if held else PATIENCE)
        monkeypatch.setattr(robot, "LATCH_AFTER", latches if latched else 2 * PATIENCE)

    count(False)
    return count
