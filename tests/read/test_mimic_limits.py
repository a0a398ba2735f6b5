"""Limits of mimic joints in files: no joint leaves its own, also one that follows another."""

from __future__ import annotations

import numpy as np
import pytest

from supple import Goal, Solver, solve
from supple.linkage import Linkage
from supple.read import urdf_text


def robot(*joints: str) -> Linkage:
    """A chain of revolute joints with these children: limits and mimics."""
    links = "".join(f'<link name="l{k}"/>' for k in range(len(joints) + 1))
    chain = "".join(
        f'<joint name="j{k}" type="{"continuous" if not inner else "revolute"}"><parent link="l{k}"/>'
        f'<child link="l{k + 1}"/><origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>{inner}</joint>'
        for k, inner in enumerate(joints)
    )
    return urdf_text(f'<robot name="r">{links}{chain}</robot>')


def limit(lower: float, upper: float, velocity: float = 1) -> str:
    return f'<limit lower="{lower}" upper="{upper}" velocity="{velocity}"/>'


def mimic(joint: str, gain: float, offset: float = 0) -> str:
    return f'<mimic joint="{joint}" multiplier="{gain}" offset="{offset}"/>'


@pytest.mark.parametrize("gain", [3.0, -3.0, 0.2])
def test_no_joint_leaves_its_own_limits(gain: float) -> None:
    arm = robot(limit(-1, 1), limit(-0.1, 0.2, 0.1) + mimic("j0", gain, 0.05))
    q = arm.random(1000, seed=0)
    value = gain * q[:, 0] + 0.05
    assert value.min() >= -0.1 - 1e-15
    assert value.max() <= 0.2 + 1e-15
    assert np.abs(q).max() <= 1
    found = solve(arm, Goal("l2", arm.frame([1.0], "l2")))
    assert -0.1 - 1e-15 <= gain * found.q[0] + 0.05 <= 0.2 + 1e-15
    tracker = Solver().track(arm, "l2")
    fastest = max(abs(tracker.step(arm.frame([1.0], "l2"), 1 / 300).velocity[0]) for _ in range(600))
    assert 0 < fastest <= min(1, 0.1 / abs(gain)) * (1 + 1e-12)


def test_a_mimic_of_a_mimic_narrows_the_joint_that_both_follow() -> None:
    arm = robot(limit(-2, 2), limit(-2, 2) + mimic("j0", 2, 1), limit(-0.5, 0.5) + mimic("j1", -1, 0.5))
    # j2 = -(2 x + 1) + 0.5 = -2 x - 0.5
    assert arm.lower[0] == pytest.approx(-0.5)
    assert arm.upper[0] == pytest.approx(0.0)


def test_the_rest_is_within_the_narrower_range() -> None:
    arm = robot(limit(-1, 1), limit(0.5, 0.7) + mimic("j0", 1))
    assert arm.rest[0] == pytest.approx(0.6)


@pytest.mark.parametrize(
    "inner",
    [
        limit(0, 0) + mimic("j0", 1),  # as a file without lower and upper reads
        limit(2, 3) + mimic("j0", 1),  # contradicts the limits of the source
        limit(-0.1, 0.1) + mimic("j0", 0),
    ],
)
def test_limits_that_leave_no_range_do_not_lock_a_joint(inner: str) -> None:
    arm = robot(limit(-1, 1), inner)
    assert (arm.lower[0], arm.upper[0]) == (-1, 1)


def test_a_continuous_joint_stays_one_and_is_no_faster_than_what_follows_it() -> None:
    arm = robot("", limit(-0.1, 0.1, 0.5) + mimic("j0", 2))
    assert not np.isfinite(arm.upper[0])
    assert arm.speed[0] == pytest.approx(0.25)
