"""The gripper on its way from the operator to the arm: command, mapping, loop, network, recording, devices."""

from __future__ import annotations

import csv
import io
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drives import Simulated
from supple import BadInput, Frame, Solver, TrackingStatus, models
from supple.teleop import Command, Loop, Mapping, Playback, Recorder, Recording, Tick, devices, replay, tee, wire
from supple.teleop.gripper import GripperJoints
from supple.teleop.network.wire import Answer, Form, Malformed
from supple.teleop.page.handles import HandleSource, Script

RATE = 300.0
PANDA, UR5 = models.panda(), models.ur5()


def run(commands: list[Command | None], grippers: Any = 0.5, **options: Any) -> list[Tick]:
    """The ticks of a loop in simulated time, one command for each."""
    ticks: list[Tick] = []
    sink = tee(ticks.append, *options.pop("sinks", ()))
    loop = Loop(
        iter(commands),
        Mapping(),
        options.pop("tracker") if "tracker" in options else Solver().track(UR5, "tool0"),
        sink,
        RATE,
        grippers=grippers,
        clock=Simulated(),
        **options,
    )
    loop.run()
    return ticks


def test_a_command_has_a_gripper_for_each_hand_or_none() -> None:
    assert Command(Frame()).grippers == ()
    assert Command(Frame()).gripper is None
    assert Command(Frame(), gripper=0.25).grippers == (0.25,)
    assert Command(hands=[None, None], grippers=[None, 1]).grippers == (None, 1.0)
    with pytest.raises(BadInput, match="not both"):
        Command(gripper=0.5, grippers=[0.5])
    with pytest.raises(BadInput, match="gripper must be a number"):
        Command(gripper="open")  # type: ignore[arg-type]
    for wrong in (-0.01, 1.01, math.nan, math.inf):
        with pytest.raises(BadInput, match="from 0"):
            Command(Frame(), gripper=wrong)


def test_the_opening_moves_within_its_speed_and_its_range_for_random_operators() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        low, high = rng.random(2)
        speed = rng.uniform(0.1, 5)
        mapping, opening = Mapping(gripper_speed=speed, gripper_range=(low, high)), rng.random()
        for _ in range(20):
            dt, wanted = rng.uniform(0, 0.1), rng.random()
            moved = mapping.move_gripper(opening, wanted, dt)
            assert abs(moved - opening) <= speed * dt + 1e-12
            end = low + (high - low) * wanted
            assert abs(moved - end) <= abs(opening - end) + 1e-12  # never away from where it is wanted
            opening = moved
        for _ in range(100):
            opening = mapping.move_gripper(opening, 0.3, 0.2)
        assert opening == pytest.approx(low + 0.3 * (high - low))
    with pytest.raises(BadInput, match="gripper_range"):
        Mapping(gripper_range=(0, 1.5))
    with pytest.raises(BadInput, match="gripper_speed"):
        Mapping(gripper_speed=0)


def test_in_a_loop_the_gripper_goes_on_stays_and_is_held_as_the_joints_are() -> None:
    hand = Frame()
    commands: list[Command | None] = [Command(hand, gripper=1.0)]
    commands += [Command(hand)] * 49  # nothing new: it goes on
    commands += [Command(hand, grippers=[None])] * 50  # it stays
    commands += [Command(hand, gripper=0.0)] * 30
    commands += [None] * 150  # silence: held after 0.25 s
    commands += [Command(hand, grippers=[None])] * 10
    ticks = run(commands)
    opening = np.array([tick.grippers[0] for tick in ticks])
    assert (np.abs(np.diff(opening)) <= 2.0 / RATE + 1e-12).all()
    assert opening[49] == pytest.approx(0.5 + 50 * 2 / RATE)
    assert opening[99] == opening[50]
    held = [k for k, tick in enumerate(ticks[:280]) if tick.held.startswith("silent")]
    assert held
    assert len(set(opening[held[0] :])) == 1  # also after the hold: nothing was asked of it since
    assert np.isnan(run([Command(hand)] * 3, grippers=None)[-1].grippers).all()  # unknown
    assert run([Command(hand, gripper=0.7)], grippers=None)[0].grippers[0] == 0.7
    assert "2 grippers for 1 links" in run([Command(hand, grippers=[0, 0])])[0].held


def test_the_joints_beyond_the_hand_are_its_gripper() -> None:
    assert [list(columns) for columns in GripperJoints(PANDA, ["panda_hand_tcp"]).columns] == [[7]]
    assert [list(columns) for columns in GripperJoints(models.so101(), ["gripper_frame_link"]).columns] == [[5]]
    assert [list(columns) for columns in GripperJoints(UR5, ["tool0"]).columns] == [[]]
    for model, link in ((UR5, "forearm_link"), (UR5, "base_link"), (models.g1(), "pelvis"), (PANDA, "panda_link4")):
        assert [list(columns) for columns in GripperJoints(model, [link]).columns] == [[]]  # the arm is no gripper
    fingers = GripperJoints(PANDA, ["panda_hand_tcp"])
    rng = np.random.default_rng(1)
    for q in PANDA.random(200, seed=1):
        opening = rng.random()
        opened = fingers.put(q, np.array([opening]))
        assert fingers.opening(opened) == pytest.approx([opening])
        assert np.array_equal(opened[:7], q[:7])
        assert np.array_equal(fingers.put(q, np.array([np.nan])), q)


@pytest.mark.parametrize("form", Form)
def test_the_wire_carries_grippers_and_old_packets_are_unchanged(form: Form) -> None:
    for grippers in ((), (0.0,), (1.0, None), (0.123456789, 0.5, None)):
        command = Command(hands=[Frame.at([1, 2, 3]), None], stamp=2.5, sequence=9, grippers=grippers)
        read = wire.decode(wire.encode(command, "secret-token", form))
        assert read.command.grippers == command.grippers
        assert (read.token, read.command.sequence, read.command.stamp) == ("secret-token", 9, 2.5)
    plain = wire.encode(Command(Frame.at([0.5, 0, 0.2]), stamp=12.5, sequence=7), form=form)
    assert b"gripper" not in plain
    if form is Form.BINARY:
        assert len(plain) == 81
        assert plain[6] == 3  # the flags that a sender of before knows
    error, q = np.zeros((2, 6)), np.arange(6.0)
    for grippers in (np.empty(0), np.array([0.25, 1.0])):
        answer = Answer(1, 2.0, 3, TrackingStatus.YIELDING, q, error, grippers)
        again = wire.decode_answer(wire.encode_answer(answer, form))
        assert isinstance(again, Answer)
        assert np.array_equal(again.grippers, grippers)
        assert np.array_equal(again.q, q)
        assert again.status is answer.status


def test_a_damaged_gripper_is_malformed() -> None:
    good = wire.encode(Command(Frame(), gripper=0.5, sequence=1))
    for end in range(len(good)):
        with pytest.raises(Malformed):
            wire.decode(good[:end])
    at = 24 + 56
    for value in (b"\0" + good[at + 1 :], b"\x09" + good[at + 1 :]):
        with pytest.raises(Malformed):
            wire.decode(good[:at] + value)
    wild = np.array([1.5]).tobytes()
    with pytest.raises(Malformed, match="gripper"):
        wire.decode(good[: at + 1] + wild + good[at + 9 :])
    fields = json.loads(wire.encode(Command(Frame(), gripper=0.5), form=Form.JSON))
    for wrong in (2, -1, "open", [0.5] * 9, [True], [[0.5]], None):
        data = json.dumps({**fields, "grippers": wrong}).encode()
        with pytest.raises(Malformed):
            wire.decode(data)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_recording_has_the_grippers_and_plays_them_again(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"drive.{ending}"
    tracker = Solver().track(PANDA, "panda_hand_tcp")
    hand = Frame()
    commands = [Command(hand, gripper=1.0)] + [Command(hand)] * 30 + [Command(hand, grippers=[None])] * 20
    commands += [Command(hand, gripper=0.1)] * 60
    recorder = Recorder(path, tracker, RATE)
    ticks = run(list(commands), tracker=tracker, sinks=[recorder])
    recorder.close()
    rows = Recording(path).rows()
    assert np.array_equal(rows.grippers[:, 0], [tick.grippers[0] for tick in ticks])
    assert replay(path).identical
    now = [0.0]
    player = Playback(path, clock=lambda: now[0])
    played = []
    for k in range(len(commands)):
        now[0] = k / RATE + 1e-4
        said = player.read()
        played.append(None if said is None else said.grippers)
    player.close()
    assert [one for one in played if one is not None][: len(commands) - 1] == [
        one.grippers for one in commands[: len(commands) - 1]
    ]
    script = Script(rows.goals, rows.t - rows.t[0], rows.grippers)
    source = HandleSource([Frame()])
    source.alive = True
    source.play(script, lambda: None)
    said = source.read()
    assert said is not None
    assert said.grippers[0] == pytest.approx(float(rows.grippers[0, 0]))


def test_a_recording_of_format_2_without_grippers_is_still_read(tmp_path: Path) -> None:
    path, tracker = tmp_path / "new.csv", Solver().track(UR5, "tool0")
    recorder = Recorder(path, tracker, RATE)
    run([Command(Frame.at([0, 0.001 * k, 0])) for k in range(40)], tracker=tracker, sinks=[recorder])
    recorder.close()
    first, *lines = path.read_text().splitlines()
    rows = list(csv.reader(lines))
    keep = [k for k, name in enumerate(rows[0]) if not name.startswith(("gripper.", "wanted."))]
    assert len(keep) == len(rows[0]) - 2
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([row[k] for k in keep] for row in rows)
    old = tmp_path / "old.csv"
    old.write_text(first.replace('"format":3', '"format":2') + "\n" + out.getvalue())
    assert np.isnan(Recording(old).rows().grippers).all()
    assert Recording(old).rows().command(5).grippers == ()
    assert replay(old).identical


def test_buttons_of_devices_close_and_open_the_gripper() -> None:
    class Pad:
        grip = 0

        def poll(self) -> devices.Reading:
            return devices.Reading((0.0,) * 6, 0, False, grip=self.grip)

        def close(self) -> None:
            pass

    pad = Pad()
    source = devices.DeviceSource(lambda: pad, 0.2, 0.8)
    for grip, opening in ((0, None), (-1, 0.0), (1, 1.0), (0, None)):
        pad.grip = grip
        end = time.monotonic() + 120
        while (said := source.read()) is None or said.grippers != (opening,):
            assert time.monotonic() < end
            time.sleep(0.005)
    source.close()

    class State:
        t, x, y, z, roll, pitch, yaw = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        buttons = (0, 0)

    state = State()
    cap = devices.SpaceMouseDevice(type("Cap", (), {"read": lambda self: state})())
    seen = []
    for down in (0, 1, 1, 0, 1, 0, 1, 0):
        state.buttons = (1, down)
        seen.append(cap.poll().grip)
    assert seen == [0, -1, -1, 0, 1, 0, -1, 0]
