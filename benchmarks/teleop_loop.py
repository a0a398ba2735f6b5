"""Timing of the tele-operation loop: missed deadlines, jitter, memory, and the time in the tracker.

    python benchmarks/teleop_loop.py [SECONDS] [--rate HZ ...] [--page] [--json FILE]

The Panda follows a moving hand at 300 Hz and then at 1 kHz, for 300 seconds each. With --page the loop is that of the
browser page, shown in a headless Chromium with software rendering; that needs the extra `teleop` and a Chromium.
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
from collections.abc import Iterator
from pathlib import Path

import supple
from supple import Frame, Solver, teleop
from supple.teleop import Command, Statistics

LINK = "panda_hand_tcp"
WARM_UP = 0.2  # fraction of the time after which memory use counts
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def hand() -> Iterator[Command]:
    """A moving hand, with a new command in every tick."""
    for k in itertools.count():
        t = time.perf_counter()
        swing = [0.1 * math.sin(1.3 * t), 0.15 * math.sin(1.9 * t), 0.1 * math.sin(0.7 * t)]
        yield Command(Frame.at(swing, Frame.turn([0, 1, 0], 0.4 * math.sin(t))), stamp=t, sequence=k)


def memory() -> float:
    """Resident memory of this process in MiB; where that is not available, its maximum so far."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    try:
        import resource
    except ImportError:
        return math.nan
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def alone(rate: float, seconds: float) -> tuple[Statistics, float]:
    """The loop without a page: its statistics, and the growth of memory (MiB)."""
    marks: list[float] = []

    def watch(tick: teleop.Tick) -> None:
        if not marks and tick.t > WARM_UP * seconds:
            marks.append(memory())

    panda = supple.models.panda()
    statistics = teleop.drive(hand(), teleop.Mapping(), Solver().track(panda, LINK), watch, rate, seconds=seconds)
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


def shown(rate: float, seconds: float) -> tuple[Statistics, float]:
    """The loop of a page in a browser: its statistics, and the growth of memory (MiB)."""
    from supple.teleop import page

    with (
        page.serve(supple.models.panda(), source=teleop.frames(hand()), rate=rate, port=0) as served,
        browser(served.url),
    ):
        start = time.monotonic()
        while served.drivers.driver is None:
            if time.monotonic() - start > 60:
                raise SystemExit("the browser did not connect")
            time.sleep(0.1)
        time.sleep(WARM_UP * seconds)
        before = memory()
        time.sleep((1 - WARM_UP) * seconds)
        grown, loop = memory() - before, served.session.loop
        if loop.held or served.drivers.driver is None:
            raise SystemExit(f"the arm was not driven: {loop.held or 'the browser has disconnected'}")
        return loop.stop(), grown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", nargs="?", type=float, default=300.0)
    parser.add_argument("--rate", type=float, nargs="+", default=[300.0, 1000.0])
    parser.add_argument("--page", action="store_true", help="with the page open in a headless Chromium")
    parser.add_argument("--json", help="also write the numbers to this file")
    arguments = parser.parse_args()
    rows = []
    for rate in arguments.rate:
        statistics, grown = (shown if arguments.page else alone)(rate, arguments.seconds)
        rows.append(
            {
                "rate_hz": rate,
                "page": arguments.page,
                "seconds": statistics.seconds,
                "ticks": statistics.ticks,
                "missed": statistics.missed,
                "missed_share": statistics.missed_share,
                "jitter_s": {f"p{100 * p:g}": statistics.jitter(p) for p in (0.5, 0.99, 0.999)},
                "latest_s": statistics.latest,
                "tracker_share": statistics.tracker_share,
                "work_share": statistics.work_share,
                "memory_growth_mib": grown,
            }
        )
        print(statistics)
        print(f"    in ticks {100 * statistics.work_share:.1f} % of the time; memory grew by {grown:+.1f} MiB")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
