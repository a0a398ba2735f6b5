"""The recorder: existing files, crashes, slow and full disks."""

import csv
import os
import subprocess
import sys
import threading
import warnings

import pytest

from drives import (
    DATA,
    ENDINGS,
    PANDA,
    START,
    UR5,
    drive,
    read_all,
)
from supple import Frame, Linkage, Solver, teleop
from supple.errors import BadInput
from supple.teleop import Mapping, tee
from supple.teleop.recording import Recorder, Recording
from supple.teleop.recording import recorder as recorder_module
from supple.teleop.recording.replay import replay


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_file_is_written_over_unless_told(tmp_path, ending):
    path, tracker = tmp_path / f"a.{ending}", Solver().track(UR5, "tool0", START)
    path.write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        Recorder(path, tracker)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"mine", [path.name])
    drive(path, tracker, 0.1, overwrite=True)
    assert replay(path).identical
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("several", [False, True])
def test_a_recording_has_the_rate_of_its_loop(tmp_path, ending, several):
    path, tracker, ticks = tmp_path / f"a.{ending}", Solver().track(UR5, "tool0", START), []
    recorder = Recorder(path, tracker)
    hands = (Frame.at([0, 0.001 * k, 0]) for k in range(20))
    teleop.drive(hands, Mapping(), tracker, tee(ticks.append, recorder) if several else recorder, rate=100)
    recording = Recording(path)
    assert recording.rate == 100
    assert replay(path).identical
    assert os.listdir(tmp_path) == [path.name]


def test_a_recorder_without_a_loop_has_the_rate_that_was_given(tmp_path):
    with Recorder(tmp_path / "a.csv", Solver().track(UR5, "tool0", START), 50.0):
        pass
    assert Recording(tmp_path / "a.csv").rate == 50


def test_a_journal_that_a_crash_left_is_not_written_over(tmp_path):
    (tmp_path / "a.parquet.part").write_bytes(b"precious")
    with pytest.raises(FileExistsError):
        Recorder(tmp_path / "a.parquet", Solver().track(UR5, "tool0", START))
    assert (tmp_path / "a.parquet.part").read_bytes() == b"precious"


@pytest.mark.parametrize("name", ["ur5", "../../up", "a/b\\c:d", "..", "", "C:\\x", "ü" * 300, "con"])
def test_a_folder_is_never_left_whatever_the_linkage_calls_itself(tmp_path, name):
    folder = tmp_path / "inside" / "deep"
    folder.mkdir(parents=True)
    tracker = Solver().track(Linkage(name, UR5.joints), "tool0")
    paths = []
    for ending in (".parquet", ".parquet", ".csv"):
        with Recorder.within(folder, tracker, ending=ending) as recorder:
            paths.append(recorder.path.resolve())
    assert len(set(paths)) == 3
    assert {path.parent for path in paths} == {folder.resolve()}
    assert sorted(p for p in tmp_path.rglob("*") if p.is_file()) == sorted(set(paths))


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_that_leads_elsewhere_is_refused(tmp_path):
    (tmp_path / "a.csv").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "a.parquet.part").symlink_to(tmp_path / "elsewhere")
    for ending in ENDINGS:
        for overwrite in (False, True):
            with pytest.raises(BadInput, match="is a link"):
                Recorder(tmp_path / f"a.{ending}", Solver().track(UR5, "tool0"), overwrite=overwrite)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("name", "tracker", "rate", "said"),
    [
        ("a.npz", Solver().track(UR5, "tool0"), 300, "ends in .parquet or .csv"),
        ("a.parquet.part", Solver().track(UR5, "tool0"), 300, "name of a journal"),
        ("none/a.csv", Solver().track(UR5, "tool0"), 300, "no folder"),
        ("a.csv", Solver().track(UR5, "tool0"), 0, "rate must be"),
        ("a.csv", UR5, 300, "Tracker of one arm"),
        ("a.csv", Solver().track(UR5, "tool0", UR5.random(3, seed=0)), 300, "Tracker of one arm"),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_any_file_is_made(tmp_path, name, tracker, rate, said):
    with pytest.raises(BadInput, match=said):
        Recorder(tmp_path / name, tracker, rate)
    assert not list(tmp_path.iterdir())


CRASH = """
import os, sys, threading, time
import numpy as np
from supple import Solver, models
from supple.teleop import Tick
from supple.teleop.recording import Recorder
arm = models.ur5()
tracker = Solver().track(arm, "tool0", np.array([0.0, -1.2, 1.5, -1.0, -1.2, 0.3]))
goal = arm.frame(tracker.q, "tool0").matrix[None].copy()
recorder, begin, flushed = Recorder(sys.argv[1], tracker), tracker.q.copy(), threading.Event()
flush = recorder._writer.flush
recorder._writer.flush = lambda: (flush(), flushed.set())
for k in range(int(sys.argv[2])):
    goal = goal + 0.0
    goal[0, 0, 3] += 1e-4
    step = tracker.step(goal[0], 1 / 300)
    recorder.write(Tick(k, k / 300, 1 / 300, 0.0, None, False, goal, np.nan, None, step, "", begin if k == 0 else None))
while recorder.behind:
    time.sleep(0.01)
if len(sys.argv) > 3:
    flushed.clear()
    flushed.wait(float(sys.argv[3]))
os._exit(1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_crash_loses_at_most_the_last_second(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    # a recorder flushes once a second, also when no more ticks come; how soon on a busy machine is not tested here
    assert recorder_module._FLUSH_INTERVAL + recorder_module._FLUSH_DELAY <= 1.0
    subprocess.run([sys.executable, "-c", CRASH, str(path), "2148", "20"], check=False)
    left = path if ending == "csv" else tmp_path / "a.parquet.part"
    assert [p.name for p in tmp_path.iterdir()] == [left.name]
    found = replay(left)
    assert (found.ticks, found.identical) == (2148, True)


@pytest.mark.slow
def test_a_crash_while_busy_leaves_all_whole_batches(tmp_path):
    subprocess.run([sys.executable, "-c", CRASH, str(tmp_path / "a.parquet"), "2148"], check=False)
    found = replay(tmp_path / "a.parquet.part")
    assert 2048 <= found.ticks <= 2148
    assert found.identical


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a disk that stands still is a pipe nobody reads")
def test_a_disk_that_stands_still_never_holds_up_the_loop_and_what_is_lost_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "_MAX_QUEUE", 50)
    path, lines = tmp_path / "a.csv", []
    os.mkfifo(path)
    read = threading.Event()

    def reader():
        with open(path) as pipe:
            read.wait()
            lines.extend(pipe)

    thread = threading.Thread(target=reader)
    thread.start()
    tracker = Solver().track(UR5, "tool0", START)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ticks, recorder = drive_into_pipe(path, tracker, read)
        thread.join()
    rows = list(csv.DictReader(lines[1:]))
    assert recorder.lost > 0
    assert len(rows) + recorder.lost == len(ticks)
    assert sum(int(row["lost"]) for row in rows) == recorder.lost
    assert any("ticks are lost" in str(one.message) for one in said)
    assert "were lost" in recorder.failure


def drive_into_pipe(path, tracker, read):
    """Many ticks while nobody reads, then, once someone does, a last one."""
    ticks, _ = drive(path.with_name("b.csv"), tracker, 4.0)
    recorder = Recorder(path, tracker, overwrite=True)
    for tick in ticks[:-1]:
        recorder.write(tick)
    read.set()
    while recorder.behind:
        pass
    recorder.write(ticks[-1])
    recorder.close()
    return ticks, recorder


FULL = """
import resource, sys, warnings
sys.path[:0] = sys.argv[2:]
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
from drives import START, UR5, drive
from supple import Solver
warnings.simplefilter("ignore")
try:
    drive(sys.argv[1], Solver().track(UR5, "tool0", START), 4.0)
except OSError as error:
    print("closing said:", error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size there")
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_ends_the_recording_not_the_drive_and_closing_says_so(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    words = [sys.executable, "-c", FULL, str(path), str(DATA.parent / "support")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("closing said:"), done.stderr
    assert "File too large" in done.stdout


def test_a_recorder_that_is_closed_takes_no_more_and_can_be_closed_again(tmp_path):
    ticks, recorder = drive(tmp_path / "a.parquet", Solver().track(UR5, "tool0", START), 0.1)
    recorder.write(ticks[0])
    recorder.close()
    assert (read_all(recorder.path), recorder.lost, recorder.failure) == (len(ticks), 0, "")


def test_a_tracker_of_another_linkage_ends_the_recording(tmp_path):
    ticks, _ = drive(tmp_path / "a.csv", Solver().track(PANDA, "panda_hand"), 0.1)
    recorder = Recorder(tmp_path / "b.csv", Solver().track(UR5, "tool0", START))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recorder.write(ticks[0])
        with pytest.raises(BadInput, match="cannot go on"):
            recorder.close()
