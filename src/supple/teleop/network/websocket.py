"""Commands and answers as WebSocket messages."""

from __future__ import annotations

import asyncio
import importlib
import logging
import math
import socket
import threading
import time
from concurrent.futures import Future
from typing import Any

from supple.errors import BadInput, missing_extra
from supple.teleop.command import Tick
from supple.teleop.network.access import FLOOD_PAUSE
from supple.teleop.network.source import NetworkSource
from supple.teleop.network.wire import MAX_BYTES, Form, packet
from supple.view.origin import is_own_name, is_same_origin

_MAX_CONNECTIONS = 8  # one drives, the others wait
_SILENT_SECONDS = 10.0  # for the first valid packet of a connection
_CROWDED_SECONDS = 1.0  # if all connections are in use, one that was silent for longer may be ended
_MALFORMED = (1007, 1009)  # close codes for a message that is not UTF-8 or too long


class WebSocketSource(NetworkSource):
    """Receives commands as WebSocket messages, text or binary, one packet each; otherwise like `UdpSource`.

    When the operator's connection ends, the hands are released at once. Without a token only programs and web pages of
    this machine are accepted: otherwise any web page open in a local browser could drive the arm.
    """

    _kind = socket.SOCK_STREAM

    def _import_packages(self) -> None:
        self._server, self._closed = _websockets("asyncio.server"), _websockets("exceptions").ConnectionClosed

    def _start(self) -> None:
        self._last_packet: dict[Any, float] = {}  # when each connection last sent a valid packet
        self._next: bytes | None = None
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._end, self._wake = asyncio.Event(), asyncio.Event()
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="supple-websocket", daemon=True)
        self._thread.start()
        started.result()

    def close(self) -> None:
        """Stops listening and closes the connections."""
        self._set(self._end)
        self._thread.join()

    def _answer(self, tick: Tick) -> bool:
        operator, form = self._access.operator
        data = None if operator is None else packet(tick, form)
        with self._lock:
            waiting, self._next = self._next, data
        if data is not None and waiting is None:
            self._set(self._wake)
        return data is not None and waiting is None

    def _set(self, event: asyncio.Event) -> None:
        try:
            self._loop.call_soon_threadsafe(event.set)
        except RuntimeError:  # the event loop is closed
            return

    # -- in its own thread ---------------------------------------------------------------------------------------------

    def _run(self, started: Future[None]) -> None:
        try:
            self._loop.run_until_complete(self._serve(started))
        except BaseException as error:
            if not started.done():
                started.set_exception(error)
        finally:
            self._loop.close()
            self._socket.close()

    async def _serve(self, started: Future[None]) -> None:
        from supple.view.sockets import Sockets  # imports websockets

        self._sockets = Sockets(lambda connection: self._last_packet.pop(connection, None))
        quiet = logging.Logger("supple.teleop.websocket", logging.CRITICAL + 1)  # errors of clients are counted
        async with self._server.serve(
            self._receive_all,
            sock=self._socket,
            process_request=self._admit,
            create_connection=self._sockets.connection_class(),
            compression=None,
            max_size=MAX_BYTES,
            ping_interval=1.0,
            ping_timeout=2.0,
            max_queue=4,
            open_timeout=2.0,
            close_timeout=0.5,
            logger=quiet,
        ):
            sending = asyncio.ensure_future(self._send_answers())
            started.set_result(None)
            await self._end.wait()
            sending.cancel()

    def _admit(self, connection: Any, request: Any) -> Any:
        """The refusal of a foreign web page, or of one connection too many; None if it may connect.

        Without a token only programs may connect, which send no Origin, and pages of this very host and port.
        """
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if not self._token:
            own = len(hosts) == 1 and is_own_name(hosts[0], self.host)
            if not own or not all(is_same_origin(origin, hosts[0]) for origin in origins):
                self._access.count_refused()
                self._sockets.answers(connection, next(iter(origins), ""))
                return connection.respond(403, "a web page needs a token to drive\n")
        if len(self._last_packet) >= _MAX_CONNECTIONS and not self._make_room():
            self._access.count_refused()
            return connection.respond(503, "too many connections\n")
        self._sockets.admit(connection)
        self._last_packet[connection] = -math.inf
        self._loop.call_later(_SILENT_SECONDS, self._expire, connection)
        return None

    def _make_room(self) -> bool:
        """Ends the connection that has been silent for the longest time, but not that of the operator."""
        operator, now = self._access.operator[0], time.monotonic()
        silent = {one: now - sent for one, sent in self._last_packet.items() if one is not operator}
        spare = [one for one, seconds in silent.items() if seconds > _CROWDED_SECONDS]
        if not spare:
            return False
        leaving = min(spare, key=self._last_packet.__getitem__)
        del self._last_packet[leaving]
        leaving.transport.abort()
        return True

    def _expire(self, connection: Any) -> None:
        """Ends a connection that has not sent a single valid packet."""
        if self._last_packet.get(connection) == -math.inf:
            del self._last_packet[connection]
            connection.transport.abort()

    async def _receive_all(self, connection: Any) -> None:
        try:
            async for message in connection:
                data = message.encode() if isinstance(message, str) else message
                refusal = self._access.receive(connection, data, time.monotonic())
                if self._access.authentic and connection in self._last_packet:
                    self._last_packet[connection] = time.monotonic()
                if refusal is not None:
                    await connection.send(_message(refusal))
                if self._access.flooded:
                    await asyncio.sleep(FLOOD_PAUSE)
        except self._closed as closed:
            if closed.sent is not None and closed.sent.code in _MALFORMED:
                self._access.count_malformed()
        finally:
            self._last_packet.pop(connection, None)
            self._access.disconnect(connection)

    async def _send_answers(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            with self._lock:
                data, self._next = self._next, None
            operator: Any = self._access.operator[0]
            if data is not None and operator is not None:
                try:
                    await operator.send(_message(data))
                except self._closed:
                    continue


class WebSocketSink:
    """Sends the result of each tick as a WebSocket message; only the newest if the receiver is slow."""

    unsent: int
    """Number of results that were not sent because the receiver was slow or not connected."""

    def __init__(self, to: str | WebSocketSource, form: Form = Form.BINARY) -> None:
        """Sends to an address such as "ws://127.0.0.1:7301"; or back to the operator of a source, in its form.

        A lost connection is tried again every second.
        """
        self.unsent = 0
        self._source = to if isinstance(to, WebSocketSource) else None
        if isinstance(to, WebSocketSource):
            return
        if not isinstance(to, str):
            raise BadInput(f'an address is a text such as "ws://127.0.0.1:7301", got {to!r}')
        self._client = _websockets("sync.client")
        self._connection_errors = (OSError, _websockets("exceptions").WebSocketException)
        self._to, self._form = to, form
        self._next: bytes | None = None
        self._ended, self._ready = threading.Event(), threading.Condition()
        try:
            connection = self._connect()
        except (*self._connection_errors, ValueError) as error:
            raise BadInput(f"no WebSocket listens at {to!r}: {error}") from None
        self._thread = threading.Thread(target=self._send, args=(connection,), name="supple-sink", daemon=True)
        self._thread.start()

    def write(self, tick: Tick) -> None:
        """Queues the result of a tick for sending."""
        if self._source is not None:
            self.unsent += not self._source._answer(tick)
            return
        data = packet(tick, self._form)
        with self._ready:
            self.unsent += data is None or self._next is not None
            self._next = data or self._next
            self._ready.notify()

    def close(self) -> None:
        """Sends the last result, then closes the connection."""
        if self._source is None:
            with self._ready:
                self._ended.set()
                self._ready.notify()
            self._thread.join(2.0)

    def _connect(self) -> Any:
        return self._client.connect(self._to, open_timeout=1.0, close_timeout=0.5, compression=None, max_size=MAX_BYTES)

    def _send(self, connection: Any) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._next is not None or self._ended.is_set())
                data, self._next = self._next, None
            if data is None:
                break
            try:
                connection.send(_message(data))
            except self._connection_errors:
                connection = self._reconnect(connection)
        connection.close()

    def _reconnect(self, lost: Any) -> Any:
        """A new connection; the lost one if the sink is closed meanwhile."""
        with self._ready:
            self.unsent += 1
        while not self._ended.wait(1.0):
            found = self._try_connect()
            if found is not None:
                return found
        return lost

    def _try_connect(self) -> Any:
        try:
            return self._connect()
        except self._connection_errors:
            return None


def _message(data: bytes) -> str | bytes:
    """A packet as a WebSocket message: JSON is text."""
    return data.decode() if data[:1] == b"{" else data


def _websockets(module: str) -> Any:
    try:
        return importlib.import_module(f"websockets.{module}")
    except ImportError:
        raise missing_extra("teleop", "a WebSocket") from None
