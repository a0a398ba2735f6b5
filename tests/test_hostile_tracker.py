"""Extreme options of a tracker: what it gives is finite and within limits, or it refuses them."""

import numpy as np
import pytest

from supple import BadInput, Frame, Joint, Linkage, Solver, models

ARMS = [(models.panda(), "panda_hand_tcp"), (models.so101(), models.so101().tips[0])]
EXTREMES = [1e-12, 1e-9, 1e12, 1e300]


@pytest.mark.parametrize("option", ["jerk", "acceleration"])
@pytest.mark.parametrize("value", [5e-324, 1e-300, 1e-13])
def test_bounds_without_digits_are_refused(option, value):
    for arm, link in ARMS:
        with pytest.raises(BadInput, match=f"{option} must be at least 1e-12"):
            Solver().track(arm, link, **{option: value})


def test_a_joint_with_such_a_bound_is_refused_by_a_tracker():
    arm = Linkage("slow", [Joint.revolute("j", "a", "b", acceleration=1e-300)])
    with pytest.raises(BadInput, match="acceleration must be at least 1e-12"):
        Solver().track(arm, "b")


@pytest.mark.parametrize("acceleration", EXTREMES)
@pytest.mark.parametrize("jerk", EXTREMES)
def test_with_extreme_bounds_a_tracker_stays_finite_and_within_limits(jerk, acceleration):
    rng = np.random.default_rng(0)
    for arm, link in ARMS:
        tracker = Solver().track(arm, link, jerk=jerk, acceleration=acceleration)
        for frame in arm.frame(arm.random(20, seed=1), link).matrix:
            step = tracker.step(frame, float(rng.choice([1e-9, 1 / 300, 0.1, 2.0])))
            assert np.isfinite([step.q, step.velocity]).all()
            assert np.isfinite(step.error).all()
            assert arm.inside(step.q, 1e-9)


def test_a_frame_made_without_its_constructor_is_refused():
    blank = Frame.__new__(Frame)
    one = Solver().track(*ARMS[0])
    two = Solver().track(ARMS[0][0], [ARMS[0][1], "panda_link4"])
    for tracker, goal in (one, blank), (two, blank), (two, [blank, blank]):
        with pytest.raises(BadInput):
            tracker.step(goal, 0.01)
