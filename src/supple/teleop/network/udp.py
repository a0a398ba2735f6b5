"""Commands and answers as UDP datagrams."""

from __future__ import annotations

import errno
import selectors
import socket
import threading
import time
from typing import Any

from supple.teleop.command import Tick
from supple.teleop.network import address
from supple.teleop.network.access import FLOOD_PAUSE
from supple.teleop.network.source import NetworkSource
from supple.teleop.network.wire import MAX_BYTES, Form, packet

_BUFFER = 2**20  # bytes; what arrives during a pause must fit into it, even in a flood
_BATCH = 2000  # packets that are taken without a pause
_TOO_LONG = (errno.EMSGSIZE, 10040)  # WSAEMSGSIZE on Windows; other systems truncate the datagram


class UdpSource(NetworkSource):
    """Receives commands as datagrams, one packet each; docs/network.md describes the format.

    The first sender drives. Others are refused, counted and sent a refusal, until the operator has been silent for
    `release` seconds. Then the next sender drives, and its hands are engaged from where they are.
    """

    _kind = socket.SOCK_DGRAM

    def _start(self) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        self._open = True
        self._thread = threading.Thread(target=self._listen, name="supple-udp", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops listening."""
        self._open = False
        self._thread.join()
        self._socket.close()

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            while self._open:
                if selector.select(0.1) and not self._receive_waiting():
                    time.sleep(FLOOD_PAUSE)

    def _receive_waiting(self) -> bool:
        """Takes all packets that wait; whether none of them was over the rate.

        In a flood the packets of strangers are dropped unread, but without a pause between them: a pause would let the
        flood fill the buffer of the socket, and the packets of the operator would be lost in it.
        """
        flooded, unread = False, 0
        for _ in range(_BATCH):
            try:
                data, sender = self._socket.recvfrom(MAX_BYTES + 1)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno in _TOO_LONG:
                    self._access.count_malformed()
                flooded = True
                continue
            if flooded and sender != self._access.operator[0]:
                unread += 1
                continue
            refusal = self._access.receive(sender, data, time.monotonic())
            if refusal is not None:
                _send(self._socket, refusal, sender)
            flooded = flooded or self._access.flooded
        if unread:
            self._access.count_over_rate(unread)
        return not flooded

    def _answer(self, tick: Tick) -> bool:
        operator, form = self._access.operator
        return operator is not None and _send(self._socket, packet(tick, form), operator)


class UdpSink:
    """Sends the result of each tick as a datagram: q, status and error. It never blocks; failed sends are counted."""

    unsent: int
    """Number of results that were not sent."""

    def __init__(self, to: tuple[str, int] | UdpSource, form: Form = Form.BINARY) -> None:
        """Sends to an address (host, port), such as an arm's; or back to the operator of a source, in its form."""
        self.unsent = 0
        self._source = to if isinstance(to, UdpSource) else None
        self._form = form
        if not isinstance(to, UdpSource):
            self._socket, self._to = address.datagram_socket(to)

    def write(self, tick: Tick) -> None:
        """Sends the result of a tick."""
        if self._source is not None:
            sent = self._source._answer(tick)
        else:
            sent = _send(self._socket, packet(tick, self._form), self._to)
        self.unsent += not sent

    def close(self) -> None:
        """Closes the socket."""
        if self._source is None:
            self._socket.close()


def _send(by: socket.socket, data: bytes | None, to: Any) -> bool:
    """Whether a datagram was sent."""
    try:
        return data is not None and by.sendto(data, to) > 0
    except OSError:  # no receiver, or the buffer is full
        return False
