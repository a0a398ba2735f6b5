"""A free recovery reaches every command that rests within reach, whatever joint values it needs."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple import Frame, Joint, Linkage, Solver, TrackingStatus

SECONDS, RATE = 15, 100


def reaches(arm: Linkage, link: str, start: int | None, goal: int) -> bool:
    """Whether a tracker that recovers freely comes to a pose of the arm from another configuration, and stays there."""
    command = arm.frame(arm.random(seed=goal), link)
    tracker = Solver().track(arm, link, start=arm.rest if start is None else arm.random(seed=start), recover="free")
    for _ in range(SECONDS * RATE):
        step = tracker.step(command, 1 / RATE)
        if step.status is TrackingStatus.FOLLOWING:
            break
    for _ in range(RATE):
        step = tracker.step(command, 1 / RATE)
    return step.status is TrackingStatus.FOLLOWING


@pytest.mark.parametrize("name", ["puma560", "ur5", "panda", "iiwa14"])
def test_a_free_recovery_reaches_any_reachable_command(name):
    arm = getattr(supple.models, name)()
    link = next(tip for tip in arm.tips if "finger" not in tip)
    lost = [goal for goal in range(200, 220) if not reaches(arm, link, None, goal)]
    lost += [goal for goal in range(300, 320) if not reaches(arm, link, goal - 100, goal)]
    assert lost == []


def ball_arm() -> Linkage:
    bounds = {"speed": 3.0, "acceleration": 15.0}
    return Linkage(
        "ball arm",
        [
            Joint.ball("shoulder", "base", "upper", swing=2.5, twist=(-1, 1), **bounds),
            Joint.revolute(
                "elbow", "upper", "fore", at=Frame.at([0, 0, 0.3]), axis=[0, 1, 0], lower=0, upper=2.5, rest=1, **bounds
            ),
            Joint.revolute("w1", "fore", "a", at=Frame.at([0, 0, 0.25]), axis=[0, 0, 1], lower=-2, upper=2, **bounds),
            Joint.revolute("w2", "a", "b", axis=[1, 0, 0], lower=-2, upper=2, **bounds),
            Joint.fixed("t", "b", "tip", at=Frame.at([0, 0, 0.1])),
        ],
    )


def test_a_return_of_a_ball_joint_goes_round_its_limits_or_is_given_up():
    arm = ball_arm()
    q = arm.random(60, seed=7)
    reached = 0
    for start, goal in zip(q[::2], q[1::2], strict=True):
        command = arm.frame(goal, "tip")
        tracker = Solver().track(arm, "tip", start=start, recover="free")
        stood, longest = 0, 0
        for _ in range(3000):
            step = tracker.step(command, 0.01)
            stands = step.status is TrackingStatus.RETURNING and not np.abs(step.velocity).max() > 1e-6
            stood = stood + 1 if stands else 0
            longest = max(longest, stood)
        assert longest < 150  # announced before it moves, and given up after 0.5 s
        reached += step.status is TrackingStatus.FOLLOWING
    assert reached >= 24
