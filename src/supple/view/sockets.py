"""Sockets: the open connections of a WebSocket server, limited in number and in rate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

from supple.view.rate_limit import RateLimit

MAX_SOCKETS = 32
"""Connections at once, with those that have not said yet what they want."""
MAX_CONNECTS = 50.0
"""New connections a second; a browser opens about six for a page."""
HANDSHAKE_SECONDS = 5.0
"""How long a connection may take for its request; twice as long for the response."""


class Sockets:
    """The open connections of a server. A new one is closed at once if there are too many.

    If all are in use, the oldest one without a complete request gives way, so that connections that say nothing do not
    keep others out.
    """

    def __init__(self, closed: Callable[[Any], object] = lambda connection: None) -> None:
        """No connections; ``closed`` is called with each that has ended."""
        self.refused = 0
        """Number of connections that were closed at once."""
        self._closed = closed
        self._open: dict[Any, None] = {}
        self._rate = RateLimit(MAX_CONNECTS, 2 * MAX_CONNECTS)

    def add(self, connection: Any) -> bool:
        """Whether a new connection may stay."""
        if not self._rate.allow(time.monotonic()) or (len(self._open) >= MAX_SOCKETS and not self._make_room()):
            self.refused += 1
            return False
        self._open[connection] = None
        return True

    def remove(self, connection: Any) -> None:
        """A connection has ended."""
        if connection in self._open:
            del self._open[connection]
            self._closed(connection)

    def _make_room(self) -> bool:
        waiting = next((one for one in self._open if one.protocol.state is State.CONNECTING), None)
        if waiting is not None:
            self.remove(waiting)
            waiting.transport.abort()
        return waiting is not None

    def connection_class(self) -> type:
        """A class for the argument ``create_connection`` of `websockets.serve`."""
        sockets = self

        class Connection(ServerConnection):
            """A connection that may be closed before anything is read from it."""

            _stays = False

            def connection_made(self, transport: Any) -> None:
                self._stays = sockets.add(self)
                if self._stays:
                    super().connection_made(transport)
                    asyncio.get_running_loop().call_later(2 * HANDSHAKE_SECONDS, self._expire)
                else:
                    transport.abort()

            def connection_lost(self, error: Exception | None) -> None:
                sockets.remove(self)
                if self._stays:
                    super().connection_lost(error)

            def _expire(self) -> None:
                """Ends a connection that is no WebSocket by now: one that reads its file very slowly."""
                if self.protocol.state is not State.OPEN:
                    self.transport.abort()

        return Connection
