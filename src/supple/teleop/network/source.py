"""NetworkSource: what UDP and WebSocket sources have in common."""

from __future__ import annotations

import socket
from typing import ClassVar

from supple.teleop.command import Command
from supple.teleop.network import address
from supple.teleop.network.access import AccessControl, Counts


class NetworkSource:
    """Listens at a port and gives access to one operator at a time; the base of `UdpSource` and `WebSocketSource`."""

    host: str
    """Address of the socket."""
    port: int
    """Port of the socket."""
    _kind: ClassVar[socket.SocketKind]

    def __init__(
        self,
        port: int = address.PORT,
        host: str = "127.0.0.1",
        token: str = "",
        *,
        limit: float = 1000.0,
        release: float = 5.0,
    ) -> None:
        """Begins to listen, in a thread of its own.

        Args:
            port: port to listen at; 0 takes a free one.
            host: address to bind to. If other machines can reach it, a token is needed.
            token: password in every packet, 8 to 64 printable ASCII characters; empty: none.
            limit: packets a second accepted from the operator, and from all other senders together.
            release: seconds of silence after which another operator may drive.
        """
        self._import_packages()
        self._access, self._token = AccessControl(token, limit, release), token
        self._socket, self.host, self.port = address.bind(host, port, token, self._kind)
        self._start()

    @property
    def counts(self) -> Counts:
        """Counts of the packets so far."""
        return self._access.counts

    def read(self) -> Command | None:
        """The newest command since the last call, or None."""
        return self._access.read()

    def close(self) -> None:
        """Stops listening."""
        raise NotImplementedError

    def _import_packages(self) -> None:
        """Imports optional packages, so that a missing one is reported before a socket is opened."""

    def _start(self) -> None:
        """Starts the thread that receives."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self.host}:{self.port}: {self.counts}>"
