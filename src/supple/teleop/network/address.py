"""Addresses of network sources and sinks: lookup and sockets."""

from __future__ import annotations

import logging
import os
import socket
from typing import Any

from supple import _check
from supple.errors import BadInput
from supple.view.origin import is_loopback

PORT = 7300
"""Default port of the sources."""
_log = logging.getLogger(__name__)


def bind(host: str, port: int, token: str, kind: socket.SocketKind) -> tuple[socket.socket, str, int]:
    """A socket bound to an address, and that address; BadInput if that fails or a token is needed and missing."""
    _check.text(host, "host", empty=True)
    try:
        family, address = _look_up(host or None, port, kind)
    except (OSError, UnicodeError) as error:
        raise BadInput(f"cannot listen at host {_check.short(host)}, port {port}: {error}") from None
    shown = f"{host or '*'}:{port}"
    local = is_loopback(address[0])
    if not (local or token):
        raise BadInput(f"{shown} can be reached from other machines: give a token that every packet must carry")
    made = socket.socket(family, kind)
    try:
        made.setblocking(False)
        if os.name == "posix" and kind is socket.SOCK_STREAM:  # elsewhere it would let programs share a port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except OSError as error:
        made.close()
        raise BadInput(f"cannot listen at {shown}: {error}") from None
    name = made.getsockname()
    if not local:
        _log.warning("listening at %s:%d: anyone who reaches it and has the token can drive the arm", name[0], name[1])
    return made, name[0], name[1]


def datagram_socket(to: tuple[str, int]) -> tuple[socket.socket, Any]:
    """A datagram socket, and the address to send to."""
    try:
        host, port = to
        family, address = _look_up(host, port, socket.SOCK_DGRAM)
    except (OSError, TypeError, ValueError) as error:
        raise BadInput(f"an address is (host, port), got {_check.short(to)}: {error}") from None
    made = socket.socket(family, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made, address


def _look_up(host: str | None, port: int, kind: socket.SocketKind) -> tuple[socket.AddressFamily, Any]:
    _check.whole(port, "port", 0, 65535)
    family, _, _, _, address = socket.getaddrinfo(host, port, type=kind, flags=socket.AI_PASSIVE)[0]
    return family, address
