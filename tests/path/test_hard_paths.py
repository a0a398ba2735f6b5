"""Paths that are just possible: near their speed limits, through singularities, closed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple import Frame, Goal, Joint, Linkage, PathSolution, models, solve_path
from supple.frame import Array

HARD = np.load(Path(__file__).parent.parent / "data" / "paths" / "hard.npz")
RATE = 30.0


def solved(truth: Array, **options: bool) -> tuple[Linkage, PathSolution]:
    arm = models.iiwa14()
    link = arm.tips[0]
    done = solve_path(arm, Goal(link, arm.frame(truth, link)), rate=RATE, **options)
    assert np.abs(arm.frame(done.q, link).matrix - arm.frame(truth, link).matrix).max() <= 2e-6
    assert arm.inside(done.q, 1e-9).all()
    return arm, done


@pytest.mark.parametrize("name", ["too_fast", "singular"])
def test_a_path_that_is_just_possible_is_continuous(name: str) -> None:
    """`too_fast`: few joints are too fast by 3 %; `singular`: an elbow and a shoulder pass 0 at once."""
    arm, done = solved(HARD[name])
    step = np.abs(np.diff(done.q, axis=0))
    assert (step <= arm.speed / RATE * (1 + 1e-8)).all()
    assert done


@pytest.mark.parametrize("which", [0, 1])
def test_a_closed_path_that_does_not_return_from_its_first_frame_does_from_another(which: int) -> None:
    arm, done = solved(HARD["closed"][which], closed=True)
    step = np.abs(np.diff(done.q, axis=0))
    assert (step <= arm.speed / RATE * (1 + 1e-8)).all()
    assert np.abs(done.q[-1] - done.q[0]).max() <= 1e-6
    assert done


def test_a_closed_path_from_another_frame_keeps_uneven_times() -> None:
    arm = models.iiwa14()
    link, truth = arm.tips[0], HARD["closed"][1]
    times = np.cumsum(np.random.default_rng(0).uniform(1, 2, len(truth)) / RATE)
    done = solve_path(arm, Goal(link, arm.frame(truth, link)), times=times, closed=True)
    step = np.abs(np.diff(done.q, axis=0))
    assert (step <= arm.speed * np.diff(times)[:, None] * (1 + 1e-8)).all()
    assert np.abs(done.q[-1] - done.q[0]).max() <= 1e-6
    assert done


def long_wrist() -> Linkage:
    """Seven joints as those of an xArm7: four turn by two turns."""
    turn, half = 2 * np.pi, np.pi / 2
    rows = [
        ((0, 0, 0.267), 0, -turn, turn),
        ((0, 0, 0), -half, -2.059, 2.0944),
        ((0, -0.293, 0), half, -turn, turn),
        ((0.0525, 0, 0), half, -0.19198, 3.927),
        ((0.0775, -0.3425, 0), half, -turn, turn),
        ((0, 0, 0), half, -1.69297, np.pi),
        ((0.076, 0.097, 0), -half, -turn, turn),
    ]
    joints = [
        Joint.revolute(
            f"joint{k + 1}",
            f"link{k}",
            f"link{k + 1}",
            at=Frame.at(place, Frame.turn([1, 0, 0], angle)),
            axis=(0, 0, 1),
            lower=lower,
            upper=upper,
            speed=3.14,
        )
        for k, (place, angle, lower, upper) in enumerate(rows)
    ]
    return Linkage("long wrist", joints)


def test_a_wrist_that_is_too_fast_in_the_middle_is_planned_from_there() -> None:
    arm, truth = long_wrist(), HARD["fast_wrist"]
    done = solve_path(arm, Goal("link7", arm.frame(truth, "link7")), rate=RATE)
    assert np.abs(arm.frame(done.q, "link7").matrix - arm.frame(truth, "link7").matrix).max() <= 2e-6
    assert (np.abs(np.diff(done.q, axis=0)) <= arm.speed / RATE * (1 + 1e-8)).all()
    assert arm.inside(done.q, 1e-9).all()
    assert done
