"""Timing of the tele-operation loop: missed deadlines, jitter, memory, and the time in the tracker.

    python benchmarks/teleop_loop.py [SECONDS] [--minutes M] [--rate HZ ...] [--page] [--arm] [--busy] [--json FILE]

The Panda follows a moving hand at 50 Hz, 300 Hz and 1 kHz, for 300 seconds each. With --page the loop is that of the
browser page, shown in a headless Chromium with software rendering; that needs the extra `teleop` and a Chromium. With
--arm a simulated arm follows on a bus of 100 Hz; what was written to it is checked against its bounds. With --busy
every core also computes something else. With --ordinary the loop has no real-time priority, as without rtprio.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from numpy.typing import ArrayLike

import supple
from supple import Frame, Linkage, Solver, teleop
from supple.teleop import Command, SimulatedArm, Statistics

LINK = "panda_hand_tcp"
WARM_UP = 0.2  # fraction of the time after which memory use counts
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def hand() -> Iterator[Command]:
    """A moving hand, with a new command in every tick."""
    for k in itertools.count():
        t = time.perf_counter()
        swing = [0.1 * math.sin(1.3 * t), 0.15 * math.sin(1.9 * t), 0.1 * math.sin(0.7 * t)]
        yield Command(Frame.at(swing, Frame.turn([0, 1, 0], 0.4 * math.sin(t))), stamp=t, sequence=k)


class CountedArm(SimulatedArm):
    """A simulated arm that counts the targets instead of keeping them, so that its memory stays the same."""

    def __init__(self, linkage: Linkage) -> None:
        super().__init__(linkage)
        self.targets = deque(maxlen=1)
        self.writes = 0

    def write(self, q: ArrayLike) -> None:
        """Moves towards joint values q (dof,)."""
        self.writes += 1
        super().write(q)


def stolen() -> float:
    """Seconds of processor time that other virtual machines took from this one; 0 where that is not known."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path("/proc/stat").read_text().split()[8]) / os.sysconf("SC_CLK_TCK")
    return 0.0


def memory() -> float:
    """Resident memory of this process in MiB; where that is not available, its maximum so far."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    try:
        import resource
    except ImportError:
        return math.nan
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


@contextlib.contextmanager
def busy_cores() -> Iterator[None]:
    """Every core computes something else, at ordinary priority."""
    code = "while True: sum(range(10000))"
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def without_priority() -> None:
    """Threads of this process may no longer get real-time priority, as those of an ordinary user."""

    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    os.sched_setscheduler = refused  # type: ignore[attr-defined]


def check_bounds(arm: CountedArm, speed: object) -> str:
    """What the simulated arm says of the targets that were written to it."""
    most = float((arm.step / (2 * speed / arm.rate)).max())  # type: ignore[operator]
    good = arm.outside == 0 and most <= 1 + 1e-9
    return f"{arm.writes:,} targets, {arm.outside} outside, steps up to {100 * most:.0f} % of the bound" + (
        "" if good else ": OUT OF BOUNDS"
    )


def alone(rate: float, seconds: float, arm: SimulatedArm | None) -> tuple[Statistics, float]:
    """The loop without a page: its statistics, and the growth of memory (MiB)."""
    marks: list[float] = []

    def watch(tick: teleop.Tick) -> None:
        if not marks and tick.t > WARM_UP * seconds:
            marks.append(memory())

    panda = supple.models.panda()
    tracker = Solver().track(panda, LINK)
    statistics = teleop.drive(hand(), teleop.Mapping(), tracker, watch, rate, seconds=seconds, arm=arm)
    return statistics, memory() - marks[0]


@contextlib.contextmanager
def browser(url: str) -> Iterator[None]:
    """Shows a page in a headless Chromium."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import setup_browser

    path = setup_browser.find()
    if path is None:
        raise SystemExit("no Chromium found; run python tests/setup_browser.py")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = ["--headless=new", "--no-first-run", "--remote-debugging-port=0", f"--user-data-dir={folder}"]
        command = [path, *SOFTWARE, *options, "--window-size=1280,720", url]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def shown(rate: float, seconds: float, arm: SimulatedArm | None) -> tuple[Statistics, float]:
    """The loop of a page in a browser: its statistics, and the growth of memory (MiB)."""
    from supple.teleop import page

    with (
        page.serve(supple.models.panda(), source=teleop.frames(hand()), rate=rate, port=0, arm=arm) as served,
        browser(served.url),
    ):
        start = time.monotonic()
        while not served._server.get_clients():  # on a busy machine it may lose its seat, which is not used here
            if time.monotonic() - start > 300:
                raise SystemExit("the browser did not connect")
            time.sleep(0.1)
        time.sleep(WARM_UP * seconds)
        before = memory()
        time.sleep((1 - WARM_UP) * seconds)
        grown, loop = memory() - before, served.session.loop
        if not served._server.get_clients():
            raise SystemExit("the browser has disconnected")
        return loop.stop(), grown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", nargs="?", type=float, default=300.0)
    parser.add_argument("--minutes", type=float, help="in place of SECONDS")
    parser.add_argument("--rate", type=float, nargs="+", default=[50.0, 300.0, 1000.0])
    parser.add_argument("--arm", action="store_true", help="with a simulated arm")
    parser.add_argument("--busy", action="store_true", help="while every core computes something else")
    parser.add_argument("--ordinary", action="store_true", help="without real-time priority")
    parser.add_argument("--page", action="store_true", help="with the page open in a headless Chromium")
    parser.add_argument("--json", help="also write the numbers to this file")
    arguments = parser.parse_args()
    rows = []
    seconds = arguments.seconds if arguments.minutes is None else 60 * arguments.minutes
    measure = shown if arguments.page else alone
    if arguments.ordinary:
        without_priority()
    panda = supple.models.panda()
    for rate in arguments.rate:
        arm = CountedArm(panda) if arguments.arm else None
        before = stolen()
        with busy_cores() if arguments.busy else contextlib.nullcontext():
            statistics, grown = measure(rate, seconds, arm)
        rows.append(
            {
                "rate_hz": rate,
                "page": arguments.page,
                "arm": None if arm is None else check_bounds(arm, panda.speed),
                "busy": arguments.busy,
                "seconds": statistics.seconds,
                "ticks": statistics.ticks,
                "skipped": statistics.skipped,
                "missed": statistics.missed,
                "missed_share": statistics.missed_share,
                "held_share": statistics.held / max(statistics.ticks, 1),
                "jitter_s": {f"p{100 * p:g}": statistics.jitter(p) for p in (0.5, 0.99, 0.999)},
                "latest_s": statistics.latest,
                "tracker_share": statistics.tracker_share,
                "work_share": statistics.work_share,
                "memory_growth_mib": grown,
                "stolen_share": (stolen() - before) / (os.cpu_count() or 1) / max(statistics.seconds, 1e-9),
            }
        )
        print(statistics)
        print(f"    in ticks {100 * statistics.work_share:.1f} % of the time; memory grew by {grown:+.1f} MiB")
        print(f"    held in {100 * statistics.held / max(statistics.ticks, 1):.1f} % of the ticks")
        if arm is not None:
            print(f"    simulated arm: {check_bounds(arm, panda.speed)}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
