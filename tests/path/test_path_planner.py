"""The planner for many paths of differing lengths: rows, marks, bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from supple import Goal, Solver, models
from supple._path import solve_many
from supple.errors import BadInput
from supple.solution import Outcome

ARM, LINK, DT = models.panda(), "panda_hand_tcp", 1 / 30


def motion(frames: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    s = np.linspace(0, frames / 100, frames)[:, None]
    wave = np.sin(2 * np.pi * s * random.uniform(0.1, 0.4, ARM.dof) + random.uniform(0, 6, ARM.dof))
    return ARM.clamp((ARM.lower + ARM.upper) / 2 + 0.25 * (ARM.upper - ARM.lower) * wave)


def test_paths_of_differing_lengths_are_those_alone() -> None:
    lengths = [1, 50, 0, 7, 120]
    truth = [motion(n, seed) for seed, n in enumerate(lengths)]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    goal = Goal(LINK, ARM.frame(np.concatenate(truth), LINK))
    rows = solve_many(ARM, goal, offsets, Solver(), dt=DT)
    assert (rows.outcome == Outcome.ARRIVED.value).all()
    assert rows.distance.max() <= 1e-6
    assert not rows.reconfigured.any()
    for i, q in enumerate(truth):
        if len(q):
            alone = solve_many(ARM, Goal(LINK, ARM.frame(q, LINK)), [0, len(q)], Solver(), dt=DT)
            assert np.array_equal(alone.q, rows.q[offsets[i] : offsets[i + 1]])


def test_frames_that_are_not_finite_are_marked_and_passed_over() -> None:
    frames = np.array(ARM.frame(motion(80, 1), LINK).matrix)
    position, rotation = frames[:, :3, 3].copy(), frames[:, :3, :3].copy()
    position[[0, 20, 21, 79], 1] = np.nan
    rotation[40] = np.inf
    goal = Goal(LINK, position=np.zeros((80, 3)), orientation=np.broadcast_to(np.eye(3), (80, 3, 3)))
    object.__setattr__(goal, "position", position)
    object.__setattr__(goal, "orientation", rotation)
    rows = solve_many(ARM, goal, [0, 80], Solver(), dt=DT)
    bad = [0, 20, 21, 40, 79]
    assert (rows.outcome[bad] == Outcome.INVALID.value).all()
    assert np.isnan(rows.distance[bad]).all()
    good = np.delete(np.arange(80), bad)
    assert (rows.outcome[good] == Outcome.ARRIVED.value).all()
    assert not rows.reconfigured.any()
    assert np.array_equal(rows.q[0], rows.q[1])
    assert np.array_equal(rows.q[20], rows.q[19])
    assert np.isfinite(rows.q).all()


def test_every_jump_is_marked() -> None:
    """Two unrelated paths in one: the step between them, and it alone, is a jump."""
    for seed in range(6):
        truth = np.concatenate([motion(40, seed), motion(40, seed + 50)])
        rows = solve_many(ARM, Goal(LINK, ARM.frame(truth, LINK)), [0, 80], Solver(), dt=DT)
        step = np.abs(np.diff(rows.q, axis=0))
        jump = (step > np.minimum(ARM.speed * DT, 0.3) * (1 + 1e-8)).any(axis=1)
        assert np.array_equal(jump, rows.reconfigured[1:])
        assert rows.reconfigured[40]
        assert rows.reconfigured.sum() == 1
        assert (rows.outcome == Outcome.ARRIVED.value).all()


@pytest.mark.slow
def test_long_paths_are_planned_in_windows_without_a_jump() -> None:
    for seed in (7, 8, 9):
        truth = motion(12_000, seed)
        rows = solve_many(ARM, Goal(LINK, ARM.frame(truth, LINK)), [0, 12_000], Solver(), dt=DT)
        assert (rows.outcome == Outcome.ARRIVED.value).all()
        step = np.abs(np.diff(rows.q, axis=0))
        assert np.array_equal((step > np.minimum(ARM.speed * DT, 0.3) * (1 + 1e-8)).any(axis=1), rows.reconfigured[1:])
        assert not rows.reconfigured.any()


def test_times_may_be_uneven() -> None:
    truth = motion(60, 3)
    times = np.cumsum(np.random.default_rng(0).uniform(0.02, 0.05, 60))
    rows = solve_many(ARM, Goal(LINK, ARM.frame(truth, LINK)), [0, 60], Solver(), times=times)
    assert (rows.outcome == 0).all()
    step = np.abs(np.diff(rows.q, axis=0)) / np.diff(times)[:, None]
    assert (step <= ARM.speed * (1 + 1e-8)).all()


@pytest.mark.parametrize("offsets", [[1, 5], [0, 3, 2, 5], [[0, 5]]])
def test_bad_offsets_are_refused(offsets: object) -> None:
    with pytest.raises(BadInput, match="offsets"):
        solve_many(ARM, Goal(LINK, ARM.frame(motion(5, 0), LINK)), offsets, Solver(), dt=DT)


THREADS = """
import hashlib, numpy as np
from supple import Goal, Solver, models
from supple._path import solve_many
for name, link in (("panda", "panda_hand_tcp"), ("ur5", "tool0")):
    arm = models.get(name)
    wave = np.sin(np.linspace(0, np.pi, 50)[:, None]) ** 2 * np.random.default_rng(1).uniform(-1, 1, (9, 1, arm.dof))
    q = arm.clamp(arm.rest + 0.5 * wave).reshape(-1, arm.dof)
    for closed in (False, True):
        rows = solve_many(arm, Goal(link, arm.frame(q, link)), np.arange(10) * 50, Solver(), dt=1 / 30, closed=closed)
        print(hashlib.sha256(rows.q.tobytes() + rows.outcome.tobytes() + rows.reconfigured.tobytes()).hexdigest())
"""


def test_any_number_of_threads_gives_the_same_bits() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", THREADS],
            env={**os.environ, "SUPPLE_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "5")
    }
    assert len(outputs) == 1
    assert len(outputs.pop().split()) == 4
