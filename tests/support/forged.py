"""Forged browsers: they speak the protocol of viser's page, and what no page would say."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

CAMERA = {
    "wxyz": (1, 0, 0, 0),
    "position": (3, 0, 1),
    "look_at": (0, 0, 0),
    "up_direction": (0, 0, 1),
    "fov": 1.0,
    "near": 0.1,
    "far": 10.0,
    "image_height": 480,
    "image_width": 640,
}


def say(kind: str, **fields: Any) -> bytes:
    """A message of viser's protocol."""
    import msgspec

    return msgspec.msgpack.encode({"type": kind, **fields})


def connect(port: int, path: str = "", **more: Any) -> Any:
    """A WebSocket to a page of this machine, from its own origin unless ``origin`` says otherwise."""
    import viser
    from websockets.sync.client import connect as open_socket

    options = {"origin": f"http://127.0.0.1:{port}", "subprotocols": [f"viser-v{viser.__version__}"]}
    options |= {"open_timeout": 60.0, "ping_interval": None, **more}
    return open_socket(f"ws://127.0.0.1:{port}{path}", max_size=None, **options)


@contextlib.contextmanager
def browser(port: int, **more: Any) -> Iterator[Any]:
    """A browser that is connected and has said where its camera is."""
    with connect(port, **more) as made:
        made.send(say("ViewerCameraMessage", **CAMERA))
        yield made


def ask(port: int, request: bytes, seconds: float = 60.0) -> bytes:
    """The beginning of the response to a request, byte by byte as given; empty if there is none."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as made:
        try:
            made.sendall(request)
            return made.recv(4096)
        except (ConnectionError, TimeoutError):
            return b""


def handshake(host: str, *origins: str) -> bytes:
    """The request of a WebSocket with these headers."""
    import viser

    lines = ["GET / HTTP/1.1", f"Host: {host}", *(f"Origin: {origin}" for origin in origins)]
    lines += ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
    lines += ["Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==", f"Sec-WebSocket-Protocol: viser-v{viser.__version__}"]
    return "\r\n".join([*lines, "", ""]).encode()
