"""Strangers and frozen browsers at the tele-operation page: they do not move the arm, nor keep others from it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from browser import PATIENCE, patient, plain
from forged import browser, connect, say
from packets import until
from supple import BadLinkage, Frame, Solver, models
from supple.teleop import Command, Mapping, drive
from supple.teleop.command import Tick
from supple.teleop.page import Page, handles, heartbeat, serve
from supple.teleop.page.arm import MAX_UPLOAD, Arm, from_upload
from supple.teleop.page.controls import Controls
from supple.teleop.page.handles import HandleSource, Script
from supple.teleop.page.heartbeat import INTERVALS
from supple.teleop.page.queue import Queue
from supple.teleop.page.session import Session
from supple.teleop.watchdog import Silent

pytest.importorskip("viser")
from supple.teleop.page import actions
from supple.view import server

pytestmark = pytest.mark.slow  # threads in real time
SILENT = heartbeat.PATIENCE
URDF = """<robot name="two_turns"><link name="base"/><link name="upper"/><link name="fore"/>
<joint name="a" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" velocity="2"/></joint>
<joint name="b" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
<limit lower="0.2" upper="2" velocity="2"/></joint></robot>"""


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """A page whose browsers are never silent, unless a test says `silence_counts`: a busy machine may be late."""
    with patient(), serve(models.ur5(), port=0, folder=tmp_path) as made:
        yield made


def silence_counts(page: Page, patched: pytest.MonkeyPatch, counts: bool) -> None:
    """Whether a browser that is silent for a quarter of a second moves nothing."""
    patched.setattr(heartbeat, "PATIENCE", SILENT if counts else PATIENCE)
    for one in page._heartbeats.values():
        one._watchdog.patience = heartbeat.PATIENCE


def stands(page: Page) -> np.ndarray:
    """Where the end effector is (3,), once the arm stands."""
    assert until(lambda: not page.session.newest.step.velocity.any())
    return tool(page)


class Driver:
    """A forged browser that drives: it sends samples of the handle, and beats while `beating`."""

    def __init__(self, page: Page, socket: Any, stack: contextlib.ExitStack, place: int = 0) -> None:
        self.page, self.socket = page, socket
        assert until(lambda: len(page._clients) > place and len(page._heartbeats) > place)
        self.number = max(page._heartbeats)
        self.beats = stack.enter_context(connect(page.port, page._heartbeats[self.number].path))
        self.beating, self.delay, self.ended = True, 0.0, threading.Event()
        threading.Thread(target=self._beat, daemon=True).start()
        stack.callback(self.ended.set)
        self.listening = threading.Thread(target=self._listen, daemon=True)
        self.listening.start()

    def _beat(self) -> None:
        with contextlib.suppress(Exception):
            while not self.ended.wait(INTERVALS[1] / 2):
                if self.beating:
                    self.beats.send(str(time.monotonic() - self.delay))

    def _listen(self) -> None:
        with contextlib.suppress(Exception):
            while True:
                self.socket.recv()

    def say(self, kind: str, **fields: Any) -> None:
        owner = self.page._clients[self.number][0].scene._owner_id
        self.socket.send(say(kind, name="/handles/0", owner=owner, **fields))

    def sample(self, frame: Frame) -> None:
        self.say(
            "TransformControlsUpdateMessage", wxyz=frame.to_quaternion().tolist(), position=frame.position.tolist()
        )

    def is_at(self, frame: Frame) -> bool:
        """Whether the handle is at a frame: the page has received its sample."""
        return bool(np.abs(self.page.session.source.handles[0].frame.matrix - frame.matrix).max() < 1e-6)

    def drag(self, by: float) -> None:
        """Drags the handle along z, in steps, as a hand does."""
        start = self.page.session.source.handles[0].frame
        self.say("TransformControlsDragStartMessage")
        for u in np.linspace(0, by, 10)[1:]:
            self.sample(Frame.at([0, 0, u]) @ start)
            time.sleep(0.03)


@contextlib.contextmanager
def driving(page: Page) -> Iterator[Driver]:
    with contextlib.ExitStack() as stack:
        driver = Driver(page, stack.enter_context(browser(page.port)), stack)
        assert until(lambda: page.drivers.driver == driver.number and not page.session.loop.held)
        yield driver


def tool(page: Page) -> np.ndarray:
    return page.session.arm.frames(page.session.q)[0].position


# -- silence ----------------------------------------------------------------------------------------------------------


def test_a_silent_browser_holds_the_arm_and_what_it_says_then_is_where_it_goes_on(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    with driving(page) as driver:
        start = tool(page)
        driver.drag(0.05)
        assert until(lambda: tool(page)[2] > start[2] + 0.045)
        driver.beating = False
        silence_counts(page, monkeypatch, True)
        assert until(lambda: page.session.loop.held == handles.TOO_SLOW)
        rest, handle = stands(page), page.session.source.handles[0].frame
        far = Frame.at([0, 0.45, 0]) @ handle
        driver.sample(far)
        assert until(lambda: driver.is_at(far))
        time.sleep(0.3)
        assert np.abs(tool(page) - rest).max() < 1e-3
        driver.beating = True
        driver.sample(far)
        assert until(lambda: not page.session.loop.held)
        silence_counts(page, monkeypatch, False)
        driver.sample(far)
        time.sleep(0.3)
        assert np.abs(tool(page) - rest).max() < 1e-3  # it goes on from there
        driver.sample(Frame.at([0, 0, -0.02]) @ far)
        assert until(lambda: tool(page)[2] < rest[2] - 0.015)
        assert np.abs(tool(page) - rest)[:2].max() < 5e-3


def test_a_burst_after_a_silence_is_not_followed(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "SETTLE", 2.0)  # s; what was queued comes before that
    with driving(page) as driver:
        driver.drag(0.02)
        driver.beating = False
        silence_counts(page, monkeypatch, True)
        assert until(lambda: page.session.loop.held == handles.TOO_SLOW)
        rest, handle = stands(page), page.session.source.handles[0].frame
        driver.beating = True
        for u in np.linspace(0, 0.4, 5):  # what a frozen browser had queued, and where its pointer is now
            driver.sample(Frame.at([0, u, 0]) @ handle)
        assert until(lambda: driver.is_at(Frame.at([0, 0.4, 0]) @ handle))
        assert until(lambda: not page.session.loop.held)
        time.sleep(0.3)
        assert np.abs(tool(page) - rest).max() < 1e-3


def test_a_frozen_driver_loses_its_seat_and_has_it_again_when_it_answers(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "SEAT_SECONDS", 1.5)
    with driving(page) as first, contextlib.ExitStack() as stack:
        second = Driver(page, stack.enter_context(browser(page.port)), stack, 1)
        assert until(lambda: page.drivers.queue_position(second.number) == 1)
        first.beating = False
        assert until(lambda: page.drivers.driver == second.number)
        assert page.drivers.queue_position(first.number) is None
        second.beating = False
        assert until(lambda: page.drivers.driver is None)
        assert until(lambda: page.session.loop.held == "nobody drives")
        first.beating = True
        assert until(lambda: page.drivers.driver == first.number)


def test_a_browser_that_does_not_beat_does_not_drive_whatever_it_sends(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    with driving(page) as driver:
        driver.beating = False
        silence_counts(page, monkeypatch, True)
        assert until(lambda: page.session.loop.held == handles.TOO_SLOW)
        rest = stands(page)
        driver.drag(0.2)
        time.sleep(0.3)
        assert np.abs(tool(page) - rest).max() < 1e-3


def test_a_browser_whose_beats_come_late_is_silent(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    with driving(page) as driver:
        silence_counts(page, monkeypatch, True)
        driver.delay = 0.6  # as if they had waited in a full buffer
        assert until(lambda: page.session.loop.held == handles.TOO_SLOW)
        driver.delay = 0.0
        assert until(lambda: not page.session.loop.held)


@pytest.mark.parametrize("beat", ["nan", "inf", "1e300", "x", "9" * 100, b"1.0", ""])
def test_what_is_no_beat_ends_the_channel(page: Page, beat: str | bytes) -> None:
    import websockets

    with driving(page) as driver:
        driver.beating = False
        driver.beats.send(beat)
        with pytest.raises(websockets.ConnectionClosed):
            [driver.beats.recv(timeout=PATIENCE) for _ in range(5)]


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.gate
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be frozen there")
def test_a_stopped_chromium_is_silent_and_loses_its_seat(page: Page, chromium: Any) -> None:
    tab = chromium.new_page()
    plain(page._server)
    tab.goto(page.url)
    tab.get_by_text("method", exact=True).wait_for(timeout=1000 * PATIENCE)
    (number,) = page._heartbeats
    assert until(lambda: page._heartbeats[number]._connection is not None and page.drivers.driver == number)
    found = chromium.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    frozen = [int(one["id"]) for one in found if one["type"] == "renderer"]
    for process in frozen:
        os.kill(process, signal.SIGSTOP)
    try:
        assert until(lambda: page.session.loop.held == handles.TOO_SLOW)
        assert until(lambda: page.drivers.driver is None)
        assert page._heartbeats[number].silence < 4 * heartbeat.SEAT_SECONDS
    finally:
        for process in frozen:
            os.kill(process, signal.SIGCONT)
    assert until(lambda: page.drivers.driver is not None)
    tab.close()


def test_a_silent_source_holds_at_once_and_is_no_failure() -> None:
    said: Iterator[int] = iter(range(120))

    class Source:
        def read(self) -> Command:
            k = next(said)
            if 40 <= k < 80:
                raise Silent("silent for more than 0.25 s")
            return Command(Frame.at([0, 1.0 if k >= 40 else 0.0, 0]))

        def close(self) -> None:
            pass

    arm, ticks = models.ur5(), list[Tick]()
    statistics = drive(Source(), Mapping(), Solver().track(arm, "tool0"), ticks.append)
    held = [tick.held for tick in ticks if tick.held not in ("", "stopping")]
    assert 0 < len(held) <= 40
    assert set(held) == {"silent for more than 0.25 s"}
    assert statistics.failures == 0
    goals = np.array([tick.goals[0, 1, 3] for tick in ticks if not tick.held])
    assert np.ptp(goals) < 1e-3


def test_a_script_waits_while_its_browser_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    now, answers = 100.0, True
    monkeypatch.setattr(handles, "time", SimpleNamespace(monotonic=lambda: now))
    source = HandleSource([Frame()])
    source.alive = True
    source.answers = lambda now: answers
    frames = np.tile(np.eye(4), (200, 1, 1, 1))
    frames[:, 0, 0, 3] = 0.01 * np.arange(200)
    source.play(Script(frames, 0.01 * np.arange(200)), lambda: None)
    now += 0.105
    before = source.read()
    answers = False
    for _ in range(3):
        with pytest.raises(Silent):
            source.read()
        now += 0.2
    answers = True
    after = source.read()
    assert before is not None
    assert after is not None
    assert before.hand == after.hand == Frame.at([0.1, 0, 0])
    now += 0.1
    later = source.read()
    assert later is not None
    assert later.hand == Frame.at([0.2, 0, 0])


# -- strangers --------------------------------------------------------------------------------------------------------


def test_a_page_of_another_port_neither_drives_nor_watches(page: Page) -> None:
    import websockets

    for origin in (None, "https://evil.example", "http://127.0.0.1:3000", f"http://localhost:{page.port}"):
        with pytest.raises(websockets.InvalidStatus, match="403"):
            connect(page.port, origin=origin)
    with driving(page) as driver:
        path = page._heartbeats[driver.number].path
        with pytest.raises(websockets.InvalidStatus):  # the channel of the beats is in use
            connect(page.port, path, subprotocols=None)


@contextlib.contextmanager
def open_to_all(folder: Path, entry: float = PATIENCE) -> Iterator[Page]:
    """A page that asks for its token, and takes no place from a browser because the machine is busy."""
    with patient() as patched:
        patched.setattr(server, "ENTRY_SECONDS", entry)
        for limit in ("CROWDED_SECONDS", "FIRST_SECONDS"):
            patched.setattr(server, limit, PATIENCE)
        with serve(models.planar2(), host="0.0.0.0", port=0, folder=folder) as page:
            yield page


def enter(page: Page, stack: contextlib.ExitStack, **more: Any) -> Any:
    """A browser that is connected and whose first message has been read."""
    made = stack.enter_context(browser(page.port, **more))
    assert until(lambda: all(list(page._server.gate._browsers.values())))
    return made


def test_whoever_has_no_token_gives_way_to_new_browsers_and_the_driver_does_not(tmp_path: Path) -> None:
    with open_to_all(tmp_path, entry=0.0) as page, contextlib.ExitStack() as stack:
        live = page._server._websock_server._live_connections
        enter(page, stack)
        assert until(lambda: len(page._clients) == 1)
        (number,) = page._clients
        assert page.drivers.driver is None
        assert until(lambda: page.drivers.give_token(number, page.token))  # known to the drivers a moment later
        assert page.drivers.driver == number
        for _ in range(3 * server.MAX_BROWSERS):
            enter(page, stack)
        assert until(lambda: len(live) <= server.MAX_BROWSERS)
        assert number in live
        assert page.drivers.driver == number


def test_strangers_from_many_addresses_leave_time_to_enter_the_token(tmp_path: Path) -> None:
    import websockets

    with open_to_all(tmp_path) as page, contextlib.ExitStack() as stack:
        live = page._server._websock_server._live_connections
        operator = enter(page, stack)
        assert until(lambda: len(page._clients) == 1)
        (number,) = page._clients
        for k in range(2 * server.MAX_BROWSERS):
            enter(page, stack, source_address=(f"127.0.1.{k + 2}", 0))
        assert until(lambda: len(live) > 2 * server.MAX_BROWSERS)
        assert number in live
        shown = page._clients[number][1]
        for control, value in ((shown._token, page.token), (shown._button, True)):
            operator.send(say("GuiUpdateMessage", uuid=control._impl.uuid, updates={"value": value}))
        assert until(lambda: page.drivers.driver == number)
        admitted = 0
        for k in range(server.MAX_NEW_BROWSERS):
            with contextlib.suppress(websockets.InvalidStatus):
                enter(page, stack, source_address=(f"127.0.2.{k + 2}", 0))
                admitted += 1
        assert admitted < server.MAX_NEW_BROWSERS
        assert len(live) <= server.MAX_NEW_BROWSERS
        assert page.drivers.driver == number


def test_strangers_leave_when_their_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_to_all(tmp_path) as page, contextlib.ExitStack() as stack:
        live = page._server._websock_server._live_connections
        for _ in range(2 * server.MAX_BROWSERS):
            enter(page, stack)
        assert until(lambda: len(page._clients) == 2 * server.MAX_BROWSERS)
        monkeypatch.setattr(server, "ENTRY_SECONDS", 0.0)
        enter(page, stack)
        assert until(lambda: len(live) == server.MAX_BROWSERS)


def test_messages_with_names_of_their_own_are_not_kept(page: Page) -> None:
    kept = page._server._websock_server._broadcast_buffer.message_from_id
    with driving(page) as driver:
        before = len(kept)
        for kind in ("GuiFormDirtyMessage", "GuiFormSubmitMessage"):
            for k in range(20):
                driver.socket.send(say(kind, uuid=f"{k}" + "x" * (500_000 if k < 3 else 1000)))
        assert until(lambda: page._server.gate.dropped >= 40)
        assert len(kept) < before + 30
        assert page.drivers.driver == driver.number


# -- uploads ----------------------------------------------------------------------------------------------------------


def upload(driver: Driver, content: bytes, size: int | None = None) -> None:
    shown = driver.page._clients[driver.number][1]
    assert isinstance(shown, Controls)
    names = {"source_component_uuid": shown._upload._impl.uuid, "transfer_uuid": f"{time.monotonic()}"}
    said = len(content) if size is None else size
    start = say("FileTransferStartUpload", filename="arm.urdf", mime_type="", part_count=1, size_bytes=said, **names)
    driver.socket.send(start)
    driver.socket.send(say("FileTransferPart", part_index=0, content=content, **names))


@pytest.mark.parametrize(
    ("wrong", "right", "reason"),
    [
        ('xyz="0.4 0 0"', 'xyz="1e150 0 0"', "must be within 1e\\+12 m"),
        ('xyz="0.4 0 0"', 'xyz="0.4 0 -1001"', "a length of 1e\\+03 m"),
        ('xyz="0.4 0 0"', 'xyz="1e-9 0 0"', "its reach is"),
        (
            '<link name="fore"/>',
            '<link name="fore"><visual><geometry><sphere radius="1e99"/></geometry></visual></link>',
            "1e99|1e\\+99",
        ),
    ],
)
def test_an_arm_that_cannot_be_drawn_is_refused(wrong: str, right: str, reason: str) -> None:
    assert from_upload("arm.urdf", URDF.encode()).size < 1
    with pytest.raises(BadLinkage, match=reason):
        from_upload("arm.urdf", URDF.replace(wrong, right).encode())


def test_whatever_is_uploaded_the_page_lives_and_the_driver_drives(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("no tracker")

    with driving(page) as driver:

        def message() -> str:
            return page._actions._message[1]

        def idle() -> bool:  # its answer comes a moment before the next one is taken
            return page._clients[driver.number][1]._uploads._count == 0

        for content in (URDF.replace("0.4", "1e150").encode(), b"", b"\xff\xfe\x00", b"<robot" * 1000):
            page._actions.show_message("", "")
            upload(driver, content)
            assert until(lambda: message() != "")
            assert page._actions._message[0] == "that did not work"
            assert until(idle)
        with monkeypatch.context() as patched:
            make = Session._make_tracker
            patched.setattr(
                Session, "_make_tracker", lambda self, m: make(self, m) if self.arm.linkage.name == "ur5" else fails()
            )
            page._actions.show_message("", "")
            upload(driver, URDF.encode())
            assert until(lambda: "no tracker" in message())
            assert until(idle)
        assert page.session.arm.linkage.name == "ur5"
        assert page.drivers.driver == driver.number
        assert page.session.loop.running
        assert until(lambda: not page.session.loop.held)
        upload(driver, URDF.encode())
        assert until(lambda: page.session.arm.linkage.name == "two_turns")
        assert until(lambda: not page.session.loop.held)


def test_an_upload_that_lies_about_its_size_is_dropped_and_only_the_upload_button_takes_one(page: Page) -> None:
    with driving(page) as driver:
        client, shown = page._clients[driver.number]
        assert isinstance(shown, Controls)
        states, dropped = client.gui._current_file_upload_states, page._server.gate.dropped
        names = {"source_component_uuid": shown._methods._impl.uuid, "transfer_uuid": "x"}
        said = say("FileTransferStartUpload", filename="x", mime_type="", part_count=9, size_bytes=9, **names)
        driver.socket.send(said)
        assert until(lambda: page._server.gate.dropped > dropped)
        assert not states
        names["source_component_uuid"] = shown._upload._impl.uuid
        driver.socket.send(
            say("FileTransferStartUpload", filename="x", mime_type="", part_count=99, size_bytes=1000, **names)
        )
        assert until(lambda: bool(states))  # it says that little comes
        for k in range(MAX_UPLOAD // 500_000 + 2):
            driver.socket.send(say("FileTransferPart", content=bytes(500_000), part_index=k, **names))
        assert until(lambda: not states)


@pytest.mark.parametrize(("kind", "count"), [("revolute", 299), ("floating", 298)])
def test_an_arm_with_too_many_joint_values_is_refused(kind: str, count: int) -> None:
    limit = '<limit lower="-1" upper="1" velocity="1"/>' if kind == "revolute" else ""
    links = "".join(f'<link name="l{k}"/>' for k in range(count + 1))
    joints = "".join(
        f'<joint name="j{k}" type="{kind}"><parent link="l{k}"/><child link="l{k + 1}"/>'
        f'<origin xyz="0.1 0 0"/>{limit}</joint>'
        for k in range(count)
    )
    with pytest.raises(BadLinkage, match="joint values; the page drives at most 64"):
        from_upload("long.urdf", f'<robot name="long">{links}{joints}</robot>'.encode())


def test_an_upload_does_not_take_the_name_of_a_bundled_arm(page: Page) -> None:
    page._actions.upload("arm.urdf", URDF.replace("two_turns", "panda").encode())
    assert page.session.arm.linkage.name == "panda (uploaded)"
    page._actions.choose_arm("panda")
    assert page.session.arm.linkage == models.panda()
    page._actions.choose_arm("panda (uploaded)")
    assert page.session.arm.linkage.dof == 2


class Slow:
    """A reader of uploads that waits until it may go on."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.begun, self.may_end = threading.Semaphore(0), threading.Event()
        patch.setattr(actions, "from_upload", self)

    def __call__(self, name: str, content: bytes) -> Arm:
        self.begun.release()
        assert self.may_end.wait(PATIENCE)
        return from_upload(name, content)


def test_the_arm_is_driven_while_an_upload_is_read_and_a_second_one_is_refused(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    with driving(page) as driver:
        slow = Slow(monkeypatch)
        upload(driver, URDF.encode())
        assert slow.begun.acquire(timeout=PATIENCE)
        upload(driver, URDF.encode())
        assert until(lambda: "an upload is being read" in page._actions._message[1])
        start = tool(page)
        driver.drag(0.03)
        assert until(lambda: tool(page)[2] > start[2] + 0.02)
        slow.may_end.set()
        assert until(lambda: page.session.arm.linkage.name == "two_turns")
        assert not slow.begun.acquire(timeout=0.2)
        assert until(lambda: not page.session.loop.held)


def test_what_a_departed_driver_had_queued_has_no_effect(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.ExitStack() as stack:
        with driving(page) as first:
            second = Driver(page, stack.enter_context(browser(page.port)), stack, 1)
            shown = page._clients[first.number][1]
            assert isinstance(shown, Controls)
            slow = Slow(monkeypatch)
            upload(first, URDF.encode())
            assert slow.begun.acquire(timeout=PATIENCE)
            with page._actions.lock:  # the actions wait for it
                for control, value in ((shown._methods, "damped"), (shown._record, "record"), (shown._arms, "panda")):
                    uuid = control._impl.uuid
                    first.socket.send(say("GuiUpdateMessage", uuid=uuid, updates={"value": value}))
                assert until(lambda: shown._arms.value == "panda")
                page.drivers._queue.remove(first.number)  # it has lost its seat, and its actions have not run yet
        assert until(lambda: page.drivers.driver == second.number and not page.session.loop.held)
        slow.may_end.set()
        time.sleep(1.0)
        assert page.session.arm.linkage.name == "ur5"
        assert page.session.method == "supple"
        assert not page.session.recording


def test_few_actions_of_a_browser_wait() -> None:
    queue, done, go = Queue("actions", 3), list[int](), threading.Event()
    assert queue.put(lambda: go.wait(PATIENCE))
    assert [queue.put(lambda k=k: done.append(k)) for k in range(4)] == [True, True, False, False]
    go.set()
    assert until(lambda: done == [0, 1])
    assert until(lambda: queue.put(lambda: done.append(9)))
    assert until(lambda: done[-1] == 9)
    queue.close()
    assert not queue.put(lambda: done.append(10))


def test_a_recording_that_fails_is_shown(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with driving(page):
        page._actions.record()
        assert page.session.recording
        recorder = page.session._recorder
        assert recorder is not None
        monkeypatch.setattr(recorder._writer, "flush", full)
        with pytest.warns(UserWarning, match="No space left"):
            assert until(lambda: page._actions._message[0] == "the recording has failed")
        assert "No space left" in page._actions._message[1]
        assert not page.session.recording
        assert page.session.loop.running
