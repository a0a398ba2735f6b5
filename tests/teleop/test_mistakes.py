"""Mistakes of a program or a command line: refused at once, with what is wrong, and not taken for a lost arm."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from patience import until
from supple import BadInput, Frame, Solver, models
from supple.cli import app
from supple.cli import teleop as command
from supple.teleop import Command, Connection, Loop, Mapping, SimulatedArm, drive, page
from supple.teleop.recording import Playback, Recorder, Recording
from supple.teleop.servo import Calibration, Motor, ServoArm, SimulatedBus

ARM = models.so101()
pytestmark = pytest.mark.slow  # threads in real time


class Short:
    """An arm with fewer joint values than the linkage."""

    closed = False

    def read(self) -> Any:
        return [0.0, 0.0]

    def write(self, q: Any) -> None:
        raise AssertionError("nothing may be written to it")

    def close(self) -> None:
        self.closed = True


# -- an arm that is none ----------------------------------------------------------------------------------------------

PROGRAM = """
import supple
class Mute:
    pass
class Short:
    def read(self): return [0.0, 0.0]
    def write(self, q): pass
class Named(supple.teleop.SimulatedArm):
    def __init__(self, port): super().__init__(supple.models.so101())
number = lambda: 3
mute = lambda: Mute()
short = lambda: Short()
other_motors = lambda: supple.teleop.servo.ServoArm(supple.teleop.servo.SimulatedBus(["a"]), supple.models.so101())
misspelled = lambda: suple.models.so101()
def port(name): return Short()
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("number", r"must return an arm with read\(\) and write\(q\), got 3"),
        ("mute", r"must return an arm with read\(\) and write\(q\), got .*Mute"),
        ("short", r"read\(\) must return 6 joint values \(shoulder_pan, .*\), got \[0\.0, 0\.0\]"),
        ("other_motors", "different motors"),
        ("misspelled", "NameError: name 'suple'"),
        ("port", r"port\(\) is called without arguments .*'name'"),
        ("Named", r"Named\(\) is called without arguments .*'port'"),
        ("nothing", "defines no 'nothing'"),
    ],
)
def test_the_command_ends_with_2_if_the_program_of_the_arm_is_wrong(name: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text(PROGRAM)
    result = CliRunner().invoke(app, ["teleop", "so101", "--arm", f"{file}:{name}", "--port", "0", "--no-browser"])
    assert result.exit_code == 2, result.output
    assert re.search(rf"supple: --arm: .*{said}", result.output.replace("\n", " ")), result.output
    assert "http" not in result.output  # before the page is served
    assert "Traceback" not in result.output


def test_a_loop_ends_with_the_mistake_and_lets_the_arm_go() -> None:
    arm = Short()
    source = iter(lambda: Command(Frame(), stamp=time.monotonic()), None)
    with pytest.raises(BadInput, match="6 joint values"):
        drive(source, Mapping(), Solver().track(ARM, "gripper_frame_link"), lambda tick: None, arm=arm)
    assert arm.closed
    loop = Loop(source, Mapping(), Solver().track(ARM, "gripper_frame_link"), lambda tick: None, arm=Short())
    loop.start()
    assert until(lambda: not loop.running)
    with pytest.raises(BadInput, match="6 joint values"):
        loop.stop()


def test_a_page_ends_with_a_mistake_that_is_found_late() -> None:
    connected = []

    def slowly() -> Any:
        until(lambda: connected)
        return 3

    served = page.serve(ARM, port=0, arm=slowly)
    connected.append(True)
    with pytest.raises(BadInput, match="got 3"):
        served.wait()


def test_what_is_wrong_after_the_first_reading_or_may_pass_is_tried_again() -> None:
    answers: list[Any] = [None, [], np.full(6, np.nan), OSError("no bus"), ARM.rest, [0.0], ARM.rest]

    class Odd:
        def read(self) -> Any:
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
            if isinstance(answer, Exception):
                raise answer
            return answer

        def write(self, q: Any) -> None:
            pass

    connection = Connection(Odd, ARM)  # a class makes an arm
    assert until(lambda: len(answers) == 1 and connection.cycles > 3)
    assert not connection.mistake
    assert connection.errors == 5
    connection.close()


# -- motors, buses, grippers ------------------------------------------------------------------------------------------


def test_a_bus_without_the_motors_of_the_calibration_is_refused_with_both_lists(tmp_path: Path) -> None:
    Calibration((Motor("elbow_flex", "m3"), Motor("gripper", "m6"))).save(tmp_path / "so101.json")
    with pytest.raises(BadInput, match="the calibration has m3, m6; the bus has a, b"):
        ServoArm(SimulatedBus(["a", "b"], 2048), ARM, tmp_path / "so101.json")
    assert ServoArm(SimulatedBus(["m6", "m3", "camera"]), ARM, tmp_path / "so101.json").read().shape == (6,)


def test_a_bus_that_does_not_answer_yet_is_checked_when_it_is_read() -> None:
    class Later(SimulatedBus):
        answers = False

        def sync_read(self, data_name: str) -> dict[str, float]:
            if not self.answers:
                raise OSError("no bus")
            return super().sync_read(data_name)

    bus = Later(["a", "b"])
    arm = ServoArm(bus, ARM)
    bus.answers = True
    with pytest.raises(BadInput, match="the bus has a, b"):
        arm.read()


def test_a_simulated_bus_names_the_motor_that_it_does_not_have() -> None:
    bus = SimulatedBus(["a", "b"])
    with pytest.raises(BadInput, match="no motor 'nose'; it has a, b"):
        bus.sync_write("Goal_Position", {"nose": 1.0})
    with pytest.raises(BadInput, match="Goal_Position only, not 'Torque'"):
        bus.sync_write("Torque", {"a": 1.0})


def test_a_bus_of_a_file_fails_as_an_arm_of_a_file_does(tmp_path: Path) -> None:
    file = tmp_path / "mybus.py"
    file.write_text("number = 3\ndef connect():\n    return 3\n")
    for word, said in (
        (f"{file}:nope", "mybus.py defines no 'nope'"),
        (f"{tmp_path / 'gone.py'}:connect", "there is no file"),
        ("connect", "expected a file and a name in it"),
        (f"{file}:number", "must be a function"),
        (f"{file}:connect", "a bus has sync_read"),
    ):
        for option, line in (
            ("--bus", ["calibrate", "so101", str(tmp_path / "out.json"), "--bus", word]),
            ("--arm", ["teleop", "so101", "--arm", word, "--port", "0", "--no-browser"]),
        ):
            if option == "--arm" and word.startswith(f"{file}:") and "nope" not in word:
                continue
            result = CliRunner().invoke(app, line)
            assert result.exit_code == 2, result.output
            assert said in result.output
            assert "KeyError" not in result.output


@pytest.mark.parametrize("opening", [50, 1.01, -0.1, float("nan"), float("inf")])
def test_an_opening_that_is_not_from_0_to_1_is_refused_where_it_is_made(opening: float) -> None:
    for options in ({"gripper": opening}, {"grippers": [0.5, opening]}):
        with pytest.raises(BadInput, match=r"gripper must be from 0 \(closed\) to 1 \(open\)") as refused:
            Command(Frame(), **options)
        assert ("divide" in str(refused.value)) == (1 < opening <= 100)
    assert [Command(Frame(), gripper=one).gripper for one in (0, 0.5, 1)] == [0, 0.5, 1]


# -- a recording that has ended ---------------------------------------------------------------------------------------


def recorded(path: Path) -> Path:
    """Half a second of the panda, moved to one side."""
    tracker = Solver().track(models.panda(), "panda_hand_tcp")
    source = (Command(Frame.at([0, 0.0005 * k, 0]), stamp=k / 100) for k in range(50))
    drive(source, Mapping(), tracker, Recorder(path, tracker, 100.0), rate=100.0)
    return path


def test_the_command_ends_with_the_recording_if_no_browser_shows_it(tmp_path: Path) -> None:
    words = ["teleop", "--source", str(recorded(tmp_path / "g.csv")), "--port", "0", "--no-browser"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "\nthe recording has ended\n" in result.output
    assert "last reason: silent" not in result.output


def test_a_browser_that_shows_the_page_keeps_it_open_and_a_new_one_is_waited_for(monkeypatch: Any) -> None:
    class Source:
        ended = ""

    class Shown:
        browsers = 0

        class session:
            source = Source()

    said: list[str] = []
    monkeypatch.setattr(command.output, "print_text", said.append)
    for browsers, opened, seconds, ends in ((0, False, 10, True), (1, False, 0, False), (0, True, 600, None)):
        monkeypatch.setattr(command, "BROWSER_SECONDS", seconds)
        shown: Any = Shown()
        shown.browsers, Source.ended = browsers, ""
        ended = command._recording_ended(shown, opened)
        assert not ended()
        Source.ended = "the recording has ended"
        assert ended() is bool(ends)
        shown.browsers = 0
        if browsers:
            assert not ended()  # it was open at the end: it may be loaded again
    assert said == ["the recording has ended", "the recording has ended; the page stays open (Ctrl-C ends)"]


def test_after_the_recording_the_page_holds_the_arm_and_says_why(tmp_path: Path) -> None:
    source = Playback(Recording(recorded(tmp_path / "g.csv")))
    with page.serve(models.panda(), port=0, source=source) as served:
        assert until(lambda: served.session.loop.held == "the recording has ended")


# -- statistics -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("ages")
def test_ticks_before_the_first_reading_or_until_the_arm_has_settled_are_no_failures(monkeypatch) -> None:
    monkeypatch.setattr("supple.teleop.robot.MAX_AGE", 600.0)  # a stalled machine is no lost arm
    none_yet, settling = "no reading of the arm yet", "waiting until the arm has answered for 0.25 s"
    seen: list[str] = []

    class Slow(SimulatedArm):
        def read(self) -> Any:
            if none_yet not in seen:
                until(lambda: none_yet in seen)
                connection._gap = (
                    time.monotonic() + 1e6
                )  # as if this reading had been late, until the loop has seen that
            return super().read()

    connection = Connection(Slow(ARM), ARM, ["gripper_frame_link"])
    source = iter(lambda: Command(Frame(), stamp=time.monotonic()), None)
    tracker = Solver().track(ARM, "gripper_frame_link")
    with Loop(source, Mapping(), tracker, lambda tick: seen.append(tick.held), arm=connection) as loop:
        assert until(lambda: settling in seen)
        connection._gap = time.monotonic()
        assert until(lambda: seen[-1] == "")
    assert loop.statistics.failures == 0
    assert loop.statistics.held > 0
