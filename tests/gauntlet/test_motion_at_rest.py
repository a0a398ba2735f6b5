"""The gauntlet sees any motion of the joints while the command rests."""

from __future__ import annotations

import numpy as np
import pytest

from gauntlet_runs import hazard, recorded
from supple import gauntlet
from supple.frame import Array
from supple.gauntlet import Arm, Factory
from supple.gauntlet.describe import describe
from supple.gauntlet.rest_measures import REST, rest_windows


class Buzz:
    """The tracker, with a sine added to its last joint."""

    def __init__(self, arm: Arm, dt: float, frequency: float, size: float) -> None:
        self.tracker = gauntlet.tracked()(arm, dt)
        self.frequency, self.size = frequency, size

    def reset(self, q: Array) -> None:
        self.tracker.reset(q)
        self.time = 0.0

    def step(self, q: Array, command: Array, dt: float, stamp: float | None = None) -> Array:
        self.time += dt
        after = np.array(self.tracker.step(q, command, dt, stamp))
        after[-1] += self.size * np.sin(2 * np.pi * self.frequency * self.time)
        return after


def buzz(frequency: float, size: float) -> Factory:
    return lambda arm, dt: Buzz(arm, dt, frequency, size)


@pytest.mark.parametrize("rate", [300.0, 1000.0])
@pytest.mark.parametrize("frequency", [20.0, 30.0, 50.0])
@pytest.mark.parametrize("key", ["s2", "s3", "s6"])
def test_a_small_buzz_is_no_chatter_and_yet_is_found(rate: float, frequency: float, key: str) -> None:
    size = 1e-5
    one = hazard("ur5", key)
    quiet = gauntlet.measure(gauntlet.run(one, gauntlet.tracked(), rate))
    loud = gauntlet.measure(gauntlet.run(one, buzz(frequency, size), rate))
    # the other measures see nothing: no chatter, no hold out of reach
    assert loud["chatter_frac"] == quiet["chatter_frac"] == 0
    assert "hold_joint_speed_max" not in loud
    # a sine of samples moves by 2 A sin(pi f / rate) in a tick, at its fastest phase
    fastest = 2 * size * np.sin(np.pi * frequency / rate) * rate
    assert quiet["rest_joint_speed_max"] <= REST
    assert 0.85 * fastest <= loud["rest_joint_speed_max"] <= 1.001 * fastest
    assert 1.7 * size <= loud["rest_motion_max"] <= 2.001 * size
    assert loud["rest_joint_speed_max"] > 100 * REST


def test_the_least_buzz_that_counts_is_the_bar() -> None:
    one = hazard("ur5", "s6")
    for size, found in ((4e-9, False), (8e-9, True)):  # 0.75e-6 and 1.5e-6 rad/s at 30 Hz
        seen = gauntlet.measure(gauntlet.run(one, buzz(30.0, size), 1000.0))
        assert (seen["rest_joint_speed_max"] > REST) == found


def test_a_slow_drift_is_found() -> None:
    one = hazard("ur5", "s6")
    n = len(one.times(300.0)) + 1
    q = np.tile(one.start, (n, 1))
    q[:, 2] += 1e-4 * np.arange(n) / 300
    seen = gauntlet.measure(recorded(q, one))
    assert seen["rest_windows"] == 2
    assert seen["rest_joint_speed_max"] == pytest.approx(1e-4, rel=1e-6)
    assert seen["rest_motion_max"] == pytest.approx(1e-4, rel=0.02)  # windows of a second
    assert seen["chatter_frac"] == 0


def test_windows_begin_after_the_settle_time_and_end_when_the_command_moves() -> None:
    for key, seconds in {
        "s2": [(5.75, 6.0)],
        "s4": [(3.55, 4.3), (7.55, 8.0)],
        "s6": [(3.5, 4.5), (7.5, 8.5)],
        "s8": [(3.05, 4.0), (6.75, 7.5)],
    }.items():
        one = hazard("ur5", key)
        for rate in (60.0, 300.0, 1000.0):
            run = recorded(np.tile(one.start, (len(one.times(rate)) + 1, 1)), one, rate)
            found = np.array(list(rest_windows(run))) / rate
            assert found.shape == (len(seconds), 2)
            assert np.abs(found - seconds).max() < 2.5 / rate


@pytest.mark.parametrize("key", ["s1", "s7"])
def test_a_command_that_never_rests_has_no_such_measure(key: str) -> None:
    one = hazard("ur5", key)
    seen = gauntlet.measure(recorded(np.tile(one.start, (len(one.times(300.0)) + 1, 1)), one))
    assert not any(name.startswith("rest_") for name in seen)


@pytest.mark.parametrize("arm", gauntlet.names())
@pytest.mark.parametrize("rate", [300.0, 1000.0])
def test_the_tracker_rests_when_the_command_rests(arm: str, rate: float) -> None:
    for one in gauntlet.hazards(arm):
        seen = gauntlet.measure(gauntlet.run(one, gauntlet.tracked(replay=True), rate))
        assert seen.get("rest_joint_speed_max", 0.0) <= REST, one


def test_with_a_real_operator_the_received_command_rests() -> None:
    one, operator = hazard("ur5", "s4"), gauntlet.Operator(rate=60, stamped=True)
    quiet = gauntlet.measure(gauntlet.run(one, gauntlet.tracked(), 300.0, operator))
    loud = gauntlet.measure(gauntlet.run(one, buzz(30.0, 1e-5), 300.0, operator))
    assert quiet["rest_windows"] >= 1
    assert quiet["rest_joint_speed_max"] <= REST
    assert loud["rest_joint_speed_max"] > 1e-3


def test_the_sentence_says_that_the_joints_move() -> None:
    one = hazard("ur5", "s6")
    for controller, said in ((gauntlet.tracked(), False), (buzz(30.0, 1e-5), True)):
        run = gauntlet.run(one, controller)
        text = describe(gauntlet.make_row(run, "x", gauntlet.measure(run)))
        assert ("rad/s while the command rests" in text) == said


def test_pushes_with_motion_at_rest_are_counted() -> None:
    (push,) = gauntlet.pushes("ur5", 1)
    rows = [gauntlet.pushed(gauntlet.run(push, made)) for made in (gauntlet.tracked(), buzz(30.0, 1e-5))]
    assert [gauntlet.summarize_pushes([row])["moving"] for row in rows] == [0, 1]
