"""Moves to given joint values: within bounds for random ways and ticks; in a loop, with holds on the way."""

from __future__ import annotations

import numpy as np
import pytest

from drives import Simulated
from supple import Frame, Solver, models
from supple.teleop import Command, Loop, Mapping, Tick
from supple.teleop.joint_move import JointMove

ARM, RATE = models.ur5(), 300.0


def test_random_moves_arrive_exactly_and_keep_their_bounds() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(1, 9))
        start, end = rng.normal(size=n), rng.normal(size=n) * rng.choice([1e-6, 1e-2, 1, 3])
        speed, acceleration = rng.uniform(0.1, 3, n), rng.uniform(1, 20, n)
        dt, move = float(rng.choice([1 / 50, 1 / 300, 1 / 1000])), JointMove(start, end, speed, acceleration)
        q, velocity, ticks = move.q, np.zeros(n), 0
        brakes = rng.random() < 0.5
        while not move.arrived:
            new = move.step(dt, brakes and ticks // 40 % 5 == 2)
            now = (new - q) / dt
            assert (np.abs(now) <= speed * (1 + 1e-9) + 1e-12).all()
            if not move.arrived:  # the mean velocities of equal ticks; the last one ends wherever the way does
                assert (np.abs(now - velocity) <= acceleration * dt * (1 + 1e-6) + 1e-9).all()
            q, velocity, ticks = new, now, ticks + 1
            assert ticks < 100_000
        assert np.array_equal(q, end)
        longest = np.max(np.abs(end - start) / speed) + 2 * np.max(np.sqrt(np.abs(end - start) / acceleration)) + 4 * dt
        assert brakes or ticks * dt <= 1.5 * longest + 0.2


def test_a_loop_brakes_moves_waits_and_goes_on() -> None:
    ticks: list[Tick] = []
    arrived: list[int] = []
    loop: Loop

    def watch(tick: Tick) -> None:
        ticks.append(tick)
        if tick.number == 100:  # while the hand moves the arm quickly
            loop.move(ARM.rest + 1.0, lambda: arrived.append(len(ticks)), speed=0.5)
        if tick.number == 180:
            loop.pause("lunch")
        if tick.number == 400:
            loop.resume()

    hands = (Command(Frame.at([0, 0.12 * np.sin(k / 60), 0]), stamp=k / RATE) for k in range(1500))
    loop = Loop(hands, Mapping(), Solver().track(ARM, "tool0"), watch, RATE, clock=Simulated())
    loop.run()
    q = np.array([tick.step.q for tick in ticks])
    velocity = np.diff(q, axis=0) * RATE
    assert (np.abs(velocity) <= ARM.speed + 1e-6).all()
    assert (np.abs(np.diff(velocity, axis=0)) * RATE <= 15.0 * (1 + 1e-6) + 1e-6).all()
    assert arrived
    there = arrived[0]
    assert np.abs(q[there] - ARM.rest - 1.0).max() < 1e-9
    assert ticks[there - 2].held == "moving to other joint values"
    assert {tick.held for tick in ticks[250:390]} == {"lunch"}
    assert np.abs(np.diff(q[300:390], axis=0)).max() == 0  # it stands on its way
    assert ticks[there + 5].held == ""
    assert np.abs(q[there + 5] - q[there]).max() < 0.02  # the hand is engaged anew where the arm is


@pytest.mark.parametrize("how", ["stop_arm", "cancel_moves"])
def test_a_stop_or_a_cancel_ends_a_move_smoothly(how: str) -> None:
    ticks: list[Tick] = []
    arrived: list[int] = []
    loop: Loop

    def watch(tick: Tick) -> None:
        ticks.append(tick)
        if tick.number == 10:
            loop.move(ARM.rest + 1.0, lambda: arrived.append(1))
        if tick.number == 60:
            getattr(loop, how)()

    hands = (Command(Frame(), stamp=k / RATE) for k in range(600))
    loop = Loop(hands, Mapping(), Solver().track(ARM, "tool0"), watch, RATE, clock=Simulated())
    loop.run()
    q = np.array([tick.step.q for tick in ticks])
    assert not arrived
    assert 0.01 < np.abs(q[-1] - ARM.rest).max() < 0.9
    velocity = np.diff(q, axis=0) * RATE
    assert (np.abs(np.diff(velocity, axis=0)) * RATE <= 15.0 * (1 + 1e-6) + 1e-6).all()
    assert np.abs(velocity[-100:]).max() < 1e-9
    assert ticks[300].held == ("stopped" if how == "stop_arm" else "")
