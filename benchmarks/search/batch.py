"""Part "batch": many goals in one call, in one process for each instruction set and number of threads.

SUPPLE_THREADS=2 SUPPLE_ISA=avx2 python benchmarks/search/batch.py 1000000
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

from supple import Solver, _core

SAMPLE = 2000
"""Number of rows that are checked, and compared with single solves of the same goals."""
ROUNDS = 5
"""Number of calls; the shortest counts."""


def batch(count: int) -> Iterator[dict[str, object]]:
    """Rows of the Panda: the best instruction set on one and two threads, then the others on two."""
    best, *others = reversed(_core.instruction_sets())
    for name, threads in [(best, 1), (best, 2), *((other, 2) for other in others)]:
        environment = {**os.environ, "SUPPLE_THREADS": str(threads), "SUPPLE_ISA": name}
        done = subprocess.run(
            [sys.executable, __file__, str(count)], env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
        labels = {"part": "batch", "robot": "panda", "set": name, "threads": threads, "goals": count}
        yield labels | json.loads(done.stdout)


def main(count: int) -> None:
    """Solve ``count`` goals of the Panda in one call, and print the results as JSON."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from search import goals, ours
    from search.arms import ARMS
    from search.judge import Judge, arrived

    arm = ARMS["panda"]()
    frames = np.array(arm.linkage.frame(goals.uniform(arm, count, 3), arm.link).matrix)
    wanted, solver, q = ours.goal(arm, frames), Solver(), np.zeros((count, arm.linkage.dof))
    seconds = []
    for _ in range(ROUNDS):
        start = perf_counter()
        found = solver.solve(arm.linkage, wanted, out=q, progress=False)
        seconds.append(perf_counter() - start)
    some = np.random.default_rng(0).permutation(count)[:SAMPLE]
    find = ours.compiled(arm)
    alone = [find(frame) for frame in frames[some]]
    met = arrived(Judge(arm.linkage, [arm.link]), q[some], frames[some][:, None])
    same = [one is not None and np.array_equal(one, row) for one, row in zip(alone, q[some], strict=True)]
    lost = int((~found.arrived).sum())
    result = {"rate": count / min(seconds), "lost": lost, "right": float(np.mean(met)), "same": float(np.mean(same))}
    print(json.dumps(result))


if __name__ == "__main__":
    main(int(sys.argv[1]))
