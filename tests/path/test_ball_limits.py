"""Limits of ball joints along paths: kept by every frame that is returned, and counted in the margin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supple import Frame, Goal, Joint, Linkage, Solver, models, solve_path
from supple._path.outliers import bridge
from supple._path.planner import solve_many
from supple.animate import Timeline
from supple.path_solution import PathSolution

ARM = models.human().part("chest", "left_hand")
RATE = 30.0


def ball_chain(seed: int, count: int = 2) -> Linkage:
    """Ball joints about random axes: wide cones with a narrow twist, which are far from convex."""
    random = np.random.default_rng(seed)
    joints, parent = [], "base"
    for i in range(count):
        axis = random.normal(size=3)
        at = Frame.at(random.uniform(-0.4, 0.4, 3) if i else np.zeros(3))
        joints.append(Joint.ball(f"ball{i}", parent, f"link{i}", at=at, axis=tuple(axis), swing=2.0, twist=(-0.5, 0.1)))
        parent = f"link{i}"
    return Linkage("balls", [*joints, Joint.fixed("tool", parent, "tip", at=Frame.at([0.3, 0, 0]))])


def leaving_path(arm: Linkage, seed: int, frames: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Joint values (frames, dof) between two random ones, and poses (frames, 4, 4), ten of them out of reach."""
    a, b = arm.random(2, seed=seed)
    share = np.linspace(0, 0.9, frames)[:, None]
    q = arm.clamp(arm.integrate(a, share * arm.difference(a, b)))
    poses = arm.frame(q, arm.tips[0]).matrix.copy()
    poses[20:30, :3, 3] = 4 * poses[20:30, :3, 3] + 1
    return q, poses


def check(done: PathSolution) -> None:
    """Every frame is within limits, and what is said of it holds for the joint values that are returned."""
    arm, q = done.linkage, done.q
    assert arm.inside(q).all()
    assert (done.limit_margin >= -1e-12).all()
    away = arm.frame(q, arm.tips[0]).position - done.solution.goals[0].position
    assert np.allclose(np.linalg.norm(away, axis=-1), done.distance[:, 0], atol=1e-12)
    far = (np.abs(arm.difference(q[:-1], q[1:])) > 0.3 * (1 + 1e-6)).any(axis=-1)
    assert done.reconfigured[1:][far].all()


@pytest.mark.parametrize("seed", range(0, 200, 20))
def test_frames_out_of_reach_stay_within_limits_of_ball_joints(seed):
    for i in range(seed, seed + 20):
        for arm in (ARM, ball_chain(i, 2 + i % 2)):
            poses = leaving_path(arm, i)[1]
            check(solve_path(arm, Goal(arm.tips[0], poses), rate=RATE))


OPTIONS: list[dict[str, Any]] = [
    {"retime": True},
    {"closed": True},
    {"start": 0.5},
    {"end": 0.03},
    {"prefer": "centred"},
    {"solver": Solver(margin=0.05)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_of_a_path_keep_the_limits_of_ball_joints(options):
    for seed in range(10):
        for arm in (ARM, ball_chain(seed)):
            (q, poses), chosen = leaving_path(arm, seed), dict(options)
            if "closed" in chosen:
                poses = np.concatenate([poses, poses[-2::-1]])
            off = np.random.default_rng(seed).normal(size=arm.dof)
            for name, row in (("start", q[0]), ("end", q[-1])):  # these may be outside
                if name in chosen:
                    chosen[name] = arm.integrate(row, chosen[name] * off)
            check(solve_path(arm, Goal(arm.tips[0], poses), rate=RATE, **chosen))


def test_an_end_outside_the_limits_is_not_returned_and_leaves_a_gap():
    arm = Linkage("bounded", [
        Joint.revolute("a", "base", "b", axis=(0, 0, 1), lower=-1, upper=1),
        Joint.revolute("b", "b", "c", at=Frame.at([1, 0, 0]), axis=(0, 0, 1), lower=-1, upper=1),
        Joint.fixed("tool", "c", "tip", at=Frame.at([1, 0, 0])),
    ])  # fmt: skip
    q = np.linspace([0.2, 0.3], [1.0, 0.6], 30)
    goal = Goal("tip", position=arm.frame(q, "tip").position, weight=(1, 1, 0))
    done = solve_path(arm, goal, q[0], end=q[-1] + [0.002, 0], rate=RATE)
    assert arm.inside(done.q).all()
    assert not done.ended
    assert "a is 0.002 rad away" in done.why
    assert solve_path(arm, goal, q[0], end=q[-1], rate=RATE).ended


def test_paths_of_tables_keep_the_limits_of_ball_joints():
    for seed in range(20):
        arm = ball_chain(seed)
        poses = np.concatenate([leaving_path(arm, 10 * seed + i)[1] for i in range(3)])
        rows = solve_many(arm, Goal("tip", poses), [0, 60, 120, 180], Solver(), dt=1 / RATE)
        assert arm.inside(rows.q).all()
        away = np.linalg.norm(arm.frame(rows.q, "tip").position - poses[:, :3, 3], axis=-1)
        assert np.allclose(away, rows.distance, atol=1e-12)


def test_motions_of_timelines_keep_the_limits_of_ball_joints():
    for seed in range(20):
        arm = ball_chain(seed)
        poses = Timeline(arm)
        for i, q in enumerate(arm.random(4, seed=seed)):
            poses = poses.pose(i, q, ease=bool(i % 2))
        assert arm.inside(poses.motion(rate=RATE).q).all()
        there = arm.frame(arm.random(2, seed=seed + 1), "tip")
        far = Goal("tip", position=3 * there[0].position)
        both = poses.goal(0.5, far).goal(2.5, Goal("tip", position=there[1].position))
        assert arm.inside(both.motion(rate=RATE).q).all()


def test_the_margin_of_a_ball_joint_is_the_nearer_of_cone_and_twist():
    random = np.random.default_rng(1000)
    swing_range, (low, high) = 2.0, (-0.5, 0.1)
    for seed in range(50):
        arm = ball_chain(seed, 1)
        axis = np.array(arm.joint("ball0").axis)
        across = np.cross(axis, random.normal(size=3))
        across /= np.linalg.norm(across)
        swing, twist = random.uniform(0, 2.5, 12), random.uniform(-1.0, 0.6, 12)
        swing[0], twist[0] = swing_range, -0.2  # on the cone
        turns = Frame.rotvec(swing[:, None] * across) @ Frame.rotvec(twist[:, None] * axis)
        margin = np.min([swing_range - swing, twist - low, high - twist], axis=0)
        good = solve_path(arm, Goal("tip", arm.frame(np.zeros((12, 3)), "tip")))
        q = turns.to_rotvec()
        moved = replace(good, solution=replace(good.solution, q=q))
        assert np.allclose(moved.limit_margin, margin, atol=1e-9)
        assert np.array_equal(moved.limit_margin >= -1e-12, arm.inside(q, 2e-12))


def test_outliers_are_bridged_within_the_limits_of_ball_joints() -> None:
    ball = Joint.ball("s", "a", "b", axis=[1, 0, 0], swing=2.0, twist=(-0.5, 0.1))
    arm = Linkage("b", [ball, Joint.fixed("t", "b", "tip", at=Frame.at([0.3, 0, 0]))])
    q = arm.random(3000, seed=0)
    middle = np.arange(3000) % 3 == 1
    bridge(arm, q, np.arange(3000.0), middle, np.zeros(3000, dtype=bool))
    assert arm.inside(q, 1e-9).all()
