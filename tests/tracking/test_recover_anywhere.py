"""A free recovery reaches every command that rests within reach, whatever joint values it needs."""

from __future__ import annotations

import pytest

import supple
from supple import Linkage, Solver, TrackingStatus

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
