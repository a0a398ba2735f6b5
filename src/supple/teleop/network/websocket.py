"""Commands and answers as WebSocket messages."""

from __future__ import annotations

import asyncio
import importlib
import logging
import socket
import threading
import time
from concurrent.futures import Future
from typing import Any

from supple.errors import BadInput, missing_extra
from supple.teleop.command import Command, Tick
from supple.teleop.network import address
from supple.teleop.network.access import REST, Counts, Gate
from supple.teleop.network.wire import LIMIT, Form, packet

_CONNECTIONS = 8  # at a time; one drives, the others wait
_BROKEN = (1007, 1009)  # how we close on a message that is not UTF-8, or too long


class WebSocketSource:
    """Commands that come as WebSocket messages, text or binary, one packet each; else as `UdpSource`.

    An operator whose connection ends lets go at once. Without a token it hears programs, and pages of this machine
    only: otherwise any page that a browser here visits could drive the arm.
    """

    host: str
    """Address it listens at."""
    port: int
    """Port it listens at."""

    def __init__(
        self,
        port: int = address.PORT,
        host: str = "127.0.0.1",
        token: str = "",
        *,
        limit: float = 1000.0,
        release: float = 5.0,
    ) -> None:
        """Listens from now on, in a thread of its own; arguments as for `UdpSource`."""
        self._server, self._closed = _websockets("asyncio.server"), _websockets("exceptions").ConnectionClosed
        self._gate, self._token = Gate(token, limit, release), token
        self._socket, self.host, self.port = address.bound(host, port, token, socket.SOCK_STREAM)
        self._connections = 0
        self._next: bytes | None = None
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._end, self._wake = asyncio.Event(), asyncio.Event()
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="supple-websocket", daemon=True)
        self._thread.start()
        started.result()

    @property
    def counts(self) -> Counts:
        """What became of the messages so far."""
        return self._gate.counts

    def read(self) -> Command | None:
        """The newest command since the last call, or None."""
        return self._gate.read()

    def close(self) -> None:
        """Listens no more, and ends the connections."""
        self._tell(self._end)
        self._thread.join()

    def _answer(self, tick: Tick) -> bool:
        driver, form = self._gate.driver
        data = None if driver is None else packet(tick, form)
        with self._lock:
            waiting, self._next = self._next, data
        if data is not None and waiting is None:
            self._tell(self._wake)
        return data is not None and waiting is None

    def _tell(self, event: asyncio.Event) -> None:
        try:
            self._loop.call_soon_threadsafe(event.set)
        except RuntimeError:  # it is closed
            return

    # -- in its own thread ------------------------------------------------------------------------------------------

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
        quiet = logging.Logger("supple.teleop.websocket", logging.CRITICAL + 1)  # what strangers get wrong is counted
        async with self._server.serve(
            self._talk,
            sock=self._socket,
            process_request=self._admit,
            compression=None,
            max_size=LIMIT,
            ping_interval=1.0,
            ping_timeout=2.0,
            open_timeout=2.0,
            close_timeout=0.5,
            logger=quiet,
        ):
            answering = asyncio.ensure_future(self._answering())
            started.set_result(None)
            await self._end.wait()
            answering.cancel()

    def _admit(self, connection: Any, request: Any) -> Any:
        """A refusal for pages of other machines and for crowds, None for those who may speak."""
        strange = not all(address.own_page(origin) for origin in request.headers.get_all("Origin"))
        if strange and not self._token:
            self._gate.turned_away()
            return connection.respond(403, "a page of another machine may not drive without a token\n")
        if self._connections >= _CONNECTIONS:
            self._gate.turned_away()
            return connection.respond(503, "too many connections\n")
        return None

    async def _talk(self, connection: Any) -> None:
        self._connections += 1
        try:
            async for message in connection:
                data = message.encode() if isinstance(message, str) else message
                refusal = self._gate.hear(connection, data, time.monotonic())
                if refusal is not None:
                    await connection.send(_message(refusal))
                if self._gate.flooded:
                    await asyncio.sleep(REST)
        except self._closed as closed:
            if closed.sent is not None and closed.sent.code in _BROKEN:
                self._gate.broken()
        finally:
            self._connections -= 1
            self._gate.leave(connection)

    async def _answering(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            with self._lock:
                data, self._next = self._next, None
            driver: Any = self._gate.driver[0]
            if data is not None and driver is not None:
                try:
                    await driver.send(_message(data))
                except self._closed:
                    continue

    def __repr__(self) -> str:
        return f"<WebSocketSource at {self.host}:{self.port}: {self.counts}>"


class WebSocketSink:
    """Sends what came of each tick as a WebSocket message; if the other side is slow, only the newest."""

    unsent: int
    """How many were not sent: the other side was slow, or away."""

    def __init__(self, to: str | WebSocketSource, form: Form = Form.BINARY) -> None:
        """To an address such as "ws://127.0.0.1:7301"; or back to whoever drives by a source, in their own form.

        A connection that is lost is tried again every second.
        """
        self.unsent = 0
        self._source = to if isinstance(to, WebSocketSource) else None
        if isinstance(to, WebSocketSource):
            return
        if not isinstance(to, str):
            raise BadInput(f'an address is a text such as "ws://127.0.0.1:7301", got {to!r}')
        self._client = _websockets("sync.client")
        self._lost = (OSError, _websockets("exceptions").WebSocketException)
        self._to, self._form = to, form
        self._next: bytes | None = None
        self._ended, self._ready = threading.Event(), threading.Condition()
        try:
            connection = self._connected()
        except (*self._lost, ValueError) as error:
            raise BadInput(f"no WebSocket listens at {to!r}: {error}") from None
        self._thread = threading.Thread(target=self._send, args=(connection,), name="supple-sink", daemon=True)
        self._thread.start()

    def write(self, tick: Tick) -> None:
        """Leaves one to be sent."""
        if self._source is not None:
            self.unsent += not self._source._answer(tick)
            return
        data = packet(tick, self._form)
        with self._ready:
            self.unsent += data is None or self._next is not None
            self._next = data or self._next
            self._ready.notify()

    def close(self) -> None:
        """Sends the last, and then no more."""
        if self._source is None:
            with self._ready:
                self._ended.set()
                self._ready.notify()
            self._thread.join(2.0)

    def _connected(self) -> Any:
        return self._client.connect(self._to, open_timeout=1.0, close_timeout=0.5, compression=None, max_size=LIMIT)

    def _send(self, connection: Any) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._next is not None or self._ended.is_set())
                data, self._next = self._next, None
            if data is None:
                break
            try:
                connection.send(_message(data))
            except self._lost:
                connection = self._again(connection)
        connection.close()

    def _again(self, lost: Any) -> Any:
        """Another connection in place of one that was lost; the lost one when it is time to end."""
        with self._ready:
            self.unsent += 1
        while not self._ended.wait(1.0):
            found = self._found()
            if found is not None:
                return found
        return lost

    def _found(self) -> Any:
        try:
            return self._connected()
        except self._lost:
            return None


def _message(data: bytes) -> str | bytes:
    """A packet as a WebSocket message: JSON is text."""
    return data.decode() if data[:1] == b"{" else data


def _websockets(module: str) -> Any:
    try:
        return importlib.import_module(f"websockets.{module}")
    except ImportError:
        raise missing_extra("teleop", "a WebSocket") from None
