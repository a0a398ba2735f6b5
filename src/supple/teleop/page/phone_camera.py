"""PhoneCamera: sets the first camera of a phone, again and again while the page that loads there may lose it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from supple.frame import Array

PAUSE, TRIES = 1.0, 60  # s between two attempts, and how many
_SAME = 1e-2  # m: positions that are the same


class PhoneCamera:
    """Sets a camera while its page loads; a person who has moved it is left alone.

    A page that loads ignores it, or puts its camera where that of a laptop begins, also after it has taken it.
    """

    def __init__(self, client: Any, set_camera: Callable[[], Array | None], begins: Callable[[], Array]) -> None:
        """For a client of viser that has just connected.

        ``set_camera`` returns the position (3,), or None if there is none to set. ``begins`` is where cameras begin.
        """
        self._set, self._begins = set_camera, begins
        self._first: Array = np.array(client.camera.position)
        self._seen: Array = self._first
        self._tries = 0
        client.camera.on_update(self._on_update)
        self._try()

    async def _on_update(self, camera: Any) -> None:
        self._seen = np.array(camera.position)

    def _try(self) -> None:
        own = [self._first, np.asarray(self._begins())]
        if self._tries == 0 or _near(self._seen, own):
            wanted = self._set()
            if wanted is None:
                return
            self._wanted: Array = wanted
        elif not _near(self._seen, [self._wanted]):
            return  # a person has moved it
        self._tries += 1
        if self._tries < TRIES:
            again = threading.Timer(PAUSE, self._try)
            again.daemon = True
            again.start()


def _near(place: Array, places: list[Array]) -> bool:
    return any(float(np.abs(place - one).max()) < _SAME for one in places)
