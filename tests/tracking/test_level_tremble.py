"""With priorities, joints of a robot with pinned feet come to rest without trembling when a hand is out of reach."""

import numpy as np
import pytest

import supple
from supple import Frame, Goal, Joint, Linkage, Solver

RATE = 300
FEET = ("left_ankle_roll_link", "right_ankle_roll_link")
HANDS = ("left_rubber_hand", "right_rubber_hand")


def smooth(u):
    u = np.clip(u, 0, 1)
    return u**3 * (10 + u * (6 * u - 15))


def reach(figure, seed):
    """Velocities (ticks, dof) after the command came to rest, and how far a pinned foot moved, m."""
    rng = np.random.default_rng([seed, 2024])
    limited = np.isfinite(figure.lower) & np.isfinite(figure.upper)
    start = figure.clamp(figure.rest + np.where(limited, rng.uniform(-0.1, 0.1, figure.dof), 0))
    hand, way = HANDS[seed % 2], rng.normal(size=3)
    way *= rng.uniform(0.7, 1.1) / np.linalg.norm(way)
    moving, here = rng.uniform(0.8, 2.0), figure.frame(start, hand)
    pinned = [Goal(foot, figure.frame(start, foot)) for foot in FEET]
    tracker = Solver().track(figure, [*pinned, Goal(hand, here, priority=1)], start=start)
    velocity, moved = [], 0.0
    for tick in range(round((moving + 3.5) * RATE)):
        there = Frame.at(smooth((tick + 1) / (moving * RATE)) * way) @ here
        step = tracker.step([*pinned, Goal(hand, there, priority=1)], 1 / RATE)
        velocity.append(step.velocity.copy())
        moved = max(moved, float(step.distance[:2].max()))
    return np.array(velocity[round(moving * RATE) :]), moved


def tremble(velocity):
    """The sixth largest swing of a joint, 10 to 60 Hz, in a quarter of a second, rad: a start and a stop have few."""
    count, window = len(velocity), RATE // 4
    frequency = np.fft.rfftfreq(count + 512, 1 / RATE)
    passed = np.clip((frequency - 8) / 4, 0, 1) * (frequency < 60) / np.maximum(frequency, 1) / (2j * np.pi)
    q = np.fft.irfft(np.fft.rfft(velocity, count + 512, axis=0) * passed[:, None], axis=0)[:count]
    worst = 0.0
    for first in range(0, count - window, window // 2):
        for joint in q[first : first + window].T:
            turns = np.flatnonzero(np.diff(np.sign(np.diff(joint)))) + 1
            swings = np.sort(np.abs(np.diff(joint[turns])))
            worst = max(worst, swings[-6] if len(swings) > 5 else 0.0)
    return worst


def gentle(u):
    u = np.clip(u, 0, 1)
    return u**5 * (126 + u * (-420 + u * (540 + u * (-315 + 70 * u))))


def pass_reach(figure, seed):
    """Velocities (ticks, dof) while a hand's goal moves out of reach, and how far a pinned foot moved, m."""
    rng = np.random.default_rng([seed, 77])
    limited = np.isfinite(figure.lower) & np.isfinite(figure.upper)
    start = figure.clamp(figure.rest + np.where(limited, rng.uniform(-0.1, 0.1, figure.dof), 0))
    hand, way, length = HANDS[seed % 2], rng.normal(size=3), rng.uniform(0.9, 1.4)
    way *= length / np.linalg.norm(way)
    moving, here = 2.8 * length, figure.frame(start, hand)
    pinned = [Goal(foot, figure.frame(start, foot)) for foot in FEET]
    tracker = Solver().track(figure, [*pinned, Goal(hand, position=here.position, priority=1)], start=start)
    velocity, moved = [], 0.0
    for tick in range(round(moving * RATE)):
        there = here.position + gentle((tick + 1) / (moving * RATE)) * way
        step = tracker.step([*pinned, Goal(hand, position=there, priority=1)], 1 / RATE)
        velocity.append(step.velocity.copy())
        moved = max(moved, float(step.distance[:2].max()))
    return np.array(velocity), moved


def standing():
    figure = Linkage("standing", [Joint.floating("base", "world", "place", speed=5.0)])
    return figure.attach("place", supple.models.g1())


@pytest.mark.slow
def test_joints_hardly_tremble_while_a_goal_moves_out_of_reach():
    trembles = []
    for seed in range(3):
        velocity, moved = pass_reach(standing(), seed)
        trembles.append(tremble(velocity))
        assert moved < 5e-5
    assert np.mean(trembles) < 0.15e-3


@pytest.mark.slow
def test_joints_do_not_tremble_after_a_reach_too_far():
    figure, trembles = standing(), []
    for seed in range(6):
        velocity, moved = reach(figure, seed)
        trembles.append(tremble(velocity))
        assert moved < 1e-3
        assert np.abs(velocity[-1]).max() < 1e-6
    assert np.mean(trembles) < 0.6e-3
