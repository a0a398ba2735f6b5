"""The good methods arrive: on nineteen of twenty reachable positions of each robot, from rest, within limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from supple import Solver, method, models
from supple.textbook import compare

ROBOTS = {"planar3": "tip", "panda": "panda_hand_tcp", "ur5": "tool0", "so101": "gripper_frame_link"}


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("way", ["damped", "selectively_damped", "coordinate_descent"])
def test_positions_within_reach_are_arrived_at_from_rest(name: str, way: str) -> None:
    arm, link = models.get(name), ROBOTS[name]
    for seed in range(3):
        goal, solver = compare.reachable_positions(arm, link, 1000, seed)
        found = replace(solver, method=method.get(way)).solve(arm, goal)
        assert found.arrived.mean() >= 0.95
        assert arm.inside(found.q).all()
        # what is said to have arrived has, by forward kinematics
        left = np.linalg.norm(arm.frame(found.q, link).position - goal.position, axis=-1)
        assert (left[found.arrived] <= 1e-4 * arm.reach(link)).all()
        assert (found.iterations <= 200).all()


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("way", [name for name in method.names() if name not in ("inverse", "search")])
def test_a_way_through_joint_values_is_no_shorter_than_the_straight_one(name: str, way: str) -> None:
    arm = models.get(name)
    goal, _ = compare.reachable_positions(arm, ROBOTS[name], 300, seed=0)
    found = Solver(method=method.get(way), limit_escapes=0).solve(arm, goal)
    straight = np.linalg.norm(found.q - arm.rest, axis=-1)
    assert (found.path >= straight - 1e-9).all()
    assert (np.abs(found.q - arm.rest).max(axis=-1) <= found.iterations * found.largest_step + 1e-9).all()
