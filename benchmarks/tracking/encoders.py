"""measured= of an arm that lags and has encoder noise: speed reached, flicker of the status, growing oscillation."""

from __future__ import annotations

import numpy as np

from supple.frame import Array

from . import arms, motion
from .arms import Arm
from .report import Asked, Row
from .tremor import _start

ARMS = (*arms.TUNE, *arms.JUDGE)
QUICK = ("ur5", "so101", "xarm7")
RATES = (300, 1000)
LAGS = (0, 1, 2, 3)  # ticks
NOISE = 1e-3  # rad


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm: the worst over rates, lags, noise and trials."""
    arm = arms.get(name)
    slower, perfect, flicker, growth = (0.0, ""), (0.0, ""), (0.0, ""), (0.0, "")
    for number in asked.trials(10, 2):
        for rate in RATES:
            free = _run(arm, number, rate, None, 0.0, asked)
            for lag in LAGS:
                for noise in (0.0, NOISE):
                    with_it = _run(arm, number, rate, lag, noise, asked)
                    words = f"{rate} Hz, lag {lag}, noise {noise:g} rad, trial {number}"
                    slower = max(slower, (_loss(arm, free[0], with_it[0], rate), words))
                    if not lag and not noise:
                        perfect = max(perfect, (_loss(arm, free[0], with_it[0], rate), words))
                    flicker = max(flicker, (_changes(with_it[1], rate) - _changes(free[1], rate), words))
                    own = max(_growth(free[0], rate), 1.0)  # an arm that is still on its way grows without readings too
                    growth = max(growth, (_growth(with_it[0], rate) / own, words))
    return [
        Row("measured", name, "part of its top speed that a joint loses", slower[0], "", 0.05, slower[1]),
        Row("measured", name, "the same, for a perfect arm", perfect[0], "", 0.01, perfect[1]),
        Row("measured", name, "more changes of status a second at rest", flicker[0], "1/s", 0.1, flicker[1]),
        Row("measured", name, "growth of oscillation at rest", growth[0], "times", 1.5, growth[1]),
    ]


def _run(arm: Arm, number: int, rate: int, lag: int | None, noise: float, asked: Asked) -> tuple[Array, Array]:
    """q (N, dof) and status (N,): a jump that takes joints to full speed, then 4 s of rest."""
    start, _ = _start(arm, number)
    rng = motion.random_of(arm, "measured", number)
    there = np.clip(
        start + np.minimum(1.2, 0.5 * (arm.high - arm.low)) * rng.choice([-1, 1], len(start)),
        arm.low + 0.02,
        arm.high - 0.02,
    )
    goal = arm.frames(there)[0]
    follow = motion.tracker(arm, start, asked.options)
    rows, status = [start] * 4, []
    for _ in range(7 * rate):
        real = None if lag is None else rows[-1 - lag] + noise * rng.normal(size=len(start))
        step = follow.step(goal, 1 / rate, measured=real)
        rows.append(step.q.copy())
        status.append(step.status.value)
    return np.array(rows[4:]), np.array(status)


def _fastest(q: Array, rate: int) -> Array:
    """Greatest speed of each joint (dof,) in the first three seconds."""
    return np.abs(np.diff(q[: 3 * rate], axis=0)).max(axis=0) * rate


def _loss(arm: Arm, free: Array, with_it: Array, rate: int) -> float:
    """The largest part of its top speed that a joint loses, of those that reach half their bound without measured=."""
    before, after = _fastest(free, rate), _fastest(with_it, rate)
    fast = before > 0.5 * np.minimum(arm.linkage.speed, before.max())
    return float((1 - after[fast] / before[fast]).max(initial=0.0))


def _changes(status: Array, rate: int) -> float:
    """Changes of status a second in the last three seconds."""
    return float(np.count_nonzero(np.diff(status[-3 * rate :])) / 3)


def _growth(q: Array, rate: int) -> float:
    """Peak to peak of the last second over that of the second before the last two, where it can be felt."""
    late, early = np.ptp(q[-rate:], axis=0), np.ptp(q[-3 * rate : -2 * rate], axis=0)
    return float((late / np.maximum(early, 1e-5)).max())
