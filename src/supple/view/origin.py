"""Origins: whether a request to a page comes from the page itself, by its headers Host and Origin."""

from __future__ import annotations

import ipaddress
import re
import socket

_AUTHORITY = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::([0-9]{1,5}))?", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443}


def is_loopback(name: str) -> bool:
    """Whether a host name or address, without brackets, always means this machine."""
    try:
        return name == "localhost" or ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def is_own_name(header: str, host: str) -> bool:
    """Whether the header Host names this machine, for a page that listens on ``host``.

    Against DNS rebinding: a foreign web site can let its own name point to this machine, and then its pages have the
    same origin as ours, but Host still has the name of the site. An address cannot be rebound. If the page is served to
    this machine only, only names and addresses of the loopback are right.
    """
    found = _AUTHORITY.fullmatch(header)
    if found is None:
        return False
    name = (found[1] or found[2]).lower()
    if is_loopback(name):
        return True
    if is_loopback(host):
        return False
    return _is_address(name) or name in _machine_names(host)


def is_same_origin(origin: str, header: str) -> bool:
    """Whether the header Origin is that of a page from the place in the header Host: same host, same port."""
    scheme, separator, rest = origin.partition("://")
    port = _DEFAULT_PORTS.get(scheme)
    one, other = _AUTHORITY.fullmatch(rest), _AUTHORITY.fullmatch(header)
    if not separator or port is None or one is None or other is None:
        return False
    return _place(one, port) == _place(other, port)


def _place(found: re.Match[str], port: int) -> tuple[str, int]:
    return (found[1] or found[2]).lower(), int(found[3] or port)


def _is_address(name: str) -> bool:
    try:
        return not ipaddress.ip_address(name).is_unspecified
    except ValueError:
        return False


def _machine_names(host: str) -> set[str]:
    name = socket.gethostname().lower()
    short = name.partition(".")[0]
    return {host.lower(), name, short, f"{short}.local"} - {""}
