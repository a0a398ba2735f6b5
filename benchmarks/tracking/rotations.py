"""Frames as people send them: rounded, in single precision, or skewed. How often they are held, and why it says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from supple import Frame, TrackingStatus
from supple.frame import Array

from . import arms, motion
from .report import Asked, Row
from .swings import wander
from .tremor import _start

ARMS = ("ur5", "panda", "xarm7", "kinova", "z1")
QUICK = ("ur5",)
RATE = 300


def _rounded(decimals: int) -> Callable[[Array, np.random.Generator], Array]:
    return lambda frame, rng: np.round(frame, decimals)


def _product(frame: Array, rng: np.random.Generator) -> Array:
    """A chain of 200 single-precision transforms that ends at the frame, as an integrator or a scene makes it."""
    turns = [*Frame.rotvec(rng.normal(size=(100, 3))).matrix.astype(np.float32)]
    whole = frame.astype(np.float32)
    for turn in turns:
        whole = whole @ turn
    for turn in reversed(turns):
        whole = whole @ turn.T
    return whole.astype(float)


def _changed(change: Array) -> Callable[[Array, np.random.Generator], Array]:
    return lambda frame, rng: frame @ change


KINDS: dict[str, tuple[Callable[[Array, np.random.Generator], Array], bool]] = {
    "6 decimals": (_rounded(6), True),
    "5 decimals": (_rounded(5), True),
    "4 decimals": (_rounded(4), True),
    "3 decimals": (_rounded(3), True),
    "float32": (lambda frame, rng: frame.astype(np.float32).astype(float), True),
    "float32 products": (_product, True),
    "scaled by 1.001": (_changed(np.diag([1.001, 1.001, 1.001, 1])), True),
    "scaled by 1.1": (_changed(np.diag([1.1, 1.1, 1.1, 1])), False),
    "left-handed": (_changed(np.diag([1, 1, -1.0, 1])), False),
    "not finite": (lambda frame, rng: np.where(np.eye(4) > 0, np.nan, frame), False),
}
"""How a frame is changed, and whether it must be followed."""


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm."""
    arm = arms.get(name)
    rows = []
    for kind, (change, must) in KINDS.items():
        held, reasons, total, shift = 0, Counter[str](), 0, 0.0
        for number in asked.trials(5, 1):
            start, rng = _start(arm, number)
            time = np.arange(4 * RATE) / RATE
            way = wander(rng, time, 6, 0.1, 0.5) * 0.05 * arm.reach()
            commands = motion.moved(arm.frames(start), way[:, :3], way[:, 3:])
            follow = motion.tracker(arm, start, asked.options)
            for command in commands:
                step = follow.step(change(command, rng), 1 / RATE)
                total += 1
                if step.status is TrackingStatus.HELD:
                    held += 1
                    reasons[step.why] += 1
            shift = max(shift, float(motion.far(arm, step.q[None], commands[None, -1:])[0, 0]))
        share = 100 * held / total
        said = reasons.most_common(1)[0][0] if reasons else ""
        value, bar, what = (share, 0.0, "held") if must else (100 - share, 0.0, "not held")
        rows.append(Row("frames", name, f"{kind}: ticks {what}", value, "%", bar, f"{said} (end {1e3 * shift:.2g} mm)"))
    return rows
