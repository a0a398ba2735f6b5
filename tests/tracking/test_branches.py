"""An arm that was pushed out of reach comes back with its elbow on the side where it was."""

import numpy as np
import pytest

from supple import Solver, gauntlet
from supple.gauntlet.arms import known_arm

RATE = 300


def apart(arm: str, numbers: list[int], seed: int = 0) -> np.ndarray:
    """For each of these random pushes, the largest difference of a joint between the end and the start, rad."""
    known = known_arm(arm)
    pushes, found = gauntlet.pushes(known, max(numbers) + 1, seed), []
    for push in (pushes[i] for i in numbers):
        follow = Solver().track(known.linkage, known.link, start=push.start, acceleration=15.0, recover="free")
        frames = push.frames(RATE)
        frames = np.concatenate([frames, np.tile(frames[-1], (2 * RATE, 1, 1))])
        q, _ = follow.replay(frames, 1 / RATE)
        found.append(np.abs(q[-1] - push.start).max())
    return np.array(found)


@pytest.mark.parametrize(("arm", "numbers"), [("ur5", [78, 89]), ("puma560", [5, 68, 82, 88])])
def test_a_straight_arm_bends_to_the_side_from_which_it_came(arm, numbers):
    """The shoulder has turned meanwhile: the motion to the remembered posture alone does not tell the elbow's side."""
    assert (apart(arm, numbers) < 1e-3).all()


def test_few_arms_come_back_on_another_branch():
    """Of 200. The others leave their branch on the way out: the command goes where only another branch reaches it."""
    assert sum((apart(arm, list(range(100))) > 1e-3).sum() for arm in ("ur5", "puma560")) <= 18
