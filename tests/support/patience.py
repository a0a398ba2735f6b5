"""Waiting for what another thread does, for as long as a loaded machine may need."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0  # s


def until(happened: Callable[[], Any]) -> bool:
    """Whether something happens in time."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
