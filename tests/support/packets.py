"""Packets for the tests of the network, and a way to wait for what other threads do."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from supple import Frame
from supple.teleop.command import Command
from supple.teleop.network import wire


def command(sequence: int, x: float = 0.0, stamp: float = math.nan, engaged: bool = True) -> Command:
    return Command(Frame.at([x, 0, 0]), engaged, stamp, sequence)


def packet(sequence: int, x: float = 0.0, token: str = "", form: wire.Form = wire.Form.BINARY) -> bytes:
    return wire.encode(command(sequence, x), token, form)


def until(true: Callable[[], bool]) -> bool:
    """Waits for something that another thread does."""
    end = time.monotonic() + 120  # far more than it takes, for a busy machine
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.002)
    return False


@contextmanager
def sender() -> Iterator[socket.socket]:
    """A socket that sends and hears datagrams, and waits 60 s at most."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.settimeout(60)
        made.bind(("127.0.0.1", 0))
        yield made
