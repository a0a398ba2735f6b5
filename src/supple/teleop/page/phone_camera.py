"""PhoneCamera: sets the first camera of a phone, again and again until the page that loads there has taken it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from supple.frame import Array

PAUSE, TRIES = 1.0, 20  # s between two attempts, and how many
_SAME = 1e-2  # m: positions that are the same


class PhoneCamera:
    """Sets a camera once: a page that is still loading ignores it, and a person who has moved it is left alone."""

    def __init__(self, client: Any, set_camera: Callable[[], bool]) -> None:
        """For a client of viser that has just connected; ``set_camera`` returns whether there was one to set."""
        self._client, self._set = client, set_camera
        self._first: Array = np.array(client.camera.position)
        self._seen: Array = self._first
        self._tries = 0
        client.camera.on_update(self._on_update)
        self._try()

    async def _on_update(self, camera: Any) -> None:
        self._seen = np.array(camera.position)

    def _try(self) -> None:
        untouched = float(np.abs(self._seen - self._first).max()) < _SAME
        if untouched and self._tries < TRIES and self._set():
            self._tries += 1
            again = threading.Timer(PAUSE, self._try)
            again.daemon = True
            again.start()
