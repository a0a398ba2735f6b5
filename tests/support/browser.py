"""What the tests in a real Chromium share."""

from __future__ import annotations

import os

import numpy as np
import pytest

PATIENCE = 120  # seconds until something that must happen counts as not happening; usually it takes one or two
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
OFFLINE = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]


def missing(reason: str) -> None:
    """No browser: a reason to skip on a person's machine, a failure where the tests are to prove something."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(f"CI needs a browser: {reason}")
    pytest.skip(reason)


def differing(one: np.ndarray, other: np.ndarray) -> int:
    """How many pixels of two pictures are clearly not the same."""
    return int(np.count_nonzero(np.abs(one - other).max(axis=-1) > 24))
