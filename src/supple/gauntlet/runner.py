"""Runs a controller through a hazard tick by tick; its requests are recorded, then clipped as hardware would."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np

from supple.errors import BadInput
from supple.frame import Array
from supple.gauntlet.arms import Arm, difference
from supple.gauntlet.hazard import Hazard
from supple.gauntlet.operator import Operator


class Controller(Protocol):
    """A controller under test. It may also have:

    - ``lag``: its intended lag in seconds, read after each tick;
    - ``prepare(frames)``: converts commands (N, 4, 4) to what its ``step`` takes, before time is measured;
    - ``run(frames, dt, q)``: does all ticks of a clean command in one call and returns joint values (N + 1, dof);
      ticks are then not timed.
    """

    def reset(self, q: Array) -> None:
        """Start again at joint values (dof,)."""

    def step(self, q: Array, command: Any, dt: float, stamp: float | None = None) -> Array:
        """The next joint values (dof,). ``command`` is a frame (4, 4), ``stamp`` the time of its sample, if known."""


Factory = Callable[[Arm, float], Controller]
"""A function that makes a controller from an arm and the length of a tick in seconds."""


@dataclass(frozen=True, eq=False)
class Run:
    """The record of one controller in one hazard."""

    hazard: Hazard
    rate: float
    q: Array
    """Joint values (N + 1, dof): the start, and after each tick."""
    requested: Array
    """The requested change of q in each tick (N, dof), before clipping."""
    commands: Array
    """The commands that the controller received (N, 4, 4)."""
    operator: Operator | None = None
    lag: Array | float = 0.0
    """The lag that the controller states, in seconds, for each tick (N,) or for all."""
    wall_ns: Array | None = None
    """Time of each tick (N,) in nanoseconds, called from Python; None if all ticks were one call."""
    cpu_ns: Array | None = None
    """Processor time of each tick (N,), in nanoseconds."""
    exceptions: dict[str, int] = field(default_factory=dict)
    """Number of exceptions of the controller, by type."""
    not_finite: int = 0
    """Number of results that are not finite."""

    @property
    def dt(self) -> float:
        """Seconds in a tick."""
        return 1.0 / self.rate

    @property
    def times(self) -> Array:
        """When each tick began (N,), in seconds."""
        return self.hazard.times(self.rate)

    def error(self, goals: Array) -> Array:
        """Error (N, 6) of the end effector after each tick to goals (N, 4, 4)."""
        return difference(goals, self.hazard.arm.frames(self.q[1:]))


def run(hazard: Hazard, controller: Controller | Factory, rate: float = 300.0, operator: Operator | None = None) -> Run:
    """Run a controller through a hazard.

    Args:
        hazard: the commands.
        controller: a `Controller`, or a function that makes one from an `Arm` and a tick in seconds.
        rate: ticks per second.
        operator: how the command is sampled; by default every tick receives the clean command.
    """
    times, dt = hazard.times(rate), 1.0 / rate
    ready = hasattr(controller, "step") and not isinstance(controller, type)
    made: Any = controller if ready else cast(Factory, controller)(hazard.arm, dt)
    if not hasattr(made, "step") or not hasattr(made, "reset"):
        raise BadInput(f"a controller needs reset(q) and step(q, command, dt, stamp=None), got {made!r}")
    commands, stamps = received(hazard, rate, operator)
    if operator is None and hasattr(made, "run"):
        made.reset(hazard.start.copy())
        q = np.asarray(made.run(commands, dt, hazard.start.copy()), dtype=float)
        if q.shape != (len(times) + 1, hazard.arm.dof):
            raise BadInput(f"run must return joint values {(len(times) + 1, hazard.arm.dof)}, got {q.shape}")
        finite = np.nan_to_num(q)
        bad = int((~np.isfinite(q)).any(axis=1).sum())
        return Run(hazard, rate, finite, np.diff(finite, axis=0), commands, not_finite=bad)
    return _run_ticks(hazard, made, rate, commands, stamps, operator)


def received(hazard: Hazard, rate: float, operator: Operator | None) -> tuple[Array, Array | None]:
    """The command that a loop receives in each tick: frames (N, 4, 4), and their stamps (N,), if any."""
    if operator is None:
        return hazard.frames(rate), None
    samples = hazard.samples(operator)
    newest = samples.newest(hazard.times(rate))
    frames = np.ascontiguousarray(samples.frames[newest])
    return frames, samples.stamps[newest] if operator.stamped else None


def _run_ticks(
    hazard: Hazard, made: Any, rate: float, commands: Array, stamps: Array | None, operator: Operator | None
) -> Run:
    arm, dt, n = hazard.arm, 1.0 / rate, len(commands)
    lower, upper, most = arm.lower, arm.upper, arm.speed * dt
    goals = made.prepare(commands) if hasattr(made, "prepare") else list(commands)
    known = [None] * n if stamps is None else stamps.tolist()
    q, rows, requested = hazard.start.copy(), np.empty((n + 1, arm.dof)), np.zeros((n, arm.dof))
    wall, cpu = np.empty(n), np.empty(n)
    lags = np.zeros(n)
    raised: dict[str, int] = {}
    not_finite = 0
    _warm_up(made, q, goals[0], dt, known[0])
    rows[0] = q
    wall_clock, cpu_clock = time.perf_counter_ns, time.thread_time_ns
    gc.collect()
    gc.disable()
    try:
        for k in range(n):
            own_q = q.copy()
            c0, t0 = cpu_clock(), wall_clock()
            try:
                after = made.step(own_q, goals[k], dt, known[k])
            except Exception as error:  # an exception of the controller is a result
                after = None
                raised[type(error).__name__] = raised.get(type(error).__name__, 0) + 1
            wall[k], cpu[k] = wall_clock() - t0, cpu_clock() - c0
            if after is not None:
                change = np.asarray(after) - q
                if np.isfinite(change).all():
                    requested[k] = change
                else:
                    not_finite += 1
            if operator is not None:
                lags[k] = getattr(made, "lag", 0.0)
            q = np.minimum(np.maximum(q + np.minimum(np.maximum(requested[k], -most), most), lower), upper)
            rows[k + 1] = q
    finally:
        gc.enable()
    return Run(hazard, rate, rows, requested, commands, operator, lags, wall, cpu, raised, not_finite)


def _warm_up(made: Any, q: Array, goal: Any, dt: float, stamp: float | None) -> None:
    """Twenty ticks that are not counted, for caches and late imports; then a reset."""
    made.reset(q.copy())
    with suppress(Exception):  # counted in the run itself
        for _ in range(20):
            made.step(q.copy(), goal, dt, stamp)
    made.reset(q.copy())
