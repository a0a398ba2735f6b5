"""Drivers: which of the open browsers drives; one at a time, the others wait in a queue."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Callable

from supple.view.origin import is_loopback

TRIES = 5
"""Wrong tokens that a browser may give. A token has 40 bits, so that connecting again does not help to guess it."""


class Drivers:
    """The browser that drives and the queue of those that wait, by their numbers. Safe from any thread."""

    def __init__(self, changed: Callable[[], None], token: str | None = None) -> None:
        """No browsers yet; ``changed`` is called, without a lock held, when the driver or the queue changes."""
        self.token = token or secrets.token_hex(5)
        """The token that an untrusted browser must give before it may drive."""
        self._changed = changed
        self._lock = threading.Lock()
        self._admitted: dict[int, bool] = {}
        self._wrong: dict[int, int] = {}
        self._queue: list[int] = []  # the first one drives

    @property
    def driver(self) -> int | None:
        """The browser that drives; None if there is none."""
        with self._lock:
            return self._queue[0] if self._queue else None

    def queue_position(self, browser: int) -> int | None:
        """Place in the queue: 0 drives, 1 is next; None if the browser does not wait."""
        with self._lock:
            return self._queue.index(browser) if browser in self._queue else None

    def admitted(self, browser: int) -> bool:
        """Whether a browser may drive at all."""
        with self._lock:
            return self._admitted.get(browser, False)

    def connect(self, browser: int, trusted: bool) -> None:
        """A browser has connected. A trusted one joins the queue at once; the others must give the token first."""
        with self._lock:
            self._admitted[browser] = trusted
            if trusted:
                self._queue.append(browser)
        self._changed()

    def disconnect(self, browser: int) -> None:
        """A browser has disconnected."""
        with self._lock:
            self._admitted.pop(browser, None)
            self._wrong.pop(browser, None)
            if browser in self._queue:
                self._queue.remove(browser)
        self._changed()

    def tries_left(self, browser: int) -> int:
        """Number of tokens that a browser may still try."""
        with self._lock:
            return TRIES - self._wrong.get(browser, 0)

    def give_token(self, browser: int, token: str) -> bool:
        """Whether the token is right; then the browser joins the queue. Compared in constant time, with few tries."""
        right = hmac.compare_digest(token.strip().encode(), self.token.encode())
        with self._lock:
            if browser not in self._admitted:
                return False
            if self._admitted[browser]:
                return True
            if self._wrong.get(browser, 0) >= TRIES:
                return False
            if right:
                self._admitted[browser] = True
                self._queue.append(browser)
            else:
                self._wrong[browser] = self._wrong.get(browser, 0) + 1
        self._changed()
        return right

    def request(self, browser: int) -> None:
        """A browser that may drive joins the queue."""
        with self._lock:
            if self._admitted.get(browser, False) and browser not in self._queue:
                self._queue.append(browser)
        self._changed()

    def release(self, browser: int) -> None:
        """A browser stops driving or waiting; the next in the queue drives."""
        with self._lock:
            if browser in self._queue:
                self._queue.remove(browser)
        self._changed()


def loopback(host: str) -> bool:
    """Whether an address can only be reached from this machine."""
    return is_loopback(host)
