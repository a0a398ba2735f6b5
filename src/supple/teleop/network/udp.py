"""Commands and answers as UDP datagrams."""

from __future__ import annotations

import errno
import selectors
import socket
import threading
import time
from typing import Any

from supple.teleop.command import Command, Tick
from supple.teleop.network import address
from supple.teleop.network.access import REST, Counts, Gate
from supple.teleop.network.wire import LIMIT, Form, packet

_TOO_LONG = (errno.EMSGSIZE, 10040)  # Windows says so of a datagram, with a number of its own; others cut it off


class UdpSource:
    """Commands that come as datagrams, one packet each; see docs/network.md for the format.

    The first sender drives; others are refused, counted and told so, until it has been silent for `release` seconds.
    Then whoever speaks takes the seat, and the hands take hold anew.
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
        """Listens from now on, in a thread of its own.

        Args:
            port: UDP port; 0 takes a free one.
            host: address to bind to. One that other machines can reach asks for a token.
            token: what every packet must carry, 8 to 64 printable ASCII characters; empty: nothing.
            limit: packets a second that are heard of the operator, and of all others together.
            release: seconds of silence after which another operator may drive.
        """
        self._gate = Gate(token, limit, release)
        self._socket, self.host, self.port = address.bound(host, port, token, socket.SOCK_DGRAM)
        self._open = True
        self._thread = threading.Thread(target=self._listen, name="supple-udp", daemon=True)
        self._thread.start()

    @property
    def counts(self) -> Counts:
        """What became of the packets so far."""
        return self._gate.counts

    def read(self) -> Command | None:
        """The newest command since the last call, or None."""
        return self._gate.read()

    def close(self) -> None:
        """Listens no more."""
        self._open = False
        self._thread.join()
        self._socket.close()

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            while self._open:
                if not selector.select(0.1):
                    continue
                try:
                    data, sender = self._socket.recvfrom(LIMIT + 1)
                except OSError as error:
                    if error.errno in _TOO_LONG:
                        self._gate.broken()
                    time.sleep(REST)
                    continue
                refusal = self._gate.hear(sender, data, time.monotonic())
                if refusal is not None:
                    _sent(self._socket, refusal, sender)
                if self._gate.flooded:
                    time.sleep(REST)

    def _answer(self, tick: Tick) -> bool:
        driver, form = self._gate.driver
        return driver is not None and _sent(self._socket, packet(tick, form), driver)

    def __repr__(self) -> str:
        return f"<UdpSource at {self.host}:{self.port}: {self.counts}>"


class UdpSink:
    """Sends what came of each tick as a datagram: q, outcome and error. Never waits; what cannot be sent is counted."""

    unsent: int
    """How many were not sent."""

    def __init__(self, to: tuple[str, int] | UdpSource, form: Form = Form.BINARY) -> None:
        """To an address (host, port), such as an arm's; or back to whoever drives by a source, in their own form."""
        self.unsent = 0
        self._source = to if isinstance(to, UdpSource) else None
        self._form = form
        if not isinstance(to, UdpSource):
            self._socket, self._to = address.towards(to)

    def write(self, tick: Tick) -> None:
        """Sends one."""
        if self._source is not None:
            sent = self._source._answer(tick)
        else:
            sent = _sent(self._socket, packet(tick, self._form), self._to)
        self.unsent += not sent

    def close(self) -> None:
        """Sends no more."""
        if self._source is None:
            self._socket.close()


def _sent(by: socket.socket, data: bytes | None, to: Any) -> bool:
    try:
        return data is not None and by.sendto(data, to) > 0
    except OSError:  # nobody there, or no room: a loop does not wait
        return False
