"""What the tests in a real Chromium share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

PATIENCE = 120  # seconds until something that must happen counts as not happening; usually it takes one or two
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
OFFLINE = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]

_open: list[Any] = []  # the browser of this process


def missing(reason: str) -> None:
    """No browser: a reason to skip on a person's machine, a failure where the tests are to prove something."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(f"CI needs a browser: {reason}")
    pytest.skip(reason)


@contextmanager
def launched() -> Iterator[Any]:
    """A headless Chromium that draws without a GPU: the one that is open already, or a new one."""
    if _open:  # Playwright runs once in a process
        yield _open[0]
        return
    try:
        import viser  # noqa: F401
        from playwright.sync_api import sync_playwright

        import setup_browser
    except ImportError as error:
        missing(f"{error.name} is not installed")
    path = setup_browser.find()
    if path is None:
        missing("no Chromium found; run python tests/setup_browser.py")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SOFTWARE + OFFLINE)
        _open.append(browser)
        try:
            yield browser
        finally:
            _open.clear()
            browser.close()


def differing(one: np.ndarray, other: np.ndarray) -> int:
    """How many pixels of two pictures are clearly not the same."""
    return int(np.count_nonzero(np.abs(one - other).max(axis=-1) > 24))


def changed_part(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Height and width of the box around all pixels that clearly differ, as shares of the picture; (0, 0) for none.

    It depends on what is drawn and where, but hardly on smoothing, shading or fonts, as a count of pixels does.
    """
    rows, columns = np.nonzero(np.abs(one - other).max(axis=-1) > 24)
    if not len(rows):
        return 0.0, 0.0
    height, width = one.shape[:2]
    return (int(np.ptp(rows)) + 1) / height, (int(np.ptp(columns)) + 1) / width
