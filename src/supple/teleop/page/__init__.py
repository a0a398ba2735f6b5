"""The page: drives an arm from a browser and shows its status and the reason."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from supple.errors import BadInput
from supple.teleop.latency import raise_priority, real_time_priority
from supple.teleop.page import heartbeat as heartbeats
from supple.teleop.page.heartbeat import Heartbeat
from supple.teleop.process import ending_signals
from supple.teleop.robot import Connection, OnExit, Robot
from supple.view import address, extra

if TYPE_CHECKING:
    from supple.frame import Array
    from supple.linkage import Linkage
    from supple.teleop.command import Source
    from supple.teleop.page.controls import Controls
    from supple.teleop.page.session import Session
    from supple.teleop.page.waiting import WaitingPanel

__all__ = ["Page", "serve"]
FRAMES = 30.0  # drawings a second
MAX_MESSAGE = 2**20  # bytes; a browser sends a file in parts of half of this
_log = logging.getLogger(__name__)


class Page:
    """An arm that is driven from a browser. Made by `serve`; as a context manager it closes itself."""

    url: str
    """Address of the page."""
    port: int
    """The port it listens on; the next free one if the requested one was taken."""
    token: str
    """Token that a browser must give before it may drive, unless the page is served to this machine only."""

    def __init__(self, server: Any, host: str, actions: Any, token: str | None, tour: bool) -> None:
        """Connects a server with its actions; `serve` makes both."""
        from supple.teleop.page import invitation
        from supple.teleop.page.drivers import Drivers

        self._server, self._host, self._actions = server, host, actions
        self.port = int(server.get_port())
        self.url = f"http://{address.shown(host)}:{self.port}"
        invitation.add(server.gui, host, self.port)
        self._tour = tour
        self._lock, self._closed = actions.lock, threading.Event()
        self._clients: dict[int, tuple[Any, Controls | WaitingPanel]] = {}  # client and what it shows, by its number
        self._stops: dict[int, Any] = {}  # the stop of each browser
        self._heartbeats: dict[int, Heartbeat] = {}
        self._lapsed: set[int] = set()  # browsers that left the queue because they were silent
        self._driver: int | None = None
        self.drivers = Drivers(self._update_driver, token)
        """The browser that drives and those that wait."""
        self.token = self.drivers.token
        actions.changed = self._refresh
        server.gate.expendable = lambda browser: not self.drivers.admitted(browser)
        server.get_event_loop().call_soon_threadsafe(raise_priority)
        server.on_client_connect(self._connect)
        server.on_client_disconnect(self._disconnect)
        self._thread = threading.Thread(target=self._draw, name="supple page", daemon=True)
        self._thread.start()

    @property
    def session(self) -> Session:
        """The arm that is driven now, with its handles and its loop."""
        session: Session = self._actions.session
        return session

    @property
    def browsers(self) -> int:
        """How many browsers show the page."""
        return len(self._clients)

    def wait(self, until: Callable[[], bool] = lambda: False) -> None:
        """Blocks until Ctrl-C, SIGTERM or SIGHUP, then closes the page; returns at once if it is closed already.

        After SIGTERM or SIGHUP the program exits, with 128 plus the number of the signal. Raises `BadInput` if the arm
        cannot be used, as if it has another number of joint values.

        Args:
            until: asked twice a second; the page is closed too when this returns True.
        """
        robot = self.session.robot
        with ending_signals():
            try:
                while not self._closed.wait(0.5):  # with a timeout, so that Ctrl-C works on Windows
                    if until() or (robot is not None and robot.mistake):
                        break
            except KeyboardInterrupt:
                pass
            self.close()

    def close(self) -> None:
        """Holds the arm, ends the loop and any recording, and stops serving.

        Raises the exception that ended the loop, if one did.
        """
        if self._closed.is_set():
            return
        self._closed.set()
        self._thread.join()
        try:
            self._actions.close()
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

    def _connect(self, client: Any) -> None:
        from supple.teleop.page import drivers, uploads
        from supple.teleop.page.phone_camera import PhoneCamera

        uploads.limit(client, lambda name, size: self._refuse_upload(client.client_id, name, size))
        PhoneCamera(client, lambda: self._set_camera(client), lambda: self._server.initial_camera.position)
        self._actions.plots.draw_axes(client)
        heartbeat = self._heartbeats[client.client_id] = Heartbeat(client)
        self._server.gate.channels[heartbeat.path] = heartbeat.listen
        heartbeat.begin()
        if self._actions.has_robot:
            self._stops[client.client_id] = self._stop_panel(client)
        with self._lock:
            self._clients[client.client_id] = (client, self._waiting_panel(client))
        self.drivers.connect(client.client_id, drivers.loopback(self._host))
        if client.client_id not in self._server.get_clients():  # it has disconnected meanwhile
            self._disconnect(client)

    def _set_camera(self, client: Any) -> Array | None:
        position: Array | None = None
        if client.client_id in self._server.get_clients():
            position = self._actions.set_camera(client)
        return position

    def _refuse_upload(self, browser: int, name: str, size: int) -> None:
        if self.drivers.driver == browser:  # only the driver has an upload button
            self._actions.refuse_upload(name, size, self._clients[browser][0])

    def _disconnect(self, client: Any) -> None:
        if self.drivers.driver == client.client_id:
            self._actions.hold()  # at once, without waiting for the lock
        with self._lock:
            self._clients.pop(client.client_id, None)
            self._stops.pop(client.client_id, None)
        heartbeat = self._heartbeats.pop(client.client_id, None)
        if heartbeat is not None:
            self._server.gate.channels.pop(heartbeat.path, None)
            heartbeat.close()
        self._lapsed.discard(client.client_id)
        self.drivers.disconnect(client.client_id)

    def _update_driver(self) -> None:
        """Gives the controls to the driving browser, and refreshes the others."""
        with self._lock:
            driver = self.drivers.driver
            if driver != self._driver:
                before, self._driver = self._driver, driver
                self._actions.set_present(False)
                for browser, heartbeat in list(self._heartbeats.items()):
                    heartbeat.set_drives(browser == driver)
                if before in self._clients:
                    self._show(before, self._waiting_panel)
                if driver in self._clients:
                    self._show(driver, self._controls)
                    self._actions.set_present(True, self._heartbeats[driver].alive)
                    if self._tour:
                        self._tour = False
                        self._actions.tour()
            self._refresh()

    def _show(self, browser: int, make: Any) -> None:
        client, shown = self._clients[browser]
        shown.remove()
        self._clients[browser] = (client, make(client))

    def _refresh(self) -> None:
        with self._lock:
            for shown in [*(shown for _, shown in self._clients.values()), *self._stops.values()]:
                _refresh(shown)

    def _waiting_panel(self, client: Any) -> WaitingPanel:
        from supple.teleop.page.waiting import WaitingPanel

        return WaitingPanel(client, self.drivers)

    def _stop_panel(self, client: Any) -> Any:
        from supple.teleop.page.stop import StopPanel

        actions, browser = self._actions, client.client_id
        return StopPanel(
            client,
            actions.stop_arm,
            actions.rearm,
            lambda: actions.session.loop.stopped,
            lambda: actions.can_rearm,
            lambda: self.drivers.driver == browser,
        )

    def _controls(self, client: Any) -> Controls:
        from supple.teleop.page.controls import Controls

        browser = client.client_id
        return Controls(client, self._actions, self.drivers.release, lambda: self.drivers.driver == browser)

    # -- heartbeat ----------------------------------------------------------------------------------------------------

    def _check_seats(self) -> None:
        """Takes silent browsers out of the queue, and puts them back when they answer again."""
        for browser, heartbeat in list(self._heartbeats.items()):
            silent = heartbeat.silence > heartbeats.SEAT_SECONDS
            if silent and self.drivers.queue_position(browser) is not None:
                self._lapsed.add(browser)
                self.drivers.release(browser)
            elif not silent and browser in self._lapsed:
                self._lapsed.discard(browser)
                self.drivers.request(browser)

    # -- drawing ------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        """The thread: draws the newest tick, again and again."""
        printed = ""
        with real_time_priority():
            while not self._closed.wait(1 / FRAMES):
                error = self._draw_once()
                if error and error != printed:
                    print(error, file=sys.stderr)
                printed = error or printed

    def _draw_once(self) -> str:
        """Draws the newest tick; returns the error, if there was one: drawing must not stop the arm."""
        from supple.teleop.page.controls import Controls

        try:
            self._check_seats()
            with self._lock:
                self._actions.update()
                _, shown = (None, None) if self._driver is None else self._clients.get(self._driver, (None, None))
                if isinstance(shown, Controls):
                    shown.place_handles()
                    shown.show_values()
                for stop in list(self._stops.values()):
                    _refresh(stop)
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
    arm: Robot | Callable[[], Robot] | Connection | None = None,
    arm_rate: float | None = None,
    on_exit: OnExit = "hold",
) -> Page:
    """Lets browsers drive an arm, and returns at once; the page lives until it is closed or the program ends.

    Anyone who reaches the port can drive the arm. If other machines can reach it, a browser must give `Page.token`
    first. One browser drives at a time; when it disconnects, the arm is held.

    Args:
        linkage: the first linkage; browsers may choose another.
        links: end effectors to drive, at most eight; by default those of a bundled model, or the farthest hand.
        method: method at first: "supple", "the paper", "damped" or "pseudo-inverse".
        source: a source in place of the page's handles: a network, a SpaceMouse, a recording.
        rate: ticks of the loop per second.
        scale: metres that the arm moves for one metre of the handle.
        record: a file to record to from the beginning.
        folder: folder for recordings that are begun in the page; nothing is written elsewhere.
        host: address to listen on; the default serves this machine only, "0.0.0.0" all its networks.
        port: port to listen on, or the next free one; 0 for any.
        token: token for browsers of other machines, at least 8 characters; by default a new one, which is logged as a
            warning if other machines can reach the page.
        tour: whether the tour begins when the first browser connects.
        open_browser: whether to open the page in a browser of this machine.
        arm: a real arm that follows, an object with ``read()`` and ``write(q)``, see `Robot`; or a function that
            connects to it and returns it; or its `Connection`. The page begins where the arm is, and every browser can
            stop it.
        arm_rate: readings and writes per second of that arm; by default its ``rate``, or 100.
        on_exit: at the end that arm keeps its pose ("hold"), or its torque is switched off ("release").
    """
    extra.check("teleop", "the page")
    from supple.teleop.methods import full_name
    from supple.teleop.network.access import MIN_TOKEN
    from supple.teleop.page.actions import Actions
    from supple.teleop.page.arm import MAX_HANDLES, Arm
    from supple.teleop.page.drivers import loopback
    from supple.view import messages
    from supple.view import server as servers

    chosen = full_name(method)
    driven = Arm.of(linkage, tuple(links))
    if len(driven.links) > MAX_HANDLES:
        raise BadInput(
            f"at most {MAX_HANDLES} end effectors can be driven, got {len(driven.links)}: {', '.join(driven.links)}"
        )
    if arm is not None and tour:
        raise BadInput("give tour or arm, not both: the tour is for a simulated arm")
    if token and len(token) < MIN_TOKEN:
        raise BadInput(f"a token has at least {MIN_TOKEN} characters, got {len(token)}")
    server = servers.start(host, port, messages.DRIVE, MAX_MESSAGE)
    robot = None
    try:
        if arm is not None:
            robot = (
                arm
                if isinstance(arm, Connection)
                else Connection(arm, linkage, driven.links, rate=arm_rate, on_exit=on_exit)
            )
        options: dict[str, Any] = {"folder": folder, "record": record, "other": source, "robot": robot}
        actions = Actions(server, driven, method=chosen, rate=rate, scale=scale, **options)
        page = Page(server, host, actions, token, tour)
    except BaseException:
        server.stop()
        if robot is not None:
            robot.close()
        raise
    if token is None and not loopback(host):
        _log.warning(
            "serving at %s: anyone who reaches it and has the token %s can drive the arm", page.url, page.token
        )
    if open_browser:
        address.open_page(page.url)
    return page


def _refresh(shown: Any) -> None:
    try:
        shown.refresh()
    except (RuntimeError, AttributeError):  # a browser that has gone, or has removed its controls
        return
    except Exception:  # one browser must not keep the others from theirs
        _log.exception("the controls of a browser could not be refreshed")
