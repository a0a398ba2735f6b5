"""Two source trees beside each other: the ratio of their CPU times, with an interval, or of their instructions.

    python benchmarks/same/speed.py TREE_A TREE_B [--blocks 15] [--ops solve,tick] [--core 0]
    python benchmarks/same/speed.py TREE_A TREE_B --instructions

A tree has src/supple with its compiled _core. The same tree twice measures the noise, which must be within 1 %. In
each block both trees are copied and run in fresh processes, on one core and one at a time, since the placement of code
and data alone changes times by some per cent. Every operation runs in slices A B B A A B B A; the least CPU time of a
block's samples stands for it. Told are the median of the blocks' ratios B / A and its 95 % interval by bootstrap.
SUPPLE_ISA chooses the instruction set.

--instructions counts by callgrind: each operation runs n and 3 n times in one process, and the difference leaves
Python's start and the set-up out. It has no noise from other programs. Valgrind has no AVX-512, so AVX2 is counted.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

SLICE = 0.03
"""Seconds of CPU time in a slice."""
SAMPLE = 2e-4
"""Seconds of a sample, at least: short ones fit between two interruptions."""
NAMES = {
    "solve panda": "compiled single solve, panda",
    "solve ur5": "compiled single solve, ur5",
    "everyday": "supple.solve, panda",
    "batch": "batch of 20,000, panda",
    "tick panda": "tracker tick, panda following",
    "tick ur5": "tracker tick, ur5 yielding",
    "tick baxter": "tracker tick, baxter two end effectors",
    "forward one": "frame and Jacobian, one",
    "forward batch": "frame and Jacobian, batch of 100,000",
}


def sampled(call: Callable[[], Any]) -> float:
    """The least CPU nanoseconds of a call, of samples of one or more calls."""
    spent, repeats, best = 0, 1, float("inf")
    while spent < SLICE * 1e9:
        start = time.process_time_ns()
        for _ in range(repeats):
            call()
        sample = time.process_time_ns() - start
        spent += sample
        best = min(best, sample / repeats)
        if sample < SAMPLE * 1e9:
            repeats += 1
    return best


# -- the child: supple of one tree ------------------------------------------------------------------------------------


def child(wanted: list[str]) -> None:
    """Answers each line, the name of an operation, with nanoseconds a piece."""
    made = import_module("operations").operations(small=False)
    for name in wanted:  # warm: caches, lazy imports
        made[name][0]()
    gc.disable()
    print("ready", flush=True)
    for line in sys.stdin:
        call, pieces = made[line.strip()]
        print(sampled(call) / pieces, flush=True)


def counted_child(wanted: list[str]) -> None:
    """Runs each operation once to warm up, n and then 3 n times; callgrind dumps at each os.sched_yield."""
    made = import_module("operations").operations(small=True)
    gc.disable()
    for name in wanted:
        call, pieces = made[name]
        call()
        few = 1 if pieces > 1000 else 2
        for repeats in (few, 3 * few):
            os.sched_yield()
            for _ in range(repeats):
                call()
        os.sched_yield()
        print(name, 2 * few * pieces, flush=True)


# -- the parent -------------------------------------------------------------------------------------------------------


def environment(source: Path, seed: int) -> dict[str, str]:
    paths = [str(source), str(Path(__file__).parent)]
    fixed = {"SUPPLE_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": str(seed)}
    return {**os.environ, **fixed, "PYTHONPATH": os.pathsep.join(paths)}


def copied(tree: Path, folder: Path) -> Path:
    """A fresh copy of a tree's package: both get paths of one length and new pages of memory."""
    shutil.copytree(tree / "src" / "supple", folder / "supple", ignore=shutil.ignore_patterns("data"))
    (folder / "supple" / "data").symlink_to(tree / "src" / "supple" / "data")
    return folder


def block(trees: Sequence[Path], wanted: list[str], core: int, number: int) -> dict[str, float]:
    """The ratio B / A of each operation, and A's nanoseconds."""
    command = [sys.executable, __file__, "--child", ",".join(wanted)]
    order = (1, 0) if number % 2 else (0, 1)
    made: dict[int, Any] = {}
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for i in order:
                seen = environment(copied(trees[i], Path(folder) / f"tree{i}"), number)
                made[i] = subprocess.Popen(command, env=seen, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                os.sched_setaffinity(made[i].pid, {core})
            if any(each.stdout.readline() != "ready\n" for each in made.values()):
                raise SystemExit("a tree does not run; its error is above")
            for name in wanted:
                least = [float("inf"), float("inf")]
                for i in (*order, *order[::-1]) * 2:
                    made[i].stdin.write(f"{name}\n")
                    made[i].stdin.flush()
                    least[i] = min(least[i], float(made[i].stdout.readline()))
                found[name], found[f"{name} ns"] = least[1] / least[0], least[0]
        finally:
            for each in made.values():
                each.communicate()
    return found


def timed(trees: Sequence[Path], wanted: list[str], blocks: int, core: int) -> None:
    began, rows = time.monotonic(), []
    for number in range(blocks):
        rows.append(block(trees, wanted, core, number))
        if sys.stderr.isatty():
            print(f"\rblock {number + 1} of {blocks}", end="\r", file=sys.stderr)
    rng = np.random.default_rng(0)
    print(f"{'CPU time, ' + str(blocks) + ' blocks':42}{'A, us':>10}{'B / A':>9}   95 % interval")
    for name in wanted:
        ratios = np.array([row[name] for row in rows])
        medians = np.median(rng.choice(ratios, (10_000, blocks)), axis=1)
        low, high = np.percentile(medians, [2.5, 97.5])
        least = min(row[f"{name} ns"] for row in rows) / 1e3
        print(f"{NAMES[name]:42}{least:10.3f}{np.median(ratios):9.4f}   {low:.4f} to {high:.4f}")
    print(f"all in {time.monotonic() - began:.0f} s")


def instructions(trees: Sequence[Path], wanted: list[str]) -> None:
    """Instructions of a piece of work, by callgrind, for both trees at once."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for i, tree in enumerate(trees):
            grind = ["valgrind", "-q", "--tool=callgrind", "--dump-before=sched_yield", "--compress-pos=no"]
            grind += [f"--callgrind-out-file={folder}/{i}", sys.executable, __file__, "--count", ",".join(wanted)]
            made.append(subprocess.Popen(grind, env=environment(tree / "src", 0), stdout=subprocess.PIPE, text=True))
        told = [each.communicate()[0].splitlines() for each in made]
        costs: list[dict[str, float]] = []
        for i, lines in enumerate(told):
            # dump 1 ends the start; then three dumps for each operation: n, 3 n, and what leads to the next one
            totals = [_total(Path(f"{folder}/{i}.{number}")) for number in range(1, 3 * len(wanted) + 1)]
            pieces = [int(line.rsplit(" ", 1)[1]) for line in lines]
            pairs = zip(wanted, pieces, strict=True)
            costs.append({n: (totals[3 * k + 2] - totals[3 * k + 1]) / p for k, (n, p) in enumerate(pairs)})
    print(f"{'instructions':42}{'A':>12}{'B':>12}{'B / A':>9}")
    for name in wanted:
        a, b = (cost[name] for cost in costs)
        print(f"{NAMES[name]:42}{a:12,.0f}{b:12,.0f}{b / a:9.4f}")
    print(f"all in {time.monotonic() - began:.0f} s")


def _total(path: Path) -> int:
    return next(int(line.split()[1]) for line in path.read_text().splitlines() if line.startswith("summary:"))


def main() -> None:
    if sys.argv[1:2] in (["--child"], ["--count"]):
        return (child if sys.argv[1] == "--child" else counted_child)(sys.argv[2].split(","))
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("trees", nargs=2, type=lambda text: Path(text).resolve(), metavar="TREE")
    options.add_argument("--blocks", type=int, default=15)
    options.add_argument("--ops", default="", metavar="A,B", help=f"how their names begin; of {', '.join(NAMES)}")
    options.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="the core to run on")
    options.add_argument("--instructions", action="store_true", help="count instructions instead")
    asked = options.parse_args()
    wanted = [name for name in NAMES if not asked.ops or name.startswith(tuple(asked.ops.split(",")))]
    if asked.instructions:
        return instructions(asked.trees, wanted)
    return timed(asked.trees, wanted, asked.blocks, asked.core)


if __name__ == "__main__":
    main()
