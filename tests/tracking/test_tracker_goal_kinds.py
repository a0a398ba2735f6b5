"""Laws of tracking goals for real work: each kind is followed while its command moves, and comes to rest."""

import math

import numpy as np
import pytest

from supple import Frame, Goal, Solver, TrackingStatus, models
from supple._solve.goal_error import goal_error, goal_frame
from supple.errors import BadInput

BAXTER, LEFT, RIGHT = models.baxter(), "left_gripper", "right_gripper"
DT = 0.004


def smooth(t, duration):
    """From 0 to 1 without a jump of the acceleration."""
    x = min(max(t / duration, 0.0), 1.0)
    return x**3 * (10 - 15 * x + 6 * x * x)


def ready():
    """Joint values of Baxter with both hands before it, elbows bent."""
    bend = {"s0": -0.6, "s1": -0.6, "e0": -0.2, "e1": 1.5, "w0": 0.1, "w1": 0.8, "w2": 0.2}
    mirrored = {"s0": -1, "e0": -1, "w0": -1, "w2": -1}
    left = {f"left_{name}": value for name, value in bend.items()}
    return BAXTER.q(left | {f"right_{name}": mirrored.get(name, 1) * value for name, value in bend.items()})


def followed(linkage, start, goals_at, duration=2.0):
    """The worst distance (m) and angle (rad) while commands move, after half a second, and the last two steps."""
    tracker = Solver().track(linkage, goals_at(0.0), start)
    worst, steps = np.zeros(2), []
    for k in range(round((duration + 1.5) / DT)):
        goals = goals_at(smooth(k * DT, duration))
        step = tracker.step(goals if len(goals) > 1 else goals[0], DT)
        error = np.stack([goal_error(linkage, goal, step.q, ()) for goal in goals])
        worst = np.maximum(
            worst, [np.linalg.norm(error[:, :3], axis=1).max(), np.linalg.norm(error[:, 3:], axis=1).max()]
        )
        steps.append(step)
    return worst, steps[-2:]


def relative(s):
    between = goal_frame(BAXTER, Goal(LEFT, Frame(), relative_to=RIGHT), ready())
    return [
        Goal(
            LEFT,
            between @ Frame.at([0.03 * s, -0.05 * s, 0.04 * s], Frame.rotvec([0.2 * s, 0, 0.1 * s])),
            relative_to=RIGHT,
        )
    ]


def carried_box(s):
    hand = Frame.at([0.1 * s, 0.1 * math.sin(2 * s), 0.1 * s]) @ BAXTER.frame(ready(), RIGHT)
    between = goal_frame(BAXTER, Goal(LEFT, Frame(), relative_to=RIGHT), ready())
    return [Goal(LEFT, between, relative_to=RIGHT), Goal(RIGHT, hand)]


COMMANDS = {"relative": (BAXTER, ready(), relative), "box": (BAXTER, ready(), carried_box)}


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_smooth_command_is_followed_and_comes_to_rest(kind):
    worst, (before, last) = followed(*COMMANDS[kind])
    assert worst[0] < 1e-3
    assert worst[1] < math.radians(0.1)
    assert last.status is TrackingStatus.FOLLOWING
    assert np.abs(last.velocity).max() < 1e-6
    assert np.abs(last.q - before.q).max() < 1e-8


def test_frames_are_taken_in_the_axes_of_the_other_link():
    tracker = Solver().track(BAXTER, Goal(LEFT, Frame(), relative_to=RIGHT), ready())
    between = goal_frame(BAXTER, tracker.goals[0], ready())
    assert tracker.step(between, DT).status is TrackingStatus.FOLLOWING
    assert np.abs(tracker.push([0, 0, 0.1, 0, 0, 0], DT).q - ready()).max() < 1e-2
    for _ in range(100):
        step = tracker.push([0, 0, 0.1, 0, 0, 0], DT)
    moved = between.inverse() @ goal_frame(BAXTER, tracker.goals[0], step.q)
    way = between.rotation @ moved.position
    assert way[2] > 0.02
    assert np.abs(way[:2]).max() < 2e-3


def test_a_tracked_goal_keeps_the_link_that_it_is_relative_to():
    tracker = Solver().track(BAXTER, Goal(LEFT, Frame(), relative_to=RIGHT), ready())
    with pytest.raises(BadInput, match="relative to 'right_gripper', got one for 'left_gripper'"):
        tracker.step(Goal(LEFT, Frame()), DT)
