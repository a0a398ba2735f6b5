"""Millions of solves and ticks, and solvers and trackers made and dropped: memory must stay flat.

    python benchmarks/soak.py            # 20 million solves, 5 million ticks, 100,000 of each made and dropped
    python benchmarks/soak.py --quick    # a hundredth of that

Each part warms up for a tenth of its work. From then on memory is read forty times; the slope of the line through these
points, in bytes for each call, and the growth of the line over the part must be within the bounds. A leak of one small
object for each call is 16 bytes or more.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import supple
from supple import Frame, Solver

POINTS = 40
SLOPE = 1.0  # bytes for each call; of whole pages, so that few calls give a coarse one
GROWTH = 4 << 20  # bytes in all that an allocator may round up
LINK = "panda_hand_tcp"
PARTS = ("solves", "ticks", "solvers", "trackers")  # the last two: made, used once and dropped


def resident() -> int:
    """Bytes of this process that are in memory now (Linux), else the most that ever were."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def soak(name: str, count: int, work: Callable[[int], None], slope_bound: float = SLOPE) -> bool:
    """Do `work` on `count` calls in portions, and print the slope of memory. True if it is flat."""
    portion = -(-count // POINTS)
    began = time.process_time()
    for _ in range(max(POINTS // 10, 1)):
        work(portion)
    memory = []
    for _ in range(POINTS):
        work(portion)
        gc.collect()
        memory.append(resident())
    calls = portion * np.arange(1, POINTS + 1)
    slope = float(np.polyfit(calls, memory, 1)[0])
    growth = slope * portion * POINTS
    flat = slope <= slope_bound or growth <= GROWTH
    each = (time.process_time() - began) / (portion * (POINTS + max(POINTS // 10, 1))) * 1e6
    print(
        f"{name:9s} {calls[-1]:>11,d} calls  {each:9.2f} us each  {memory[-1] / 1e6:7.1f} MB"
        f"  slope {slope:+9.4f} B/call  growth {growth / 1e3:+9.1f} kB  {'flat' if flat else 'GROWS'}",
        flush=True,
    )
    return flat


def main() -> int:
    """Run every part; 1 if memory grew in any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the work")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be repeated")
    asked = parser.parse_args()
    share, wanted = 100 if asked.quick else 1, asked.part or PARTS
    arm = supple.models.panda()
    frames = arm.frame(arm.random(1000, seed=1), LINK)
    goals = [Frame(frames.matrix[i]) for i in range(1000)]
    find = Solver().compile(arm, LINK)

    def solve(count: int) -> None:
        for i in range(count):
            find(goals[i % 1000])

    tool = arm.frame(arm.rest, LINK)
    angle = np.linspace(0, 2 * np.pi, 1000, endpoint=False)
    circle = [Frame.at([0.1 * np.sin(a), 0.3 * (1 - np.cos(a)), 0.4 * np.sin(2 * a)]) @ tool for a in angle]
    tracker = Solver().track(arm, LINK)

    def tick(count: int) -> None:
        for i in range(count):
            tracker.step(circle[i % 1000], 1 / 300)

    different = itertools.count(1000)  # a linkage keeps what it has compiled for equal solvers

    def make_solver(count: int) -> None:
        for i in range(count):
            Solver(max_iterations=next(different)).compile(arm, LINK)(goals[i % 1000])

    def make_tracker(count: int) -> None:
        for i in range(count):
            Solver().track(arm, LINK).step(circle[i % 1000], 1 / 300)

    work = {
        "solves": (20_000_000, solve, SLOPE),
        "ticks": (5_000_000, tick, SLOPE),
        "solvers": (100_000, make_solver, 16.0),
        "trackers": (100_000, make_tracker, 16.0),
    }
    flat = [soak(name, work[name][0] // share, *work[name][1:]) for name in PARTS if name in wanted]
    return 0 if all(flat) else 1


if __name__ == "__main__":
    sys.exit(main())
