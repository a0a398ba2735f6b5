"""Operators: samples of a hand with tremor, jitter, delay and loss, and the measures that allow for them."""

from __future__ import annotations

import numpy as np
import pytest

from gauntlet_runs import Scripted, hazard
from supple import BadInput, gauntlet
from supple.frame import Frame
from supple.gauntlet import Hazard, Operator
from supple.gauntlet.operator import activity, interpolated, tremor


def test_samples_arrive_in_order_and_after_their_stamps() -> None:
    one = hazard("ur5", "s7")
    for operator in (*gauntlet.variants(), *gauntlet.variants(delayed=True)):
        samples = one.samples(operator)
        assert samples.stamps[0] == samples.arrivals[0] == 0.0
        assert np.all(samples.arrivals >= samples.stamps)
        assert np.all(np.diff(samples.stamps) >= 0)
        assert np.all(np.diff(samples.arrivals) >= 0)
        assert len(samples.stamps) == pytest.approx(0.95 * one.duration * operator.rate, rel=0.03)


def test_a_loop_receives_the_newest_sample_that_has_arrived() -> None:
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


def test_tremor_stays_within_its_amplitude_and_band_and_stops_with_the_hand() -> None:
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


def test_samples_depend_on_the_seed_only() -> None:
    hand = hazard("ur5", "s1").hand
    a, b, c = (Operator(seed=seed).sample(hand, 2.0) for seed in (3, 3, 4))
    assert np.array_equal(a.frames, b.frames)
    assert len(a.stamps) != len(c.stamps) or not np.array_equal(a.stamps, c.stamps)


def test_an_operator_with_invalid_values_is_refused() -> None:
    for habits in ({"rate": 0.0}, {"loss": 1.0}, {"tremor": -1.0}, {"delay": np.nan}):
        with pytest.raises(BadInput, match=next(iter(habits))):
            Operator(**habits)  # type: ignore[arg-type]


def test_recorded_frames_are_interpolated() -> None:
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


def test_a_stated_lag_is_allowed_for_and_the_best_shift_finds_it() -> None:
    one, operator = hazard("so101", "s1"), Operator(tremor=0.0, angle_tremor=0.0)
    honest = gauntlet.measure(gauntlet.run(one, Late(one, 0.02, 0.02), 300.0, operator))
    silent = gauntlet.measure(gauntlet.run(one, Late(one, 0.02, 0.0), 300.0, operator))
    assert honest["in_tol_frac_reachable"] == 1.0
    assert honest["lag_s"] == pytest.approx(0.02)
    assert honest["lag_best_s"] == pytest.approx(0.02, abs=1.5e-3)
    assert silent["in_tol_frac_reachable"] < 0.7


def test_at_rest_the_tracker_has_the_smallest_error_to_the_received_command() -> None:
    for key in ("s5", "s8"):
        seen = gauntlet.measure(gauntlet.run(hazard("ur5", key), gauntlet.tracked(), 300.0, Operator(seed=2)))
        assert seen["excess_hold"] < 1e-8
        assert seen["hold_joint_speed_max"] < 1e-6
        assert seen["raw_ratio_max"] <= 1 + 1e-9
        assert seen["limit_viol_worst_rad"] <= 1e-12
