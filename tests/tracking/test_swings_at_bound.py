"""While an end effector stays at the largest distance that is allowed from its command, its joints do not swing."""

import numpy as np
import pytest

from supple import Frame, Solver, models

RATE, HELD = 300, 3
LEAST_SWING = 5e-5  # rad
HALF_PERIODS = (0.014, 0.11)  # s: of swings at 5 to 36 Hz
ARMS = {"panda": "panda_hand_tcp", "ur5": "tool0", "iiwa14": "tool0"}


def longest_swing(q):
    """The most reversals of a joint, one soon after the other, in q (ticks, dof)."""
    longest = 0
    for joint in q.T:
        direction = np.sign(np.diff(joint))
        moving = np.flatnonzero(direction)
        turns = moving[1:][np.diff(direction[moving]) != 0]
        size, gap = np.abs(np.diff(joint[turns])), np.diff(turns) / RATE
        count = 0
        for swings in (size > LEAST_SWING) & (gap > HALF_PERIODS[0]) & (gap < HALF_PERIODS[1]):
            count = count + 1 if swings else 0
            longest = max(longest, count)
    return longest


def far_turn(arm, link, seed):
    """A start, and a frame that is turned far and shifted a little from there."""
    rng = np.random.default_rng([5, seed])
    start = arm.random(seed=seed)
    turn, shift = rng.normal(size=(2, 3))
    here = arm.frame(start, link).matrix
    there = here.copy()
    there[:3, :3] = Frame.rotvec(turn / np.linalg.norm(turn) * rng.uniform(0, 3.1)).matrix[:3, :3] @ here[:3, :3]
    there[:3, 3] += shift / np.linalg.norm(shift) * rng.uniform(0.01, 0.1)
    return start, here, there


@pytest.mark.parametrize("name", ARMS)
def test_after_far_turns_few_joints_swing(name):
    """Of 80 jumps: how many let a joint turn back and forth more than three times."""
    arm, link = getattr(models, name)(), ARMS[name]
    counts = []
    for seed in range(80):
        start, here, there = far_turn(arm, link, seed)
        tracker = Solver().track(arm, link, start=start, recover="off")
        tracker.step(here, 1 / RATE)
        q, _ = tracker.replay(np.tile(there, (HELD * RATE, 1, 1)), 1 / RATE)
        counts.append(longest_swing(q[round(0.3 * RATE) :]))
    assert (np.array(counts) > 3).sum() <= 4
    assert max(counts) <= 7
