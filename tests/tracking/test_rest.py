"""After the command has come to rest, the joints come to rest: on one arm, on two end effectors, at any rate."""

import numpy as np
import pytest

import supple
from quick import first_is_quick
from supple import Frame, Goal

RATES = (60, 90, 125, 200, 250, 300, 500, 1000)

# a start and a command that the Panda cannot reach; two joints meet their limits in one tick
PANDA_START = [-1.706777654298727, -0.8150674981264724, -2.1553409950651226, -1.697490933974408]
PANDA_START += [1.054185105645407, 1.1240977791337259, 2.2208968339887836]
PANDA_COMMAND = np.array(
    [
        [0.963411128036448, 0.25743604176483864, 0.07460350377824478, -0.8723125833089249],
        [-0.1716099215201761, 0.37865672305129433, 0.9094883841610589, 0.3915230225631471],
        [0.2058859713807071, -0.8890139315491673, 0.4089806796171611, 0.48991242985416467],
        [0, 0, 0, 1],
    ]
)


def joint_speeds(tracker, command, rate, seconds):
    """Largest joint speed (rad/s) in each second of holding a command still."""
    q = np.array([tracker.step(command, 1 / rate).q.copy() for _ in range(seconds * rate + 1)])
    return np.abs(np.diff(q, axis=0)).reshape(seconds, -1).max(1) * rate


@pytest.mark.parametrize("rate", RATES)
def test_the_panda_rests_after_a_jump_out_of_reach(rate):
    arm, link = supple.models.panda(), "panda_hand_tcp"
    start = np.zeros(arm.dof)
    start[:7] = PANDA_START
    tracker = supple.Solver().track(arm, link, start=start)
    for _ in range(rate // 5):
        tracker.step(arm.frame(start, link), 1 / rate)
    assert joint_speeds(tracker, PANDA_COMMAND, rate, 12)[-1] < 1e-6


@pytest.mark.parametrize("rate", first_is_quick([300, 1000]))
@pytest.mark.parametrize(
    ("shift", "turn"),
    [
        ([0.553, -0.269, 0.142], [0.038, -0.297, -0.369]),
        ([0.071, 0.114, -0.195], [-0.175, -0.468, 0.696]),
        ([0.267, -0.074, -0.125], [0.413, 0.064, -0.234]),
    ],
)
def test_two_end_effectors_of_g1_rest_after_one_moves_away(shift, turn, rate):
    g1, links = supple.models.g1(), ["left_rubber_hand", "right_rubber_hand"]
    start = g1.q(
        left_elbow_joint=0.8, right_elbow_joint=0.8, left_shoulder_roll_joint=0.3, right_shoulder_roll_joint=-0.3
    )
    left, right = (g1.frame(start, link) for link in links)
    tracker = supple.Solver().track(g1, links, start=start)
    angle = np.linalg.norm(turn)
    for tick in range(2 * rate + 1):
        u = tick / (2 * rate)
        u = u**3 * (10 + u * (6 * u - 15))
        command = right.matrix.copy()
        command[:3, :3] = Frame.turn(np.asarray(turn) / angle, u * angle).matrix[:3, :3] @ command[:3, :3]
        command[:3, 3] += u * np.asarray(shift)
        tracker.step([left, command], 1 / rate)
    assert joint_speeds(tracker, [left, command], rate, 12)[-1] < 1e-6


@pytest.mark.slow
def test_motion_dies_out_after_random_jumps():
    """200 random jumps, in and out of reach, on five arms at rates from 60 to 1,000 Hz: nothing cycles."""
    rng = np.random.default_rng(5)
    moving = []
    for trial in range(200):
        name = ("panda", "ur5", "iiwa14", "so101", "puma560")[trial % 5]
        arm = getattr(supple.models, name)()
        rate = int(rng.choice(RATES))
        start, there = arm.random(2, seed=trial)
        link = arm.tips[0]
        command = arm.frame(there, link).matrix.copy()
        command[:3, 3] *= rng.choice([1.0, rng.uniform(1, 1.6)])
        tracker = supple.Solver().track(arm, link, start=start)
        speed = joint_speeds(tracker, command, rate, 12)
        if not speed[-1] < 1e-6:
            moving.append((name, rate, trial, speed))
    assert not moving


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5", "iiwa14"])
def test_a_fast_glide_that_ends_swings_no_hand_away(name):
    """With the command at rest the distance grows by at most 20 mm."""
    arm, rate, grown = getattr(supple.models, name)(), 125, []
    for trial in range(100):
        start, there = arm.random(2, seed=7000 + trial)
        link = arm.tips[0]
        first, last = arm.frame(start, link), arm.frame(there, link)
        way = (first.inverse() @ last).log()
        tracker = supple.Solver().track(arm, link, start=start)
        for tick in range(rate):
            u = (tick + 1) / rate
            tracker.step(first @ Frame.exp(u**3 * (10 + u * (6 * u - 15)) * way), 1 / rate)
        grown.append(distance_grown(tracker, last, rate, 3))
    assert max(grown) < 0.02


def distance_grown(tracker, command, rate, seconds):
    """Metres by which the distance to a command at rest grows, at most, until the arm says that it returns."""
    near, most = np.inf, 0.0
    for _ in range(seconds * rate):
        step = tracker.step(command, 1 / rate)
        if step.status is supple.TrackingStatus.RETURNING:
            break
        distance = float(np.ravel(step.distance)[0])
        near = min(near, distance)
        most = max(most, distance - near)
    return most


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panda", "ur5", "puma560"])
def test_after_a_jump_no_hand_goes_away_from_the_command(name):
    """60 random jumps, in and out of reach: momentum and turns carry the hand by less than 15 mm."""
    arm, rate = getattr(supple.models, name)(), 125
    link, rng = arm.tips[0], np.random.default_rng(11)
    grown = []
    for trial in range(60):
        start, there = arm.random(2, seed=8000 + trial)
        command = arm.frame(there, link).matrix.copy()
        command[:3, 3] *= rng.choice([1.0, rng.uniform(1, 1.4)])
        tracker = supple.Solver().track(arm, link, start=start)
        tracker.step(arm.frame(start, link), 1 / rate)
        grown.append(distance_grown(tracker, command, rate, 4))
    assert max(grown) < 0.015


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3, 6])
def test_of_several_hands_none_goes_away_from_a_command_at_rest(seed):
    """The waist of a G1 carries both hands: where one is sent out of reach, the other stays."""
    figure, rate = supple.models.g1(), 125
    hands = ["left_rubber_hand", "right_rubber_hand"]
    figure = figure.part(figure.root, *hands)
    start, there = figure.random(2, seed=seed)
    commands = [figure.frame(start, hands[0]).matrix, figure.frame(there, hands[1]).matrix.copy()]
    commands[1][:3, 3] *= 1.5
    tracker = supple.Solver().track(figure, hands, start=start)
    tracker.step([figure.frame(start, hand).matrix for hand in hands], 1 / rate)
    near, grown = np.full(2, np.inf), np.zeros(2)
    for _ in range(4 * rate):
        step = tracker.step(commands, 1 / rate)
        if step.status is supple.TrackingStatus.RETURNING:
            break
        near = np.minimum(near, step.distance)
        grown = np.maximum(grown, step.distance - near)
    assert grown.max() < 0.01


def test_an_arm_that_must_go_slowly_does_not_stand_still_on_the_way():
    """10 mm a second, half a metre to go: what is gained in a tick is little, but no motion is wasted."""
    arm, rate = supple.models.ur5(), 100
    start = ur5_start(arm)
    here = arm.frame(start, "tool0")
    tracker = supple.Solver().track(arm, "tool0", start=start, speed=0.01, recover="off")
    tracker.step(here, 1 / rate)
    for tick in range(10 * rate):
        step = tracker.step(Frame.at([0, 0.5, -0.1]) @ here, 1 / rate)
        assert step.status is supple.TrackingStatus.LAGGING or tick < 3
    assert float(step.distance[0]) < 0.45


PASSES = {
    ("ur5", 90): (  # the third joint meets its limit on the way: the hand swung on by 30 mm
        [-1.631, -5.394, -2.924, 2.619, -5.827, 2.812],
        [[-0.3331, 0.275, -0.9019, 0.0757], [0.3389, -0.8577, -0.3867, 0.3897], [-0.8799, -0.4345, 0.1925, -0.2397]],
    ),
    ("puma560", 1000): (  # the hand passes the command while it turns: 24 mm
        [2.07, 0.548, 1.455, -0.593, 0.018, -0.926],
        [[0.1305, -0.8515, -0.5079, -0.5793], [0.9478, 0.2575, -0.1882, 0.5755], [0.291, -0.4568, 0.8406, 0.4157]],
    ),
}
"""Start and command of each arm and rate."""


@pytest.mark.parametrize(("name", "rate"), PASSES)
def test_a_hand_that_would_pass_the_command_brakes_in_time(name, rate):
    arm = getattr(supple.models, name)()
    start, rows = PASSES[name, rate]
    tracker = supple.Solver().track(arm, arm.tips[0], start=np.array(start))
    for _ in range(rate // 10):
        tracker.step(arm.frame(start, arm.tips[0]), 1 / rate)
    assert distance_grown(tracker, np.array([*rows, [0, 0, 0, 1]]), rate, 4) < 0.02


def ur5_start(arm):
    return arm.q(shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.2, wrist_2_joint=-1.4, wrist_3_joint=0.3)


def test_an_arm_past_a_joint_limit_stays_near_the_command():
    arm, dt = supple.models.ur5(), 1 / 300
    start = ur5_start(arm)
    hand = arm.frame(start, "tool0")
    tracker = supple.Solver().track(arm, "tool0", start=start)
    limit = arm.joint("shoulder_pan_joint").upper[0]
    angle, farthest = 0.0, 0.0
    for _ in range(300 * 26):
        angle = min(angle + 0.3 * dt, limit + np.radians(3))
        step = tracker.step(Frame.turn([0, 0, 1], angle) @ hand, dt)
        farthest = max(farthest, float(np.ravel(step.distance)[0]))
    assert farthest < 0.1


@pytest.mark.parametrize("acceleration", [3, 8, 15, 50])
def test_the_arm_trembles_no_more_than_the_command(acceleration):
    arm, rate = supple.models.ur5(), 300
    start = ur5_start(arm)
    pose = arm.frame(start, "tool0").matrix
    rng = np.random.default_rng(0)
    frequency, phase = rng.uniform(7, 12, (6, 3)), rng.uniform(0, 6.28, (6, 3))
    t = np.arange(6 * rate) / rate
    tremor = np.sin(2 * np.pi * frequency * t[:, None, None] + phase).mean(2) * np.clip(t, 0, 1)[:, None]
    angle = np.radians(0.2) * np.linalg.norm(tremor[:, 3:], axis=1)
    axis = tremor[:, 3:] / np.maximum(np.linalg.norm(tremor[:, 3:], axis=1), 1e-9)[:, None]
    axis[0] = [1, 0, 0]
    commands = np.tile(pose, (len(t), 1, 1))
    commands[:, :3, 3] += 5e-4 * tremor[:, :3]
    commands[:, :3, :3] = Frame.turn(axis, angle).matrix[:, :3, :3] @ pose[:3, :3]
    tracker = supple.Solver().track(arm, "tool0", start=start, acceleration=acceleration)
    q = np.array([tracker.step(command, 1 / rate).q.copy() for command in commands])[2 * rate :]
    peak_to_peak = np.linalg.norm(np.ptp(arm.frame(q, "tool0").position, axis=0))
    assert peak_to_peak <= 1.02 * np.linalg.norm(np.ptp(commands[2 * rate :, :3, 3], axis=0))


def swing(arm, link, start, hertz, size, rate, seconds, **options):
    """Peak to peak of the hand over that of a command that swings by ``size`` metres; the last half of the run."""
    pose = arm.frame(start, link).matrix
    t = np.arange(round(seconds * rate)) / rate
    commands = np.tile(pose, (len(t), 1, 1))
    commands[:, :3, 3] += (size * np.sin(2 * np.pi * hertz * t) * np.clip(t, 0, 1))[:, None] * [0.6, 0.0, 0.8]
    q, _ = supple.Solver().track(arm, link, start=start, **options).replay(commands, 1 / rate)
    settled = slice(len(t) // 2, None)
    hand, asked = arm.frame(q[settled], link).position, commands[settled, :3, 3]
    return np.linalg.norm(np.ptp(hand, axis=0)) / np.linalg.norm(np.ptp(asked, axis=0))


@pytest.mark.parametrize("rate", first_is_quick([300, 1000]))
@pytest.mark.parametrize("acceleration", [3, 15, 50])
def test_no_frequency_is_amplified(acceleration, rate):
    arm = supple.models.ur5()
    for hertz in (0.5, 1, 2, 4, 7, 12, 20, 30):
        for size in (2e-4, 2e-3):
            ratio = swing(arm, "tool0", ur5_start(arm), hertz, size, rate, 4 + 4 / hertz, acceleration=acceleration)
            assert ratio <= 1.02, (hertz, size)


@pytest.mark.parametrize("hertz", [12, 14, 16, 21])
def test_a_tremor_that_begins_at_full_size_is_not_taken_for_a_motion(hertz):
    arm, rate = supple.models.ur5(), 300
    pose = arm.frame(arm.rest, "tool0").matrix
    commands = np.tile(pose, (6 * rate, 1, 1))
    commands[:, 2, 3] += 5e-3 * np.sin(2 * np.pi * hertz * np.arange(6 * rate) / rate)
    q, _ = supple.Solver().track(arm, "tool0").replay(commands, 1 / rate)
    assert np.linalg.norm(np.ptp(arm.frame(q[3 * rate :], "tool0").position, axis=0)) <= 1.02 * 1e-2


def test_after_tremor_beyond_the_bounds_the_hand_follows_again_and_rests_at_the_command():
    """A motion of 20 cm begins during the tremor; within a second of its start the low-pass has ended."""
    arm, rate = supple.models.ur5(), 300
    start = ur5_start(arm)
    here = arm.frame(start, "tool0")
    tracker = supple.Solver().track(arm, "tool0", start=start, acceleration=5)
    for tick in range(4 * rate):
        step = tracker.step(Frame.at([0, 0.002 * np.sin(2 * np.pi * 10 * tick / rate), 0]) @ here, 1 / rate)
    assert step.lag > 0.01
    for tick in range(2 * rate):
        u = min(tick / rate / 1.5, 1)
        command = Frame.at([0, 0.2 * u**3 * (10 + u * (6 * u - 15)), 0]) @ here
        step = tracker.step(command, 1 / rate)
        assert tick < rate or step.lag < 1e-3
    for _ in range(rate):
        step = tracker.step(command, 1 / rate)
    assert step.lag == 0
    assert step.goal[0, 9:].tobytes() == np.ascontiguousarray(command.position).tobytes()
    assert np.abs(step.velocity).max() < 1e-6


@pytest.mark.parametrize("delay", [0.02, 0.1])
def test_a_smoothed_command_is_late_by_the_stated_lag_and_exact_at_rest(delay):
    arm, dt = supple.models.ur5(), 1 / 300
    start = ur5_start(arm)
    here = arm.frame(start, "tool0")
    tracker = supple.Solver().track(arm, "tool0", start=start, smooth=delay)
    for tick in range(600):
        command = Frame.at([0, 0.1 * tick * dt, 0]) @ here
        step = tracker.step(command, dt)
    assert step.lag == pytest.approx(delay)
    hand = arm.frame(step.q, "tool0").position
    assert command.position[1] - hand[1] == pytest.approx(0.1 * delay, rel=1e-3)
    for _ in range(1200):
        step = tracker.step(command, dt)
    assert step.goal[0, 9:].tobytes() == np.ascontiguousarray(command.position).tobytes()
    assert np.abs(step.velocity).max() < 1e-6
    for hertz in (0.5, 2, 5, 11.7, 29.3):
        ratio = swing(arm, "tool0", start, hertz, 5e-4, 300, 4 + 4 / hertz, smooth=delay)
        assert ratio == pytest.approx(1 / (1 + (np.pi * hertz * delay) ** 2), rel=0.05)


@pytest.mark.parametrize("delay", [0.2, 1.0])
def test_a_smoothed_command_rests_within_four_times_its_delay_and_does_not_hurry(delay):
    arm, rate = supple.models.ur5(), 300
    start = ur5_start(arm)
    here = arm.frame(start, "tool0")
    tracker = supple.Solver().track(arm, "tool0", start=start, smooth=delay)
    for tick in range(round((1 + 3 * delay) * rate)):
        command = Frame.at([0, 0.05 * tick / rate, 0]) @ here
        step = tracker.step(command, 1 / rate)
    places = [step.goal[0, 10]]
    for _ in range(round(4 * delay * rate)):
        step = tracker.step(command, 1 / rate)
        places.append(step.goal[0, 10])
    assert step.goal[0].tobytes() == np.concatenate([command.rotation.ravel(), command.position]).tobytes()
    assert np.abs(step.velocity).max() < 1e-6
    speed = np.diff(places)
    assert (speed > -1e-15).all()
    assert (np.diff(speed) < 1e-12).all()


@pytest.mark.parametrize("wrong", [-0.1, 2.0, float("nan"), "a lot", None])
def test_a_delay_that_cannot_be_meant_is_refused(wrong):
    with pytest.raises(supple.errors.BadInput, match="smooth must be a number of seconds from 0 to 1"):
        supple.Solver().track(supple.models.ur5(), "tool0", smooth=wrong)


@pytest.mark.parametrize("acceleration", [None, 2.0])
def test_an_arm_that_overshoots_comes_back(acceleration):
    """Where a fresh tracker at the same joint values would arrive, this one has not stopped: 40 jumps."""
    stopped = []
    for trial in range(40):
        arm = (supple.models.planar2(), supple.models.ur5())[trial % 2]
        link = arm.tips[0]
        start, there = arm.random(2, seed=100 + trial)
        goal = Goal(link, position=arm.frame(there, link).position)
        limits = {"recover": "off"} | ({} if acceleration is None else {"acceleration": acceleration})
        tracker = supple.Solver().track(arm, goal, start=start, **limits)
        for _ in range(1200):
            step = tracker.step(goal, 1 / 100)
        if step.status is supple.TrackingStatus.FOLLOWING:
            continue
        again = supple.Solver().track(arm, goal, start=step.q, **limits)
        for _ in range(400):
            step = again.step(goal, 1 / 100)
        if step.status is supple.TrackingStatus.FOLLOWING:
            stopped.append(trial)
    assert len(stopped) <= 1


def test_a_slow_arm_moves_on_until_it_arrives_or_its_time_is_over():
    """Pumas with 1 rad/s2 take 5 s for such ways; the command has long been at rest when they arrive."""
    arm, rate = supple.models.puma560(), 125
    link, arrived = arm.tips[0], 0
    for seed in range(89, 101):
        start, there = arm.random(1, seed=seed)[0], arm.random(1, seed=50000 + seed)[0]
        tracker = supple.Solver().track(arm, link, start=start, acceleration=1.0, recover="off")
        tracker.replay(np.tile(arm.frame(start, link).matrix, (5, 1, 1)), 1 / rate)
        q, statuses = tracker.replay(np.tile(arm.frame(there, link).matrix, (10 * rate, 1, 1)), 1 / rate)
        arrived += statuses[-1] == supple.TrackingStatus.FOLLOWING.value
        again = supple.Solver().track(arm, link, start=q[-1], acceleration=1.0, recover="off")
        _, statuses = again.replay(np.tile(arm.frame(there, link).matrix, (5 * rate, 1, 1)), 1 / rate)
        if statuses[-1] == supple.TrackingStatus.FOLLOWING.value:  # from there it could have gone on
            stopped = np.flatnonzero(np.abs(np.diff(q, axis=0)).max(axis=1) * rate > 1e-6)[-1] / rate
            on_time = np.linalg.norm(arm.frame(q[-1], link).position - arm.frame(there, link).position) < 1e-3
            assert on_time or stopped > needed_time(q[-1] - start, 1.0, arm.speed) + 2.5
    assert arrived >= 6


def needed_time(way, acceleration, speed):
    """Seconds that speed and acceleration limits need for the way of each joint, from rest to rest."""
    way = np.abs(way)
    with np.errstate(invalid="ignore"):
        times = np.where(
            way <= speed**2 / acceleration, 2 * np.sqrt(way / acceleration), way / speed + speed / acceleration
        )
    return float(times.max())


def rests_late(arm, link, start, command, rate):
    """Seconds after a jump at which the joints rest, beyond 3 s and what their limits need for the way."""
    tracker = supple.Solver().track(arm, link, start=start, recover="off")
    tracker.replay(np.tile(arm.frame(start, link).matrix, (rate // 10, 1, 1)), 1 / rate)
    q, _ = tracker.replay(np.tile(command, (8 * rate, 1, 1)), 1 / rate)
    moving = np.flatnonzero(np.abs(np.diff(q, axis=0)).max(axis=1) * rate > 1e-6)
    rested = (moving[-1] + 2) / rate if moving.size else 0.0
    return rested - 3 - needed_time(q[-1] - start, tracker.acceleration, arm.speed)


@pytest.mark.parametrize(
    ("rate", "start", "position", "turn"),
    [
        (
            90,
            [1.410424, -1.18857, 0.044186, -0.132474, 1.473499],
            [0.056931, -0.00822, 0.435976],
            [1.273171, -0.51152, -2.552366],
        ),
        (
            125,
            [-0.774304, -0.40988, -0.366698, -0.829709, -0.630065],
            [-0.007467, -0.093723, 0.488606],
            [-0.037821, -0.007448, -1.394904],
        ),
    ],
)
def test_an_arm_that_halved_its_error_late_does_not_swing_on(rate, start, position, turn):
    """What the approach takes beyond the time that the way needs counts as rest, whenever the error was last halved."""
    whole, link = supple.models.so101(), "gripper_frame_link"
    arm, command = whole.part(whole.root, link), Frame.rotvec(turn).matrix.copy()
    command[:3, 3] = position
    assert rests_late(arm, link, np.array(start), command, rate) < 0


@pytest.mark.parametrize("stall", [0.08, 0.15, 0.25])
def test_a_command_that_jumps_while_the_loop_stalls_is_not_passed(stall):
    """The long tick is not taken for a motion that goes on: then the arm would pass the command by up to 0.2 m."""
    arm, link = supple.models.ur5(), "tool0"
    start = np.array([0, -1.2, 1.5, -1.2, -1.4, 0])
    tool = arm.frame(start, link)
    for way in ([0, 0.3, 0], [0, 0, 0.25], [-0.2, 0.2, 0.1], [0, -0.3, 0], [0.1, 0.1, -0.3]):
        tracker, command = supple.Solver().track(arm, link, start=start), Frame.at(way) @ tool
        for _ in range(30):
            tracker.step(tool, 1 / 300)
        dts = [stall] + [1 / 300] * 900
        q = np.array([tracker.step(command, dt).q.copy() for dt in dts])
        far = np.linalg.norm(arm.frame(q, link).position - command.position, axis=-1)
        assert (far - np.minimum.accumulate(far)).max() < 0.02
        assert far[-1] < 1e-3


def test_a_hand_that_moves_on_while_the_loop_stalls_is_followed():
    arm, link = supple.models.ur5(), "tool0"
    start = np.array([0, -1.2, 1.5, -1.2, -1.4, 0])
    tool, tracker, now = arm.frame(start, link), supple.Solver().track(arm, link, start=start), 0.0
    for dt in [1 / 300] * 150 + [0.1] + [1 / 300] * 150:
        now += dt
        command = Frame.at([0, 0.1 * max(now - 0.1, 0) ** 2 * (3 - 2 * now), 0]) @ tool
        step = tracker.step(command, dt)
        assert np.linalg.norm(arm.frame(step.q, link).position - command.position) < 1e-3
