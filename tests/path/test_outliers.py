"""Frames far out of reach in the middle of a path: they are bridged, and no frame beside them is lost."""

from __future__ import annotations

import numpy as np
import pytest

from supple import Frame, Goal, Outcome, Solver, models, solve_path

ARMS = {"ur5": "tool0", "panda": "panda_hand_tcp", "so101": "gripper_frame_link"}


def frames_of(name: str, seed: int, count: int = 80) -> np.ndarray:
    """Frames (count, 4, 4) of a straight way through joint space."""
    arm = models.get(name)
    begin, end = arm.rest + np.random.default_rng(seed).uniform(-0.3, 0.3, (2, arm.dof))
    way: np.ndarray = begin + np.linspace(0, 1, count)[:, None] * (end - begin)
    return arm.frame(arm.clamp(way), ARMS[name]).matrix.copy()


@pytest.mark.parametrize("rate", [None, 30])
@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("name", ARMS)
def test_no_frame_beside_an_outlier_is_lost(name: str, length: int, rate: float | None) -> None:
    arm, link = models.get(name), ARMS[name]
    for seed in range(4):
        frames = frames_of(name, seed)
        whole = solve_path(arm, Goal(link, Frame(frames)), rate=rate)
        rng = np.random.default_rng(seed)
        first = int(rng.integers(3, 70))
        bad = slice(first, first + length)
        frames[bad, :3, 3] += 5 * rng.choice([-1, 1], 3)
        done = solve_path(arm, Goal(link, Frame(frames)), rate=rate)
        missed = np.flatnonzero(~done.solution.arrived)
        assert missed.tolist() == list(range(first, first + length))
        assert (done.solution.outcomes[bad] == Outcome.STUCK.value).all()
        assert done.continuous == whole.continuous
        off = np.linalg.norm(arm.frame(done.q[bad], link).position - frames[bad, :3, 3], axis=-1)
        assert done.distance[bad].ravel() == pytest.approx(off)
        assert done.why.startswith(f"frame{'s' * (length > 1)} {first}")
        assert "is out of reach by" in done.why
        bound = np.abs(np.diff(done.q[first - 1 : first + length + 1], axis=0))
        assert np.ptp(bound, axis=0).max() < 1e-9  # even steps from one side to the other


def test_a_longer_excursion_and_one_without_a_jump_are_followed_as_near_as_possible() -> None:
    arm, link = models.ur5(), "tool0"
    frames = frames_of("ur5", 0)
    for first, last in (0, 1), (79, 80), (20, 26):  # at either end, and six frames
        far = frames.copy()
        far[first:last, 0, 3] += 5.0
        done = solve_path(arm, Goal(link, Frame(far)))
        nearest = arm.frame(done.q[first:last], link).position[:, 0]
        assert (nearest > frames[first:last, 0, 3] + 0.02).any()
    way = np.array([[0.5 + 0.03 * k, 0.1, 0.3] for k in [*range(20), *range(20, -1, -1)]])
    done = solve_path(arm, Goal(link, position=way), rate=10)
    reached = np.linalg.norm(arm.frame(done.q, link).position, axis=-1)
    assert reached.max() > 0.9  # it stretches towards the goals


def test_outliers_of_many_paths_and_uneven_times_are_bridged_each_in_its_own() -> None:
    arm, link = models.panda(), ARMS["panda"]
    frames = np.stack([frames_of("panda", seed) for seed in range(3)], axis=1)
    frames[[10, 40], 0, 2, 3] += 7.0
    frames[33, 2, :3, 3] = 1e6
    times = np.cumsum(np.random.default_rng(1).uniform(0.02, 0.06, len(frames)))
    done = solve_path(arm, Goal(link, Frame(frames)), times=times)
    assert np.argwhere(~done.solution.arrived).tolist() == [[10, 0], [33, 2], [40, 0]]
    part = (times[33] - times[32]) / (times[34] - times[32])
    assert done.q[33, 2] == pytest.approx((1 - part) * done.q[32, 2] + part * done.q[34, 2])


def test_without_limits_nothing_is_an_outlier() -> None:
    from supple._path import outliers

    frames = frames_of("panda", 0)
    frames[10, :3, 3] += 5.0
    goal, offsets = Goal(ARMS["panda"], Frame(frames)), np.array([0, len(frames)])
    arm = models.panda()
    marks = outliers.find(arm, [goal], offsets, Solver())
    assert marks is not None
    assert np.flatnonzero(marks).tolist() == [10]
    assert outliers.find(arm, [goal], offsets, Solver(keep_limits=False)) is None
    assert outliers.find(arm, [Goal(goal.link, orientation=goal.orientation)], offsets, Solver()) is None
