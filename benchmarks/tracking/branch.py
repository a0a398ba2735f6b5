"""solve with a start: is the answer the nearest one there is, and what does it cost?

Near means the root of the sum of squared joint changes, over all solutions within limits, whole turns included. The
truth comes from the oracle in nearest.py. An answer counts as the nearest if the oracle's is less than 1e-3 rad nearer.
"""

from __future__ import annotations

import time

import numpy as np

from supple import Goal, Solver, method
from supple.frame import Array

from . import arms, motion, nearest
from .arms import Arm
from .report import Asked, Row, again

ARMS = ("ur5", "ur10", "puma560", "kraft", "so101", "panda", "iiwa14", "kinova", "z1", "ur3", "xarm7")
QUICK = ("ur5", "panda", "kinova")
SAME = 1e-3  # rad by which another answer must be nearer to count
CLOSE = 0.3  # rad: largest distance of a goal that is near the start


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm: goals anywhere, and goals near the start."""
    arm = arms.get(name)
    return [*_measure(arm, asked, "anywhere"), *_measure(arm, asked, "near the start")]


def _measure(arm: Arm, asked: Asked, where: str) -> list[Row]:
    trials = asked.trials(500, 40)
    starts, frames, ways = [], [], []
    for number in trials:
        rng = motion.random_of(arm, f"branch {where}", number)
        start = motion.inside(arm, rng, 0.9)
        end = motion.inside(arm, rng, 1.0) if where == "anywhere" else _close(arm, start, rng)
        starts.append(start)
        frames.append(arm.frames(end)[0])
        ways.append(nearest.distance(arm, frames[-1], start, rng))
    goal, begin = Goal(arm.link, np.array(frames)), np.array(starts)
    rows = []
    for words, solver in (("", Solver()), (", nearest=False", Solver(method=method.search(nearest=False)))):
        found = solver.solve(arm.linkage, goal, begin)
        loss = np.linalg.norm(found.q - begin, axis=1) - np.array(ways)
        missed = found.arrived & (loss > SAME)
        share = 100 * missed.sum() / max(found.arrived.sum(), 1)
        worst = int(np.argmax(np.where(missed, loss, -np.inf)))
        note = (
            f"worst {loss[worst]:.2f} rad farther: {again('branch', arm.name, trials[worst])}" if missed.any() else ""
        )
        what = f"goals {where}{words}: a nearer answer exists, of {found.arrived.sum()}"
        rows.append(Row("branch", arm.name, what, share, "%", 1.0 if not words else None, note))
        alone = _microseconds(arm, solver, np.array(frames), begin)
        rows.append(Row("branch", arm.name, f"goals {where}{words}: CPU time of a compiled solve", alone, "us"))
    return rows


def _close(arm: Arm, start: Array, rng: np.random.Generator) -> Array:
    way = rng.normal(size=start.shape)
    return np.clip(start + way * rng.uniform(0.02, CLOSE) / np.linalg.norm(way), arm.low, arm.high)


def _microseconds(arm: Arm, solver: Solver, frames: Array, starts: Array) -> float:
    """CPU time of a solve, the least of five runs over all goals."""
    find, out = solver.compile(arm.linkage, arm.link), np.empty(arm.linkage.dof)
    runs = []
    for _ in range(5):
        began = time.process_time()
        for frame, start in zip(frames, starts, strict=True):
            find(frame, start, out)
        runs.append(time.process_time() - began)
    return 1e6 * min(runs) / len(starts)
