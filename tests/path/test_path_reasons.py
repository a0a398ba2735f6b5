"""What a path says about itself: times, jumps, ends, and a stretch out of reach in the middle."""

from __future__ import annotations

import numpy as np
import pytest

from supple import Frame, Goal, Linkage, models, solve_path
from supple.errors import BadInput
from supple.frame import Array


def out_and_back(arm: Linkage, link: str) -> Goal:
    """201 frames along x, beyond the reach of the arm and back."""
    at = arm.frame(arm.rest, link)
    s = np.linspace(-1, 1, 201)[:, None]
    return Goal(link, Frame.at(at.position + (1 - s**2) * [1.2 * arm.reach(link), 0, 0], at.rotation))


def free_bound(times: Array) -> Array:
    return np.maximum(0.3, 6 * np.diff(times))[:, None]


def test_after_retiming_a_jump_is_judged_and_explained_by_the_times_that_were_given() -> None:
    """At its full stretch an elbow changes by 0.6 rad in 1/20 s; after retiming that takes 0.2 s."""
    arm = models.ur5()
    goal = out_and_back(arm, "tool0")
    given = np.arange(201) / 20
    done = solve_path(arm, goal, rate=20, retime=True)
    steps = np.abs(np.diff(done.q, axis=0))
    assert (steps <= arm.speed * np.diff(done.times)[:, None] * (1 + 1e-6)).all()
    assert np.array_equal((steps > free_bound(given) * (1 + 1e-8)).any(axis=1), done.reconfigured[1:])
    assert done.reconfigured.any()
    assert done.worst_step.part > 1
    assert "comes too soon" not in done.why
    assert "retime=True" not in done.why
    assert "begins another configuration" in done.why
    assert done.worst_step.frame in done.reconfigurations


def test_after_a_stretch_out_of_reach_an_arm_goes_on_from_where_it_is() -> None:
    arm = models.panda()
    for rate in (10, 20, 30):
        done = solve_path(arm, out_and_back(arm, "panda_hand_tcp"), rate=rate)
        assert not done.arrived
        assert done.solution.arrived[[0, -1]].all()
        assert done.change.max() < 0.7, "a joint turns to another configuration"


def test_a_path_without_times_names_no_times() -> None:
    arm = models.ur5()
    goal = out_and_back(arm, "tool0")
    free = solve_path(arm, goal)
    assert " s)" not in free.why
    assert " s)" not in str(free)
    assert "frames 12 to 188: " in free.why
    assert "frames 12 to 188 (0.6 to 9.4 s): " in solve_path(arm, goal, rate=20).why


def test_a_closed_path_whose_ends_differ_is_refused() -> None:
    arm, link = models.panda(), "panda_hand_tcp"
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    circle = arm.frame(arm.rest, link).position + 0.1 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    for frames in (2, 3, 60):
        with pytest.raises(BadInput, match=f"at frame {frames - 1} is another .*append the first frame"):
            solve_path(arm, Goal(link, position=circle[:frames]), rate=30, closed=True)
    done = solve_path(arm, Goal(link, position=np.concatenate([circle, circle[:1]])), rate=30, closed=True)
    assert done
    flat = circle + 0.0
    flat[-1] = circle[0] + [0, 0, 0.05]
    assert solve_path(arm, Goal(link, position=flat, weight=(1, 1, 0)), rate=30, closed=True).ended


def test_retiming_keeps_to_speeds_from_any_times() -> None:
    arm, link = models.panda(), "panda_hand_tcp"
    q = arm.rest + 0.3 * np.sin(np.linspace(0, 3, 40))[:, None] * np.linspace(0.2, 1, arm.dof)
    for seconds in (1e-15, 1e-12, 1e-6, 1.0):
        done = solve_path(arm, Goal(link, arm.frame(arm.clamp(q), link)), times=seconds * np.arange(40), retime=True)
        speed = np.abs(np.diff(done.q, axis=0)) / np.diff(done.times)[:, None]
        assert (speed <= arm.speed * (1 + 1e-6)).all()


def test_the_lowest_panel_of_each_column_has_the_axis_of_time() -> None:
    pytest.importorskip("matplotlib")
    from supple.view import path as pictures

    arm = models.iiwa14()
    q = 0.3 * np.sin(np.linspace(0, 3, 20))[:, None] * np.linspace(0.4, 1, 7)
    goal = Goal(arm.tips[0], arm.frame(q, arm.tips[0]))
    for options, unit in (({"rate": 30.0}, "s"), ({}, "part of the path")):
        panels = pictures.joints(solve_path(arm, goal, **options)).axes
        assert [panel.get_xlabel() for panel in panels[:7]] == ["", "", "", "", "", unit, unit]
        assert all(panel.xaxis.get_tick_params()["labelbottom"] for panel in panels[5:7])


@pytest.mark.parametrize("given", ["end", "start and end"])
def test_an_end_that_the_last_frames_do_not_lead_to_is_marked_and_does_not_hang(given: str) -> None:
    arm = models.ur5()
    a, b = arm.random(2, seed=0)
    b = b.copy()
    b[0] = arm.upper[0]
    q = a + np.linspace(0.6, 1, 40)[:, None] * (b - a)
    options = {"end": q[-1]} if given == "end" else {"start": q[0], "end": q[-1]}
    done = solve_path(arm, Goal("tool0", arm.frame(q, "tool0")), rate=30, **options)
    assert done.motion.q.shape == q.shape
    assert np.isfinite(done.motion.q).all()
    assert arm.inside(done.motion.q).all()
