"""Heartbeat: whether the page in a browser still runs."""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
import time
from typing import Any

from supple.teleop.command import Command
from supple.teleop.network.wire import MAX_TIME
from supple.teleop.watchdog import Watchdog

PATIENCE = 0.25
"""Seconds of silence after which a browser no longer moves the arm."""
SETTLE = 0.25
"""Seconds without a gap that must pass after a silence until the browser moves the arm again."""
SEAT_SECONDS = 5.0
"""Seconds of silence after which a browser no longer drives; it may again when it answers."""
INTERVALS = (1.0, 0.05)
"""Seconds between the beats of a browser that does not drive, and of the one that does."""
_PAUSE = 0.01  # s; beats are not read faster
_LONGEST = 40  # characters of a beat
# The thread that draws the page sends the beats, not the one that has the connection of viser: a page that hangs is
# silent. A beat is a stamp in seconds. The server sends the interval in milliseconds.
_SCRIPT = """(() => {
  const socket = new WebSocket(location.origin.replace(/^http/, "ws") + "%s");
  let timer = 0;
  socket.onmessage = (event) => {
    clearInterval(timer);
    timer = setInterval(() => socket.send(String(performance.now() / 1000)), Number(event.data));
  };
  socket.onclose = () => clearInterval(timer);
})();"""


class Heartbeat:
    """The beats of one browser, on a WebSocket of their own. Beats that come late do not count; see `Watchdog`."""

    def __init__(self, client: Any) -> None:
        """For a client of viser that has just connected."""
        self.path = f"/alive/{secrets.token_hex(16)}"
        """Path of the WebSocket. Only this browser knows it."""
        self._client, self._loop = client, client._viser_server.get_event_loop()
        self._watchdog = Watchdog(PATIENCE, 0)
        self._last = self._since = time.monotonic()
        self._connection: Any = None
        self._drives = False

    def begin(self) -> None:
        """Lets the browser begin."""
        from viser import _messages

        self._client._websock_connection.queue_message(_messages.RunJavascriptMessage(_SCRIPT % self.path))

    def hear(self, stamp: float) -> None:
        """A beat has arrived, which the browser sent at a time (s) of its own clock."""
        now = time.monotonic()
        if not self._watchdog.accept(Command(stamp=stamp), now):
            return
        if now - self._last > PATIENCE:
            self._since = now
        self._last = now

    @property
    def silence(self) -> float:
        """Seconds since the last beat."""
        return time.monotonic() - self._last

    def alive(self, now: float) -> bool:
        """Whether the browser has answered without a gap up to a time (s)."""
        return now - self._last < PATIENCE and now - self._since >= SETTLE

    def set_drives(self, drives: bool) -> None:
        """The browser drives from now on, and beats quickly, or not."""
        self._drives = drives
        with contextlib.suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self._send_interval)

    def close(self) -> None:
        """Ends the connection."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(lambda: self._connection and self._connection.transport.abort())

    # -- in the thread of the server ---------------------------------------------------------------------------------

    async def listen(self, connection: Any) -> None:
        """Takes the beats of the browser until it disconnects."""
        from websockets.exceptions import ConnectionClosed

        self._connection = connection
        self._send_interval()
        with contextlib.suppress(ConnectionClosed, ValueError):  # it has disconnected, or sends something else
            async for message in connection:
                self.hear(_stamp(message))
                await asyncio.sleep(_PAUSE)
        self._connection = None

    def _send_interval(self) -> None:
        if self._connection is not None:
            sent = asyncio.ensure_future(self._connection.send(str(round(1000 * INTERVALS[self._drives]))))
            sent.add_done_callback(lambda done: done.exception())  # it has disconnected


def _stamp(message: str | bytes) -> float:
    """The stamp of a beat, in seconds; raises ValueError if it is none."""
    stamp = float(message) if isinstance(message, str) and len(message) < _LONGEST else math.nan
    if not abs(stamp) < MAX_TIME:
        raise ValueError("a beat is a time in seconds")
    return stamp
