"""Network sources and sinks, with real sockets on this machine."""

from __future__ import annotations

import contextlib
import itertools
import logging
import math
import random
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from packets import command, packet, sender, until
from supple import BadInput, Frame, MissingExtra, Solver, TrackingStatus, models
from supple.teleop.command import Command, Tick
from supple.teleop.network import Counts, UdpSink, UdpSource, WebSocketSink, WebSocketSource, wire

TOKEN = "correct horse"
ARM = models.ur5()
START = ARM.q(shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.0, wrist_2_joint=-1.2)


def tick(number: int, sequence: int = 9) -> Tick:
    follow = Solver().track(ARM, "tool0", start=START)
    goal = ARM.frame(START, "tool0")
    step = follow.step(goal, 1 / 300)
    said = command(sequence)
    return Tick(number, number / 300, 1 / 300, 0.0, said, True, goal.matrix[None], math.nan, None, step, "", None)


def test_a_command_by_udp_is_read_and_answered() -> None:
    source = UdpSource(0)
    sink = UdpSink(source)
    with contextlib.closing(source), sender() as operator:
        assert source.read() is None
        sink.write(tick(0))
        assert sink.unsent == 1  # nobody drives yet
        got = []
        for form in wire.Form:
            operator.sendto(packet(5 + len(got), 0.25, form=form), (source.host, source.port))
            assert until(lambda: bool((read := source.read()) and got.append(read) is None))
            assert got[-1].hand == Frame.at([0.25, 0, 0])
        sink.write(tick(1, sequence=6))
        answer = wire.decode_answer(operator.recv(65536))
        assert isinstance(answer, wire.Answer)
        assert (answer.number, answer.sequence, answer.status) == (1, 6, TrackingStatus.FOLLOWING)
        assert np.array_equal(answer.q, tick(1).step.q)
        assert answer.error.shape == (1, 6)
    sink.close()


def test_garbage_and_giants_by_udp_are_counted_and_dropped() -> None:
    draw = random.Random(2)
    source = UdpSource(0, limit=1e5)
    with contextlib.closing(source), sender() as stranger, sender() as operator:
        there = (source.host, source.port)
        sent = [draw.randbytes(draw.randrange(1, 300)) for _ in range(300)] + [
            b"",
            bytes(9000),
            packet(1) + bytes(9000),
        ]
        for k, data in enumerate(sent):
            stranger.sendto(data, there)
            assert until(lambda k=k: source.counts.received == k + 1)  # type: ignore[misc]
        assert source.counts == Counts(received=303, malformed=303)
        operator.sendto(packet(1), there)
        assert until(lambda: source.read() is not None)
        stranger.sendto(packet(1), there)
        assert isinstance(wire.decode_answer(stranger.recv(65536)), wire.Refusal)
        assert source.counts.refused == 1
        assert "303 malformed, 1 refused" in repr(source)


def test_a_flood_of_strangers_does_not_drown_the_operator() -> None:
    with contextlib.closing(UdpSource(0)) as source, sender() as operator, sender() as stranger:
        there, read = (source.host, source.port), 0
        operator.sendto(packet(1), there)
        assert until(lambda: source.read() is not None)
        for k in range(2, 22):
            for _ in range(400):
                stranger.sendto(packet(k, 5.0), there)
            operator.sendto(packet(k), there)
            end, said = time.monotonic() + 1.0, None
            while said is None and time.monotonic() < end:  # it may have been lost in the flood
                time.sleep(0.002)
                said = source.read()
            assert said is None or said.hand == Frame()
            read += said is not None
        assert read >= 10


def test_a_sink_sends_to_an_arm_by_udp_in_either_form() -> None:
    with sender() as arm:
        for form in wire.Form:
            sink = UdpSink(arm.getsockname(), form)
            sink.write(tick(7))
            answer = wire.decode_answer(arm.recv(65536))
            assert isinstance(answer, wire.Answer)
            assert answer.number == 7
            assert sink.unsent == 0
            sink.close()


@pytest.mark.parametrize("source", [UdpSource, WebSocketSource])
def test_what_other_machines_can_reach_needs_a_token_and_says_so(
    source: type[UdpSource] | type[WebSocketSource], caplog: pytest.LogCaptureFixture
) -> None:
    if source is WebSocketSource:
        pytest.importorskip("websockets")
    for host in ("0.0.0.0", ""):
        with pytest.raises(BadInput, match="other machines"):
            source(0, host)
    with caplog.at_level(logging.WARNING), contextlib.closing(source(0)):
        assert caplog.text == ""
    with caplog.at_level(logging.WARNING), contextlib.closing(source(0, "0.0.0.0", TOKEN)):
        assert "can drive the arm" in caplog.text
    with contextlib.closing(source(0)) as first, pytest.raises(BadInput, match=f"{first.port}"):
        source(first.port)


@pytest.mark.parametrize(
    "given",
    [
        {"port": 70000},
        {"port": "x"},
        {"host": "no such host.invalid"},
        {"token": "short"},
        {"token": "ü" * 9},
        {"token": "a" * 65},
        {"limit": 0},
        {"limit": math.inf},
        {"release": -1},
        {"release": math.nan},
    ],
)
def test_a_source_refuses_what_it_cannot_be(given: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        UdpSource(**({"port": 0} | given))


@pytest.mark.parametrize("to", ["here", ("no such host.invalid", 1), ("127.0.0.1", 70000), 5, None])
def test_a_sink_refuses_what_is_no_address(to: Any) -> None:
    with pytest.raises(BadInput):
        UdpSink(to)


# -- WebSocket ------------------------------------------------------------------------------------------------------


@pytest.fixture
def connect() -> Callable[..., Any]:
    client = pytest.importorskip("websockets.sync.client")

    def connected(source: WebSocketSource, **more: Any) -> Any:
        options = {"open_timeout": 60.0, "ping_interval": None, **more}
        return client.connect(f"ws://{source.host}:{source.port}", **options)

    return connected


def test_a_command_by_websocket_is_read_answered_and_let_go_of(connect: Callable[..., Any]) -> None:
    source = WebSocketSource(0, release=600)
    sink = WebSocketSink(source)
    got: list[Command] = []

    def read() -> bool:
        said = source.read()
        return said is not None and got.append(said) is None

    with contextlib.closing(source):
        sink.write(tick(0))
        assert sink.unsent == 1
        with connect(source) as first, connect(source) as second:
            first.send(packet(1, 0.5, form=wire.Form.JSON).decode())
            assert until(read)
            assert got[-1].hand == Frame.at([0.5, 0, 0])
            first.send(packet(2, form=wire.Form.BINARY))
            assert until(read)
            second.send(packet(2))
            assert isinstance(wire.decode_answer(second.recv()), wire.Refusal)
            for number in range(3):
                sink.write(tick(number))
                answer = wire.decode_answer(first.recv().encode())  # in the form that it began with
                assert isinstance(answer, wire.Answer)
                assert answer.number == number
            first.close()
            assert until(read)
            assert not got[-1].engaged
            second.send(packet(3))
            assert until(lambda: read() and got[-1].engaged)
        assert source.counts.refused == 1


def test_garbage_by_websocket_is_counted_and_a_giant_ends_its_connection(connect: Callable[..., Any]) -> None:
    import websockets

    source = WebSocketSource(0)
    with contextlib.closing(source):
        with connect(source) as stranger:
            for data in (b"", b"garbage", "garbage", "{}", packet(1)[:-1]):
                stranger.send(data)
            assert until(lambda: source.counts.malformed == 5)
            stranger.send(bytes(wire.MAX_BYTES + 1))
            with pytest.raises(websockets.ConnectionClosed):
                stranger.recv()
        assert until(lambda: source.counts.malformed == 6)
        with socket.create_connection((source.host, source.port)) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\n" + random.Random(3).randbytes(500) + b"\r\n\r\n")
            stranger.recv(1000)
        with connect(source) as operator:
            operator.send(packet(1))
            assert until(lambda: source.read() is not None)


def test_a_web_page_may_not_drive_unless_it_knows_the_token(connect: Callable[..., Any]) -> None:
    import websockets

    with contextlib.closing(WebSocketSource(0)) as source:
        foreign = ["https://example.com", "http://127.0.0.1.example.com", "null", "http://[", "file://"]
        foreign += [f"http://127.0.0.1:{source.port + 1}", "http://localhost:8080", f"http://localhost:{source.port}"]
        for origin in foreign:
            with pytest.raises(websockets.InvalidStatus):
                connect(source, origin=origin)
        assert source.counts.refused == len(foreign)
        connect(source, origin=f"http://127.0.0.1:{source.port}").close()  # a page of this very port
    source = WebSocketSource(0, token=TOKEN)
    with contextlib.closing(source), connect(source, origin="https://example.com") as page:
        page.send(packet(1))
        assert isinstance(wire.decode_answer(page.recv()), wire.Refusal)
        page.send(packet(2, token=TOKEN))
        assert until(lambda: source.read() is not None)


def test_a_name_that_is_rebound_to_this_machine_is_refused(connect: Callable[..., Any]) -> None:
    import websockets

    with contextlib.closing(WebSocketSource(0)) as source:
        for host in ("evil.example", f"evil.example:{source.port}", "127.0.0.1.evil.example", "0.0.0.0", "127.0.0.1 ."):
            for more in ({}, {"origin": f"http://{host}"}):
                with socket.create_connection((source.host, source.port)) as stranger:
                    origin = f"Origin: {more['origin']}\r\n" if more else ""
                    key = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\n"
                    ask = f"GET / HTTP/1.1\r\nHost: {host}\r\n{origin}{key}Sec-WebSocket-Version: 13\r\n\r\n"
                    stranger.sendall(ask.encode())
                    assert stranger.recv(100).startswith(b"HTTP/1.1 403")
        assert websockets  # it is installed


def test_a_flood_of_bare_connections_does_not_keep_the_operator_out(connect: Callable[..., Any]) -> None:
    source = WebSocketSource(0)
    with contextlib.closing(source), contextlib.ExitStack() as stack:
        inside = 0
        for k in range(300):
            one = stack.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex((source.host, source.port))
            if k % 15 == 14:
                with contextlib.suppress(Exception), connect(source) as operator:
                    operator.send(packet(k + 1))
                    inside += until(lambda: source.read() is not None)
        assert inside >= 18


def test_connections_that_say_nothing_do_not_keep_the_operator_out(connect: Callable[..., Any]) -> None:
    import websockets

    with contextlib.closing(WebSocketSource(0)) as source, contextlib.ExitStack() as stack:
        idle = [stack.enter_context(connect(source)) for _ in range(8)]
        idle[3].send(packet(1)[:-1])  # malformed: it says nothing either
        operator = stack.enter_context(connect(source))
        operator.send(packet(1))
        assert until(lambda: source.read() is not None)
        with pytest.raises(websockets.ConnectionClosed):
            idle[0].recv(timeout=60)
        for _ in range(20):  # a crowd takes no place from the operator
            with contextlib.suppress(websockets.InvalidStatus, websockets.ConnectionClosed):
                stack.enter_context(connect(source)).send(packet(1))
        operator.send(packet(2))
        assert until(lambda: (said := source.read()) is not None and said.sequence == 2)
        assert until(lambda: len(source._last_packet) <= 8)


def test_a_sink_sends_to_an_arm_by_websocket_and_again_when_it_comes_back() -> None:
    server = pytest.importorskip("websockets.sync.server")
    numbers: list[int] = []

    def arm(connection: Any) -> None:
        with contextlib.closing(connection):
            for message in connection:
                numbers.append(wire.decode_answer(message).number)  # type: ignore[union-attr]
                if len(numbers) == 1:
                    return  # it goes away

    served = server.serve(arm, "127.0.0.1", 0)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    port = served.socket.getsockname()[1]
    sink = WebSocketSink(f"ws://127.0.0.1:{port}")
    sink.write(tick(1))
    assert until(lambda: numbers == [1])
    later = itertools.count(2)
    assert until(lambda: sink.write(tick(next(later))) is None and len(numbers) > 1)
    assert numbers == sorted(numbers)
    assert sink.unsent > 0
    sink.close()
    served.shutdown()
    with pytest.raises(BadInput, match="listens"):
        WebSocketSink(f"ws://127.0.0.1:{port}")
    for wrong in ("http://127.0.0.1", "nonsense", 5):
        with pytest.raises(BadInput):
            WebSocketSink(wrong)  # type: ignore[arg-type]


def test_without_the_package_a_websocket_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("websockets.asyncio.server", "websockets.sync.client"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match="teleop"):
        WebSocketSource(0)
    with pytest.raises(MissingExtra, match="teleop"):
        WebSocketSink("ws://127.0.0.1:1")
