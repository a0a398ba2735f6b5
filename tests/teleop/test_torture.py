"""The whole loop on a bad network: no bound is broken, and the arm is held and goes on."""

from __future__ import annotations

import heapq
import math
import random
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from packets import packet, sender
from supple import Frame, Solver, TrackingStatus, models
from supple.teleop import Loop, Mapping
from supple.teleop.command import Command, Tick
from supple.teleop.network import UdpSource, wire
from supple.teleop.network.access import AccessControl

ARM = models.ur5()
START = ARM.q(shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.0, wrist_2_joint=-1.2)
ACCELERATION = 15.0  # rad/s2, the tracker's own where the arm knows none


class Operator:
    """A hand as it moves through a bad quarter of a minute, and what its network makes of it."""

    silent = (3.0, 5.0)
    jump = (8.0, 9.0)
    seconds = 12.0

    def hand(self, t: float) -> Frame:
        """Circles of 8 cm, with a leap of a metre; the last second at rest."""
        u = 2 * math.pi * 0.4 * min(t, self.seconds - 1.5)
        leap = 1.0 if self.jump[0] < t < self.jump[1] else 0.0
        way = [0, 0.08 * math.sin(u) + leap, 0.08 * (1 - math.cos(u))]
        return Frame.at(way) @ Frame.turn([1, 0, 0], 0.3 * math.sin(u))

    def packets(self, seed: int) -> Iterator[tuple[float, str, bytes]]:
        """What comes out of the network: when, from whom and what. 20 % are lost, 10 % come twice, many in disorder."""
        draw = random.Random(seed)
        for k in range(round(100 * self.seconds)):
            t = k / 100
            if draw.random() < 0.2:
                yield t, draw.choice(["operator", "stranger"]), draw.randbytes(draw.randrange(200))
            if t > 0.5 and draw.random() < 0.1:
                yield t, "stranger", packet(draw.randrange(2**32), 5.0)
            if self.silent[0] < t < self.silent[1]:
                continue
            data = wire.encode(Command(self.hand(t), True, 1.7e9 + t, k), form=draw.choice(list(wire.Form)))
            for _ in range(draw.choice([1] * 9 + [2])):
                if draw.random() > 0.2:
                    yield t + 0.005 + draw.expovariate(1 / 0.01), "operator", data


class Simulated:
    """A clock that goes from tick to tick, and at times is late."""

    def __init__(self) -> None:
        self.time, self.draw = 0.0, random.Random(7)

    def now(self) -> float:
        return self.time

    def wait(self, until: float) -> None:
        late = self.draw.expovariate(1 / 0.004) if self.draw.random() < 0.01 else 0.0
        self.time = max(self.time, until) + late


class Delivered:
    """A source whose packets come by a simulated clock."""

    def __init__(self, packets: Iterator[tuple[float, str, bytes]], clock: Simulated) -> None:
        self.access, self.clock, self.waiting = AccessControl("", 2000.0, 5.0), clock, list(packets)
        heapq.heapify(self.waiting)

    def read(self) -> Command | None:
        while self.waiting and self.waiting[0][0] <= self.clock.now():
            when, who, data = heapq.heappop(self.waiting)
            self.access.receive(who, data, when)
        return self.access.read()

    def close(self) -> None:
        pass


class Kept:
    """A sink that keeps what must be kept."""

    def __init__(self) -> None:
        self.ticks: list[Tick] = []
        self.q, self.velocity = [START], [0 * START]

    def write(self, tick: Tick) -> None:
        self.ticks.append(tick)
        self.q.append(tick.step.q.copy())
        self.velocity.append(tick.step.velocity.copy())

    def close(self) -> None:
        pass

    def check_bounds(self) -> None:
        """No bound is broken: position, speed, acceleration; and the speeds that are told are those of q."""
        q, velocity = np.array(self.q), np.array(self.velocity)
        dt = np.array([tick.dt for tick in self.ticks])[:, None]
        assert np.isfinite(q).all()
        assert ARM.inside(q).all()
        assert (np.abs(velocity) <= ARM.speed * (1 + 1e-12)).all()
        assert (np.abs(np.diff(velocity, axis=0)) <= ACCELERATION * dt * (1 + 1e-9) + 1e-12).all()
        change, short = np.diff(q, axis=0), dt[:, 0] <= 4e-3  # a longer tick is divided, and tells its last speed
        assert np.abs(change - velocity[1:] * dt)[short].max() < 1e-12
        assert (np.abs(change) <= ARM.speed * dt * (1 + 1e-12)).all()


def resumed(kept: Kept, after: float) -> tuple[Tick, Frame]:
    """The first tick after a time in which a hand holds the arm, and where the end effector was before it."""
    for tick, q in zip(kept.ticks, kept.q, strict=False):
        if tick.t > after and not tick.held and tick.command and tick.command.hand:
            return tick, ARM.frame(q, "tool0")
    raise AssertionError("it never goes on")


@pytest.mark.parametrize("seed", range(3))
def test_on_a_torturing_network_no_bound_breaks_and_the_arm_is_held_and_goes_on(seed: int) -> None:
    operator, clock, kept = Operator(), Simulated(), Kept()
    source = Delivered(operator.packets(seed), clock)
    follow = Solver().track(ARM, "tool0", start=START)
    loop = Loop(source, Mapping(), follow, kept, rate=300, clock=clock)
    statistics = loop.run(operator.seconds)
    kept.check_bounds()
    assert statistics.failures == 0
    assert statistics.skipped > 0
    # it was held while the operator was silent, at rest, and at no other time
    begin, end = operator.silent
    held = [tick for tick in kept.ticks if tick.held and 0.1 < tick.t < operator.seconds - 0.01]
    assert all(begin < tick.t < end + 0.2 for tick in held)
    assert all("silent" in tick.held for tick in held)
    assert sum(tick.dt for tick in held) > 1.6
    quiet = [tick for tick in held if begin + 1.0 < tick.t]
    assert all(tick.step.status is TrackingStatus.HELD and not tick.step.velocity.any() for tick in quiet)
    # it went on where the arm was, though the hand had moved meanwhile
    first, arm = resumed(kept, begin + 1.0)
    assert np.abs(first.goals[0] - arm.matrix).max() < 1e-9
    # and at the end it is where the hand leads from where it was engaged, without the jump of a metre
    assert first.command is not None
    assert first.command.hand is not None
    moved = operator.hand(operator.seconds).position - first.command.hand.position
    last = [tick for tick in kept.ticks if not tick.held][-1]
    assert last.step.status is TrackingStatus.FOLLOWING
    assert ARM.frame(last.step.q, "tool0").position == pytest.approx(arm.position + moved, abs=1e-3)
    leapt = [tick for tick in kept.ticks if operator.jump[0] + 0.1 < tick.t < operator.jump[1]]
    assert any(tick.step.status in (TrackingStatus.YIELDING, TrackingStatus.LAGGING) for tick in leapt)
    counts = source.access.counts
    assert min(counts.malformed, counts.old, counts.refused) > 20
    assert counts.over_rate == 0


def test_when_operators_change_places_without_a_pause_nothing_jumps() -> None:
    clock, kept = Simulated(), Kept()
    first = [(k / 100, "first", packet(k, 0.001 * k)) for k in range(100)]
    second = [(1 + k / 100, "second", packet(500 + k, 0.7 + 0.001 * k)) for k in range(101)]

    class Changing(Delivered):
        def read(self) -> Command | None:
            if self.clock.now() > 0.999:
                self.access.disconnect("first")
            return super().read()

    source = Changing(iter(first + second), clock)
    Loop(source, Mapping(), Solver().track(ARM, "tool0", start=START), kept, clock=clock).run(2.0)
    kept.check_bounds()
    goals = np.array([tick.goals[0, 0, 3] for tick in kept.ticks if not tick.held])
    assert np.abs(np.diff(goals)).max() < 0.002
    assert goals[-1] - goals[0] == pytest.approx(0.199, abs=0.003)
    assert source.access.counts.dropped == 0


@pytest.mark.slow
def test_in_real_time_over_udp_no_bound_breaks_and_the_arm_is_held_and_goes_on() -> None:
    operator, kept = Operator(), Kept()
    operator.silent, operator.jump, operator.seconds = (1.0, 3.0), (3.6, 3.9), 5.0
    source = UdpSource(0)
    there = (source.host, source.port)

    def send() -> None:
        with sender() as first, sender() as second:
            start = time.monotonic()
            for when, who, data in sorted(operator.packets(5)):
                time.sleep(max(0.0, start + when - time.monotonic()))
                (first if who == "operator" else second).sendto(data, there)

    follow = Solver().track(ARM, "tool0", start=START)
    loop = Loop(source, Mapping(), follow, kept, rate=300)
    thread = threading.Thread(target=send)
    thread.start()
    statistics = loop.run(operator.seconds)
    thread.join()
    kept.check_bounds()
    assert statistics.failures == 0
    silent = next(tick for tick in kept.ticks if "silent" in tick.held and tick.t > operator.silent[0])
    first, before = resumed(kept, silent.t)
    assert np.abs(first.goals[0] - before.matrix).max() < 1e-9
    assert max(np.abs(tick.step.velocity).max() for tick in kept.ticks if tick.t > first.t) > 0.01
    assert source.counts.malformed > 0
