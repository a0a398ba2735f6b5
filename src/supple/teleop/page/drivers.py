"""Drivers: who of the browsers that are open may move the arm; one at a time, the others wait in line."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Callable

from supple.teleop.network.address import own_page

TRIES = 5
"""Tokens a browser may get wrong before it is heard no more; a token has 40 bits, so that coming again is in vain."""


class Drivers:
    """Who drives, and who waits. Browsers are known by a number. Safe to use from any thread."""

    def __init__(self, changed: Callable[[], None], token: str | None = None) -> None:
        """Nobody is here yet; ``changed`` is called, without any lock held, when the driver or the line changes."""
        self.token = token or secrets.token_hex(5)
        """What a browser that is not trusted must say before it may drive."""
        self._changed = changed
        self._lock = threading.Lock()
        self._admitted: dict[int, bool] = {}
        self._wrong: dict[int, int] = {}
        self._line: list[int] = []  # the first one drives

    @property
    def driver(self) -> int | None:
        """The browser that may move the arm; None if there is none."""
        with self._lock:
            return self._line[0] if self._line else None

    def place(self, browser: int) -> int | None:
        """How many are before a browser in the line, the driver among them; 0: it drives. None: it does not wait."""
        with self._lock:
            return self._line.index(browser) if browser in self._line else None

    def admitted(self, browser: int) -> bool:
        """Whether a browser may drive at all."""
        with self._lock:
            return self._admitted.get(browser, False)

    def arrive(self, browser: int, trusted: bool) -> None:
        """A browser was opened. One that is trusted waits in line at once; the others give a token first."""
        with self._lock:
            self._admitted[browser] = trusted
            if trusted:
                self._line.append(browser)
        self._changed()

    def leave(self, browser: int) -> None:
        """A browser was closed."""
        with self._lock:
            self._admitted.pop(browser, None)
            self._wrong.pop(browser, None)
            if browser in self._line:
                self._line.remove(browser)
        self._changed()

    def tries_left(self, browser: int) -> int:
        """How many tokens a browser may still try."""
        with self._lock:
            return TRIES - self._wrong.get(browser, 0)

    def admit(self, browser: int, token: str) -> bool:
        """Whether the token is right; then the browser waits in line. In constant time, and only a few times."""
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
                self._line.append(browser)
            else:
                self._wrong[browser] = self._wrong.get(browser, 0) + 1
        self._changed()
        return right

    def ask(self, browser: int) -> None:
        """A browser that may drive waits in line."""
        with self._lock:
            if self._admitted.get(browser, False) and browser not in self._line:
                self._line.append(browser)
        self._changed()

    def let_go(self, browser: int) -> None:
        """A browser gives up driving, or waiting; the next in line drives."""
        with self._lock:
            if browser in self._line:
                self._line.remove(browser)
        self._changed()


def loopback(host: str) -> bool:
    """Whether an address can only be reached from this machine."""
    return own_page(f"//[{host}]" if ":" in host else f"//{host}")


def trusted(host: str, origin: str | None) -> bool:
    """Whether a page may drive without a token: served to this machine only, and opened by this machine's own name.

    Any site that a person visits can reach 127.0.0.1 through their browser, but not under that name.
    """
    return loopback(host) and origin is not None and own_page(origin)
