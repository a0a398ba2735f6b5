"""Served: what all pages have in common, an address, and how they wait and close."""

from __future__ import annotations

import contextlib
import io
import threading
from typing import TYPE_CHECKING, Any

from supple.view import address

if TYPE_CHECKING:
    from typing_extensions import Self


class Served:
    """A page that is served until it is closed. A context manager; any thread may close it."""

    url: str
    """Address of the page."""
    port: int
    """Port of the page: the next free one if the requested one was taken."""

    def __init__(self, server: Any, host: str) -> None:
        """The page of a server of `supple.view.server` that listens on ``host``."""
        self._server, self._host = server, host
        self._closing, self._is_closed = threading.Lock(), threading.Event()
        self.port = int(server.get_port())
        self.url = f"http://{address.shown(host)}:{self.port}"

    @property
    def closed(self) -> bool:
        """Whether it is no longer served."""
        return self._is_closed.is_set()

    def wait(self) -> None:
        """Wait for Ctrl-C, then close; return at once if already closed."""
        try:
            while not self._is_closed.wait(0.5):  # with a timeout, since Ctrl-C does not end a wait on Windows
                pass
        except KeyboardInterrupt:
            pass
        self.close()

    def close(self) -> None:
        """Stop serving. Open pages stay, but no longer change."""
        with self._closing:
            if self._is_closed.is_set():
                return
            self._is_closed.set()
        self._stop_serving()

    def _stop_serving(self) -> None:
        """Ends all that runs for the page; called once."""
        with contextlib.redirect_stdout(io.StringIO()):  # without viser's farewell
            self._server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._shown!r} at {self.url}{', closed' if self.closed else ''}>"

    @property
    def _shown(self) -> str:
        """The name of what the page shows."""
        return ""
