"""The server of a page: viser's, behind a gate that admits only browsers that show this very page."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import time
import types
import weakref
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import viser
from viser import _messages, infra
from viser.infra import _infra
from websockets.asyncio import server as websockets

from supple.errors import SuppleError
from supple.view import address, messages
from supple.view.origin import is_own_name, is_same_origin
from supple.view.rate_limit import RateLimit
from supple.view.sockets import HANDSHAKE_SECONDS, Sockets

MAX_BROWSERS = 8
"""Browsers that are connected at once, without new ones that may still get permission."""
MAX_NEW_BROWSERS = 32
"""The same with those that have connected within `ENTRY_SECONDS`."""
ENTRY_SECONDS = 20.0
"""How long a browser without permission, such as a token, stays though others want its place."""
CROWDED_SECONDS = 5.0
"""The same if there are `MAX_NEW_BROWSERS`."""
FIRST_SECONDS = 2.0
"""The same for a browser that has said nothing yet."""
SILENT_SECONDS = 10.0
"""How long a new browser may take to send its first message."""
MAX_MESSAGES = 200.0
"""Messages a second that are read from a browser."""
MAX_BYTES = 2_000_000.0
"""Bytes a second that are read from a browser."""
PING = (5.0, 10.0)
"""Interval of pings, and time until a browser without an answer is disconnected (s)."""
_HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",  # no other page can show this one and lead clicks to it
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
_LOCAL_FRAMES = "frame-ancestors 'self' http://localhost:* http://127.0.0.1:* https://localhost:* vscode-webview:"
_log = logging.getLogger(__name__)
_log.addFilter(lambda record: record.getMessage() != "opening handshake failed")  # strangers must not fill the log


def start(host: str, port: int, accepted: Iterable[type], max_size: int = 2**16, *, framed: bool = False) -> Any:
    """A server of viser on the first free port from ``port`` on, with its gate as the attribute ``gate``.

    Args:
        host: address to listen on.
        port: port to listen on, or the next free one; 0 for any.
        accepted: the messages that browsers may send, such as `messages.VIEW`.
        max_size: largest message of a browser, in bytes.
        framed: whether web pages of this machine, such as a notebook, may show this one in a frame.
    """
    gate = Gate(host, messages.decoder(accepted), max_size, framed)
    with contextlib.redirect_stdout(io.StringIO()):  # without viser's banner
        server = _guarded(gate)(host=host, port=address.free_port(host, port), verbose=False)
    gate.server = server
    server.gate = gate
    _share_event(server._websock_server)
    server.on_client_connect(lambda client: _share_event(client._websock_connection))
    server.request_share_url = lambda verbose=True: None  # nobody publishes this machine on the internet
    if not gate.listening:  # a version of viser that is built differently
        server.stop()
        raise SuppleError(f"viser {viser.__version__} cannot be guarded against foreign web pages; install another")
    return server


class Gate:
    """Decides which connections are admitted and which of their messages count. Runs in the thread of the server.

    - The header Host must name this machine, and the header Origin of a WebSocket must be the same place as Host.
    - The numbers of connections, of browsers, of messages a second and of bytes a second are limited.
    - Messages that are malformed, not expected, or for no control of the page are dropped.
    """

    def __init__(self, host: str, decode: Callable[[bytes], Any], max_size: int, framed: bool = False) -> None:
        """A gate of a page that listens on ``host``, with a decoder of messages; ``framed`` as in `start`."""
        self.listening = False
        """Whether it is in use."""
        self.server: Any = None
        self.refused = self.dropped = 0
        """Numbers of refused requests and of dropped messages."""
        self.expendable: Callable[[int], bool] = lambda browser: False
        """Whether a browser, by its number, may be disconnected in favour of a new one."""
        self.channels: dict[str, Callable[[Any], Awaitable[None]]] = {}
        """Handlers of WebSockets that are not viser's, by their secret paths; each is used once."""
        self._host, self._decode, self._max_size, self._framed = host, decode, max_size, framed
        self._headers = _HEADERS | ({"Content-Security-Policy": _LOCAL_FRAMES} if framed else {})
        self._browsers: dict[Any, bool] = {}  # whether each has sent something, the oldest first
        self._since: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary()  # when each connected (s)
        self.sockets = Sockets(lambda connection: self._browsers.pop(connection, None))

    def serve(self, handler: Any, *place: Any, process_request: Any, **options: Any) -> Any:
        """Listens as `websockets.serve` does, but guarded."""

        async def route(connection: Any) -> None:
            await self.channels.pop(connection.request.path, handler)(connection)

        self.listening = True
        begin, end = PING
        options |= {"compression": None, "max_size": self._max_size, "max_queue": 4}
        options |= {"open_timeout": HANDSHAKE_SECONDS, "close_timeout": 1.0, "logger": _log}
        return websockets.serve(
            route,
            *place,
            process_request=lambda connection, request: self.admit(connection, request, process_request),
            create_connection=self.sockets.connection_class(),
            ping_interval=begin,
            ping_timeout=end,
            **options,
        )

    # -- connections -------------------------------------------------------------------------------------------------

    def admit(self, connection: Any, request: Any, files: Callable[[Any, Any], Any]) -> Any:
        """The response to a request: a file of the page or a refusal; None for a WebSocket that is admitted."""
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(hosts) != 1 or not is_own_name(hosts[0], self._host):
            return self._refuse(connection, 421, "this page is served under the name or address of its machine only")
        if not all(is_same_origin(origin, hosts[0]) for origin in origins):
            return self._refuse(connection, 403, "only this page itself may connect")
        if "websocket" not in request.headers.get("Upgrade", "").lower():
            if _is_foreign_part(request.headers, self._framed):
                return self._refuse(connection, 403, "only this page itself may load its files")
            try:
                response = files(connection, request)
            except (OSError, ValueError):  # such as a path with a zero byte
                response = self._refuse(connection, 404, "there is no such file")
            else:
                self.sockets.admit(connection)
            for name, value in self._headers.items():
                response.headers[name] = value
            return response
        if len(origins) != 1:
            return self._refuse(connection, 403, "only this page itself may connect")
        if request.path in self.channels:
            self.sockets.admit(connection)
            return None
        if f"viser-v{viser.__version__}" not in request.headers.get("Sec-WebSocket-Protocol", ""):
            return self._refuse(connection, 400, "the page is of another version: load it again")
        if len(self._browsers) >= MAX_BROWSERS and not self._make_room():
            return self._refuse(connection, 503, f"{MAX_BROWSERS} browsers are connected already")
        self._browsers[connection] = False
        self._since[connection] = time.monotonic()
        self.sockets.admit(connection)
        return None

    def _refuse(self, connection: Any, status: int, text: str) -> Any:
        self.refused += 1
        self.sockets.answers(connection, next(iter(connection.request.headers.get_all("Origin")), ""))
        return connection.respond(status, text + "\n")

    def _make_room(self) -> bool:
        """Whether one more browser fits; those that may give way are disconnected for it."""
        while len(self._browsers) >= MAX_BROWSERS:
            spare = self._spare()
            if not spare:
                return len(self._browsers) < MAX_NEW_BROWSERS and bool(self._without_permission())
            addresses = [_address(one) for one in spare]
            worst = max(addresses, key=addresses.count)
            leaving = spare[addresses.index(worst)]
            del self._browsers[leaving]
            leaving.transport.abort()
        return True

    def _spare(self) -> list[Any]:
        """The browsers that may give way now, the oldest first: silent ones, else those without permission."""
        now, crowded = time.monotonic(), len(self._browsers) >= MAX_NEW_BROWSERS
        silent, strangers = [one for one, seen in self._browsers.items() if not seen], self._without_permission()
        first = FIRST_SECONDS if strangers else 0.0  # without permissions there are none beyond MAX_BROWSERS
        entry = CROWDED_SECONDS if crowded else ENTRY_SECONDS
        return (
            [one for one in silent if now - self._since[one] >= first]
            or [one for one in strangers if now - self._since[one] >= entry]
            or (silent if crowded else [])
        )

    def _without_permission(self) -> list[Any]:
        numbers = {connection: number for number, connection in self.server._websock_server._live_connections.items()}
        return [one for one in self._browsers if one in numbers and self.expendable(numbers[one])]

    # -- messages ----------------------------------------------------------------------------------------------------

    async def consume(self, connection: Any, handle: Callable[[Any], None], _: type) -> None:
        """Passes on the messages of a browser until it disconnects."""
        rate, size = RateLimit(MAX_MESSAGES, MAX_MESSAGES), RateLimit(MAX_BYTES, 2 * MAX_BYTES)
        live = self.server._websock_server._live_connections
        number = next((one for one, other in live.items() if other is connection), -1)
        timeout: float | None = SILENT_SECONDS
        while True:
            raw = await self._receive(connection, timeout)
            message = self._decode(raw) if isinstance(raw, bytes) else None
            if message is None or not self._meant(number, message):
                self.dropped += 1
            else:
                timeout = None
                if connection in self._browsers:
                    self._browsers[connection] = True
                handle(message)
            now = time.monotonic()
            delay = max(rate.delay(1.0, now), size.delay(len(raw), now))
            if delay > 0.0:
                await asyncio.sleep(delay)  # meanwhile nothing is read, and the sender must wait

    async def _receive(self, connection: Any, timeout: float | None) -> Any:
        try:
            return await asyncio.wait_for(connection.recv(), timeout)
        except asyncio.TimeoutError:
            await connection.close(1008, "no message came")
            return await connection.recv()  # raises, since it is closed

    def _meant(self, number: int, message: Any) -> bool:
        """Whether a message is for something that exists; the value of a control must be one that it can have."""
        if isinstance(message, _messages.GuiUpdateMessage):
            control = self._control(number, message.uuid)
            return control is not None and messages.fits(control, message.updates["value"])
        if isinstance(message, _messages.FileTransferStartUpload):
            return isinstance(self._control(number, message.source_component_uuid), viser.GuiUploadButtonHandle)
        return True

    def _control(self, number: int, uuid: str) -> Any:
        """The control with this name, of the page or of one browser; None if there is none."""
        client = self.server.get_clients().get(number)
        scopes = (self.server.gui,) if client is None else (client.gui, self.server.gui)
        return next((found for one in scopes if (found := one._gui_input_handle_from_uuid.get(uuid))), None)


class _SharedEvent(asyncio.Event):
    """An event that any thread may set, as viser does, while coroutines wait for it.

    With one of asyncio a thread raises RuntimeError if a coroutine begins or ends to wait at that moment. Viser sets it
    again in the thread of the server; that call wakes the coroutines. Other threads may run an event loop of their own,
    as the main thread of a notebook does.
    """

    def set(self) -> None:
        """Sets it; in the thread of the server also wakes who waits."""
        self._value = True
        loop = getattr(self, "_loop", None)  # None until someone waits
        if loop is not None and asyncio._get_running_loop() is loop:
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(True)


def _share_event(connection: Any) -> None:
    connection.get_message_buffer().message_event.__class__ = _SharedEvent


def _guarded(gate: Gate) -> type:
    """The class of viser's server, whose connections and messages pass a gate.

    Viser has no option for it. So the two functions that listen and that receive are used with other globals; those of
    viser itself stay as they are.
    """
    listener = types.SimpleNamespace(**vars(_infra.websockets))
    listener.asyncio = types.SimpleNamespace(server=types.SimpleNamespace(**vars(websockets) | {"serve": gate.serve}))
    worker = _with_globals(infra.WebsockServer._background_worker, websockets=listener, _message_consumer=gate.consume)
    transport = type("WebsockServer", (infra.WebsockServer,), {"_background_worker": worker})
    parts = types.SimpleNamespace(**vars(infra) | {"WebsockServer": transport})
    return type(
        "ViserServer", (viser.ViserServer,), {"__init__": _with_globals(viser.ViserServer.__init__, infra=parts)}
    )


def _with_globals(function: Any, **changed: Any) -> Any:
    """The same function with other globals."""
    made = types.FunctionType(
        function.__code__, {**function.__globals__, **changed}, None, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _is_foreign_part(headers: Any, framed: bool) -> bool:
    """Whether a web page of another site asks for a file, other than by a link that a person follows, or in a frame.

    The browser itself refuses frames in pages that the header Content-Security-Policy does not name.
    """
    foreign = not set(headers.get_all("Sec-Fetch-Site")) <= {"none", "same-origin"}
    allowed = (["document"], ["iframe"]) if framed else (["document"],)
    return foreign and headers.get_all("Sec-Fetch-Dest") not in allowed


def _address(connection: Any) -> str:
    place = connection.remote_address
    return str(place[0]) if place else ""
