"""Random pushes out of reach and back: home within 4 s, on which branch, and what is said of those that are not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from supple import gauntlet
from supple.frame import Array
from supple.gauntlet.arms import arm_from_linkage
from supple.gauntlet.random_pushes import BRANCH, _shortest

from . import arms, motion
from .report import Asked, Row, counted

ARMS = (*arms.TUNE, *arms.JUDGE)
QUICK = ("ur5", "panda", "kinova", "xarm7")
RATE = 300
WITHIN = 4.0  # s
SPARE = 3.0  # s after the time that speed and acceleration bounds need for the way: slow joints may take so long
NEAR = (1e-3, np.radians(0.5))


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm."""
    arm = arms.get(name)
    known = arm_from_linkage(arm.linkage, arm.link)
    trials = asked.trials(100, 15)
    pushes = gauntlet.pushes(known, trials.stop)[trials.start :]
    lost, slow, elsewhere, times = [], [], [], []
    reasons: Counter[str] = Counter()
    for number, push in zip(trials, pushes, strict=True):
        follow = motion.tracker(arm, push.start, {"acceleration": 15.0} | asked.options)
        frames = push.frames(RATE)[:, None]
        back = round((push.duration - 1.2) * RATE)
        before, _ = follow.replay(frames[:back], 1 / RATE)
        q, _ = motion.hold(follow, frames[-1], WITHIN, RATE)
        near = _near(arm, q, frames[-1:])
        while not near[-1] and len(q) / RATE < motion.needed(arm, follow, q[-1] - before[-1]) + SPARE:
            q = np.vstack([q, motion.hold(follow, frames[-1], 0.1, RATE)[0]])
            near = _near(arm, q, frames[-1:])
            if near[-1]:
                slow.append((len(q) / RATE, number, f"{push.title}: {len(q) / RATE:.1f} s"))
        apart = float(np.abs(_shortest(known, q[-1] - push.start)).max())
        if not near[-1]:
            step = follow.step(frames[-1, 0], 1 / RATE)
            reasons[f"{step.status.name}: {step.why}"] += 1
            lost.append((float(motion.far(arm, q[-1:], frames[-1:])[0, 0]), number, f"{push.title}: {step}"))
            continue
        times.append((len(near) - near[::-1].argmin()) / RATE if not near.all() else 0.0)
        if apart > BRANCH:
            elsewhere.append((apart, number, f"{push.title}: {apart:.2f} rad apart"))
    said = "; ".join(f"{count}: {reason}" for reason, count in reasons.most_common(4))
    total = len(trials)
    rows = [
        counted("pushes", name, "not back within 4 s, nor 3 s after the time that the bounds need", lost, total),
        replace(counted("pushes", name, "back later than 4 s, within that time", slow, total), bar=None),
    ]
    if said:
        rows.append(Row("pushes", name, "reasons of those not back", len(reasons), note=said))
    spare = arm.linkage.dof > 6  # then any of many joint values is home
    row = counted("pushes", name, "on another branch", elsewhere, total)
    rows.append(Row(row.part, row.arm, row.what, row.value, bar=None if spare else 0, note=row.note))
    rows.append(
        Row("pushes", name, "mean time until back, after the return", float(np.mean(times)) if times else np.inf, "s")
    )
    return rows


def _near(arm: arms.Arm, q: Array, command: Array) -> Array:
    """Whether the end effector at q (N, dof) is at the command (1, 1, 4, 4): (N,)."""
    return np.asarray((motion.far(arm, q, command)[:, 0] < NEAR[0]) & (motion.off(arm, q, command)[:, 0] < NEAR[1]))
