"""The gauntlet: the commands are the agreed ones, the optima are optima, and the measures measure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from acceptance.comparison import better_peers
from acceptance.criteria import Bar, bars
from acceptance.tables import hazard_tables, summary_table
from typer.testing import CliRunner

from supple import BadInput, Joint, Linkage, UnknownName, gauntlet, models
from supple.cli import gauntlet as gauntlet_command
from supple.frame import Array, Frame
from supple.gauntlet import Arm, Hazard, Operator, Run, reference
from supple.gauntlet.arms import CHOSEN_ARMS
from supple.gauntlet.derived_hazards import derive_hazards
from supple.gauntlet.hand_motions import Lines
from supple.gauntlet.nearest_pose import nearest
from supple.gauntlet.operator import activity, interpolated, tremor
from supple.gauntlet.singularities import find_singular_poses, smallest_singular_value, task_rank

# of each command at three times: the sum of its upper three rows, each entry multiplied by 1, 2, ... 12
AGREED = {
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


def hazard(arm: str, key: str) -> Hazard:
    (found,) = gauntlet.hazards(arm, [key])
    return found


def ran(q: Array, of: Hazard, rate: float = 300.0) -> Run:
    """A run in which the joints did just that: q (N + 1, dof)."""
    return Run(of, rate, q, np.diff(q, axis=0), of.frames(rate))


# -- hazards ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", AGREED)
def test_commands_are_the_agreed_ones(arm: str) -> None:
    for key, rows in AGREED[arm].items():
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


def test_a_jump_takes_no_time_and_a_hold_none_of_the_way() -> None:
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


def test_unknown_names_are_named() -> None:
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


# -- derived hazards --------------------------------------------------------------------------------------------


def test_hazards_are_found_from_the_linkage_alone_and_always_the_same() -> None:
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


def test_singular_places_are_singular_and_crossed() -> None:
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


# -- optima -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", CHOSEN_ARMS)
def test_kept_optima_are_the_known_ones(arm: str) -> None:
    for (whose, key), (least, begin, end) in HELD.items():
        if whose == arm:
            one = hazard(arm, key)
            assert one.hold is not None
            middle = float(np.interp(np.mean(one.hold), one.reference.times, one.reference.least))
            assert middle == pytest.approx(least, abs=1e-9)
            assert one.reference.unreachable == (pytest.approx((begin, end), abs=2e-7),)


def test_kept_optima_cannot_be_bettered_nearby() -> None:
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


def test_a_reference_found_anew_is_the_kept_one() -> None:
    one = hazard("ur5", "s8")
    again = reference.compute(one)
    assert np.abs(again.least - one.reference.least).max() < 1e-9
    assert np.allclose(again.unreachable, one.reference.unreachable)


def test_the_nearest_joint_values_keep_limits_and_press_against_those_that_hold_them() -> None:
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


# -- running ----------------------------------------------------------------------------------------------------


class Scripted:
    """A controller that asks for whatever a function of tick and q says."""

    def __init__(self, asks: Callable[[int, Array], Array]) -> None:
        self.asks = asks

    def reset(self, q: Array) -> None:
        self.tick = 0

    def step(self, q: Array, command: Array, dt: float, stamp: float | None = None) -> Array:
        self.tick += 1
        return self.asks(self.tick - 1, q)


def test_what_is_asked_too_much_is_clipped_and_noted() -> None:
    one = hazard("ur5", "s4")
    greedy = gauntlet.run(one, Scripted(lambda k, q: q + 2 * one.arm.speed / 300), 300.0)
    seen = gauntlet.measure(greedy)
    assert seen["raw_ratio_max"] == pytest.approx(2.0)
    assert seen["raw_over_frac"] == 1.0
    assert np.all(greedy.q <= one.arm.upper)
    assert np.all(np.abs(np.diff(greedy.q, axis=0)) <= one.arm.speed / 300 * (1 + 1e-12))
    assert seen["limit_viol_worst_rad"] > 0


def test_failures_are_counted_and_the_arm_stays() -> None:
    def asks(k: int, q: Array) -> Array:
        if k % 3 == 0:
            raise ArithmeticError("no")
        return q + np.nan if k % 3 == 1 else q

    one = hazard("ur5", "s4")
    run = gauntlet.run(one, Scripted(asks), 100.0)
    ticks = len(one.times(100.0))
    assert np.all(run.q == one.start)
    assert run.exceptions == {"ArithmeticError": -(-ticks // 3)}
    assert run.not_finite == (ticks + 1) // 3


def test_a_controller_without_steps_is_refused() -> None:
    with pytest.raises(BadInput, match="step"):
        gauntlet.run(hazard("ur5", "s4"), lambda arm, dt: object())  # type: ignore[arg-type, return-value]


def test_all_ticks_in_one_call_are_the_same_ticks() -> None:
    one = hazard("ur5", "s5")
    slow, quick = (gauntlet.run(one, gauntlet.tracked(replay=replay)) for replay in (False, True))
    assert np.array_equal(slow.q, quick.q)
    assert slow.wall_ns is not None
    assert quick.wall_ns is None


@pytest.mark.parametrize("arm", gauntlet.names())
@pytest.mark.parametrize("rate", [300.0, 1000.0])
def test_the_tracker_breaks_no_bound_and_never_chatters(arm: str, rate: float) -> None:
    for one in gauntlet.hazards(arm):
        seen = gauntlet.measure(gauntlet.run(one, gauntlet.tracked(replay=True), rate))
        assert seen["raw_ratio_max"] <= 1 + 1e-9, one
        assert seen["limit_viol_worst_rad"] <= 1e-12, one
        assert seen["acc_max"] <= 15 * (1 + 1e-6), one
        assert seen["chatter_frac"] <= 1e-3, one
        assert seen["nan"] == 0, one


# -- measures ---------------------------------------------------------------------------------------------------


def test_chatter_is_a_large_acceleration_that_changes_sign() -> None:
    one = hazard("ur5", "s4")
    n = len(one.times(300.0)) + 1
    still = np.tile(one.start, (n, 1))
    assert gauntlet.measure(ran(still, one))["chatter_frac"] == 0
    for size, share in ((3.0, 0.0), (40.0, 1.0)):
        shaken = still.copy()
        shaken[::2, 3] += size / 4 / 300**2  # acceleration of ±size
        assert gauntlet.measure(ran(shaken, one))["chatter_frac"] == pytest.approx(share)
        assert gauntlet.measure(ran(shaken, one))["acc_max"] == pytest.approx(size / 2, rel=1e-6)


def test_jerk_of_a_cubic_is_its_third_derivative() -> None:
    one = hazard("ur5", "s4")
    t = np.arange(len(one.times(100.0)) + 1) / 100
    q = one.start + 0.01 * t[:, None] ** 3
    assert gauntlet.measure(ran(q, one, 100.0))["jerk_rms"] == pytest.approx(0.06, rel=1e-5)


def test_a_perfect_follower_is_perfect_and_on_time() -> None:
    one = hazard("ur5", "s5")
    assert one.driven is not None
    q = np.clip(one.driven.q(one.times(300.0)), one.arm.lower, one.arm.upper)
    seen = gauntlet.measure(ran(np.vstack([one.start, q]), one))
    assert seen["in_tol_frac_reachable"] == 1.0
    assert seen["recovery_max_s"] == 0.0
    assert seen["recovery_never"] == 0
    assert seen["closure_rad"] == 0.0
    assert seen["stick_s"] < 0.01
    assert seen["limit_gap_while_pushed_rad"] == 0.0


def test_who_never_moves_never_comes_back_unless_the_command_does() -> None:
    jump = hazard("panda", "s6")
    n = len(jump.times(300.0)) + 1
    seen = gauntlet.measure(ran(np.tile(jump.start, (n, 1)), jump))
    assert (seen["recovery_n"], seen["recovery_never"]) == (2, 1)  # it stays where the command returns to
    assert seen["recovery_max_s"] < 1.5 / 300  # the instant of the jump still belongs to what was before


def test_recovery_is_the_time_until_it_is_good_for_good() -> None:
    one = hazard("ur5", "s6")
    there = one.other_starts[0]
    n = len(one.times(300.0)) + 1
    q = np.tile(one.start, (n, 1))
    q[301:1351] = there  # half a second after the jump, until it jumps back
    seen = gauntlet.measure(ran(q, one))
    assert seen["recovery_never"] == 0
    assert seen["recovery_max_s"] == pytest.approx(0.5, abs=0.005)


def test_runs_at_two_rates_are_compared_where_both_have_a_tick() -> None:
    one = hazard("so101", "s1")
    q = one.hand.q  # type: ignore[attr-defined]
    a, b = (ran(np.vstack([one.start, q(one.times(rate))]), one, rate) for rate in (300.0, 1000.0))
    assert gauntlet.measure(a)["in_tol_frac_reachable"] == 1.0
    far = gauntlet.compare_rates(a, b)
    assert far["apart_rad"] < 1e-12
    assert gauntlet.compare_rates(a, replace(b, q=b.q + 0.1))["apart_rad"] == pytest.approx(0.1)


# -- operators --------------------------------------------------------------------------------------------------


def test_a_sample_never_arrives_before_it_is_taken_nor_overtakes_another() -> None:
    one = hazard("ur5", "s7")
    for operator in (*gauntlet.variants(), *gauntlet.variants(delayed=True)):
        samples = one.samples(operator)
        assert samples.stamps[0] == samples.arrivals[0] == 0.0
        assert np.all(samples.arrivals >= samples.stamps)
        assert np.all(np.diff(samples.stamps) >= 0)
        assert np.all(np.diff(samples.arrivals) >= 0)
        assert len(samples.stamps) == pytest.approx(0.95 * one.duration * operator.rate, rel=0.03)


def test_a_loop_sees_the_newest_sample_that_has_arrived() -> None:
    samples = hazard("ur5", "s7").samples(Operator(rate=60.0, delay=4e-3))
    times = np.arange(3000) / 1000
    newest = samples.newest(times)
    assert np.all(samples.arrivals[newest] <= times + 1e-9)
    assert np.all(samples.arrivals[newest + 1] > times)
    assert len(np.unique(newest)) < 200


def test_a_perfect_operator_gives_the_clean_command() -> None:
    plain = Operator(300.0, jitter=0, loss=0, tremor=0, angle_tremor=0, resolution=0, angle_resolution=0)
    for one in gauntlet.hazards("panda", ["s4", "s8"]):
        assert np.abs(one.samples(plain).frames - one.frames(300.0)).max() < 1e-12


def test_tremor_stays_within_its_amplitude_and_its_band_and_rests_with_the_hand() -> None:
    one, rng = hazard("ur5", "s4"), np.random.default_rng(0)
    times = np.arange(0, 8, 1e-3)
    shake = tremor(times, 8.0, rng)
    for part in (shake[:, :3], shake[:, 3:]):
        assert np.linalg.norm(part, axis=1).max() == pytest.approx(1.0, abs=0.01)
    power = np.abs(np.fft.rfft(shake * np.hanning(len(times))[:, None], axis=0)) ** 2
    band = np.fft.rfftfreq(len(times), 1e-3)
    assert power[(band > 6.5) & (band < 12.5)].sum() > 0.999 * power.sum()
    level = activity(one.hand, times, one.duration)
    assert np.all(level[times < 0.3] == 0)
    assert np.all(level[(times > 3.1) & (times < 4.29)] == 0)
    assert np.all(level[times > 7.1] == 0)
    assert level.max() == pytest.approx(1.0)


def test_samples_are_rounded_and_within_tremor_of_the_clean_hand() -> None:
    one, operator = hazard("puma560", "s8"), Operator(seed=5)
    samples = one.samples(operator)
    grains = samples.frames[:, :3, 3] / operator.resolution
    assert np.abs(grains - np.round(grains)).max() < 1e-6
    clean = one.hand(samples.stamps)
    far = np.linalg.norm(samples.frames[:, :3, 3] - clean[:, :3, 3], axis=1)
    off = np.linalg.norm((Frame(samples.frames) @ Frame(clean).inverse()).to_rotvec(), axis=1)
    assert far.max() <= operator.tremor + operator.resolution
    assert off.max() <= operator.angle_tremor + operator.angle_resolution
    assert far.max() > 0.3 * operator.tremor


def test_the_same_operator_gives_the_same_samples_and_another_seed_others() -> None:
    hand = hazard("ur5", "s1").hand
    a, b, c = (Operator(seed=seed).sample(hand, 2.0) for seed in (3, 3, 4))
    assert np.array_equal(a.frames, b.frames)
    assert len(a.stamps) != len(c.stamps) or not np.array_equal(a.stamps, c.stamps)


def test_an_operator_with_impossible_habits_is_refused() -> None:
    for habits in ({"rate": 0.0}, {"loss": 1.0}, {"tremor": -1.0}, {"delay": np.nan}):
        with pytest.raises(BadInput, match=next(iter(habits))):
            Operator(**habits)  # type: ignore[arg-type]


def test_recorded_frames_become_a_hand() -> None:
    times = np.array([0.0, 1.0, 3.0])
    frames = np.array(Frame.at(np.eye(3), Frame.rotvec([[0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]])).matrix)
    hand = interpolated(times, frames)
    assert np.allclose(hand(times), frames)
    assert np.linalg.norm(Frame(hand(np.array([0.25]))[0]).to_rotvec()) == pytest.approx(0.25)
    assert np.allclose(hand(np.array([-1.0, 9.0])), frames[[0, 2]])


class Late(Scripted):
    """A perfect follower of the clean command, so many seconds late, which says so."""

    def __init__(self, of: Hazard, lag: float, said: float) -> None:
        q = of.hand.q  # type: ignore[attr-defined]
        super().__init__(lambda k, _: q(np.array([max(k / 300 - lag, 0.0)]))[0])
        self.lag = said


def test_a_stated_lag_is_forgiven_and_found() -> None:
    one, operator = hazard("so101", "s1"), Operator(tremor=0.0, angle_tremor=0.0)
    honest = gauntlet.measure(gauntlet.run(one, Late(one, 0.02, 0.02), 300.0, operator))
    silent = gauntlet.measure(gauntlet.run(one, Late(one, 0.02, 0.0), 300.0, operator))
    assert honest["in_tol_frac_reachable"] == 1.0
    assert honest["lag_s"] == pytest.approx(0.02)
    assert honest["lag_best_s"] == pytest.approx(0.02, abs=1.5e-3)
    assert silent["in_tol_frac_reachable"] < 0.7


def test_at_rest_an_operated_tracker_stands_at_the_optimum_of_what_it_was_given() -> None:
    for key in ("s5", "s8"):
        seen = gauntlet.measure(gauntlet.run(hazard("ur5", key), gauntlet.tracked(), 300.0, Operator(seed=2)))
        assert seen["excess_hold"] < 1e-8
        assert seen["hold_joint_speed_max"] < 1e-6
        assert seen["raw_ratio_max"] <= 1 + 1e-9
        assert seen["limit_viol_worst_rad"] <= 1e-12


# -- pushes -----------------------------------------------------------------------------------------------------


def test_pushes_start_free_and_go_as_far_as_they_should() -> None:
    for name in gauntlet.names():
        arm = gauntlet.known_arm(name)
        many = gauntlet.pushes(name, 20, seed=1)
        q = np.array([one.start for one in many])
        assert np.minimum(arm.upper - q, q - arm.lower).min() > 0.1
        for one in many:
            a, b = one.hand(np.array([0.0, 3.0]))
            far = float(np.linalg.norm(b[:3, 3] - a[:3, 3])) / arm.reach
            assert 0.2 <= far <= 0.8
            assert np.linalg.norm((Frame(a).inverse() @ Frame(b)).to_rotvec()) <= np.radians(70) + 1e-9
            assert np.array_equal(one.hand(np.array([one.duration]))[0], a)


def test_a_shorter_list_of_pushes_begins_a_longer_one() -> None:
    few, more = gauntlet.pushes("ur5", 3), gauntlet.pushes("ur5", 6)
    assert [one.title for one in few] == [one.title for one in more[:3]]
    with pytest.raises(BadInput, match="count"):
        gauntlet.pushes("ur5", 0)


def test_who_stays_is_back_and_who_wanders_is_lost() -> None:
    one = gauntlet.pushes("ur5", 1)[0]
    still = np.tile(one.start, (len(one.times(300.0)) + 1, 1))
    away = still + np.linspace(0, 0.5, len(still))[:, None]
    rows = [gauntlet.pushed(ran(q, one)) for q in (still, away)]
    assert [row["back"] for row in rows] == [True, False]
    assert [row["same_branch"] for row in rows] == [True, False]
    assert gauntlet.summarize_pushes(rows)["lost"] == 1
    assert gauntlet.summarize_pushes(rows)["lost_which"] == [1]


def test_a_whole_turn_of_an_endless_joint_is_no_other_branch() -> None:
    one = gauntlet.pushes("kraft", 1)[0]
    q = np.tile(one.start, (len(one.times(300.0)) + 1, 1))
    q[:, 5] += np.linspace(0, 2 * np.pi, len(q))
    assert gauntlet.pushed(ran(q, one))["same_branch"]
    q[:, 4] += np.linspace(0, 0.01, len(q))
    assert not gauntlet.pushed(ran(q, one))["same_branch"]


# -- bars and words ---------------------------------------------------------------------------------------------


def rows_of(arm: str, **changed: Any) -> list[dict[str, Any]]:
    made = []
    for one in gauntlet.hazards(arm):
        run = gauntlet.run(one, gauntlet.tracked(replay=True))
        made.append(gauntlet.make_row(run, "supple", gauntlet.measure(run)) | changed)
    return made


def test_a_bar_is_met_up_to_its_limit_and_not_beyond() -> None:
    assert Bar(1, "x", "y", 1.0, 1.0).met
    assert not Bar(1, "x", "y", 1.1, 1.0).met
    assert Bar(6, "x", "y", 1.1, 1.0, least=True).met
    assert Bar(7, "x", "y", 1.1).met is None
    assert "MISSED" in str(Bar(1, "x", "y", 1.1, 1.0))


def test_bars_tell_every_line_that_the_rows_speak_of() -> None:
    found = bars(rows_of("ur5"))
    said = {bar.what for bar in found}
    assert {bar.number for bar in found} == {1, 2, 3, 4, 5, 6}
    assert {"s1 position, um rms", "s3 worst mm", "hold: joint speed, rad/s", "s7 in tolerance, %"} <= said
    assert all(bar.met for bar in found if bar.number == 1)
    broken = bars(rows_of("ur5", limit_viol_worst_rad=1e-9, chatter_frac=0.5))
    assert {bar.what for bar in broken if bar.met is False} >= {"limits violated, rad", "chatter, worst % of ticks"}
    assert bars(rows_of("ur5"), "another") == []


def test_whoever_does_better_is_named() -> None:
    mine = rows_of("kraft")
    better = [row | {"controller": "peer", "jerk_rms": 0.0} for row in mine]
    found = better_peers(mine + better)
    assert {worse.what for worse in found} == {"rad/s3 jerk"}
    assert {worse.whose for worse in found} == {"peer"}
    assert better_peers(mine) == []


def test_tables_have_a_line_for_each_controller() -> None:
    rows = rows_of("ur5") + rows_of("ur5", controller="peer")
    assert [line.split("|")[1].strip() for line in summary_table(rows).splitlines()[2:]] == ["supple", "peer"]
    assert hazard_tables(rows).count("**s") == 8


# -- command and picture ----------------------------------------------------------------------------------------


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    app = typer.Typer(rich_markup_mode=None)
    app.command()(gauntlet_command.gauntlet)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def test_the_command_says_in_words_what_happened(command: Callable[..., Any]) -> None:
    said = command("ur5")
    assert said.exit_code == 0, said.output
    lines = said.stdout.splitlines()
    assert len(lines) == 10
    assert "held at the smallest possible error, at rest; recovered after" in lines[4]
    assert "15 of 15 rad/s2" in lines[-1]


def test_the_command_prints_json_for_programs(command: Callable[..., Any]) -> None:
    data = json.loads(command("ur5", "--only", "s5,s1", "--rate", "500", "--json").stdout)
    assert (data["name"], data["rate"]) == ("ur5", 500.0)
    assert [row["hazard"] for row in data["hazards"]] == ["s1_baseline", "s5_limit"]


def test_the_command_takes_a_file_of_ones_own(command: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(
        '<robot name="two"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>'
        '<joint name="j1" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="-2" upper="2" velocity="2" effort="1"/></joint>'
        '<joint name="j2" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.5 0 0"/>'
        '<axis xyz="0 0 1"/><limit lower="-2.5" upper="2.5" velocity="2" effort="1"/></joint>'
        '<joint name="tip" type="fixed"><parent link="c"/><child link="d"/><origin xyz="0.4 0 0"/></joint></robot>'
    )
    said = command("robot.urdf", "--only", "s1,s4,s5")
    assert said.exit_code == 0, said.output
    assert said.stdout.splitlines()[0] == "two, d: 2 joints, reach 0.9 m"


@pytest.mark.parametrize(
    ("words", "piece"),
    [
        (("ur5", "--rate", "0"), "--rate"),
        (("ur5", "--acceleration", "-1"), "--acceleration"),
        (("ur5", "--plot", "wall.gif"), "--plot"),
        (("ur5", "--plot", "nowhere/wall.png"), "no folder"),
        (("ur5", "--only", "s77"), "s1_baseline"),
        (("baxter",), "--link"),
    ],
)
def test_the_command_refuses_before_any_work(command: Callable[..., Any], words: tuple[str, ...], piece: str) -> None:
    said = command(*words)
    assert said.exit_code == 2
    assert piece in said.output


def test_a_picture_of_the_wall_is_drawn(command: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    said = command("ur5", "--only", "s4,s5", "--plot", "wall.png")
    assert said.exit_code == 0, said.output
    assert (tmp_path / "wall.png").stat().st_size > 20_000


def test_runs_of_two_arms_do_not_go_side_by_side() -> None:
    pytest.importorskip("matplotlib")
    from supple.view import gauntlet as wall

    runs = {arm: gauntlet.run(hazard(arm, "s1"), gauntlet.tracked(replay=True)) for arm in ("ur5", "panda")}
    with pytest.raises(BadInput, match="arms"):
        wall.draw(runs)
    with pytest.raises(BadInput, match="no run"):
        wall.draw({})


def test_an_arm_made_from_a_linkage_keeps_what_leads_to_its_link() -> None:
    arm = gauntlet.arm_from_linkage(models.panda(), "panda_hand_tcp")
    assert isinstance(arm, Arm)
    assert arm.dof == 7
    assert np.allclose(
        arm.frames(models.panda().rest[:7]), models.panda().frame(models.panda().rest, "panda_hand_tcp").matrix
    )
