"""Slow commands past limits: standing still would do no worse, so the arm must not be thrown."""

from __future__ import annotations

import numpy as np

from supple import Frame
from supple.frame import Array

from . import arms, motion
from .arms import Arm
from .report import Asked, Row, counted

ARMS = (*arms.TUNE, *arms.JUDGE)
QUICK = ("ur5", "ur10", "kraft", "xarm7", "kinova", "z1")
RATE = 300
AWAY = 0.02  # m
HELD = 12.0  # s for which the command rests past the limit
WHOLE = np.pi  # rad that no joint may move while the command rests
CASE = {
    "shoulder_lift_joint": -1.2,
    "elbow_joint": 1.5,
    "wrist_1_joint": -1.2,
    "wrist_2_joint": -1.4,
    "wrist_3_joint": 0.3,
}
"""Where the UR5 starts when trial 0 turns 3 degrees past the limit of its base."""


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm: turns past a limit of the first joint, and walks within 10 cm near a limit."""
    arm = arms.get(name)
    trials = asked.trials(200, 10)
    thrown, turned, walked, worst = [], [], [], 0.0
    for number in trials:
        rng = motion.random_of(arm, "swings", number)
        if np.isfinite(arm.linkage.upper[0]):
            far, turn, words = _past(arm, number, rng, asked)
            worst = max(worst, far)
            if far > AWAY:
                thrown.append((far, number, f"{words}: {1e3 * far:.0f} mm more than it needs"))
            if turn > WHOLE:
                turned.append((turn, number, f"{words}: a joint goes {turn:.1f} rad"))
        far, words = _walk(arm, rng, asked)
        if far > AWAY:
            walked.append((far, number, f"{words}: {1e3 * far:.0f} mm more than at rest"))
    total = len(trials)
    return [
        Row("swings", name, "past a limit of the first joint, worst growth", 1e3 * worst, "mm", 1e3 * AWAY),
        counted("swings", name, "past a limit, command at rest, distance grew > 20 mm", thrown, total),
        counted("swings", name, "past a limit, command at rest, a joint went > pi", turned, total),
        counted("swings", name, "walks of 10 cm: > 20 mm farther than at rest", walked, total),
    ]


def _past(arm: Arm, number: int, rng: np.random.Generator, asked: Asked) -> tuple[float, float, str]:
    """The first joint is led to its limit and past it at 0.3 rad/s, and the command rests: growth, turn, words."""
    start, degrees = motion.inside(arm, rng, 0.6), rng.uniform(1, 30)
    limit = arm.linkage.upper[0]
    before = rng.uniform(0.1, limit - arm.low[0])
    if arm.name == "ur5" and number == 0:
        start, degrees, before = arm.linkage.q(CASE), 3.0, limit
    start[0] = limit - before
    first = next(joint for joint in arm.linkage.joints if joint.dof)
    pivot = arm.linkage.frame(start, first.child)
    axis = pivot.rotation @ np.asarray(first.axis)
    angles = np.arange(0, before + np.radians(degrees), 0.3 / RATE)
    turns = Frame.rotvec(angles[:, None] * axis).matrix
    centred = arm.frames(start)
    shift = Frame.at(pivot.position).matrix
    commands = shift @ turns @ np.linalg.inv(shift) @ centred[0]
    follow = motion.tracker(arm, start, asked.options)
    follow.replay(commands[:, None], 1 / RATE)
    q, status = motion.hold(follow, commands[-1][None], HELD, RATE)
    free = status != motion.RETURNING
    distance = motion.far(arm, q, commands[-1][None, None])[:, 0]
    grown = (distance - np.minimum.accumulate(distance))[free]
    return (
        float(grown.max(initial=0.0)),
        float(np.ptp(q, axis=0).max()),
        f"{before:.1f} rad to the limit and {degrees:.1f} deg past it",
    )


def _walk(arm: Arm, rng: np.random.Generator, asked: Asked) -> tuple[float, str]:
    """A wandering within 10 cm and 20 degrees, near a limit, for 20 s.

    How much farther the arm is than it would be if it had not moved at all.
    """
    start, joint = motion.inside(arm, rng, 0.8), int(rng.integers(arm.linkage.dof))
    margin = min(0.05, 0.1 * (arm.high[joint] - arm.low[joint]))
    start[joint] = arm.high[joint] - margin if rng.random() < 0.5 else arm.low[joint] + margin
    time = np.arange(20 * RATE) / RATE
    way = wander(rng, time, 6, 0.05, 0.25) * motion.smooth(time / 2)[:, None]
    size = np.concatenate([np.full(3, 0.1), np.full(3, np.radians(20))]) / np.abs(way).max(axis=0)
    way *= size * min(1.0, arm.reach())
    here = arm.frames(start)
    commands = motion.moved(here[None], way[:, None, :3], way[:, None, 3:])
    follow = motion.tracker(arm, start, asked.options)
    q, status = follow.replay(commands, 1 / RATE)
    free = status != motion.RETURNING
    distance = motion.far(arm, q, commands)[:, 0]
    still = np.maximum.accumulate(np.linalg.norm(way[:, :3], axis=1))
    beyond = float((distance - still)[free].max())
    return beyond, f"joint {joint + 1} near a limit, {1e3 * distance.max():.0f} mm off"


def wander(rng: np.random.Generator, time: Array, count: int, low: float, high: float) -> Array:
    """Smooth random motions (N, count) of about unit size, made of frequencies between low and high in hertz."""
    frequency, phase = rng.uniform(low, high, (5, count)), rng.uniform(0, 2 * np.pi, (5, count))
    waves = np.sin(2 * np.pi * frequency * time[:, None, None] + phase) - np.sin(phase)
    return np.asarray(waves.mean(axis=1) * 1.4)
