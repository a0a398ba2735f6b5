"""The address of a page: a free port, the URL, and opening it in a browser."""

from __future__ import annotations

import errno
import os
import socket
import sys
import threading
from contextlib import suppress

from supple import _check
from supple.errors import BadInput

TRIES = 100  # ports to try, from the requested one


def free_port(host: str, port: int) -> int:
    """The first free port from the given one on; raises `BadInput` if there is none, or if the host is not valid."""
    port = _check.whole(port, "port", 0, 65535)
    last = min(port + TRIES, 65536) - 1
    for candidate in range(port, last + 1):
        if _is_free(host, candidate):
            return candidate
    raise BadInput(f"no free port between {port} and {last}")


def _is_free(host: str, port: int) -> bool:
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            if os.name == "posix":  # as the server does: a port that was just closed is free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except (socket.gaierror, UnicodeError) as error:
        raise BadInput(f"host {host!r} is not an address: {error}") from None
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise BadInput(f"cannot listen on host {host!r}: {error.strerror or error}") from None
        return False
    return True


def shown(host: str) -> str:
    """The host in a URL for a browser on this machine."""
    if host in ("", "0.0.0.0", "::"):
        return "localhost"
    return f"[{host}]" if ":" in host else host


def network_urls(host: str, port: int) -> list[str]:
    """URLs for browsers of other machines: with the address it listens on, or this machine's own in its network."""
    if host not in ("", "0.0.0.0", "::"):
        return [f"http://{shown(host)}:{port}"]
    found = []
    for family, far in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        # asks the system which of its addresses it would use; no packet is sent
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((far, 9))
            found.append(str(probe.getsockname()[0]))
    chosen = [place for place in found if ":" not in place] if host != "::" else found
    return [f"http://{shown(place)}:{port}" for place in chosen or [socket.gethostname()]]


def open_page(url: str) -> None:
    """Open a page in a browser; not on a machine without a screen, where a text browser would take the terminal."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
