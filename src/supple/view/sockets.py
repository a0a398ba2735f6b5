"""Sockets: the open connections of a WebSocket server, limited in number."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

from supple.view.rate_limit import RateLimit

MAX_SOCKETS = 32
"""Connections at once that are no WebSockets: those that have sent no request yet, and those that load files."""
MAX_NEW_SOCKETS = 512
"""The same with those that are younger than `GRACE_SECONDS`."""
GRACE_SECONDS = 0.25
"""How long a new connection has for its request before it may be closed in favour of others."""
MAX_REFUSALS = 50.0
"""Refused requests a second that are answered, for each address and origin; the others are closed without an answer."""
HANDSHAKE_SECONDS = 5.0
"""How long a connection may take for its request; twice as long for the response."""
_MAX_REFUSED_PLACES = 256  # addresses and origins whose refusals are counted apart


class Sockets:
    """The open connections of a server. Each new one is let in; if there are too many, others are closed for it.

    Closed are those without an admitted request, first those that are older than `GRACE_SECONDS`: of the address that
    has the most of them, the oldest. So connections that say nothing keep nobody out. Connections that have become
    WebSockets are never closed here; the server limits their number.
    """

    def __init__(self, closed: Callable[[Any], object] = lambda connection: None) -> None:
        """No connections; ``closed`` is called with each that has ended."""
        self.refused = 0
        """Number of connections that were closed because there were too many."""
        self._closed = closed
        self._open: dict[Any, tuple[float, str]] = {}  # begin (s) and address of each, the oldest first
        self._loading: set[Any] = set()  # with an admitted request
        self._trimming = False
        self._refusals: dict[tuple[str, str], RateLimit] = {}

    def add(self, connection: Any, address: str = "") -> None:
        """A new connection from an address; others are closed if there are too many."""
        now = time.monotonic()
        if len(self._open) >= MAX_SOCKETS:
            self._make_room(now)
        self._open[connection] = (now, address)

    def admit(self, connection: Any) -> None:
        """The request of a connection is that of an honest browser or program: silent ones are closed before it."""
        if connection in self._open:
            self._loading.add(connection)

    def answers(self, connection: Any, origin: str = "") -> bool:
        """Whether a refused request is answered; a flood of them is closed without an answer, which costs less."""
        place = (self._open.get(connection, (0.0, ""))[1], origin)
        if place not in self._refusals:
            if len(self._refusals) >= _MAX_REFUSED_PLACES:
                del self._refusals[next(iter(self._refusals))]
            self._refusals[place] = RateLimit(MAX_REFUSALS, 2 * MAX_REFUSALS)
        if self._refusals[place].allow(time.monotonic()):
            return True
        self.refused += 1
        connection.transport.abort()
        return False

    def remove(self, connection: Any) -> None:
        """A connection has ended."""
        if connection in self._open:
            del self._open[connection]
            self._loading.discard(connection)
            self._closed(connection)

    def _make_room(self, now: float) -> None:
        """Closes connections until one more fits."""
        waiting = [one for one in self._open if one.protocol.state is not State.OPEN]
        while len(waiting) >= MAX_SOCKETS:
            spare = self._spare(waiting, now - GRACE_SECONDS)
            if spare is None and len(waiting) >= MAX_NEW_SOCKETS:
                spare = waiting[0]
            if spare is None:  # all are new: their requests may be on their way
                self._trim_later()
                return
            waiting.remove(spare)
            self.refused += 1
            self.remove(spare)
            spare.transport.abort()

    def _spare(self, waiting: list[Any], before: float) -> Any:
        """The connection that is closed first, of those that began before a time (s); None if there is none."""
        old = [one for one in waiting if self._open[one][0] < before]
        spare = [one for one in old if one not in self._loading] or old
        if not spare:
            return None
        (worst, _), *_ = Counter(self._open[one][1] for one in spare).most_common(1)
        return next(one for one in spare if self._open[one][1] == worst)

    def _trim_later(self) -> None:
        if not self._trimming:
            self._trimming = True
            asyncio.get_running_loop().call_later(GRACE_SECONDS, self._trim)

    def _trim(self) -> None:
        self._trimming = False
        self._make_room(time.monotonic())

    def connection_class(self) -> type:
        """A class for the argument ``create_connection`` of `websockets.serve`."""
        sockets = self

        class Connection(ServerConnection):
            """A connection that begins with its first bytes, so that those without any cost little."""

            _begun = False
            _timers: tuple[asyncio.TimerHandle, ...] = ()

            def connection_made(self, transport: Any) -> None:
                self.transport = transport
                place = transport.get_extra_info("peername")
                sockets.add(self, str(place[0]) if place else "")
                loop = asyncio.get_running_loop()
                self._timers = (
                    loop.call_later(GRACE_SECONDS, self._begin),  # a server that closes waits for those that have begun
                    loop.call_later(2 * HANDSHAKE_SECONDS, self._expire),
                )

            def data_received(self, data: bytes) -> None:
                self._begin()
                super().data_received(data)

            def eof_received(self) -> None:
                if self._begun:
                    super().eof_received()

            def connection_lost(self, error: Exception | None) -> None:
                for timer in self._timers:
                    timer.cancel()
                sockets.remove(self)
                if self._begun:
                    super().connection_lost(error)

            def _begin(self) -> None:
                if not self._begun and not self.transport.is_closing():
                    self._begun = True
                    super().connection_made(self.transport)

            def _expire(self) -> None:
                """Ends a connection that is no WebSocket by now: one that reads its file very slowly."""
                if self.protocol.state is not State.OPEN:
                    self.transport.abort()

        return Connection
