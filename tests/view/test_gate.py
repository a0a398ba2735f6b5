"""Who may use a page: only the page itself, as its own server gave it; forged browsers and strangers are refused."""

from __future__ import annotations

import contextlib
import http.server
import math
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import browser as chromium_tests
import supple.view
from forged import ask, browser, connect, handshake, say
from packets import until
from supple import SuppleError, models
from supple.view.origin import is_own_name, is_same_origin

pytest.importorskip("viser")
from supple.view import messages, server

pytestmark = pytest.mark.slow  # sockets of this machine


@pytest.fixture
def viewer() -> Iterator[supple.view.Viewer]:
    with supple.view.serve(models.planar2(), port=0) as made:
        yield made


def uuid(viewer: supple.view.Viewer) -> str:
    return str(viewer._panel._sliders[0]._impl.uuid)


def moves(viewer: supple.view.Viewer, one: Any, value: float = 0.25) -> bool:
    """Whether a browser can still move the first slider."""
    one.send(say("GuiUpdateMessage", uuid=uuid(viewer), updates={"value": value}))
    return until(lambda: viewer.q[0] == pytest.approx(value))


def listen(one: Any) -> None:
    """Receives until the connection ends."""
    while True:
        one.recv(timeout=60)


# -- origins ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        ("http://127.0.0.1:8080", "127.0.0.1:8080", True),
        ("http://LOCALHOST:8080", "localhost:8080", True),
        ("http://[::1]:8080", "[::1]:8080", True),
        ("http://robot", "robot:80", True),
        ("https://robot:443", "robot", True),
        ("http://127.0.0.1:3000", "127.0.0.1:8080", False),
        ("http://localhost:8080", "127.0.0.1:8080", False),
        ("http://127.0.0.1:8080.evil.example", "127.0.0.1:8080", False),
        ("http://127.0.0.1:8080@evil.example", "127.0.0.1:8080", False),
        ("http://evil.example#127.0.0.1:8080", "127.0.0.1:8080", False),
        ("file://127.0.0.1:8080", "127.0.0.1:8080", False),
        ("null", "127.0.0.1:8080", False),
        ("", "", False),
        ("http://", "", False),
    ],
)
def test_an_origin_is_the_same_only_with_the_same_host_and_port(origin: str, host: str, same: bool) -> None:
    assert is_same_origin(origin, host) is same


@pytest.mark.parametrize(
    ("header", "host", "own"),
    [
        ("localhost:8080", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("[::1]:8080", "localhost", True),
        ("evil.example:8080", "127.0.0.1", False),
        ("localhost.evil.example", "127.0.0.1", False),
        ("192.168.0.7:8080", "127.0.0.1", False),
        ("0.0.0.0:8080", "127.0.0.1", False),
        (f"{socket.gethostname()}:8080", "127.0.0.1", False),
        ("192.168.0.7:8080", "0.0.0.0", True),
        ("localhost:8080", "0.0.0.0", True),
        (f"{socket.gethostname()}:8080", "0.0.0.0", True),
        ("robot.example:8080", "robot.example", True),
        ("evil.example:8080", "0.0.0.0", False),
        ("127.0.0.1 evil.example", "127.0.0.1", False),
        ("", "127.0.0.1", False),
    ],
)
def test_a_page_has_the_names_of_its_machine_only(header: str, host: str, own: bool) -> None:
    assert is_own_name(header, host) is own


def test_a_web_page_of_another_origin_moves_no_slider(viewer: supple.view.Viewer) -> None:
    import websockets

    before, port = viewer.q, viewer.port
    for origin in (None, "https://evil.example", "null", "http://localhost:3000", f"http://127.0.0.1:{port + 1}"):
        with pytest.raises(websockets.InvalidStatus, match="403"), browser(port, origin=origin) as stranger:
            moves(viewer, stranger)
    own = f"http://127.0.0.1:{port}"
    for request in (
        handshake("evil.example", "http://evil.example"),  # a name that is rebound to this machine
        handshake(f"127.0.0.1:{port}", own, "https://evil.example"),
        handshake(f"127.0.0.1:{port}\r\nHost: evil.example", own),
        b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ):
        assert ask(port, request)[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 421", b"HTTP/1.1 400")
    assert np.array_equal(viewer.q, before)
    with browser(port) as page:
        assert moves(viewer, page)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.gate
def test_a_web_page_in_a_real_browser_cannot_reach_the_viewer(viewer: supple.view.Viewer, chromium: Any) -> None:
    import viser

    class Evil(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    script = """([url, protocol]) => new Promise((done) => {
        const socket = new WebSocket(url, [protocol]);
        socket.onopen = () => done("open");
        socket.onerror = () => done("refused");
    })"""
    words = [f"ws://127.0.0.1:{viewer.port}", f"viser-v{viser.__version__}"]
    framed, answers = f"http://127.0.0.1:{viewer.port}", list[int]()
    tab = chromium.new_page()
    tab.on("response", lambda said: answers.append(said.status) if said.url == f"{framed}/" else None)
    try:
        tab.goto(f"http://127.0.0.1:{site.server_port}")
        assert tab.evaluate(script, words) == "refused"
        tab.evaluate("(url) => { document.body.innerHTML = `<iframe src=${url}></iframe>` }", framed)
        assert chromium_tests.until(tab, lambda: answers)
        assert answers == [403]
        assert not viewer._server.get_clients()  # the frame stays empty: nobody is led to click in it
    finally:
        tab.close()
        site.shutdown()
        site.server_close()


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_a_crowd_of_browsers_is_limited_and_silent_ones_give_way(viewer: supple.view.Viewer) -> None:
    import websockets

    live = viewer._server._websock_server._live_connections
    with contextlib.ExitStack() as stack:
        page = stack.enter_context(browser(viewer.port))
        assert moves(viewer, page)
        for _ in range(40):
            with contextlib.suppress(websockets.WebSocketException, OSError):
                stack.enter_context(connect(viewer.port))  # they say nothing
        assert until(lambda: len(live) <= server.MAX_BROWSERS)
        second = stack.enter_context(browser(viewer.port))
        assert moves(viewer, second, 0.5)
        assert moves(viewer, page, 0.75)  # the one that speaks was not driven out


def test_as_many_browsers_as_allowed_stay_and_the_next_is_refused(viewer: supple.view.Viewer) -> None:
    import websockets

    with contextlib.ExitStack() as stack:
        pages = [stack.enter_context(browser(viewer.port)) for _ in range(server.MAX_BROWSERS)]
        for k, page in enumerate(pages):
            assert moves(viewer, page, 0.1 * k)
        with pytest.raises(websockets.InvalidStatus, match="503"):
            connect(viewer.port)


def test_half_a_request_keeps_nobody_out(viewer: supple.view.Viewer) -> None:
    with contextlib.ExitStack() as stack:
        for k in range(80):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", viewer.port), timeout=60))
            with contextlib.suppress(OSError):
                one.sendall(b"GET / HTTP/1.1\r\nHost: 127" if k % 2 else b"")
        assert until(lambda: len(viewer._server.gate.sockets._open) <= 32)
        time.sleep(1.0)  # the rate of connections
        with browser(viewer.port) as page:
            assert moves(viewer, page)


@contextlib.contextmanager
def bare_connects(port: int, rate: float = 400.0) -> Iterator[list[int]]:
    """A flood of connections that say nothing; half of them stay open."""
    ended, count, kept = threading.Event(), [0], list[socket.socket]()

    def flood() -> None:
        while not ended.wait(1 / rate):  # no faster after a pause of the machine, in which the server paused too
            count[0] += 1
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
            (kept.append if count[0] % 2 else socket.socket.close)(one)
            if len(kept) > 200:
                kept.pop(0).close()

    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    try:
        yield count
    finally:
        ended.set()
        thread.join()
        for one in kept:
            one.close()


def test_a_flood_of_bare_connections_keeps_no_honest_browser_out(viewer: supple.view.Viewer) -> None:
    inside, tried = 0, 0
    with bare_connects(viewer.port) as count:
        assert until(lambda: count[0] > 100)
        while tried < 40 or count[0] < 400:
            with contextlib.suppress(Exception), connect(viewer.port):
                inside += 1
            answer = ask(viewer.port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            tried, inside = tried + 2, inside + answer.startswith(b"HTTP/1.1 200")
    assert inside >= 0.9 * tried
    assert until(lambda: len(viewer._server.gate.sockets._open) <= 32)
    with browser(viewer.port) as page:
        assert moves(viewer, page)


def test_a_flood_of_a_foreign_web_page_is_refused_and_keeps_nobody_out(viewer: supple.view.Viewer) -> None:
    own = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\n"
    foreign = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: empty\r\n\r\n"
    answers = [ask(viewer.port, (own + foreign).encode())[:12] for _ in range(150)]
    assert set(answers) <= {b"HTTP/1.1 403", b""}
    assert b"" in answers  # so many are not even answered
    followed = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\r\n"
    for headers in (followed, "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: script\r\n\r\n", "\r\n"):
        assert ask(viewer.port, (own + headers).encode()).startswith(b"HTTP/1.1 200")
    with browser(viewer.port) as page:
        assert moves(viewer, page)


def test_large_and_fast_messages_do_not_fill_the_memory(viewer: supple.view.Viewer) -> None:
    import websockets

    kept = viewer._server._websock_server._broadcast_buffer.message_from_id
    before = len(kept)
    with browser(viewer.port) as stranger:
        assert moves(viewer, stranger)
        for k in range(40):
            stranger.send(say("GuiFormDirtyMessage", uuid=f"{k}" + "x" * 60_000))
        assert until(lambda: viewer._server.gate.dropped >= 40)
        assert len(kept) <= before + 2
        stranger.send(say("GuiUpdateMessage", uuid="x" * 2**16, updates={"value": 1.0}))
        with pytest.raises(websockets.ConnectionClosed):
            listen(stranger)


# -- messages ---------------------------------------------------------------------------------------------------------


def test_nobody_can_publish_the_page(viewer: supple.view.Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    from viser import _viser

    tunnels: list[object] = []
    monkeypatch.setattr(_viser, "ViserTunnel", lambda *place: tunnels.append(place))
    with browser(viewer.port) as page:
        page.send(say("ShareUrlRequest"))
        page.send(say("ShareUrlDisconnect"))
        assert moves(viewer, page)
    assert viewer._server.request_share_url() is None
    assert not tunnels
    assert viewer._server.gate.dropped == 2


HOSTILE = [
    b"",
    b"\xc1",
    b"\x91" * 50_000,  # deep
    b"\xdd\xff\xff\xff\xff",  # a list of 4 294 967 295 elements
    b"\x81\xa4type\xdd\xff\xff\xff\xff",
    b"\x83\xa4type\xb0GuiUpdateMessage\xa4uuid\xa1x\xa7updates\xdf\xff\xff\xff\xff",
    b"\x83\xa4type\xb0GuiUpdateMessage\xa4uuid\xc6\xff\xff\xff\xffx",
    b"\x82\xa4type\xb0GuiUpdateMessage\xa4uuid\xa2\xff\xfe\xa7updates\x80",  # not UTF-8
]


def test_messages_that_no_page_would_send_change_nothing(viewer: supple.view.Viewer) -> None:
    slider, tip = viewer._panel._sliders[0], viewer._panel._tip
    here, before = uuid(viewer), viewer.q
    state, callbacks = vars(slider._impl).copy(), list(slider._impl.update_cb)
    updates: list[dict[str, Any]] = [
        {"value": x} for x in (math.nan, math.inf, -math.inf, 1e9, -99.0, "1", True, None, [1])
    ]
    updates += [{}, {"removed": True}, {"update_cb": []}, {"value": 0.3, "min": -9.0}, {"sync_cb": None}, {"_value": 1}]
    said = [say("GuiUpdateMessage", uuid=here, updates=one) for one in updates]
    said += [say("GuiUpdateMessage", uuid=tip._impl.uuid, updates={"value": "no such link"})]
    said += [say("GuiUpdateMessage", uuid="no such control", updates={"value": 0.5})]
    said += [say("GuiUpdateMessage", uuid=here), say("GuiUpdateMessage", uuid=here, updates={"value": 0.5}, more=1)]
    said += [
        say("RunJavascriptMessage", source="alert(1)"),
        say("ResetGuiMessage"),
        say("GuiFormSubmitMessage", uuid="x"),
    ]
    said += [say("GetRenderResponseMessage", payload=b"", render_uuid="x"), say("no such message"), say("Message")]
    said += HOSTILE
    with browser(viewer.port) as page:
        for one in said:
            page.send(one)
        page.send("text")
        assert until(lambda: viewer._server.gate.dropped == len(said) + 1)
        assert np.array_equal(viewer.q, before)
        assert slider._impl.update_cb == callbacks
        assert {**vars(slider._impl), "update_timestamp": 0} == {**state, "update_timestamp": 0}
        assert moves(viewer, page)


def test_a_message_in_fragments_is_read_and_a_broken_frame_ends_its_connection(viewer: supple.view.Viewer) -> None:
    import websockets

    whole = say("GuiUpdateMessage", uuid=uuid(viewer), updates={"value": 0.625})
    with browser(viewer.port) as page:
        page.send([whole[:5], whole[5:6], b"", whole[6:]])
        assert until(lambda: viewer.q[0] == pytest.approx(0.625))
        page.socket.sendall(b"\xff\xff" + bytes(8) + b"\xff" * 100)  # reserved bits and a length of 0
        with pytest.raises(websockets.ConnectionClosed):
            listen(page)
    with browser(viewer.port) as page:
        assert moves(viewer, page)


def test_compression_is_not_agreed_upon(viewer: supple.view.Viewer) -> None:
    with connect(viewer.port, compression="deflate") as page:
        assert page.protocol.extensions == []


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%5c..%5cetc/passwd",
        "//etc/passwd",
        "/%00",
        "/assets/..",
    ],
)
def test_only_the_files_of_the_page_are_served(viewer: supple.view.Viewer, path: str) -> None:
    answer = ask(viewer.port, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert answer[:12] in (b"HTTP/1.1 404", b"HTTP/1.1 400")
    assert b"root:" not in answer


def test_huge_headers_are_refused(viewer: supple.view.Viewer) -> None:
    for header in (b"X: " + b"x" * 100_000, b"\r\n".join(b"X%d: x" % k for k in range(1000))):
        answer = ask(viewer.port, b"GET / HTTP/1.1\r\nHost: localhost\r\n" + header + b"\r\n\r\n")
        assert not answer.startswith(b"HTTP/1.1 200")
    assert ask(viewer.port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_another_web_page_cannot_show_the_page_in_a_frame(viewer: supple.view.Viewer) -> None:
    answer = ask(viewer.port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert b"frame-ancestors 'none'" in answer


def test_a_viser_that_cannot_be_guarded_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    import viser

    monkeypatch.setattr(server, "_guarded", lambda gate: viser.ViserServer)
    with pytest.raises(SuppleError, match="cannot be guarded"):
        supple.view.serve(models.planar2(), port=0)


def test_every_accepted_message_has_the_fields_of_visers() -> None:
    import dataclasses

    from viser import _messages

    for accepted in messages.DRIVE:
        theirs = {field.name for field in dataclasses.fields(getattr(_messages, accepted.__name__))}
        assert set(accepted.__struct_fields__) == theirs
