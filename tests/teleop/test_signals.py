"""SIGTERM and SIGHUP end a drive like Ctrl-C: the arm is held, the recording finished; the exit code is 128 + n."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
PATIENCE = 120
DRIVE = """
import sys, time
from supple import Frame, Solver, models
from supple.teleop import Command, Mapping, drive
from supple.teleop.recording import Recorder
arm = models.planar2()
tracker = Solver().track(arm, arm.tips[0])

class Source:
    count = 0
    def read(self):
        self.count += 1
        if self.count == 50:
            print("driving", flush=True)
        return Command(hands=[Frame()], stamp=time.perf_counter())
    def close(self):
        print("source closed", flush=True)

try:
    drive(Source(), Mapping(), tracker, Recorder(sys.argv[1], tracker))
    print("returned", flush=True)
finally:
    print("finally", flush=True)
"""


def end(words: list[str], folder: Path, sent: signal.Signals, first: str, ignored: bool = False) -> tuple[int, str]:
    """Runs Python, sends a signal after a line with ``first``, and returns the exit code and the lines after it."""

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL)

    with subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=prepare,
    ) as running:
        assert running.stdout is not None
        limit = threading.Timer(PATIENCE, running.kill)
        limit.start()
        try:
            line = running.stdout.readline()
            assert first in line, line + running.stdout.read()
            threading.Event().wait(1.0)
            running.send_signal(sent)
            if ignored:
                threading.Event().wait(0.3)
                assert running.poll() is None
                running.send_signal(signal.SIGINT)
            rest = running.stdout.read()
        finally:
            limit.cancel()
            running.kill()
    return running.returncode, rest


def rows(path: Path) -> int:
    from supple.teleop.recording import Recording

    assert not path.with_name(path.name + ".part").exists()
    return len(Recording(path).rows())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "ending"),
    [
        (signal.SIGTERM, "parquet"),
        pytest.param(signal.SIGHUP, "csv", marks=pytest.mark.gate),
        pytest.param(signal.SIGINT, "csv", marks=pytest.mark.gate),
    ],
)
def test_a_program_that_drives_stops_and_finishes_its_recording(
    tmp_path: Path, sent: signal.Signals, ending: str
) -> None:
    code, said = end(["-c", DRIVE, f"a.{ending}"], tmp_path, sent, "driving")
    assert rows(tmp_path / f"a.{ending}") > 20
    assert said.splitlines()[-1] == "finally"
    assert "source closed" in said
    if sent is signal.SIGINT:
        assert (code, "returned" in said) == (0, True)
    else:
        assert (code, "returned" in said) == (128 + sent, False)


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGHUP, pytest.param(signal.SIGTERM, marks=pytest.mark.gate)])
def test_the_command_stops_and_finishes_its_recording(tmp_path: Path, sent: signal.Signals) -> None:
    pytest.importorskip("viser")
    words = ["-m", "supple", "teleop", "planar2", "--port", "0", "--no-browser", "--record", "a.parquet"]
    code, said = end(words, tmp_path, sent, "planar2: http://")
    assert code == 128 + sent, said
    assert "300 Hz for" in said
    assert "Traceback" not in said
    assert rows(tmp_path / "a.parquet") > 0


@pytest.mark.slow
@pytest.mark.gate
def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """As after nohup."""
    code, said = end(["-c", DRIVE, "a.csv"], tmp_path, signal.SIGHUP, "driving", ignored=True)
    assert (code, "returned" in said) == (0, True)


def test_handlers_are_restored_and_those_of_the_program_kept() -> None:
    from supple.teleop.process import ending_signals, stop_on_interrupt

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]

    def own(*_: object) -> None:
        pass

    try:
        signal.signal(signal.SIGTERM, own)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        stopped: list[int] = []
        with pytest.raises(SystemExit) as caught, stop_on_interrupt(lambda: stopped.append(1)):
            os.kill(os.getpid(), signal.SIGHUP)
        assert (stopped, caught.value.code) == ([1], 128 + signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
        with stop_on_interrupt(lambda: None):
            assert signal.getsignal(signal.SIGTERM) is own
        with pytest.raises(SystemExit) as caught, ending_signals():
            os.kill(os.getpid(), signal.SIGHUP)
        assert caught.value.code == 128 + signal.SIGHUP
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def test_both_ending_signals_at_once_are_one_request() -> None:
    code = """
import os, signal
from supple.teleop.process import stop_on_interrupt
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
stopped = []
try:
    with stop_on_interrupt(lambda: stopped.append(1)):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP, signal.SIGTERM])
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP, signal.SIGTERM])
finally:
    print("stopped", stopped, flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.stdout, done.stderr) == ("stopped [1]\n", "")
    # the signals are of the process, so that threads of libraries may receive them in any order
    assert done.returncode in (128 + signal.SIGHUP, 128 + signal.SIGTERM)


def test_a_closed_terminal_keeps_the_exit_code_of_its_signal() -> None:
    code = """
import os, signal, sys
from supple.teleop.process import ending_signals
signal.signal(signal.SIGHUP, signal.SIG_DFL)
with ending_signals():
    try:
        print("ready", flush=True)
        sys.stdin.readline()
        os.kill(os.getpid(), signal.SIGHUP)
    finally:
        print("a sentence", flush=True)
"""
    words = [sys.executable, "-c", code]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"ready\n"
        running.stdout.close()
        running.stdin.write(b"\n")
        running.stdin.flush()
        assert running.wait(PATIENCE) == 128 + signal.SIGHUP
        assert running.stderr.read() == b""


IMPORTS = """
import os, signal, sys
from supple.teleop.process import late_interrupt

class Dropped:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)  # Python drops what is raised here, as in callbacks of imports
        for _ in range(1000):
            pass

with late_interrupt():
    Dropped()
    print("imported", flush=True)
print("went on", flush=True)
"""


def test_ctrl_c_during_imports_is_never_lost(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert "imported" in done.stdout
    assert "went on" not in done.stdout
    assert "KeyboardInterrupt" in done.stderr
