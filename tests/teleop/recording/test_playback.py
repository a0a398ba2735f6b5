"""A recording as a source: its commands come again at their times."""

import time

import pytest

from drives import BAXTER, BOTH, RATE, START, UR5, Simulated, drive
from supple import Solver
from supple.teleop import Loop, Mapping
from supple.teleop.recording import Playback


def test_a_recording_drives_an_arm_as_its_operator_did(tmp_path):
    tracker = Solver().track(BAXTER, ["left_gripper", "right_gripper"], BOTH)
    ticks, recorder = drive(tmp_path / "a.parquet", tracker, 3.0, seed=2, hands=2, rough=False, late=None)
    clock, again = Simulated(), []
    tracker.reset(BOTH)
    Loop(Playback(recorder.path, clock.now), [Mapping(), Mapping()], tracker, again.append, RATE, clock=clock).run()
    for one, other in zip(ticks[: 3 * RATE], again[: 3 * RATE], strict=True):
        assert one.step.q.tolist() == other.step.q.tolist()
    assert sum(tick.fresh for tick in again) == sum(tick.fresh for tick in ticks)


def test_every_command_of_a_long_recording_comes_in_its_turn(tmp_path):
    ticks, recorder = drive(tmp_path / "a.csv", Solver().track(UR5, "tool0", START), 12.0, rough=False, late=None)
    now, stamps = 0.0, []
    played = Playback(recorder.path, lambda: now)
    for tick in ticks[: 12 * RATE]:
        now = tick.t
        said = played.read()
        while tick.fresh and said is None:  # in simulated time the disk may be behind
            time.sleep(1e-3)
            said = played.read()
        stamps += [said.stamp] if said else []
    assert stamps == [tick.command.stamp for tick in ticks if tick.fresh]
    assert len(stamps) == 12 * RATE


def test_commands_come_at_their_own_times_and_the_newest_counts(kept):
    files, ticks = kept
    now = 100.0
    played = Playback(files["parquet"], lambda: now)
    due = [tick for tick in ticks if tick.fresh]
    assert played.read() is None or due[0].t == 0
    for moment in (0.5, 0.5, 1.7):
        before, now = now - 100, 100 + moment
        came = [tick for tick in due if before < tick.t <= moment]
        said = played.read()
        assert (said is None) == (not came)
        assert said is None or said.stamp == came[-1].command.stamp
    now = 1000.0
    assert played.read().stamp == due[-1].command.stamp
    for _ in range(2):
        with pytest.raises(StopIteration):
            listen_on(played)
    played.close()


def listen_on(played):
    """That a command was the last is known once the file has been read to its end."""
    while True:
        assert played.read() is None


def test_a_source_that_is_closed_has_ended(kept):
    played = Playback(kept[0]["csv"])
    played.close()
    with pytest.raises(StopIteration):
        played.read()
