"""solve with a start: is the answer the nearest one there is?"""

from __future__ import annotations

import time

import numpy as np

from supple import Goal, Solver
from supple.frame import Array

from . import arms, motion
from .arms import Arm
from .report import Asked, Row, again

ARMS = ("ur5", "ur10", "puma560", "kraft", "kinova", "z1", "ur3")
QUICK = ("ur5", "kinova")
STARTS = 60  # random starts from which all answers are collected
SAME = 1e-3  # rad by which another answer must be nearer to count


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm with six joints. Near means the root of the sum of squared joint changes."""
    arm = arms.get(name)
    trials = asked.trials(500, 40)
    found, missed, seconds, worst = 0, 0, 0.0, (0.0, 0)
    Solver().solve(arm.linkage, Goal(arm.link, arm.frames(arm.linkage.rest)[0]), arm.linkage.rest)  # sets it up
    for number in trials:
        rng = motion.random_of(arm, "branch", number)
        start = motion.inside(arm, rng, 0.9)
        goal = Goal(arm.link, arm.frames(motion.inside(arm, rng, 1.0))[0])
        began = time.perf_counter()
        answer = Solver().solve(arm.linkage, goal, start)
        seconds += time.perf_counter() - began
        if not answer.arrived:
            continue
        nearest = _nearest(arm, goal, start, rng)
        found += 1
        loss = float(np.linalg.norm(answer.q - start)) - nearest
        if loss > SAME:
            missed += 1
            worst = max(worst, (loss, number))
    share = 100 * missed / max(found, 1)
    note = f"worst {worst[0]:.2f} rad farther: {again('branch', name, worst[1])}" if missed else ""
    return [
        Row("branch", name, f"a nearer answer exists, of {found}", share, "%", 1.0, note),
        Row("branch", name, "time of a solve with a start", 1e6 * seconds / len(trials), "us"),
    ]


def _nearest(arm: Arm, goal: Goal, start: Array, rng: np.random.Generator) -> float:
    """Distance from the start of the nearest answer found from many starts, whole turns included."""
    begins = np.vstack([start, [motion.inside(arm, rng, 1.0) for _ in range(STARTS)]])
    many = Goal(arm.link, np.broadcast_to(np.eye(4), (len(begins), 4, 4)) @ _frame(goal))
    answers = Solver().solve(arm.linkage, many, begins)
    q = answers.q[answers.arrived]
    more = Solver().solve(arm.linkage, goal, start, solutions=32)
    q = np.vstack([q, more.q[more.arrived]])
    turn = 2 * np.pi * np.round((start - q) / (2 * np.pi))
    for by in (0, 2 * np.pi, -2 * np.pi):  # the nearest turn that is within limits
        near = q + turn + by
        inside = (near >= arm.linkage.lower) & (near <= arm.linkage.upper)
        q = np.where(inside & (np.abs(near - start) < np.abs(q - start)), near, q)
    return float(np.linalg.norm(q - start, axis=1).min())


def _frame(goal: Goal) -> Array:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = goal.orientation, goal.position
    return out
