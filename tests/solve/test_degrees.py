"""Joint values in degrees where radians are meant: a warning where it is near certain, and only there."""

import math
import warnings

import numpy as np
import pytest

from supple import BadInput, Frame, Goal, Joint, Linkage, Solver, models, solve, solve_path

ARMS = ("panda", "ur5", "ur10", "iiwa14", "puma560", "so101")
PANDA, HAND = models.panda(), "panda_hand_tcp"
GOAL = Goal(HAND, PANDA.frame(PANDA.rest, HAND))
READY = np.array([0, -45, 0, -135, 0, 90, 45, 0.02])  # degrees, and metres for the fingers


@pytest.mark.parametrize(
    "call",
    [
        lambda: solve(PANDA, GOAL, READY),
        lambda: solve(PANDA, GOAL, np.stack([READY, READY / 2])),
        lambda: Solver().track(PANDA, HAND, start=READY),
        lambda: solve_path(PANDA, Goal(HAND, position=[[0.4, 0, 0.4], [0.4, 0, 0.41]]), READY),
        lambda: PANDA.inside(READY),
    ],
)
def test_degrees_for_radians_are_warned_of(call):
    with pytest.warns(UserWarning, match=r"looks like degrees: panda_joint\d is .* angles are in radians"):
        call()


@pytest.mark.parametrize("name", ARMS)
def test_radians_are_never_warned_of(name):
    arm = models.get(name)
    rng = np.random.default_rng(3)
    q = arm.random(300, seed=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for row in q:
            arm.inside(row + rng.normal(size=arm.dof) * 3)  # outside, but not by far
            arm.inside(row * 0.1 + rng.integers(-2, 3, arm.dof) * 2 * math.pi)  # whole turns
        goal = Goal(arm.tips[0], arm.frame(arm.rest, arm.tips[0]))
        for start in q[:20], q[0] * 2, q[:5] + 2 * math.pi, np.full((3, arm.dof), math.nan):
            solve(arm, goal, start)
        with pytest.raises(BadInput, match="start must be finite"):
            solve(arm, goal, np.full(arm.dof, math.nan))
        with pytest.raises(BadInput, match="start must be finite"):
            solve(arm, goal, np.where(np.arange(arm.dof) == 0, math.inf, 0.0))


def test_joints_without_limits_are_never_warned_of():
    joints = [Joint.continuous(f"c{k}", f"l{k}", f"l{k + 1}", at=Frame.at([1, 0, 0]), axis=[0, 0, 1]) for k in range(3)]
    arm = Linkage("free", [*joints, Joint.prismatic("slide", "l3", "tip", lower=-1, upper=1)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(arm, Goal("tip", position=[2, 1, 0]), [90.0, -45, 135, 0])
        assert not arm.inside([90.0, -45, 135, 3])
