"""Prediction of stamped commands from a slow device: it removes lag, it is bounded, and it ends at the command."""

import math

import numpy as np
import pytest

from supple import Frame, Solver, method, models
from supple.errors import BadInput

ARM, TOOL, RATE, DEVICE = models.ur5(), "tool0", 500, 90
START = np.array([0.0, -1.2, 1.5, -1.0, -1.2, 0.3])
HERE = ARM.frame(START, TOOL)
FARTHEST = 0.1 / math.pi * ARM.reach(TOOL)
TIMES = (0.025, 0.05, 0.1)


def followed(hand, seconds, stamped=True, every_tick=False, **options):
    """Joint values (N, 6) and lags (N,) of a run; ``hand`` gives an offset (3,) in metres for a time in seconds."""
    tracker = Solver().track(ARM, TOOL, START, **options)
    q, lags = [], []
    for tick in range(round(seconds * RATE)):
        taken = tick / RATE if every_tick else math.floor(tick / RATE * DEVICE) / DEVICE
        command = Frame.at(HERE.position + hand(taken), HERE.rotation)
        step = tracker.step(command, 1 / RATE, stamp=taken) if stamped else tracker.step(command, 1 / RATE)
        q.append(step.q.copy())
        lags.append(float(step.lag))
    return np.array(q), np.array(lags)


def offsets(q):
    return ARM.frame(q, TOOL).position - HERE.position


def along(length):
    return np.array([0.6, 0.0, 0.8]) * length


def swing(t):
    return np.array([0.0, 0.08 * math.sin(2 * t), 0.08 * (1 - math.cos(2 * t))])


@pytest.mark.parametrize("predict", TIMES)
def test_the_lag_falls_by_the_time_and_the_hand_is_where_the_lag_says(predict):
    q, lags = followed(swing, 3, predict=predict)
    settled = slice(RATE, None)
    assert lags[settled] == pytest.approx(0.0245 - predict, abs=3e-3)
    there = np.array([swing(tick / RATE - lag) for tick, lag in enumerate(lags)])
    assert np.linalg.norm(offsets(q) - there, axis=1)[settled].max() < 2e-3


@pytest.mark.parametrize("how", [{"stamped": False}, {"every_tick": True}])
def test_commands_without_stamps_or_at_every_tick_are_not_predicted(how):
    q, lags = followed(swing, 1, **how)
    also, same = followed(swing, 1, predict=0.1, **how)
    assert np.array_equal(q, also)
    assert np.array_equal(lags, same)


@pytest.mark.parametrize("predict", TIMES)
@pytest.mark.parametrize("speed", [0.1, 0.3, 0.6])
def test_a_sudden_stop_is_overshot_by_a_bounded_way_and_then_met(speed, predict):
    duration = 0.2 / speed

    def hand(t):
        return along(speed * min(max(t - 0.3, 0.0), duration))

    plain, _ = followed(hand, 2.5 + duration)
    q, lags = followed(hand, 2.5 + duration, predict=predict)
    ahead = np.linalg.norm(offsets(q) - offsets(plain), axis=1).max()
    assert ahead < min(2.2 * speed * predict, 1.25 * FARTHEST)
    assert np.linalg.norm(offsets(q[-1]) - hand(9)) < 1e-9
    assert lags[-1] >= 0


@pytest.mark.parametrize(("predict", "most"), [(0.025, 1e-4), (0.05, 3e-3), (0.1, 0.01)])
def test_a_smooth_stop_is_hardly_overshot(predict, most):
    def hand(t):
        u = min(max(t - 0.3, 0.0), 1.0)
        return along(0.25 * u**3 * (10 + u * (6 * u - 15)))

    q, _ = followed(hand, 3, predict=predict)
    assert (offsets(q) @ along(1)).max() - 0.25 < most


@pytest.mark.parametrize("hertz", [1, 3, 8, 12])
def test_tremor_of_a_resting_hand_is_hardly_predicted(hertz):
    def hand(t):
        return along(5e-4 * math.sin(2 * math.pi * hertz * t))

    plain, _ = followed(hand, 4)
    q, _ = followed(hand, 4, predict=0.1)
    assert np.ptp(offsets(q)[RATE:], axis=0).max() < 1.15 * np.ptp(offsets(plain)[RATE:], axis=0).max()


@pytest.mark.parametrize("value", [-0.01, 0.11, math.nan, "soon", None])
def test_a_time_beyond_the_horizon_is_refused(value):
    with pytest.raises(BadInput, match=r"predict must be a number of seconds from 0 to 0\.1"):
        Solver().track(ARM, TOOL, START, predict=value)


def test_another_method_does_not_predict():
    with pytest.raises(BadInput, match="predict needs the tracking law"):
        Solver(method=method.damped()).track(ARM, TOOL, START, predict=0.05)
