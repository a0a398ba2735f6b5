"""An arm that is stuck away from its command returns as its mode says, announced and bounded, or stays."""

import numpy as np
import pytest

import supple
from quick import first_is_quick
from supple import Frame, Solver, TrackingStatus, gauntlet
from supple.errors import BadInput

RATE = 300
RETURNING = TrackingStatus.RETURNING


def pushed(name, number, recover, seconds=12):
    """The steps of a random push out of reach and back, with a long rest at its end, and the tick of that rest."""
    arm = gauntlet.known_arm(name)
    push = gauntlet.pushes(arm, number + 1)[number]
    frames = push.frames(RATE)
    held = np.concatenate([frames, np.repeat(frames[-1:], seconds * RATE, axis=0)])
    tracker = Solver().track(arm.linkage, arm.link, start=push.start, acceleration=15.0, recover=recover)
    return arm, tracker, [tracker.step(frame, 1 / RATE) for frame in held], held


@pytest.mark.parametrize("number", first_is_quick([64, 20, 45]))
def test_a_free_return_always_arrives(number):
    _, _, steps, _ = pushed("so101", number, "free")
    assert steps[-1].status is TrackingStatus.FOLLOWING


def stuck_pushes():
    """Pushes of two arms that end away from their command without recovery."""
    found = []
    for name in ("ur5", "kraft"):
        for number in range(60):
            _, _, steps, _ = pushed(name, number, "off", 3)
            if steps[-1].status is not TrackingStatus.FOLLOWING:
                found.append((name, number))
    return found


@pytest.mark.slow
def test_slow_returns_are_announced_bounded_and_refused():
    returned = 0
    for name, number in stuck_pushes():
        arm, _, steps, frames = pushed(name, number, "slow")
        status = [step.status for step in steps]
        if RETURNING not in status:
            assert steps[-1].why
            continue
        returned += 1
        first = status.index(RETURNING)
        rests = int(np.flatnonzero(np.abs(np.diff(frames, axis=0)).max(axis=(1, 2)) > 0)[-1]) + 1
        assert (first - rests) / RATE > 0.9  # the command rested
        announced = steps[first : first + int(0.2 * RATE)]
        assert max(np.abs(step.velocity).max() for step in announced) < 1e-9  # it moves only after that
        moving = [step for step, of in zip(steps, status, strict=True) if of is RETURNING]
        q = np.array([step.q for step in moving])
        position = arm.linkage.frame(q, arm.link).position
        reach = arm.linkage.reach(arm.link)
        assert np.linalg.norm(np.diff(position, axis=0), axis=1).max() * RATE < 1.1 * 0.4 * reach / np.pi
        assert np.ptp(q, axis=0).max() < 3.6
        error = np.array([step.error[0] for step in moving]) * ([np.pi / reach] * 3 + [1.0] * 3)
        size = np.linalg.norm(error, axis=1)
        assert size.max() < size[0] + 0.31
    assert returned > 0


def returning():
    """Trackers of a UR5 whose arm moves on a slow return, each with its command (4, 4)."""
    arm = supple.models.ur5()
    for trial in range(200):
        start, there = arm.random(2, seed=trial)
        tracker = Solver().track(arm, "tool0", start=start)
        goal = arm.frame(there, "tool0").matrix
        for _ in range(6 * RATE):
            step = tracker.step(goal, 1 / RATE)
            if step.status is RETURNING and np.abs(step.velocity).max() > 0.01:
                yield tracker, goal
                break


def test_a_return_ends_when_the_command_moves():
    rng = np.random.default_rng(0)
    tracker, goal = next(returning())
    moved = goal.copy()
    for tick in range(30):
        moved[:3, 3] = goal[:3, 3] + 0.001 * tick * rng.normal(size=3) / 2
        step = tracker.step(moved, 1 / RATE)
    assert step.status is not RETURNING


def test_a_push_ends_a_return():
    found = returning()
    for tracker, _ in (next(found), next(found)):
        statuses = {tracker.push([0, 0, 0.05, 0, 0, 0], 1 / RATE).status for _ in range(100)}
        assert RETURNING not in statuses


def test_no_joint_unwinds_a_whole_turn():
    arm, dt = supple.models.ur5(), 1 / 100
    start = arm.q(shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.2, wrist_2_joint=-1.4)
    tool, limit = arm.frame(start, "tool0"), arm.joint("shoulder_pan_joint").upper[0]
    for recover, unwinds in (("off", False), ("slow", False), ("free", True)):
        tracker = Solver().track(arm, "tool0", start=start, recover=recover)
        for tick in range(1200):
            step = tracker.step(Frame.turn([0, 0, 1], min(1.5 * tick * dt, limit + 0.2)) @ tool, dt)
        assert bool(step.q[0] < limit - 5) is unwinds
        assert (step.status is TrackingStatus.FOLLOWING) is unwinds


def test_an_unknown_mode_is_named():
    with pytest.raises(BadInput, match="recover must be 'off', 'slow' or 'free', got 'fast'"):
        Solver().track(supple.models.ur5(), "tool0", recover="fast")
