"""Joints that wrap along a path: a given start stays at its turn, and all joints change their turns together."""

from __future__ import annotations

import numpy as np
import pytest

from supple import Frame, Goal, models, solve_path

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
