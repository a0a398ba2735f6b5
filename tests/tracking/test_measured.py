"""Laws of `measured`: an arm that follows is not slowed down, one that is blocked is waited for, noise is not felt."""

import numpy as np
import pytest

from quick import first_is_quick
from supple import Frame, Solver, models
from supple.step import TrackingStatus

UR5, PANDA = models.ur5(), models.panda()
START = UR5.q(shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.0, wrist_2_joint=-1.2, wrist_3_joint=0.3)
LARGEST_LEAD = 0.36  # rad, of a joint that stands still


def drive(follow, goal, rate, seconds, arm):
    """q (ticks, dof), measured (ticks, dof) and statuses; `arm` makes the measured values from all q until now."""
    q, seen, status = [follow.q], [], []
    for _ in range(round(seconds * rate)):
        seen.append(arm(q))
        step = follow.step(goal, 1 / rate, measured=seen[-1])
        q.append(step.q.copy())
        status.append(step.status)
    return np.array(q), np.array(seen), status


def far_turned():
    """A frame that takes the base of the UR5 half a turn away, at full speed."""
    return Frame.turn([0, 0, 1], 3.0) @ UR5.frame(START, "tool0")


def delayed(ticks, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    return lambda q: q[max(0, len(q) - 1 - ticks)] + noise * rng.normal(size=q[0].shape)


@pytest.mark.parametrize("noise", [0.0, 1e-3])
@pytest.mark.parametrize("rate", [300, 1000])
@pytest.mark.parametrize("lag", [0.0, 0.01, 0.05, 0.1], ids="{} s".format)
def test_an_arm_that_lags_by_itself_is_not_slowed_down(rate, lag, noise):
    free = Solver().track(UR5, "tool0", start=START)
    alone = np.array([free.step(far_turned(), 1 / rate).q.copy() for _ in range(2 * rate)])
    follow = Solver().track(UR5, "tool0", start=START)
    q, _, _ = drive(follow, far_turned(), rate, 2, delayed(round(lag * rate), noise))
    fastest, with_it = (np.abs(np.diff(x, axis=0)).max(axis=0) * rate for x in (alone, q))
    assert fastest[0] > 3.0
    assert with_it[0] > 0.98 * fastest[0]


@pytest.mark.parametrize("rate", [300, 1000])
@pytest.mark.parametrize(("arm", "link"), [(UR5, "tool0"), (PANDA, "panda_hand_tcp")], ids=["ur5", "panda"])
def test_the_noise_of_encoders_does_not_change_the_status(arm, link, rate):
    here = arm.frame(arm.rest, link)
    follow = Solver().track(arm, link)
    q, _, status = drive(follow, Frame.at([0, 0.1, 0.05]) @ here, rate, 4, delayed(3, 1e-3))
    assert all(one is TrackingStatus.FOLLOWING for one in status[2 * rate :])
    assert np.ptp(q[3 * rate :], axis=0).max() < 1e-9


@pytest.mark.parametrize("noise", [0.0, 1e-3])
@pytest.mark.parametrize("rate", [60, 300, 1000])
def test_a_joint_that_is_blocked_is_waited_for_and_then_goes_on_without_a_jump(rate, noise):
    rng = np.random.default_rng(3)
    follow = Solver().track(UR5, "tool0", start=START)
    q, _, status = drive(follow, far_turned(), rate, 2, lambda _: START + noise * rng.normal(size=6))
    assert np.abs(q[1:] - START).max() < LARGEST_LEAD + 5 * noise + 1e-6
    assert np.abs(q[-1] - START).max() > 0.5 * LARGEST_LEAD
    assert np.abs(np.diff(q[-rate // 2 :], axis=0)).max() * rate < 1e-3 + 200 * noise
    assert status[-1] is not TrackingStatus.FOLLOWING
    # it comes free and follows as slowly as a heavy arm does
    real = [START]

    def freed(q):
        real.append(real[-1] + min(1.0, 20 / rate) * (q[-1] - real[-1]))
        return real[-1]

    after, _, status = drive(follow, far_turned(), rate, 4, freed)
    velocity = np.diff(np.concatenate([q[-3:-1], after]), axis=0) * rate
    assert (np.abs(np.diff(velocity, axis=0)) * rate <= follow.acceleration * (1 + 1e-6)).all()
    assert status[-1] is TrackingStatus.FOLLOWING


@pytest.mark.parametrize("rate", [300, 1000])
@pytest.mark.parametrize("moment", [0.15, 0.3, 0.6], ids="{} s".format)
def test_a_joint_that_is_stopped_while_it_moves_is_left_behind_by_little_more_than_its_way_to_brake(rate, moment):
    follow = Solver().track(UR5, "tool0", start=START)
    q, _, _ = drive(follow, far_turned(), rate, moment, delayed(2))
    stopped, speed = q[-1], np.abs(q[-1] - q[-2]).max() * rate
    q, _, _ = drive(follow, far_turned(), rate, 2, lambda _: stopped)
    bound = LARGEST_LEAD + speed**2 / (2 * 0.8 * 15) + 0.05 * speed
    assert np.abs(q - stopped).max() < bound
    assert np.abs(np.diff(q[-rate // 2 :], axis=0)).max() * rate < 1e-2


@pytest.mark.parametrize("seed", first_is_quick(range(10)))
def test_oscillation_does_not_grow_with_a_slow_arm(seed):
    rng = np.random.default_rng(seed)
    rate, slowness = 300, rng.uniform(0.02, 0.3)
    follow = Solver().track(UR5, "tool0", start=START)
    goal = Frame.at(0.2 * rng.normal(size=3)) @ UR5.frame(START, "tool0") @ Frame.rotvec(0.5 * rng.normal(size=3))
    real = [START]

    def slow(q):
        real.append(real[-1] + (q[-1] - real[-1]) / (slowness * rate))
        return real[-1] + 1e-3 * rng.normal(size=6)

    q, _, _ = drive(follow, goal, rate, 8, slow)
    early, late = np.ptp(q[4 * rate : 5 * rate], axis=0), np.ptp(q[7 * rate :], axis=0)
    assert (late <= 1.5 * np.maximum(early, 1e-5)).all()


@pytest.mark.parametrize("every", [2, 5, 10])
def test_a_blocked_arm_is_waited_for_where_not_every_tick_measures(every):
    arm, dt = models.ur5(), 1 / 300
    start = arm.q(shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.2, wrist_2_joint=-1.4)
    tool, tracker, lead, statuses = arm.frame(start, "tool0"), Solver().track(arm, "tool0", start), 0.0, set()
    for tick in range(1500):
        turned = Frame.turn([0, 0, 1], 0.5 * min(tick * dt, 4)) @ tool
        step = tracker.step(turned, dt, measured=None if tick % every else start)
        lead = max(lead, float(np.abs(step.q - start).max()))
        if tick > 600:
            statuses.add(step.status.name)
    assert lead < 0.4
    assert statuses == {"LAGGING"}
    assert "waits for the measured arm: shoulder_pan_joint" in step.why


def test_an_arm_with_a_delay_of_a_tenth_of_a_second_comes_to_rest():
    dt, delay = 0.004, 25
    start = [-0.72, -3.75, 0.22, -1.66, -3.33, 5.06]
    goal = Frame.at([-0.39, 0.379, -0.484]) @ Frame(
        [[-0.895, -0.023, -0.446, 0], [0.446, 0.007, -0.895, 0], [0.024, -1, 0.004, 0], [0, 0, 0, 1]]
    )
    follow = Solver().track(UR5, "tool0", start=start)
    sent = [np.array(start)] * (delay + 1)
    for _ in range(round(10 / dt)):
        step = follow.step(goal, dt, measured=sent[-1 - delay])
        sent.append(step.q)
    assert np.abs(step.velocity).max() < 1e-6


@pytest.mark.parametrize("seed", [51, 87, 113])
def test_an_arm_that_is_stopped_is_waited_for_at_rest(seed):
    rng = np.random.default_rng(seed)
    arm = models.get(str(rng.choice(["panda", "ur5", "puma560"])))
    link = arm.tips[0]
    start, there = arm.random(2, seed=seed)
    follow, goal, measured, stopped = Solver().track(arm, link, start=start), arm.frame(there, link), start, 0.94
    for tick in range(250 * 12):
        step = follow.step(goal, 1 / 250, measured=measured)
        if tick < 250 * stopped:
            measured = step.q
    assert np.abs(step.velocity).max() < 1e-6


@pytest.mark.parametrize("noise", [1e-3, 1e-2, 3e-2, 0.1])
def test_noise_changes_the_status_of_a_resting_command_a_few_times_at_most(noise):
    """In 6 s at most ten times, and in the last two at most three times."""
    rate = 300
    for seed in range(5):
        rng = np.random.default_rng(seed)
        goal = Frame.at(0.3 * rng.normal(size=3)) @ UR5.frame(START, "tool0") @ Frame.rotvec(0.5 * rng.normal(size=3))
        follow = Solver().track(UR5, "tool0", start=START)
        _, _, status = drive(follow, goal, rate, 6, delayed(6, noise, seed))
        changes = [tick for tick in range(1, len(status)) if status[tick] is not status[tick - 1]]
        assert len(changes) <= 10
        assert sum(tick > 4 * rate for tick in changes) <= 3


@pytest.mark.parametrize("rate", [60, 300, 1000])
def test_a_real_change_of_the_status_is_reported_within_50_ms(rate):
    here = UR5.frame(START, "tool0")
    seen, alone = Solver().track(UR5, "tool0", start=START), Solver().track(UR5, "tool0", start=START)
    drive(seen, here, rate, 1, delayed(0))
    for _ in range(rate):
        alone.step(here, 1 / rate)
    moved = Frame.at([0, 0.2, 0]) @ here

    def left(status):
        return next(tick for tick, one in enumerate(status) if one is not TrackingStatus.FOLLOWING)

    with_it = left(drive(seen, moved, rate, 1, delayed(0))[2])
    without = left([alone.step(moved, 1 / rate).status for _ in range(rate)])
    assert (with_it - without) / rate <= 0.05
