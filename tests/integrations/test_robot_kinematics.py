"""RobotKinematics, the drop-in for LeRobot: without LeRobot, in its units and with its habits."""

import copy
import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest

from supple import BadInput, Frame, Goal, TrackingStatus, UnknownName, models, solve
from supple.integrations import lerobot
from supple.integrations.lerobot import RobotKinematics
from supple.teleop import SimulatedArm

JOINTS = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll"]
DATA = Path(models.__file__).parent / "data"
LINK, FPS = "gripper_frame_link", 30.0
ARM = models.so101()
START = np.array([0.0, -20.0, 35.0, 40.0, 5.0, 42.0])


def so101(**options):
    return RobotKinematics("so101", LINK, JOINTS, **options)


def waves(rng, ticks, sizes):
    """Smooth random motions (ticks, n) that begin at 0, at rest."""
    t = np.arange(ticks)[:, None] / FPS
    found = np.zeros((ticks, len(sizes)))
    for _ in range(3):
        frequency, phase = rng.uniform(0.05, 0.4, len(sizes)), rng.uniform(0, 2 * np.pi, len(sizes))
        found += np.sin(2 * np.pi * frequency * t + phase) - np.sin(phase)
    u = np.clip(t / 0.7, 0, 1)
    return found * np.array(sizes) / 3 * u * u * (3 - 2 * u)


def poses(start, moved, turned):
    """Frames (ticks, 4, 4) from one frame, moved in the world and turned in its own axes."""
    found = np.tile(start, (len(moved), 1, 1))
    found[:, :3, 3] += moved
    found[:, :3, :3] = start[:3, :3] @ np.stack([Frame.rotvec(v).rotation for v in turned])
    return found


def positions(degrees):
    q = np.column_stack([np.radians(np.asarray(degrees)[:, :5]), np.zeros(len(degrees))])
    return ARM.frame(q, LINK).position


def test_the_arguments_of_lerobot_come_first_with_its_defaults():
    made = inspect.signature(RobotKinematics)
    first = [p for p in made.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert [(p.name, p.default) for p in first[1:]] == [
        ("target_frame_name", "gripper_frame_link"),
        ("joint_names", None),
    ]
    solved = inspect.signature(RobotKinematics.inverse_kinematics).parameters
    assert list(solved)[1:] == ["current_joint_pos", "desired_ee_pose", "position_weight", "orientation_weight"]
    assert (solved["position_weight"].default, solved["orientation_weight"].default) == (1.0, 0.01)
    assert list(inspect.signature(RobotKinematics.forward_kinematics).parameters)[1:] == ["joint_pos_deg"]


def test_forward_kinematics_has_sign_offset_and_order_of_the_motors():
    rng = np.random.default_rng(0)
    for _ in range(50):
        names = list(rng.permutation(JOINTS))
        sign, offset = rng.choice([-1, 1], 5), rng.uniform(-90, 90, 5)
        arm = RobotKinematics("so101", LINK, names, sign=sign.tolist(), offset=dict(zip(names, offset, strict=True)))
        for degrees in rng.uniform(-90, 90, (20, 7)):
            joints = dict(zip(names, np.radians(sign * (degrees[:5] - offset)), strict=True))
            expected = ARM.frame(ARM.q(joints), LINK).matrix
            np.testing.assert_allclose(arm.forward_kinematics(degrees), expected, atol=1e-12)


def test_joints_that_are_not_named_stay_at_zero():
    arm = RobotKinematics("so101", LINK, ["shoulder_pan", "elbow_flex"])
    expected = ARM.frame(ARM.q(shoulder_pan=0.5, shoulder_lift=0, elbow_flex=1.0, wrist_flex=0, wrist_roll=0), LINK)
    np.testing.assert_allclose(arm.forward_kinematics(np.degrees([0.5, 1.0])), expected.matrix, atol=1e-12)


@pytest.mark.parametrize("late", [False, True])
def test_inside_reach_the_position_is_exact_while_the_wrist_turns(late):
    worst = 0.0
    for seed in range(6):
        rng, now = np.random.default_rng(seed), 0.0
        arm, motors, sent = so101(), START.copy(), []
        servo = SimulatedArm(ARM, np.radians([*START[:5], 20]), noise=5e-4, clock=lambda: now)  # noqa: B023
        turned = waves(rng, 150, [0.2, 0.2, 0.2] if seed % 2 else [0.8, 0.8, 0.8])
        for pose in (commands := poses(arm.forward_kinematics(START), waves(rng, 150, [0.04, 0.06, 0.04]), turned)):
            motors = arm.inverse_kinematics(motors, pose)
            sent.append(motors.copy())
            if late:
                servo.write(ARM.clamp(np.append(np.radians(motors[:5]), 0.3)))
                now += 1 / FPS
                motors[:5] = np.degrees(servo.read()[:5])
        worst = max(worst, np.linalg.norm(positions(sent) - commands[:, :3, 3], axis=1).max())
    assert worst < 5e-5  # m; LeRobot's own solver has millimetres here


def test_six_joints_follow_whole_frames():
    ur5 = models.ur5()
    arm, rng = RobotKinematics("ur5", "tool0"), np.random.default_rng(5)
    start = np.degrees(ur5.q(shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.2, wrist_2_joint=-1.4))
    now = start
    for pose in poses(arm.forward_kinematics(start), waves(rng, 200, [0.1] * 3), waves(rng, 200, [0.4] * 3)):
        now = arm.inverse_kinematics(now, pose)
        reached = arm.forward_kinematics(now)
        assert np.abs(reached - pose).max() < 1e-4


def test_out_of_reach_it_goes_to_the_nearest_position_and_rests():
    rng = np.random.default_rng(2)
    for _ in range(8):
        arm, now = so101(), START.copy()
        pose = arm.forward_kinematics(START)
        pose[:3, 3] += rng.uniform(0.3, 0.6) * pose[:3, 3] / np.linalg.norm(pose[:3, 3]) + rng.normal(0, 0.05, 3)
        best = float(solve(ARM, Goal(LINK, position=pose[:3, 3])).distance.max())
        for _ in range(150):
            before, now = now, arm.inverse_kinematics(now, pose)
        assert np.linalg.norm(positions([now])[0] - pose[:3, 3]) < best + 2e-4
        assert np.abs(now - before).max() < 1e-3
        assert arm.step.status is TrackingStatus.YIELDING


def test_whatever_comes_all_bounds_are_kept_and_nothing_is_nan():
    rng = np.random.default_rng(3)
    upper, lower = np.degrees(ARM.upper[:5]), np.degrees(ARM.lower[:5])
    for trial in range(10):
        arm, now, moved = so101(acceleration=30.0), START.copy(), np.zeros(5)
        for tick in range(200):
            pose = np.eye(4)
            pose[:3, 3] = rng.normal(0, 0.5, 3)
            pose[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0] * rng.choice([-1, 1])
            if rng.random() < 0.2:
                pose[tuple(rng.integers(0, 4, 2))] = rng.choice([np.nan, np.inf, 1e300])
            given = now.copy()
            if tick and rng.random() < 0.1:
                given[rng.integers(5)] = rng.choice([np.nan, np.inf, -1e300])
                given[5] = rng.choice([42.0, np.nan])
            after = arm.inverse_kinematics(given, pose, orientation_weight=0.01 if trial % 2 else 0.0)
            assert np.isfinite(after).all()
            assert (after[:5] <= upper + 1e-9).all()
            assert (after[:5] >= lower - 1e-9).all()
            step = np.radians(after[:5] - now[:5])
            assert (np.abs(step - moved) <= 30.0 / FPS**2 + 1e-9).all()
            assert after[5] == 42.0
            now, moved = after, step


def test_values_after_the_joints_and_joints_off_the_chain_are_returned_as_they_are():
    whole = RobotKinematics("so101")  # with the gripper among its joints
    assert whole.joint_names == [*JOINTS, "gripper"]
    pose = whole.forward_kinematics(START)
    pose[2, 3] += 0.02
    for gripper in (0.0, 55.5, 100.0):
        given = np.append(START, [7.0, -3.0])
        given[5] = gripper
        after = whole.inverse_kinematics(given, pose)
        assert after[5:].tolist() == [gripper, 7.0, -3.0]
        assert given[5] == gripper  # the argument is not changed


def test_an_arm_that_someone_else_moved_far_away_is_taken_over_where_it_is():
    arm = so101()
    pose = arm.forward_kinematics(START)
    for _ in range(10):
        arm.inverse_kinematics(START, pose)
    elsewhere = START + np.array([60, 0, 0, 0, 0, 0])
    after = arm.inverse_kinematics(elsewhere, arm.forward_kinematics(elsewhere))
    np.testing.assert_allclose(after, elsewhere, atol=0.01)


def test_after_a_pause_a_moved_arm_is_taken_over_and_a_sagging_one_is_not(monkeypatch):
    now = 100.0
    monkeypatch.setattr(lerobot.time, "monotonic", lambda: now)
    for moved, taken_over in ((8.0, True), (2.0, False)):
        arm = so101()
        pose = arm.forward_kinematics(START)
        for _ in range(10):
            arm.inverse_kinematics(START, pose)
            now += 1 / FPS
        now += 20.0
        after = arm.inverse_kinematics(START + np.array([moved, 0, 0, 0, 0, 0]), pose)
        assert (abs(after[0] - moved) < 1.5) == taken_over
        assert (abs(after[0]) < 1e-6) != taken_over


def test_a_blocked_arm_is_led_and_not_taken_over():
    arm, leads = so101(), []
    for tick in range(120):
        pose = arm.forward_kinematics(START)
        pose[:2, 3] = 0.25 * np.array([np.cos(0.02 * tick), np.sin(0.02 * tick)])
        leads.append(np.abs(arm.inverse_kinematics(START, pose)[:5] - START[:5]).max())
    assert max(leads) < 30
    assert np.abs(np.diff(leads[40:])).max() < 1  # no sawtooth


@pytest.mark.parametrize("pause", [0.5, 30.0, 1e6])
def test_with_measured_time_a_pause_counts_as_a_tenth_of_a_second(monkeypatch, pause):
    now = 50.0
    monkeypatch.setattr(lerobot.time, "monotonic", lambda: now)
    arm, joints = so101(fps=None, acceleration=30.0), START.copy()
    pose = arm.forward_kinematics(START)
    for _ in range(5):
        joints = arm.inverse_kinematics(joints, pose)
        now += 0.02
    pose[1, 3] += 0.2
    now += pause
    after = arm.inverse_kinematics(joints, pose)
    assert 0 < np.abs(np.radians(after - joints)).max() <= 30.0 * 0.1**2


def test_a_weight_of_zero_leaves_that_part_free():
    rng = np.random.default_rng(8)
    for place, turn in ((1.0, 0.0), (0.0, 1.0)):
        arm, now = so101(), START.copy()
        pose = arm.forward_kinematics(START + np.array([10, 5, -5, 10, 20, 0]))
        if turn:
            pose[:3, 3] += rng.normal(0, 0.3, 3)
        else:
            pose[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            pose[:3, 0] *= np.linalg.det(pose[:3, :3])
        for _ in range(120):
            now = arm.inverse_kinematics(now, pose, position_weight=place, orientation_weight=turn)
        off = np.abs(arm.forward_kinematics(now) - pose)
        assert (off[:3, 3] if place else off[:3, :3]).max() < 1e-4


def test_a_copy_begins_anew():
    arm = so101()
    for _ in range(3):
        arm.inverse_kinematics(START, arm.forward_kinematics(START))
    elsewhere = START + np.array([20, 0, 0, 0, 0, 0])
    for twin in (copy.deepcopy(arm), pickle.loads(pickle.dumps(arm))):
        assert twin.step is None
        after = twin.inverse_kinematics(elsewhere, twin.forward_kinematics(elsewhere))
        np.testing.assert_allclose(after, elsewhere, atol=1e-6)
    arm.reset()
    np.testing.assert_allclose(arm.inverse_kinematics(elsewhere, arm.forward_kinematics(elsewhere)), elsewhere)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"joint_names": ["elbow"]}, UnknownName, "no joint named 'elbow'; did you mean 'elbow_flex'"),
        ({"joint_names": ["gripper"]}, BadInput, "none of the joints gripper moves"),
        ({"joint_names": ["elbow_flex", "elbow_flex"]}, BadInput, "twice"),
        ({"target_frame_name": "gripper"}, UnknownName, "gripper_link"),
        ({"urdf_path": "nowhere.urdf"}, FileNotFoundError, "nowhere.urdf"),
        ({"urdf_path": "so100"}, FileNotFoundError, "no file or bundled model named 'so100'; did you mean 'so101'"),
        ({"urdf_path": f"{DATA}/so10.urdf"}, FileNotFoundError, "did you mean '.*so101.urdf'"),
        ({"urdf_path": "SO101/so101_new_calib.urdf"}, FileNotFoundError, "there is a bundled model 'so101'"),
        ({"urdf_path": "panda", "target_frame_name": "panda_leftfinger"}, BadInput, "slides"),
        ({"sign": 0}, BadInput, "a sign is 1 or -1"),
        ({"sign": {"elbow": -1}}, UnknownName, "joint .in sign. named 'elbow'"),
        ({"offset": [1, 2]}, BadInput, "offset must be one number or 6"),
        ({"offset": np.nan}, BadInput, "offset must be finite"),
        ({"fps": 0}, BadInput, "fps must be a positive number"),
        ({"acceleration": -1.0}, BadInput, "acceleration must be finite and positive"),
        ({"smooth": -1}, BadInput, "smooth"),
    ],
)
def test_mistakes_are_answered_when_it_is_made(options, error, message):
    with pytest.raises(error, match=message):
        RobotKinematics(**{"urdf_path": "so101", **options})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((START[:3], np.eye(4)), "5 or more degrees"),
        ((START, np.eye(3)), r"shape \(4, 4\)"),
        ((START + np.nan, np.eye(4)), "current_joint_pos must be finite"),
        ((START, np.eye(4), 0.0, 0.0), "must not be 0"),
        ((START, np.eye(4), -1.0), "position_weight"),
        ((START, np.eye(4), 1.0, np.nan), "orientation_weight"),
    ],
)
def test_mistakes_of_a_call_are_answered(arguments, message):
    with pytest.raises(BadInput, match=message):
        so101().inverse_kinematics(*arguments)


def test_a_five_joint_arm_meets_the_position_and_yields_in_a_rotation_that_it_does_not_have() -> None:
    joints = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll"]
    start = np.array([10.0, -20.0, 35.0, 40.0, 5.0])
    for weight, status in ((0.01, TrackingStatus.YIELDING), (0.0, TrackingStatus.FOLLOWING)):
        arm, degrees = RobotKinematics("so101", "gripper_frame_link", joints), start
        begin = arm.forward_kinematics(start)
        for tick in range(60):
            pose = begin.copy()
            pose[:3, 3] += np.array([0.0, 0.03, 0.0]) * min(tick / 30, 1)
            degrees = arm.inverse_kinematics(degrees, pose, orientation_weight=weight)
        assert np.linalg.norm(arm.forward_kinematics(degrees)[:3, 3] - pose[:3, 3]) < 1e-5
        assert arm.step is not None
        assert arm.step.status is status
