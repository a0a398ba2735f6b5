"""While the command rests, the joints stand within 3 s of the time that speed and acceleration limits need."""

import numpy as np
import pytest

import supple
from quick import first_is_quick
from supple import Frame

DEADLINE = 3.0

# rate, acceleration, start and command: single joints that are slow, or all of them
LATE = {
    "ur5": (
        300,
        1.0285,
        [1.24, -2.073, 2.31, 3.61, 2.391, -4.877],
        [[0.7238, 0.6819, -0.1052, 0.1475], [0.6311, -0.5927, 0.5003, 0.1573], [0.2788, -0.4286, -0.8594, -0.192]],
    ),
    "so101": (
        125,
        [7.812, 35.848, 2.206, 8.321, 5.981],
        [-1.206, -0.545, -1.007, -0.374, -1.037],
        [[-0.8562, -0.3792, 0.3509, 0.0858], [0.2378, 0.3137, 0.9193, 0.1419], [-0.4587, 0.8705, -0.1784, 0.3301]],
    ),
}


def arm_and_link(name):
    arm = supple.models.get(name)
    link = {"ur5": "tool0", "so101": "gripper_frame_link", "puma560": "tool", "panda": "panda_hand_tcp"}[name]
    return arm.part(arm.root, link), link


def needed(arm, acceleration, way):
    """Seconds that the limits need for the way of each joint from rest to rest; the most."""
    way, speed = np.abs(way), arm.speed
    short = way <= speed**2 / acceleration
    return np.where(short, 2 * np.sqrt(way / acceleration), way / speed + speed / acceleration).max()


def late_by(arm, link, start, command, rate, **options):
    """Seconds by which the joints stand later than the deadline; negative where they are in time."""
    tracker = supple.Solver().track(arm, link, start=start, recover="off", **options)
    tracker.step(arm.frame(start, link), 1 / rate)
    q, _ = tracker.replay(np.tile(command, (20 * rate, 1, 1)), 1 / rate)
    moves = np.abs(np.diff(q, axis=0)).max(axis=1) * rate > 1e-6
    stands = np.flatnonzero(moves)[-1] + 1 if moves.any() else 0
    return stands / rate - needed(arm, tracker.acceleration, q[-1] - start) - DEADLINE


@pytest.mark.parametrize("name", LATE)
def test_slow_joints_stand_in_time(name):
    arm, link = arm_and_link(name)
    rate, acceleration, start, rows = LATE[name]
    command = np.array([*rows, [0, 0, 0, 1]])
    assert late_by(arm, link, np.array(start), command, rate, acceleration=acceleration) <= 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5", "panda", "so101"])
def test_joints_with_any_acceleration_limits_stand_in_time(name):
    arm, link = arm_and_link(name)
    rng = np.random.default_rng(3)
    late = {}
    for trial in range(60):
        start, there = arm.random(2, seed=400 + trial)
        command = arm.frame(there, link).matrix.copy()
        command[:3, 3] *= rng.choice([1.0, 1.3])
        limits = rng.choice([1.0, 2.0, 3.0]) * np.exp(rng.uniform(0, 3, arm.dof) * rng.integers(2))
        by = late_by(arm, link, start, command, int(rng.choice([60, 90, 125, 300])), acceleration=limits)
        if by > 0:
            late[trial] = by
    assert late == {}


@pytest.mark.parametrize("rate", first_is_quick([100, 300]))
def test_a_slow_end_effector_and_a_change_of_limits_have_their_time(rate):
    """At 1 cm/s half a metre takes 50 s; after 10 s the limit is removed, and the way is done."""
    arm, link = arm_and_link("ur5")
    start = arm.q(shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.2, wrist_2_joint=-1.4, wrist_3_joint=0.3)
    goal = Frame.at([0, 0.5, -0.1]) @ arm.frame(start, link)
    tracker = supple.Solver().track(arm, link, start=start, speed=0.01, recover="off")
    for _ in range(10 * rate):
        step = tracker.step(goal, 1 / rate)
    assert 0.38 < float(step.distance[0]) < 0.45
    tracker.limits(speed=np.inf)
    for _ in range(3 * rate):
        step = tracker.step(goal, 1 / rate)
    assert step.status is supple.TrackingStatus.FOLLOWING


def test_joints_that_a_limit_stops_carry_no_hand_away():
    """The second joint, quick to brake, meets its limit; the others are slow to brake: 126 mm without a plan for it."""
    arm, link = arm_and_link("puma560")
    start = np.array([-1.93, -3.604, 1.925, 1.644, -0.941, 2.178])
    rows = [[-0.5642, -0.8252, -0.0249, 0.244], [0.4172, -0.3111, 0.8539, 0.7618], [-0.7124, 0.4714, 0.5198, 0.3034]]
    limits = [14.58, 33.24, 3.781, 2.986, 4.506, 1.099]
    tracker = supple.Solver().track(arm, link, start=start, acceleration=limits, recover="off")
    for _ in range(30):
        tracker.step(arm.frame(start, link), 1 / 300)
    q, _ = tracker.replay(np.tile([*rows, [0, 0, 0, 1]], (1200, 1, 1)), 1 / 300)
    distance = np.linalg.norm(arm.frame(q, link).position - np.array(rows)[:, 3], axis=1)
    assert (distance - np.minimum.accumulate(distance)).max() < 0.02


def test_a_slow_return_of_a_figure_keeps_to_the_way_that_was_checked():
    """A ball joint at its limit was left behind by the others: the hand went 0.3 m away, and stayed there."""
    hands = ["left_hand", "right_hand"]
    figure, rate = supple.models.human().part("pelvis", *hands), 250
    start = figure.random(1, seed=111288107)[0]
    here = [figure.frame(start, hand) for hand in hands]
    tracker = supple.Solver().track(figure, hands, start=start)
    for tick in range(9 * rate):
        u = min(tick / (0.9 * rate), 1)
        u = u**3 * (10 + u * (6 * u - 15))
        turn = Frame.rotvec(u * np.array([0.2314, -0.0575, -0.1017])).matrix[:3, :3]
        command = here[0].matrix.copy()
        command[:3, :3] = turn @ command[:3, :3]
        command[:3, 3] += u * np.array([-0.0227, -0.0874, 0.1562])
        step = tracker.step([command, here[1]], 1 / rate)
        if tick == rate:
            at_rest = float(step.distance[0])
        assert tick < rate or float(step.distance[0]) < at_rest + 0.12
    assert float(step.distance[0]) < at_rest + 0.02
    assert step.status is not supple.TrackingStatus.RETURNING


def test_a_goal_after_a_hold_has_its_own_time():
    """An arm of 1 rad/s2 on its way is held for a tick, and then sent back: the time counts from there."""
    arm, rate = supple.models.planar2(), 100
    link, start = arm.tips[0], np.array([0.3, 0.5])
    tracker = supple.Solver().track(arm, link, start=start, acceleration=1.0, recover="off")
    home, away = (arm.frame(q, link).matrix for q in (start, np.array([2.3, 0.7])))
    tracker.step(home, 1 / rate)
    for _ in range(int(2.5 * rate)):
        tracker.step(away, 1 / rate)
    tracker.step(np.full((4, 4), np.nan), 1 / rate)
    for _ in range(8 * rate):
        step = tracker.step(home, 1 / rate)
    assert step.status is supple.TrackingStatus.FOLLOWING
