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


PANDA, TOOL = models.panda(), "panda_hand_tcp"
PLACE = PANDA.frame(PANDA.rest, TOOL)


def look(s):
    return [Goal(TOOL, axis=[0, 0, 1], look_at=PLACE.apply([0.25 * s, 0.2 * math.sin(3 * s), 0.5 - 0.1 * s]))]


def look_and_place(s):
    moved = PLACE.position + np.array([0.05 * s, -0.1 * s, 0.1 * s])
    return [Goal(TOOL, axis=[0, 0, 1], look_at=PLACE.apply([0.1 * s, 0, 0.4])), Goal(TOOL, position=moved)]


def sphere(s):
    return [Goal(TOOL, position=PLACE.apply([0.2 + 0.1 * s, 0.1 * s, 0.1 * s]), distance=0.2)]


def cylinder(s):
    return [Goal(TOOL, position=PLACE.apply([0.1 + 0.1 * s, -0.1 * s, 0]), distance=0.1, line=[0, 0, 1])]


def line(s):
    place, tool = PLACE.position + np.array([0.1 * s, 0.1 * math.sin(2 * s), 0]), PLACE.rotation[:, 2]
    return [Goal(TOOL, position=place, line=[0, 0, 1], axis=[0, 0, 1], direction=tool)]


G1 = models.g1()
BENT = G1.q(
    {
        f"{side}_{name}": value
        for side in ("left", "right")
        for name, value in {
            "hip_pitch_joint": -0.4,
            "knee_joint": 0.8,
            "ankle_pitch_joint": -0.4,
            "elbow_joint": 0.6,
        }.items()
    }
)


def center_of_mass(s):
    return [Goal.center_of_mass(G1.center_of_mass(BENT) + np.array([0.03 * s, 0.02 * math.sin(2 * s), 0.02 * s]))]


def balance(s):
    hand = G1.frame(BENT, "left_rubber_hand").position + np.array([0.08 * s, 0.02 * s, 0.05 * s])
    center = Goal.center_of_mass(G1.center_of_mass(BENT), weight=(1, 1, 0))
    return [Goal("left_rubber_hand", position=hand), center]


COMMANDS = {"relative": (BAXTER, ready(), relative), "box": (BAXTER, ready(), carried_box)}
for command in (look, look_and_place, sphere, cylinder, line):
    COMMANDS[command.__name__] = (PANDA, PANDA.rest, command)
for command in (center_of_mass, balance):
    COMMANDS[command.__name__] = (G1, BENT, command)


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


@pytest.mark.parametrize("command", [look, sphere, cylinder])
def test_kinds_without_a_twist_refuse_a_push(command):
    tracker = Solver().track(PANDA, command(0.0), PANDA.rest)
    with pytest.raises(BadInput, match=r"push moves frames, positions and directions; goal 0 has (look_at|distance)"):
        tracker.push([0, 0, 0.1, 0, 0, 0], DT)


def test_a_tracked_goal_keeps_its_kind():
    tracker = Solver().track(PANDA, look(0.0), PANDA.rest)
    for other in (Goal(TOOL, axis=[0, 0, 1], direction=[0, 0, 1]), sphere(0.0)[0], Goal(TOOL, PLACE)):
        with pytest.raises(BadInput, match=r"must have the components that it had|must keep its distance and its line"):
            tracker.step(other, DT)
    with pytest.raises(BadInput, match="give a Goal with axis and look_at"):
        tracker.step(PLACE, DT)
    tracker = Solver().track(PANDA, sphere(0.0), PANDA.rest)
    with pytest.raises(BadInput, match="must keep its distance and its line"):
        tracker.step(Goal(TOOL, position=[0, 0, 0], distance=0.3), DT)


def test_a_point_to_look_at_that_comes_to_the_link_and_goes_through_it_makes_no_jump():
    tracker = Solver().track(PANDA, look(0.0), PANDA.rest)
    worst, last = 0.0, tracker.q
    for k in range(1200):
        step = tracker.step(Goal(TOOL, axis=[0, 0, 1], look_at=PLACE.apply([0.001, 0, 0.4 - 0.8 * k / 1200])), DT)
        assert np.isfinite(step.q).all()
        worst, last = max(worst, np.abs(step.q - last).max()), step.q
    assert worst <= 1.01 * DT * PANDA.speed.max()


def test_a_distance_from_a_point_that_comes_to_the_link_pushes_it_away():
    tracker = Solver().track(PANDA, sphere(0.0), PANDA.rest)
    for k in range(1500):
        center = PLACE.apply([max(0.2 - 0.2 * k / 1000, 0.0), 0, 0])
        step = tracker.step(Goal(TOOL, position=center, distance=0.2), DT)
    assert step.status is TrackingStatus.FOLLOWING
    assert np.linalg.norm(PANDA.frame(step.q, TOOL).position - center) == pytest.approx(0.2, abs=1e-3)


def test_many_arms_follow_goals_of_each_kind():
    for command in (look, sphere, line):
        start = PANDA.clamp(PANDA.rest + np.random.default_rng(1).uniform(-0.1, 0.1, (5, PANDA.dof)))
        tracker = Solver().track(PANDA, command(0.0), start)
        for _ in range(500):
            step = tracker.step(command(1.0)[0], DT)
        assert (step.statuses == TrackingStatus.FOLLOWING.value).all()
