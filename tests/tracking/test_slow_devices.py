"""Commands of a slow device are read through a window: how far that may be from the hand, and how it may swing."""

import math

import numpy as np
import pytest

from supple import Frame, Solver, models

ARM, TOOL, RATE = models.ur5(), "tool0", 300
START = np.array([0.0, -1.2, 1.5, -1.0, -1.2, 0.3])
HERE = ARM.frame(START, TOOL)


@pytest.mark.parametrize("device", [60, 90, 125])
def test_a_short_quick_motion_is_read_within_two_millimetres(device):
    """5 cm in 0.7 s: against the hand before the stated lag, during the motion and after it."""

    def hand(t):
        u = min(max((t - 0.5) / 0.7, 0.0), 1.0)
        return np.array([0.0, 0.03, 0.04]) * u**3 * (10 + u * (6 * u - 15))

    tracker, farthest = Solver().track(ARM, TOOL, START), 0.0
    for tick in range(2 * RATE):
        t = tick / RATE
        taken = math.floor(t * device) / device
        step = tracker.step(Frame.at(HERE.position + hand(taken), HERE.rotation), 1 / RATE, stamp=taken)
        offset = ARM.frame(step.q, TOOL).position - HERE.position
        farthest = max(farthest, float(np.linalg.norm(offset - hand(t - float(step.lag)))))
    assert farthest < 2e-3


def followed(hand, taken, seconds, stamped=True):
    """Offsets (N, 3) of the end effector and ticks (N,); ``hand`` gives offsets (N, 3) for times (N,)."""
    ticks = np.arange(round(seconds * RATE)) / RATE
    seen = taken[np.searchsorted(taken, ticks + 1e-12, side="right") - 1]
    commands = np.tile(HERE.matrix, (len(ticks), 1, 1))
    commands[:, :3, 3] += hand(seen)
    tracker = Solver().track(ARM, TOOL, START, acceleration=50.0)
    q, _ = tracker.replay(commands, 1 / RATE, seen if stamped else None)
    return ARM.frame(q, TOOL).position - HERE.position, ticks


def samples(device, seconds, loss, seed):
    """Times at which a device takes samples: up to 4 ms off, some lost."""
    rng = np.random.default_rng(seed)
    taken = np.arange(1, int(seconds * device)) / device + rng.uniform(-4e-3, 4e-3, int(seconds * device) - 1)
    return np.concatenate([[0.0], np.maximum.accumulate(taken)[rng.random(len(taken)) >= loss]])


@pytest.mark.parametrize("stamped", [True, False])
@pytest.mark.parametrize("device", [60, 90, 125])
@pytest.mark.parametrize("size", [5e-4, 0.01])
def test_the_arm_does_not_swing_more_than_the_hand(size, device, stamped):
    """0.5 to 30 Hz for a small swing, to 5 Hz for one of 1 cm; peak to peak, from 2 s on."""
    for hertz in (0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 30):
        if size * hertz > 0.06:
            continue
        wave = lambda t, f=hertz: size * (np.sin(2 * np.pi * f * t) * np.clip(t, 0, 1))[:, None] * [0.6, 0.0, 0.8]  # noqa: E731
        seconds = 3 + 3 / hertz
        offset, ticks = followed(wave, samples(device, seconds, 0.05, device), seconds, stamped)
        settled = ticks > 2
        ratio = np.linalg.norm(np.ptp(offset[settled], axis=0)) / np.linalg.norm(np.ptp(wave(ticks[settled]), axis=0))
        assert ratio < 1.02, f"{hertz} Hz"


@pytest.mark.parametrize(("device", "loss"), [(10, 0.05), (60, 0.3), (90, 0.3)])
def test_few_samples_do_not_make_the_arm_overshoot(device, loss):
    """20 cm in 0.8 s: the arm stays within 5 mm of the way between where the hand starts and where it stops."""

    def hand(t):
        u = np.clip((t - 1.5) / 0.8, 0.0, 1.0)
        return 0.2 * (u**3 * (10 + u * (6 * u - 15)))[:, None] * [0.6, 0.0, 0.8]

    for seed in range(5):
        offset, _ = followed(hand, samples(device, 4, loss, seed), 4, seed % 2 == 0)
        along = offset @ [0.6, 0.0, 0.8]
        assert along.min() > -5e-3
        assert along.max() < 0.205


@pytest.mark.parametrize("device", [60, 125, RATE])
@pytest.mark.parametrize(("size", "hertz"), [(0.012, 4), (0.012, 7), (0.03, 5)])
def test_a_swing_that_joints_cannot_follow_is_not_enlarged(size, hertz, device):
    """Beyond the acceleration bounds of a Panda, by slow devices and at every tick; peak to peak, from 3 s on."""
    arm, link = models.panda(), "panda_hand_tcp"
    here = arm.frame(arm.rest, link)
    ticks = np.arange(6 * RATE) / RATE
    taken = samples(device, 6, 0.05, device) if device < RATE else ticks
    seen = taken[np.searchsorted(taken, ticks + 1e-12, side="right") - 1]
    wave = np.sin(2 * np.pi * hertz * np.array([seen, ticks])) * np.clip(np.array([seen, ticks]), 0, 1)
    turns = Frame.rotvec(np.radians(3) * wave[0][:, None] * [0.6, 0.8, 0.0])
    way = np.array([0.0, 0.8, 0.6])
    commands = np.tile(here.matrix, (len(ticks), 1, 1))
    commands[:, :3, :3] = turns.matrix[:, :3, :3] @ commands[:, :3, :3]
    commands[:, :3, 3] += size * wave[0][:, None] * way
    tracker = Solver().track(arm, link, acceleration=50.0)
    q, _ = tracker.replay(commands, 1 / RATE, seen)
    settled = ticks > 3
    swing = np.ptp(arm.frame(q, link).position[settled], axis=0)
    assert np.linalg.norm(swing) < 1.02 * np.ptp(size * wave[1][settled])
