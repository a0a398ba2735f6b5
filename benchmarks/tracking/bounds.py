"""Random ticks with every input and option: broken bounds of joints and of end effectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple import Goal
from supple.frame import Array
from supple.gauntlet.arms import difference

from . import arms, motion
from .arms import Arm
from .report import Asked, Row, again

ARMS = (*arms.TUNE, *arms.JUDGE, *arms.TUNE_TREES, *arms.JUDGE_TREES)
QUICK = ("ur5", "xarm7", "tiago_lift", "g1_2")
TICKS = 2000  # of a trial
LONGEST = 0.25  # s; a longer tick counts as one of this length
EVEN = 1 / 300  # s; jerk is measured in trials of even ticks
BOUNDS = ("position", "speed", "acceleration", "end effector's speed", "end effector's turn speed", "jerk", "any jerk")
SOFT = ("any jerk",)
"""Bounds that yield as the documentation says: a jerk that slows a joint, or ends an acceleration."""


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm: the greatest excess over each bound, over all ticks."""
    arm = arms.get(name)
    excess = dict.fromkeys(BOUNDS, (0.0, 0))
    raised, trials = [], asked.trials(25, 3)
    for number in trials:
        try:
            found = _trial(arm, number, asked)
        except Exception as error:  # nothing that an operator sends may raise
            raised.append(f"{type(error).__name__}: {error}; {again('bounds', name, number)}")
            continue
        for what, value in found.items():
            excess[what] = max(excess[what], (value, number))
    total = len(trials) * TICKS
    rows = [
        Row(
            "bounds",
            name,
            f"{what} beyond its bound, of {total} ticks",
            value,
            "",
            None if what in SOFT else 1e-9,
            again("bounds", name, n),
        )
        for what, (value, n) in excess.items()
    ]
    return [*rows, Row("bounds", name, "exceptions", len(raised), bar=0, note=raised[0] if raised else "")]


def _trial(arm: Arm, number: int, asked: Asked) -> dict[str, float]:
    """Excess over bounds: rad or m for positions, as a part of the bound for the others."""
    rng = motion.random_of(arm, "bounds", number)
    start = motion.inside(arm, rng, 1.0)
    options = _options(rng, len(arm.links)) | asked.options
    goals = [Goal(link, np.eye(4), priority=int(rng.integers(2))) for link in arm.links]
    follow = motion.tracker(arm, start, options, goals)
    even = bool(rng.random() < 0.5)
    q, times = [start] * 4, []
    for command, stamp in _commands(arm, start, rng):
        dt = EVEN if even else float(10 ** rng.uniform(-4, -1))
        lag = int(rng.integers(4))
        real = q[-1 - lag] + 1e-3 * rng.normal(size=len(start)) if lag and number % 2 else None
        given = list(command) if len(arm.links) > 1 else command[0]
        q.append(follow.step(given, dt, stamp if number % 3 == 0 else None, real).q.copy())
        times.append(min(dt, LONGEST))
    return _excess(arm, follow, np.array(q[3:]), np.array(times), even and not np.isfinite(follow.speed).any())


def _options(rng: np.random.Generator, links: int) -> dict[str, Any]:
    """Options of `Solver.track`, each given in half of the trials."""
    every = {
        "acceleration": float(rng.uniform(3, 50)),
        "jerk": float(10 ** rng.uniform(2, 4)),
        "speed_scale": float(rng.uniform(0.1, 1)),
        "margin": float(10 ** rng.uniform(-3, -0.7)),
    }
    given = {name: value for name, value in every.items() if rng.random() < 0.5}
    if rng.random() < 0.5:
        given |= {"speed": 10 ** rng.uniform(-1.5, 0.5, links), "turn_speed": 10 ** rng.uniform(-1, 1, links)}
    return given


def _commands(arm: Arm, start: Array, rng: np.random.Generator) -> list[tuple[Array, float]]:
    """Walks, jumps, holds and nonsense."""
    here = arm.frames(start)
    out, stamp = [], 0.0
    while len(out) < TICKS:
        kind, length = rng.choice(["walk", "jump", "hold", "nonsense"], p=[0.5, 0.2, 0.25, 0.05]), rng.integers(5, 200)
        drift = rng.normal(size=(2, len(arm.links), 3)) * [[[2e-3]], [[5e-3]]]
        if kind == "jump":
            here = motion.moved(here, 0.3 * rng.normal(size=(len(arm.links), 3)), rng.normal(size=(len(arm.links), 3)))
        for _ in range(length):
            stamp += float(rng.uniform(0, 0.02))
            if kind == "walk":
                here = motion.moved(here, drift[0], drift[1])
            out.append((np.full_like(here, np.nan) if kind == "nonsense" else here, stamp))
    return out[:TICKS]


def _moved(arm: Arm, q: Array) -> int:
    """How many joint values move the end effectors."""
    columns = np.vstack([np.atleast_2d(arm.linkage.jacobian(q, link)) for link in arm.links])
    return int(np.count_nonzero(np.abs(columns).max(axis=0)))


def _excess(arm: Arm, follow: motion.Tracker, q: Array, times: Array, even: bool) -> dict[str, float]:
    linkage = arm.linkage
    dt = times[:, None]
    velocity = np.diff(q, axis=0) / dt
    rounding = 4e-16 * np.maximum(np.abs(q).max(), 1) / dt  # of a velocity, from that of q
    change = np.abs(np.diff(velocity, axis=0, prepend=0))
    # long ticks are divided; the mean velocity of two ticks may differ by as much as their pieces allow
    longest = 1e-3 if _moved(arm, q[0]) <= 10 else 2e-3
    part = np.where(dt > 4.000001e-3, dt / np.maximum(np.ceil(dt / longest - 1e-6), 1), dt)
    before, last = np.vstack([dt[:1], dt[:-1]]), np.vstack([dt[:1], part[:-1]])
    allowed = 0.5 * follow.acceleration * (dt + part + before - last)
    frames = arm.frames(q)
    way = np.linalg.norm(np.diff(frames[..., :3, 3], axis=0), axis=-1)
    angle = np.linalg.norm(difference(frames[1:], frames[:-1])[..., 3:], axis=-1)
    outside = np.maximum(np.maximum(follow.lower - q, q - follow.upper), 0)
    over = dict.fromkeys(BOUNDS, 0.0) | {
        "position": np.diff(outside, axis=0).max(),  # a start within the margin comes back
        "speed": ((np.abs(velocity) - rounding) / (follow.speed_scale * linkage.speed)).max() - 1,
        "acceleration": ((change - 4 * rounding) / allowed).max() - 1,
        "end effector's speed": ((way - 1e-15) / (dt * follow.speed)).max() - 1,
        "end effector's turn speed": ((angle - 3e-8 * (angle < 1e-6)) / (dt * follow.turn_speed)).max() - 1,
    }
    if even:  # of uneven ticks a third difference says nothing
        acceleration = np.diff(velocity, axis=0) / times[0]
        ratio = np.abs(np.diff(acceleration, axis=0)) / times[0] / follow.jerk
        now, before = acceleration[1:], acceleration[:-1]
        faster = (now * velocity[2:] > 0) & (now * before >= 0) & (np.abs(now) > np.abs(before))
        over["jerk"] = (ratio * faster).max() - 1
        over["any jerk"] = ratio.max() - 1
    return {what: max(0.0, float(value)) for what, value in over.items()}
