"""The page: drive an arm in a browser, and see why it does what it does."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from supple.errors import BadInput, missing_extra
from supple.view import address

if TYPE_CHECKING:
    from supple.linkage import Linkage
    from supple.teleop.command import Source
    from supple.teleop.page.controls import Cockpit
    from supple.teleop.page.session import Session
    from supple.teleop.page.waiting import Lobby

__all__ = ["Page", "serve"]
FRAMES = 30.0  # pictures a second
_log = logging.getLogger(__name__)


class Page:
    """An arm that can be driven in a browser. Made by `serve`; a context manager that closes it."""

    url: str
    """Where a browser finds it."""
    port: int
    """The port it listens on, which is the next free one if the one asked for was taken."""
    token: str
    """What a browser must say before it may drive, unless it is on this machine and the page is served to it only."""

    def __init__(self, server: Any, host: str, pilot: Any, token: str | None, tour: bool) -> None:
        """Bring a server and a pilot together; `serve` makes both."""
        from supple.teleop.page.drivers import Drivers

        self._server, self._host, self._pilot = server, host, pilot
        self.port = int(server.get_port())
        self.url = f"http://{address.shown(host)}:{self.port}"
        self._tour, self._told = tour, False
        self._lock, self._closed = pilot.lock, threading.Event()
        self._rooms: dict[int, tuple[Any, Cockpit | Lobby]] = {}  # client and what it sees, by its number
        self._driver: int | None = None
        self.drivers = Drivers(self._arrange, token)
        """Who drives, and who waits."""
        self.token = self.drivers.token
        pilot.changed = self._refresh
        server.on_client_connect(self._arrive)
        server.on_client_disconnect(self._leave)
        self._drawer = threading.Thread(target=self._draw, name="supple page", daemon=True)
        self._drawer.start()

    @property
    def session(self) -> Session:
        """The arm that is driven now, with its hands and its loop."""
        session: Session = self._pilot.session
        return session

    def wait(self) -> None:
        """Block until Ctrl-C, then close; return at once if it is closed already."""
        try:
            while not self._closed.wait(0.5):  # in pieces, so that Windows sees Ctrl-C too
                pass
        except KeyboardInterrupt:
            pass
        self.close()

    def close(self) -> None:
        """Hold the arm, end the loop and any recording, stop serving. Raises what ended the loop, if it had failed."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._drawer.join()
        try:
            self._pilot.close()
        finally:
            with contextlib.redirect_stdout(io.StringIO()):
                self._server.stop()

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Page of {self.session.arm.linkage.name!r} at {self.url}{', closed' if self._closed.is_set() else ''}>"

    # -- browsers -----------------------------------------------------------------------------------------------------

    def _arrive(self, client: Any) -> None:
        from supple.teleop.page import drivers, uploads

        uploads.limit(client, lambda name, size: self._refused(client.client_id, name, size))
        self._greet(client)
        again = threading.Timer(1.0, self._greet, (client,))  # one that is still loading does not hear it
        again.daemon = True
        again.start()
        trusted = drivers.trusted(self._host, _origin(self._server, client))
        if not trusted and drivers.loopback(self._host) and not self._told:
            self._told = True
            print(f"a browser came by another name than this machine's own; to drive it needs the token {self.token}")
        with self._lock:
            self._rooms[client.client_id] = (client, self._lobby(client))
        self.drivers.arrive(client.client_id, trusted)
        if client.client_id not in self._server.get_clients():  # it left before it was heard to come
            self._leave(client)

    def _greet(self, client: Any) -> None:
        if client.client_id in self._server.get_clients():
            self._pilot.greet(client)

    def _refused(self, browser: int, name: str, size: int) -> None:
        if self.drivers.driver == browser:  # nobody else has anything to send
            self._pilot.refused(name, size)

    def _leave(self, client: Any) -> None:
        if self.drivers.driver == client.client_id:
            self._pilot.hold()  # at once, whatever else is going on
        with self._lock:
            self._rooms.pop(client.client_id, None)
        self.drivers.leave(client.client_id)

    def _arrange(self) -> None:
        """Give the cockpit to the browser whose turn it is, and tell the others where they stand."""
        with self._lock:
            driver = self.drivers.driver
            if driver != self._driver:
                before, self._driver = self._driver, driver
                self._pilot.attend(False)
                if before in self._rooms:
                    self._move(before, self._lobby)
                if driver in self._rooms:
                    self._move(driver, self._cockpit)
                    self._pilot.attend(True)
                    if self._tour:
                        self._tour = False
                        self._pilot.tour()
            self._refresh()

    def _move(self, browser: int, room: Any) -> None:
        client, seen = self._rooms[browser]
        seen.remove()
        self._rooms[browser] = (client, room(client))

    def _refresh(self) -> None:
        with self._lock:
            for _, seen in self._rooms.values():
                with contextlib.suppress(RuntimeError, AttributeError):  # one that is gone, or has spoilt its controls
                    seen.refresh()

    def _lobby(self, client: Any) -> Lobby:
        from supple.teleop.page.waiting import Lobby

        return Lobby(client, self.drivers)

    def _cockpit(self, client: Any) -> Cockpit:
        from supple.teleop.page.controls import Cockpit

        return Cockpit(client, self._pilot, self.drivers.let_go)

    def _draw(self) -> None:
        """What the page's thread does: draw the newest tick, again and again."""
        said = ""
        while not self._closed.wait(1 / FRAMES):
            failed = self._picture()
            if failed and failed != said:
                print(failed, file=sys.stderr)
            said = failed or said

    def _picture(self) -> str:
        """Draw the newest tick; what went wrong, if anything did: the arm is not to suffer from a picture."""
        try:
            with self._lock:
                self._pilot.update()
                room = None if self._driver is None else self._rooms.get(self._driver)
                if room is not None and hasattr(room[1], "follow"):
                    room[1].follow()
        except Exception:
            return traceback.format_exc()
        return ""


def serve(
    linkage: Linkage,
    links: Sequence[str] = (),
    *,
    method: str = "supple",
    source: Source | None = None,
    rate: float = 300.0,
    scale: float = 1.0,
    record: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] = "recordings",
    host: str = "127.0.0.1",
    port: int = 8080,
    token: str | None = None,
    tour: bool = False,
    open_browser: bool = False,
) -> Page:
    """Let browsers drive an arm, and return at once; the page lives until it is closed or the program ends.

    Whoever reaches the port drives the arm. Other addresses than this machine's own ask each browser for
    `Page.token` first. One browser drives at a time; if it leaves, the arm is held.

    Args:
        linkage: what to drive first; browsers may choose another.
        links: its hands, at most two; by default those it is known for, or its farthest tip.
        method: how it steps at first: "supple", "the paper", "damped" or "pseudo-inverse".
        source: what drives instead of the page's handles: a network, a SpaceMouse, a recording.
        rate: ticks of the loop, each second.
        scale: metres of the arm for a metre of the handle.
        record: a file to record to from the beginning.
        folder: where recordings that are begun in the page are kept; nothing is written elsewhere.
        host: address to listen on; the default serves this machine only, "0.0.0.0" every network it is on.
        port: port to listen on, or the next free one; 0 for any.
        token: what other machines' browsers must say before they may drive, at least 8 characters; by default a new
            one, which is logged as a warning where other machines can reach the page.
        tour: whether the tour begins when the first browser comes.
        open_browser: whether to open the page in the browser of this machine.
    """
    viser = _viser()
    from supple.teleop.network.access import SHORTEST
    from supple.teleop.page.actions import Pilot
    from supple.teleop.page.arm import HANDS, Arm
    from supple.teleop.page.drivers import loopback
    from supple.teleop.methods import named

    chosen = named(method)
    arm = Arm.of(linkage, tuple(links))
    if len(arm.links) > HANDS:
        raise BadInput(f"at most {HANDS} hands are driven, got {len(arm.links)}: {', '.join(arm.links)}")
    if token and len(token) < SHORTEST:
        raise BadInput(f"a token has at least {SHORTEST} characters, got {len(token)}")
    logging.getLogger("websockets.server").addFilter(_worth_saying)
    with contextlib.redirect_stdout(io.StringIO()):  # a banner that asks for no leave
        server = viser.ViserServer(host=host, port=address.free_port(host, port), verbose=False)
    try:
        server.request_share_url = lambda verbose=True: None  # no browser may open this machine to the world
        pilot = Pilot(server, arm, method=chosen, rate=rate, scale=scale, folder=folder, record=record, other=source)
        page = Page(server, host, pilot, token, tour)
    except BaseException:
        server.stop()
        raise
    if token is None and not loopback(host):
        _log.warning("serving at %s: whoever reaches it and knows the token %s drives the arm", page.url, page.token)
    if open_browser:
        address.open_page(page.url)
    return page


def _worth_saying(record: logging.LogRecord) -> bool:
    """Browsers open connections that they may need and close them again; nobody needs to know."""
    return record.getMessage() != "opening handshake failed"


def _origin(server: Any, client: Any) -> str | None:
    """Which page a browser's connection was opened by, as the browser says; None if that is not known."""
    connection = server._websock_server._live_connections.get(client.client_id)
    origin = None if connection is None else connection.request.headers.get("Origin")
    return None if origin is None else str(origin)


def _viser() -> Any:
    try:
        import trimesh  # noqa: F401
        import viser
    except ImportError as error:
        raise missing_extra("teleop", "the page") from error
    return viser
