"""Runs of the gauntlet and their measures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gauntlet_runs import Scripted, hazard, recorded
from supple import BadInput, gauntlet
from supple.frame import Array


def test_a_request_above_the_limits_is_recorded_and_clipped() -> None:
    one = hazard("ur5", "s4")
    greedy = gauntlet.run(one, Scripted(lambda k, q: q + 2 * one.arm.speed / 300), 300.0)
    seen = gauntlet.measure(greedy)
    assert seen["raw_ratio_max"] == pytest.approx(2.0)
    assert seen["raw_over_frac"] == 1.0
    assert np.all(greedy.q <= one.arm.upper)
    assert np.all(np.abs(np.diff(greedy.q, axis=0)) <= one.arm.speed / 300 * (1 + 1e-12))
    assert seen["limit_viol_worst_rad"] > 0


def test_exceptions_and_nan_are_counted_and_the_arm_stays() -> None:
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


def test_ticks_in_one_call_equal_single_ticks() -> None:
    one = hazard("ur5", "s5")
    slow, quick = (gauntlet.run(one, gauntlet.tracked(replay=replay)) for replay in (False, True))
    assert np.array_equal(slow.q, quick.q)
    assert slow.wall_ns is not None
    assert quick.wall_ns is None


@pytest.mark.parametrize("arm", gauntlet.names())
@pytest.mark.parametrize("rate", [300.0, 1000.0])
def test_the_tracker_keeps_all_bounds_and_does_not_chatter(arm: str, rate: float) -> None:
    for one in gauntlet.hazards(arm):
        seen = gauntlet.measure(gauntlet.run(one, gauntlet.tracked(replay=True), rate))
        assert seen["raw_ratio_max"] <= 1 + 1e-9, one
        assert seen["limit_viol_worst_rad"] <= 1e-12, one
        assert seen["acc_max"] <= 15 * (1 + 1e-6), one
        assert seen["chatter_frac"] <= 1e-3, one
        assert seen["nan"] == 0, one


# -- measures ----------------------------------------------------------------------------------------------------------


def test_chatter_is_a_large_acceleration_that_changes_sign() -> None:
    one = hazard("ur5", "s4")
    n = len(one.times(300.0)) + 1
    still = np.tile(one.start, (n, 1))
    assert gauntlet.measure(recorded(still, one))["chatter_frac"] == 0
    for size, share in ((3.0, 0.0), (40.0, 1.0)):
        shaken = still.copy()
        shaken[::2, 3] += size / 4 / 300**2  # acceleration of ±size
        assert gauntlet.measure(recorded(shaken, one))["chatter_frac"] == pytest.approx(share)
        assert gauntlet.measure(recorded(shaken, one))["acc_max"] == pytest.approx(size / 2, rel=1e-6)


def test_jerk_of_a_cubic_is_its_third_derivative() -> None:
    one = hazard("ur5", "s4")
    t = np.arange(len(one.times(100.0)) + 1) / 100
    q = one.start + 0.01 * t[:, None] ** 3
    assert gauntlet.measure(recorded(q, one, 100.0))["jerk_rms"] == pytest.approx(0.06, rel=1e-5)


def test_a_perfect_follower_has_perfect_measures() -> None:
    one = hazard("ur5", "s5")
    assert one.driven is not None
    q = np.clip(one.driven.q(one.times(300.0)), one.arm.lower, one.arm.upper)
    seen = gauntlet.measure(recorded(np.vstack([one.start, q]), one))
    assert seen["in_tol_frac_reachable"] == 1.0
    assert seen["recovery_max_s"] == 0.0
    assert seen["recovery_never"] == 0
    assert seen["closure_rad"] == 0.0
    assert seen["stick_s"] < 0.01
    assert seen["limit_gap_while_pushed_rad"] == 0.0


def test_an_arm_that_never_moves_recovers_only_when_the_command_returns() -> None:
    jump = hazard("panda", "s6")
    n = len(jump.times(300.0)) + 1
    seen = gauntlet.measure(recorded(np.tile(jump.start, (n, 1)), jump))
    assert (seen["recovery_n"], seen["recovery_never"]) == (2, 1)  # it stays where the command returns to
    assert seen["recovery_max_s"] < 1.5 / 300  # the instant of the jump still belongs to what was before


def test_recovery_ends_with_the_last_tick_outside_tolerance() -> None:
    one = hazard("ur5", "s6")
    there = one.other_starts[0]
    n = len(one.times(300.0)) + 1
    q = np.tile(one.start, (n, 1))
    q[301:1351] = there  # half a second after the jump, until it jumps back
    seen = gauntlet.measure(recorded(q, one))
    assert seen["recovery_never"] == 0
    assert seen["recovery_max_s"] == pytest.approx(0.5, abs=0.005)


def test_runs_at_two_rates_are_compared_where_both_have_a_tick() -> None:
    one = hazard("so101", "s1")
    q = one.hand.q  # type: ignore[attr-defined]
    a, b = (recorded(np.vstack([one.start, q(one.times(rate))]), one, rate) for rate in (300.0, 1000.0))
    assert gauntlet.measure(a)["in_tol_frac_reachable"] == 1.0
    far = gauntlet.compare_rates(a, b)
    assert far["apart_rad"] < 1e-12
    assert gauntlet.compare_rates(a, replace(b, q=b.q + 0.1))["apart_rad"] == pytest.approx(0.1)
