"""The measures of the joints' motion while the command rests: they show vibration of any frequency and size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from supple.frame import Array

if TYPE_CHECKING:
    from supple.gauntlet.runner import Run

SETTLE = 0.75  # s; from when the command comes to rest until the joints should rest too
SETTLE_AFTER_JUMP = 3.0  # s; the same after a jump, which takes the joints as long as their bounds require
SHORTEST = 0.1  # s; two periods of a buzz of 20 Hz
REST = 1e-6  # rad/s or m/s; slower joints are at rest
_SAME = 1e-12  # m or 1; frames of the command that differ by less are the same, up to rounding
_LATE = 0.1  # s; a sampled command jumps at most so much after the hand


def rest_measures(run: Run) -> dict[str, float]:
    """The measures of all windows in which the command that was received rests; {} if there is none.

    A window begins 0.75 s after the command comes to rest, 3 s after a jump, and ends when the command moves again.
    Windows shorter than 0.1 s do not count. Any motion in a window is an error, whether the command is reachable or
    not.

    rest_windows is their number, rest_joint_speed_max the largest joint speed in them, in rad/s (m/s for prismatic
    joints), rest_motion_max the largest peak-to-peak motion of a joint in one of them, in rad (m).
    """
    speeds, motions = [], []
    for first, last in rest_windows(run):
        q = run.q[first + 1 : last + 1]  # after each tick of the window
        speeds.append(float(np.abs(np.diff(q, axis=0)).max()) / run.dt)
        motions.append(float(np.ptp(q, axis=0).max()))
    if not speeds:
        return {}
    return {
        "rest_windows": len(speeds),
        "rest_joint_speed_max": max(speeds),
        "rest_motion_max": max(motions),
    }


def rest_windows(run: Run) -> Iterator[tuple[int, int]]:
    """The windows of rest, as first tick and the tick after the last."""
    for first, last in _resting(run.commands):
        begin = float(run.times[first])
        jumped = any(jump - run.dt <= begin <= jump + _LATE for jump in run.hazard.jumps)
        settled = first + int(np.ceil((SETTLE_AFTER_JUMP if jumped else SETTLE) * run.rate))
        if first > 0 and last - settled >= max(2, round(SHORTEST * run.rate)):
            yield settled, last


def _resting(commands: Array) -> Iterator[tuple[int, int]]:
    """The stretches of equal commands (N, 4, 4), as first tick and the tick after the last."""
    flat = commands.reshape(len(commands), -1)
    same = np.abs(np.diff(flat, axis=0)).max(axis=1) <= _SAME
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(int)))
    for first, last in edges.reshape(-1, 2):
        yield int(first), int(last) + 1
