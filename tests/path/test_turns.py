"""Joints that wrap along a path: a given start stays at its turn, and all joints change their turns together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from supple import Frame, Goal, Linkage, models, solve_path

UR5, PANDA = models.ur5(), models.panda()
DOWN = Frame.turn([1, 0, 0], np.pi)


def round_the_base(turns: float, frames: int) -> Frame:
    angle = np.linspace(0, 2 * np.pi * turns, frames)
    return Frame.at(np.stack([0.5 * np.cos(angle), 0.5 * np.sin(angle), np.full(frames, 0.3)], -1), DOWN)


@pytest.mark.parametrize("seed", range(60))
def test_a_start_that_is_an_answer_is_the_first_frame(seed: int) -> None:
    start = UR5.random(1, seed=seed)[0]
    frames = Frame.at(np.linspace([0, 0, 0], [0, 0, 0.02], 20)) @ UR5.frame(start, "tool0")
    done = solve_path(UR5, Goal("tool0", frames), start=start, rate=30)
    assert np.allclose(done.q[0], start, atol=1e-5)


def test_two_turns_of_the_base_need_one_change_of_turns() -> None:
    done = solve_path(UR5, Goal("tool0", round_the_base(2, 800)), rate=30)
    assert done.arrived
    assert len(done.reconfigurations) == 1
    assert UR5.inside(done.q).all()


def test_frames_without_an_answer_are_no_jumps() -> None:
    angle = np.linspace(0, 2 * np.pi, 200)
    place = np.stack([0.45 + 0.05 * np.sin(2 * angle), 0.2 * np.sin(angle), np.full(200, 0.4)], -1)
    place[40:60, 0] += 1
    done = solve_path(PANDA, Goal("panda_hand_tcp", Frame.at(place, DOWN)), rate=30)
    assert not np.isin(done.reconfigurations, range(40, 60)).any()


def turning_arm(limit: float) -> Linkage:
    """An arm of seven joints, of which every other one turns by more than once, between limits."""
    joints = [
        replace(joint, lower=(-limit,), upper=(limit,)) if i % 2 == 0 and joint.lower else joint
        for i, joint in enumerate(models.iiwa14().joints)
    ]
    return Linkage("turning arm", joints)


@pytest.mark.parametrize("limit", [3.2, 3.8])
@pytest.mark.parametrize("closed", [False, True])
def test_joints_of_a_redundant_arm_that_wrap_keep_their_limits(limit: float, closed: bool) -> None:
    arm = turning_arm(limit)
    random, s = np.random.default_rng(11), np.linspace(0, 2 * np.pi, 200)[:, None, None]
    middle, half = (arm.lower + arm.upper) / 2, (arm.upper - arm.lower) / 2
    size = np.minimum(random.uniform(0.1, 0.9, (24, arm.dof)), arm.speed * 5 / (2 * np.pi * half))
    wave = size * np.sin(s + random.uniform(0, 2 * np.pi, (24, arm.dof)))
    truth = middle + half * (wave + (0.98 - size) * random.uniform(-1, 1, (24, arm.dof)))
    done = solve_path(arm, Goal(arm.tips[0], arm.frame(truth, arm.tips[0])), rate=30, closed=closed)
    assert bool(done)
    assert arm.inside(done.q, 1e-9).all()
