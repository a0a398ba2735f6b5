"""The same command at other tick rates, and with uneven ticks, against the run at 1 kHz."""

from __future__ import annotations

import numpy as np

from supple.frame import Array
from supple.gauntlet.arms import difference

from . import arms, motion
from .arms import Arm
from .report import Asked, Row
from .swings import wander
from .tremor import _start

ARMS = (*arms.TUNE, *arms.JUDGE)
QUICK = ("ur5", "panda", "xarm7")
RATES = (10, 20, 30, 60, 125, 300, 3000, 10000)
SECONDS = 8.0
FINE = 10000  # ticks a second of the grid on which all commands are made
BARS = (2.0, 0.5)  # mm, degrees
KINDS = ("wander", "past reach", "jump")


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm: the largest difference for each kind of command and each rate.

    Commands of kind wander and past reach have frequencies below 2 Hz, a fifth of the lowest rate. A jump has all
    frequencies: it is told, not judged.
    """
    arm = arms.get(name)
    rows = []
    for kind in KINDS:
        worst: dict[str, tuple[float, float, int]] = {}
        for number in asked.trials(10, 2):
            start, grid = _command(arm, kind, number)
            reference = _run(arm, start, grid, np.arange(10, len(grid), 10), asked)
            for rate in RATES:
                ticks = np.round(np.arange(1, SECONDS * rate) * FINE / rate).astype(int)
                _keep(worst, f"{rate} Hz", _apart(reference, _run(arm, start, grid, ticks, asked)), number)
            rng = motion.random_of(arm, "time uneven", number)
            steps = 10 * rng.integers(1, 101, int(SECONDS * 1000))
            ticks = np.cumsum(steps)
            ticks = ticks[ticks < len(grid)]
            _keep(worst, "1 to 100 ms, uneven", _apart(reference, _run(arm, start, grid, ticks, asked)), number)
        for rate, (far, off, number) in worst.items():
            judged = kind != "jump"
            note = f"{off:.3g} deg; --parts time --arms {name} --first {number} --count 1"
            value = max(far / BARS[0], off / BARS[1])
            rows.append(
                Row(
                    "time",
                    name,
                    f"{kind}, {rate}, of the bar",
                    value,
                    "",
                    1.0 if judged else None,
                    f"{far:.3g} mm, {note}",
                )
            )
    return rows


def _keep(worst: dict[str, tuple[float, float, int]], key: str, found: tuple[float, float], number: int) -> None:
    """Keep the larger of each difference."""
    before = worst.get(key, (-1.0, -1.0, number))
    worst[key] = (max(found[0], before[0]), max(found[1], before[1]), number if found[0] > before[0] else before[2])


def _command(arm: Arm, kind: str, number: int) -> tuple[Array, Array]:
    """Start (dof,), and frames (N, 4, 4) on the fine grid."""
    start, _ = _start(arm, number)
    rng = motion.random_of(arm, f"time {kind}", number)
    time = np.arange(int(SECONDS * FINE)) / FINE
    here, reach = arm.frames(start)[0], arm.reach()
    if kind == "jump":
        there = arm.frames(np.clip(start + 0.3 * rng.normal(size=len(start)), arm.low, arm.high))[0]
        return start, np.where((time > 0.5)[:, None, None], there, here)
    if kind == "past reach":
        way, axis = rng.normal(size=(2, 3))
        out = rng.uniform(0.3, 0.8) * reach * way / np.linalg.norm(way)
        turn = rng.uniform(0, 1) * axis / np.linalg.norm(axis)
        u = motion.smooth(time / 2.5) - motion.smooth((time - 4.0) / 2.5)
        return start, motion.moved(here[None], u[:, None] * out, u[:, None] * turn)
    way = wander(rng, time, 6, 0.1, 1.0) * motion.smooth(time)[:, None]
    size = np.concatenate([np.full(3, 0.04 * reach), np.full(3, 0.1)])
    return start, motion.moved(here[None], size[:3] * way[:, :3], size[3:] * way[:, 3:])


def _run(arm: Arm, start: Array, grid: Array, ticks: Array, asked: Asked) -> dict[int, Array]:
    """Frame of the end effector at each tick, by its place on the fine grid."""
    follow = motion.tracker(arm, start, asked.options)
    before, rows = 0, np.empty((len(ticks), arm.linkage.dof))
    steps = np.diff(ticks, prepend=0)
    if (steps == steps[0]).all():
        rows = follow.replay(grid[ticks][:, None], steps[0] / FINE)[0]
    else:
        for i, tick in enumerate(ticks):
            rows[i] = follow.step(grid[tick], (tick - before) / FINE).q
            before = tick
    return dict(zip(ticks.tolist(), arm.frames(rows)[:, 0], strict=True))


def _apart(reference: dict[int, Array], other: dict[int, Array]) -> tuple[float, float]:
    """Largest difference at common times: millimetres, degrees."""
    both = sorted(reference.keys() & other.keys())
    error = difference(np.array([reference[k] for k in both]), np.array([other[k] for k in both]))
    far, off = np.linalg.norm(error[:, :3], axis=1).max(), np.linalg.norm(error[:, 3:], axis=1).max()
    return float(1e3 * far), float(np.degrees(off))
