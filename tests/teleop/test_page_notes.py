"""What the page says and chooses by itself: notes, reasons, the end effector of an upload, the attached arm."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from supple import models
from supple.cli import app
from supple.cli.teleop import _arm
from supple.errors import BadInput
from supple.teleop import Command, Recording, SimulatedArm, Tick
from supple.teleop.methods import METHODS
from supple.teleop.page import invitation, phone_camera, serve, words
from supple.teleop.page.arm import Arm, from_upload
from supple.teleop.page.panel import note, status
from supple.teleop.page.tour import HAZARDS, RATE
from supple.view import address, qr

JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{x} 0 0"/><axis xyz="0 {y} {z}"/><limit lower="-1" upper="1" velocity="2"/>{mimic}</joint>"""


def urdf(*joints: tuple[str, str, str, str, float, str]) -> bytes:
    """Joints (name, kind, parent, child, distance, the joint it follows) as a robot description."""
    links = dict.fromkeys(link for _, _, parent, child, *_ in joints for link in (parent, child))
    text = "".join(f'<link name="{link}"/>' for link in links)
    for k, (name, kind, parent, child, x, follows) in enumerate(joints):
        mimic = f'<mimic joint="{follows}"/>' if follows else ""
        text += JOINT.format(name=name, kind=kind, parent=parent, child=child, x=x, y=k % 2, z=1 - k % 2, mimic=mimic)
    return f'<robot name="mine">{text}</robot>'.encode()


ARM = [(f"j{k}", "revolute", f"l{k}", f"l{k + 1}", 0.2, "") for k in range(6)]


@pytest.mark.parametrize(
    ("more", "hand"),
    [
        ([], "l6"),
        ([("f1", "prismatic", "l6", "a", 0.1, ""), ("f2", "prismatic", "l6", "b", 0.1, "f1")], "l6"),
        ([("f1", "prismatic", "l6", "a", 0.1, ""), ("f2", "prismatic", "l6", "b", 0.1, "")], "l6"),
        ([("palm", "fixed", "l6", "p", 0.1, ""), ("left_finger", "revolute", "p", "a", 0.1, "")], "p"),
        (
            [
                ("palm", "fixed", "l6", "p", 0.1, ""),
                ("tool", "fixed", "p", "tcp", 0.05, ""),
                ("moving_jaw", "revolute", "p", "a", 0.2, ""),
                ("nail", "fixed", "a", "b", 0.2, ""),
            ],
            "tcp",
        ),
        (
            [
                ("k1", "revolute", "l6", "knuckle1", 0.1, ""),
                ("k2", "revolute", "knuckle1", "finger1_tip", 0.1, "k1"),
                ("k3", "revolute", "l6", "thumb", 0.05, "k1"),
            ],
            "l6",
        ),
        ([("camera", "fixed", "l3", "eye", 0.1, "")], "l6"),  # a fixed tip beside the arm is not a hand
        ([("last", "revolute", "l6", "l7", 0.1, ""), ("flange", "fixed", "l7", "tool", 0.1, "")], "tool"),
    ],
)
def test_the_end_effector_of_an_uploaded_arm_is_not_a_finger(more: list[Any], hand: str) -> None:
    assert from_upload("mine.urdf", urdf(*ARM, *more)).links == (hand,)


@pytest.mark.parametrize("name", models.names())
def test_bundled_models_have_the_end_effectors_of_their_descriptions(name: str) -> None:
    assert ", ".join(Arm.of(models.get(name)).links) in models.about(name)


def until(happened: Any) -> bool:
    end = time.monotonic() + 120
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def test_after_another_browser_took_over_no_note_says_that_the_arm_stays(tmp_path: Path) -> None:
    with serve(models.planar3(), port=0, folder=tmp_path) as page:
        actions = page._actions
        actions.set_present(True, lambda now: True)
        actions.handles.toggle_attached()
        assert actions._message[0] == "handle detached"
        assert not page.session.source.attached
        actions.set_present(False)  # the tab is closed, and a new one opened
        actions.set_present(True, lambda now: True)
        assert page.session.source.attached  # its keys move the arm
        assert "stays" not in actions._current_note()
        actions.show_message("recording", "to a file", None)
        actions.set_present(True, lambda now: True)
        assert "to a file" in actions._current_note()  # other notes stay


def test_why_names_the_reason_of_a_hold(tmp_path: Path) -> None:
    with serve(models.planar3(), port=0, folder=tmp_path, record=tmp_path / "a.csv") as page:
        assert until(lambda: page.session.newest is not None and page.session.newest.number > 20)
        tick = page.session.newest
        assert tick is not None
        assert tick.held == tick.why == "nobody drives"
        assert "nobody drives" in status(tick, page.session.arm)
        assert "finite" not in status(tick, page.session.arm)
    rows = Recording(tmp_path / "a.csv").rows()
    assert "nobody drives" in set(rows.why)
    assert not any("finite" in why for why in rows.why)
    tracker = page.session._tracker
    step = tracker.step(Arm.of(models.planar3()).frames(tracker.q)[0], 0.01)
    free = Tick(0, 0.0, 0.01, 0.0, Command(), True, np.eye(4)[None], 0.0, None, step, "", None)
    assert free.why == step.why


def test_the_address_for_other_machines_is_not_localhost() -> None:
    for host in ("0.0.0.0", "::", ""):
        urls = address.network_urls(host, 80)
        assert urls
        assert not any(url.startswith(("http://localhost", "http://127.", "http://0.", "http://[::")) for url in urls)
    assert address.network_urls("192.168.7.3", 8080) == ["http://192.168.7.3:8080"]
    assert address.network_urls("fe80::1", 8080) == ["http://[fe80::1]:8080"]


def modules(lines: list[str]) -> np.ndarray:
    """The dark modules of a QR code that is drawn with half blocks (rows, columns)."""
    halves = {"█": (0, 0), "▀": (0, 1), "▄": (1, 0), " ": (1, 1)}
    return np.array([[halves[sign][k] for sign in line] for line in lines for k in (0, 1)], dtype=bool)


def test_a_qr_code_has_its_finders_and_a_border_and_depends_on_the_address() -> None:
    codes = [modules(qr.for_terminal(f"http://192.168.7.{k}:8080").split("\n")) for k in (3, 4)]
    finder = np.ones((7, 7), dtype=bool)
    finder[1:6, 1:6], finder[2:5, 2:5] = False, True
    for code in codes:
        n = code.shape[1]
        assert not any(side.any() for side in (code[:2], code[:, :2], code[n - 2 :]))
        for row, column in ((2, 2), (2, n - 9), (n - 9, 2)):
            assert np.array_equal(code[row : row + 7, column : column + 7], finder)
    assert (codes[0] != codes[1]).any()


def test_a_page_shows_its_address_for_other_machines_only_if_they_can_reach_it() -> None:
    shown: list[str] = []
    gui = SimpleNamespace(add_folder=lambda *_, **__: contextlib.nullcontext(), add_html=shown.append)
    invitation.add(gui, "127.0.0.1", 8080)
    invitation.add(gui, "::1", 8080)
    assert shown == []
    invitation.add(gui, "192.168.7.3", 8080)
    (text,) = shown
    assert 'href="http://192.168.7.3:8080"' in text
    assert "<svg" in text


def test_the_arm_of_the_command_line(tmp_path: Path) -> None:
    linkage = models.so101()
    made = _arm("simulated", linkage)
    assert isinstance(made, SimulatedArm)
    assert made.gripper is None  # its jaw is a joint
    assert _arm("simulated", models.ur5()).gripper is not None  # type: ignore[union-attr]
    file = tmp_path / "my_robot.py"
    file.write_text("def connect():\n    return 1\nlist_of = 3\n")
    assert _arm(f"{file}:connect", linkage)() == 1  # type: ignore[operator]
    for word, said in (
        ("my_robot.py", "a file and a name"),
        ("nowhere.py:connect", "no file nowhere.py"),
        (f"{file}:nothing", "defines no 'nothing'"),
        (f"{file}:not a name", "a file and a name"),
    ):
        with pytest.raises(BadInput, match=said):
            _arm(word, linkage)
    file.write_text("raise OSError('no port')")
    with pytest.raises(BadInput, match=r"my_robot\.py failed: OSError: no port"):
        _arm(f"{file}:connect", linkage)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--arm", "nowhere.py:connect"], "nowhere.py"),
        (["--arm", "simulated", "--tour"], "--tour"),
        (["--arm", "simulated", "--on-exit", "explode"], "explode"),
    ],
)
def test_the_command_says_which_arm_it_cannot_drive(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["teleop", "so101", *words, "--port", "0", "--no-browser"])
    assert result.exit_code in (1, 2)
    assert said in result.output
    assert "Traceback" not in result.output


def test_an_attached_arm_cannot_be_changed_for_another(tmp_path: Path) -> None:
    linkage = models.so101()
    with serve(linkage, port=0, folder=tmp_path, arm=SimulatedArm(linkage)) as page:
        for act in (
            lambda: page._actions.choose_arm("panda"),
            lambda: page._actions.choose_links(("moving_jaw_so101_v1_link",)),
            lambda: page._actions.upload("a.urdf", urdf(*ARM)),
        ):
            act()
            assert page.session.arm.linkage is linkage
            assert "is attached" in page._actions._current_note()
        page._actions.tour()
        assert not page.session.source.scripted
    with pytest.raises(BadInput, match="tour or arm"):
        serve(linkage, port=0, arm=SimulatedArm(linkage), tour=True)
    with pytest.raises(BadInput, match=r"read\(\) and write"):
        serve(linkage, port=0, arm=7)  # type: ignore[arg-type]


def told(name: str, hazard: str) -> set[str]:
    """What the panel says in a hazard of the tour."""
    arm = Arm.of(models.get(name))
    script = next(one for one in HAZARDS if one.name == hazard).script(arm)
    assert script is not None
    tracker, home, said = METHODS["supple"].track(arm.linkage, list(arm.goals)), arm.frames(arm.linkage.rest), set()
    for number in range(int(script.seconds * RATE) + 1):
        frames = [goal or rest for goal, rest in zip(script.at(number / RATE), home, strict=True)]
        step = tracker.step(frames, 1 / RATE)
        goals = np.array([goal.matrix for goal in frames])
        said.add(words.reason(Tick(number, 0.0, 0.01, 0.0, Command(), True, goals, 0.0, None, step, "", None), arm))
    return said


@pytest.mark.parametrize(
    ("name", "hazard", "expected"),
    [
        ("panda", "reach", "out of reach by"),
        ("puma560", "wrist", "the wrist is straight: turning"),
        ("kraft", "wrist", "the arm is stretched: moves in and out are slow"),
        ("so101", "limit", "limit: move the handle another way"),
        ("ur5", "speed", "the handle is faster than the arm: "),
    ],
)
def test_reasons_are_for_an_operator_and_have_no_vectors(name: str, hazard: str, expected: str) -> None:
    said = told(name, hazard)
    assert any(expected in text for text in said), said
    for text in said:
        assert not any(mark in text for mark in ("(", " along ", "singular", " s at this speed")), text


def test_notes_of_the_tour_fit_the_method_and_the_card_has_one_height(tmp_path: Path) -> None:
    with serve(models.planar3(), port=0, folder=tmp_path) as page:
        actions = page._actions
        actions.set_present(True, lambda now: True)
        actions.tour("wrist")
        assert "stay slow" in actions._current_note()
        actions.choose_method("pseudo-inverse")
        assert "stay slow" not in actions._current_note()
        assert "The method is pseudo-inverse." in actions._current_note()
        actions.end_script()
        actions.choose_method("supple")
        assert "drag the handle" in actions._current_note()
        assert actions._current_note().partition("<b")[0] == note("a", "b").partition("<b")[0]


def test_the_camera_of_a_phone_is_set_until_a_person_moves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phone_camera, "PAUSE", 0.005)
    monkeypatch.setattr(phone_camera, "TRIES", 10**6)
    heard: list[Any] = []
    tries: list[bool] = []
    first, begins, phone = np.array([[3.0, 3.0, 3.0], [3.0, 0.0, 1.0], [5.0, 0.0, 2.0]])
    camera = SimpleNamespace(position=first, on_update=heard.append)

    def reported(place: np.ndarray) -> None:
        with ThreadPoolExecutor(1) as own:  # Playwright may have left a running loop in this thread
            own.submit(asyncio.run, heard[1](SimpleNamespace(position=place))).result()

    def tried() -> bool:
        count = len(tries)
        return until(lambda: len(tries) > count + 2)

    for tall in (False, True):
        set_camera = lambda tall=tall: tries.append(tall) or (phone if tall else None)  # noqa: E731
        looked = phone_camera.PhoneCamera(SimpleNamespace(camera=camera), set_camera, lambda: begins)

    def looks() -> bool:
        count = looked._tries
        return until(lambda: looked._tries > count + 2)

    assert tried()  # while the page loads it ignores them
    assert tries.count(False) == 1  # a laptop
    reported(begins)
    assert tried()  # the page has put it where a laptop's begins
    reported(phone)
    assert looks()  # a call that was under way
    count = len(tries)
    assert looks()
    assert len(tries) == count  # it is there
    reported(begins)
    assert tried()  # the page has lost it again
    reported(np.array([1.0, 2.0, 3.0]))  # a person
    assert until(lambda: not any(isinstance(thread, threading.Timer) for thread in threading.enumerate()))
