"""Hazards: the stored commands, those derived from a linkage, and the smallest possible errors."""

from __future__ import annotations

import numpy as np
import pytest

from gauntlet_runs import hazard
from supple import BadInput, Joint, Linkage, UnknownName, gauntlet, models
from supple.frame import Frame
from supple.gauntlet import Arm, reference
from supple.gauntlet.arms import CHOSEN_ARMS
from supple.gauntlet.derived_hazards import derive_hazards
from supple.gauntlet.hand_motions import Lines
from supple.gauntlet.nearest_pose import nearest
from supple.gauntlet.singularities import find_singular_poses, smallest_singular_value, task_rank

# of each command at three times: the sum of its upper three rows, each entry multiplied by 1, 2, ... 12
EXPECTED = {
    "panda": {
        "s1_baseline": [(2.0, -0.9572761), (4.0, -5.4402619), (7.0, -5.3279006)],
        "s2_wrist": [(1.4, 19.2576211), (2.8, 20.3331239), (4.9, 17.6928482)],
        "s3_shoulder": [(1.4, -8.5624236), (2.8, -8.2672922), (4.9, -8.9918168)],
        "s4_reach": [(2.0, -8.8000703), (4.0, -8.5037536), (7.0, -10.0590074)],
        "s5_limit": [(1.6, 0.4455909), (3.2, -4.7583626), (5.6, 13.1074723)],
        "s6_step": [(2.0, 8.1263273), (4.0, 8.1263273), (7.0, -8.9266995)],
        "s7_hand": [(7.4, -9.2283191), (14.8, 2.5577711), (25.9, -5.3892765)],
        "s8_orient": [(1.8, -0.6398137), (3.6, -0.6871968), (6.3, 22.1867525)],
    },
    "ur5": {
        "s1_baseline": [(2.0, -7.5153095), (4.0, -9.0684834), (7.0, -4.7605941)],
        "s2_wrist": [(1.4, 11.4916185), (2.8, 12.3554093), (4.9, 10.2348702)],
        "s3_shoulder": [(2.0, -9.726708), (4.0, -10.2738887), (7.0, -8.0972119)],
        "s4_reach": [(2.0, 2.057948), (4.0, 3.0388632), (7.0, -2.1095881)],
        "s5_limit": [(1.6, 1.2458927), (3.2, 3.1346828), (5.6, -5.1967236)],
        "s6_step": [(2.0, 21.6555628), (4.0, 21.6555628), (7.0, -6.2257675)],
        "s7_hand": [(7.4, 10.2348493), (14.8, -12.1541837), (25.9, -4.0072678)],
        "s8_orient": [(1.8, 4.755867), (3.6, 7.4622984), (6.3, -6.8921384)],
    },
    "puma560": {
        "s1_baseline": [(2.0, -7.2429122), (4.0, -9.0208223), (7.0, -8.5850141)],
        "s2_wrist": [(1.4, 25.60739), (2.8, 27.0291008), (4.9, 23.5389114)],
        "s3_shoulder": [(2.0, 30.2315463), (4.0, 29.6679258), (7.0, 32.0722488)],
        "s4_reach": [(2.0, 18.7044569), (4.0, 19.2569278), (7.0, 16.3572178)],
        "s5_limit": [(1.6, 20.1103077), (3.2, 18.6254547), (5.6, 22.6049483)],
        "s6_step": [(2.0, 9.7967846), (4.0, 9.7967846), (7.0, -7.6623512)],
        "s7_hand": [(7.4, 2.5465252), (14.8, -9.9243563), (25.9, -2.2702238)],
        "s8_orient": [(1.8, 15.1408285), (3.6, 18.5237883), (6.3, 7.5567327)],
    },
}
# the least weighted error in the hold windows, and when the command is out of reach
HELD = {
    ("panda", "s4_reach"): (0.805510053, 1.39140625, 5.70859375),
    ("panda", "s5_limit"): (0.373690275, 1.39921875, 4.70078125),
    ("panda", "s8_orient"): (0.501751254, 1.31640625, 4.98359375),
    ("ur5", "s4_reach"): (0.904492362, 1.44921875, 5.65078125),
    ("ur5", "s5_limit"): (0.600213798, 1.49453125, 4.60546875),
    ("ur5", "s8_orient"): (0.377448686, 1.23359375, 5.06640625),
    ("puma560", "s4_reach"): (0.834459859, 1.20390625, 5.89609375),
    ("puma560", "s5_limit"): (0.414690012, 1.38984375, 4.71015625),
    ("puma560", "s8_orient"): (0.562665497, 1.26640625, 5.03359375),
}


# -- hazards -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", EXPECTED)
def test_stored_commands_have_the_expected_values(arm: str) -> None:
    for key, rows in EXPECTED[arm].items():
        times, sums = np.array(rows).T
        frames = hazard(arm, key).hand(times)[:, :3]
        assert np.abs((frames * np.arange(1, 13).reshape(3, 4)).sum((1, 2)) - sums).max() < 2e-7, key


@pytest.mark.parametrize("arm", gauntlet.names())
def test_every_hazard_starts_where_the_arm_is_and_within_its_limits(arm: str) -> None:
    for one in gauntlet.hazards(arm):
        assert np.abs(one.arm.error(one.start, one.frames(300.0)[0])).max() < 1e-12, one
        assert np.all((one.start >= one.arm.lower) & (one.start <= one.arm.upper)), one


def test_commands_at_two_rates_are_the_same_command() -> None:
    for one in gauntlet.hazards("puma560"):
        assert np.abs(one.frames(100.0)[::10] - one.frames(1000.0)[::100]).max() < 1e-12


def test_a_jump_takes_no_time_and_a_hold_does_not_move() -> None:
    a, b = np.eye(4), np.array(Frame.at([1.0, 2.0, 3.0], Frame.turn([0, 0, 1], 1.0)).matrix)
    hand = Lines(a).hold(0.5).jump(b).hold(1.0).to(a, 2.0)
    assert hand.jumps == [0.5]
    at = hand(np.array([0.0, 0.5, 0.5001, 1.5, 3.5, 9.0]))
    assert np.allclose(at, [a, a, b, b, a, a], atol=1e-15)
    middle = hand(np.array([2.5]))[0]
    assert np.allclose(middle[:3, 3], [0.5, 1.0, 1.5])
    assert np.linalg.norm(Frame(middle).to_rotvec()) == pytest.approx(0.5)


def test_the_driven_joint_is_driven_past_its_limit() -> None:
    for arm in gauntlet.names():
        one = hazard(arm, "s5")
        driven = one.driven
        assert driven is not None
        q = driven.q(np.array([0.0, 3.0, one.duration]))[:, driven.joint]
        limit = (one.arm.upper if driven.sign > 0 else one.arm.lower)[driven.joint]
        assert driven.sign * (q[1] - limit) > 0.1
        assert driven.sign * (q[0] - limit) < 0
        assert q[0] == q[2]


def test_unknown_arms_and_hazards_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="panda"):
        gauntlet.hazards("pandaa")
    with pytest.raises(BadInput, match="s1_baseline"):
        gauntlet.hazards("ur5", ["x7"])
    with pytest.raises(BadInput, match="tips"):
        gauntlet.hazards(models.baxter())
    with pytest.raises(BadInput, match="rate"):
        hazard("ur5", "s1").frames(-1.0)
    ball = Linkage("ball", [Joint.ball("b", "base", "tip")])
    with pytest.raises(BadInput, match="ball"):
        gauntlet.hazards(ball)


def test_an_arm_from_a_linkage_has_only_the_joints_before_its_link() -> None:
    arm = gauntlet.arm_from_linkage(models.panda(), "panda_hand_tcp")
    assert isinstance(arm, Arm)
    assert arm.dof == 7
    assert np.allclose(
        arm.frames(models.panda().rest[:7]), models.panda().frame(models.panda().rest, "panda_hand_tcp").matrix
    )


# -- derived hazards ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_derived_hazards_are_the_stored_ones() -> None:
    for name in ("so101", "kraft"):
        found = derive_hazards(gauntlet.known_arm(name))
        kept = reference.stored_arms()[name]["hazards"]
        assert found.keys() == kept.keys()
        for key, spec in found.items():
            for what, value in spec.items():
                if not isinstance(value, str):
                    assert np.allclose(value, kept[key][what], atol=1e-4), (name, key, what)


def test_an_arm_of_five_joints_is_not_always_singular() -> None:
    arm = gauntlet.known_arm("so101")
    assert task_rank(arm) == 5
    assert float(smallest_singular_value(arm, hazard("so101", "s1").start, 5)) > 0.1


def test_singular_configurations_are_singular_and_isolated() -> None:
    arm = gauntlet.known_arm("ur5")
    found = find_singular_poses(arm, 6, np.random.default_rng(0).uniform(-2.5, 2.5, (12, 6)))
    assert found
    for place in found:
        assert float(smallest_singular_value(arm, place.q, 6)) < 1e-6
        assert float(smallest_singular_value(arm, place.q + 0.02 * place.gradient, 6)) > 1e-4


def test_a_linkage_without_limits_has_no_joint_to_drive_into_one() -> None:
    keys = [one.key for one in gauntlet.hazards(models.planar3())]
    assert "s5_limit" not in keys
    assert {"s1_baseline", "s4_reach", "s6_step", "s9_circle"} <= set(keys)


# -- smallest possible errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", CHOSEN_ARMS)
def test_stored_references_have_the_known_values(arm: str) -> None:
    for (whose, key), (least, begin, end) in HELD.items():
        if whose == arm:
            one = hazard(arm, key)
            assert one.hold is not None
            middle = float(np.interp(np.mean(one.hold), one.reference.times, one.reference.least))
            assert middle == pytest.approx(least, abs=1e-9)
            assert one.reference.unreachable == (pytest.approx((begin, end), abs=2e-7),)


def test_no_nearby_joint_values_are_better_than_a_stored_reference() -> None:
    rng = np.random.default_rng(1)
    for arm in gauntlet.names():
        for one in gauntlet.hazards(arm, ["s4", "s5", "s8"]):
            assert one.hold is not None
            assert one.reference.held is not None
            goal = one.hand(np.array([np.mean(one.hold)]))[0]
            least = float(np.interp(np.mean(one.hold), one.reference.times, one.reference.least))
            assert np.linalg.norm(one.arm.weights * one.arm.error(one.reference.held, goal)) == pytest.approx(least)
            near = np.clip(one.reference.held + rng.normal(0, 1e-3, (400, one.arm.dof)), one.arm.lower, one.arm.upper)
            there = np.linalg.norm(one.arm.weights * one.arm.error(near, goal), axis=-1)
            assert there.min() > least - 1e-10, one


@pytest.mark.slow
def test_a_computed_reference_is_the_stored_one() -> None:
    one = hazard("ur5", "s8")
    again = reference.compute(one)
    assert np.abs(again.least - one.reference.least).max() < 1e-9
    assert np.allclose(again.unreachable, one.reference.unreachable)


def test_the_nearest_joint_values_satisfy_the_optimality_conditions() -> None:
    arm, rng = gauntlet.known_arm("puma560"), np.random.default_rng(2)
    for _ in range(10):
        goal = arm.frames(rng.uniform(-3, 3, 6))
        q, left = nearest(arm, rng.uniform(arm.lower, arm.upper), goal)
        assert np.all((q >= arm.lower) & (q <= arm.upper))
        error, jacobian = arm.evaluate(q, goal)
        slope = -jacobian.T @ error
        free = (q > arm.lower) & (q < arm.upper)
        assert left == pytest.approx(np.linalg.norm(error))
        assert np.abs(slope[free]).max(initial=0) < 1e-6
        assert np.all(slope[q >= arm.upper] <= 1e-12)
        assert np.all(slope[q <= arm.lower] >= -1e-12)
