"""Commands of a slow device are read through a window: how far that may be from the hand when it starts and stops."""

import math

import numpy as np
import pytest

from supple import Frame, Solver, models

ARM, TOOL, RATE = models.ur5(), "tool0", 300
START = np.array([0.0, -1.2, 1.5, -1.0, -1.2, 0.3])
HERE = ARM.frame(START, TOOL)


@pytest.mark.parametrize("device", [60, 90, 125])
def test_a_short_quick_motion_is_read_within_two_millimetres(device):
    """5 cm in 0.7 s: against the hand before the stated lag, during the motion and after it."""

    def hand(t):
        u = min(max((t - 0.5) / 0.7, 0.0), 1.0)
        return np.array([0.0, 0.03, 0.04]) * u**3 * (10 + u * (6 * u - 15))

    tracker, farthest = Solver().track(ARM, TOOL, START), 0.0
    for tick in range(2 * RATE):
        t = tick / RATE
        taken = math.floor(t * device) / device
        step = tracker.step(Frame.at(HERE.position + hand(taken), HERE.rotation), 1 / RATE, stamp=taken)
        offset = ARM.frame(step.q, TOOL).position - HERE.position
        farthest = max(farthest, float(np.linalg.norm(offset - hand(t - float(step.lag)))))
    assert farthest < 2e-3
