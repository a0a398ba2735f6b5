"""What the tests in a real Chromium share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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


@contextmanager
def launched() -> Iterator[Any]:
    """A headless Chromium that draws without a GPU. Playwright runs once in a process: see the fixture `chromium`."""
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
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def patient() -> Iterator[pytest.MonkeyPatch]:
    """The servers of pages wait for their browser as long as the tests do; make them inside.

    A browser that draws on a busy processor may be silent for many seconds. Else it would lose its connection, and the
    page its seat.
    """
    from supple.teleop.page import heartbeat
    from supple.view import server, sockets

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(server, "PING", (5.0, PATIENCE))
        patched.setattr(server, "SILENT_SECONDS", PATIENCE)
        for module in (server, sockets):
            patched.setattr(module, "HANDSHAKE_SECONDS", PATIENCE)
        patched.setattr(heartbeat, "PATIENCE", PATIENCE)
        patched.setattr(heartbeat, "SEAT_SECONDS", PATIENCE)
        yield patched


def until(tab: Any, happened: Callable[[], Any], seconds: float = PATIENCE) -> bool:
    """Whether something happens in time; the events of the tab are served meanwhile."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        tab.wait_for_timeout(20)
    return True


def plain(server: Any) -> None:
    """Without shadows and reflections: drawn by the processor, the reflections alone take 7 s when a page opens."""
    server.scene.configure_default_lights(cast_shadow=False)
    server.scene.configure_environment_map(hdri=None)


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
