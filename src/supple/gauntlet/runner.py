"""Running a controller through a hazard, tick by tick, as hardware would: what it asks is clipped, and noted."""

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
    """What is put to the test. It may also have:

    - ``lag``, seconds by which it follows late on purpose, read after each tick;
    - ``prepare(frames)``, which turns commands (N, 4, 4) into what its ``step`` likes, before the clock runs;
    - ``run(frames, dt, q)``, which does all ticks of a clean command in one call, and returns joint values
      (N + 1, dof); no tick is then timed.
    """

    def reset(self, q: Array) -> None:
        """Begin anew at joint values (dof,)."""

    def step(self, q: Array, command: Any, dt: float, stamp: float | None = None) -> Array:
        """The next joint values (dof,): ``command`` is a frame (4, 4); ``stamp`` its own time, if it is known."""


Factory = Callable[[Arm, float], Controller]
"""A controller for an arm and a tick in seconds."""


@dataclass(frozen=True, eq=False)
class Run:
    """What happened."""

    hazard: Hazard
    rate: float
    q: Array
    """Joint values (N + 1, dof): the start, and after each tick."""
    asked: Array
    """The change of q that was asked for in each tick (N, dof), before anything was clipped."""
    commands: Array
    """What the controller was given (N, 4, 4)."""
    operator: Operator | None = None
    lag: Array | float = 0.0
    """Seconds by which the controller says it follows late, in each tick (N,) or always."""
    nanoseconds: Array | None = None
    """Time of each tick (N,), as called from Python; None if all were done in one call."""
    processor: Array | None = None
    """Processor time of each tick (N,), in nanoseconds."""
    exceptions: dict[str, int] = field(default_factory=dict)
    """How often the controller raised what."""
    not_finite: int = 0
    """How often it returned something that is not a number."""

    @property
    def dt(self) -> float:
        """Seconds in a tick."""
        return 1.0 / self.rate

    @property
    def times(self) -> Array:
        """When each tick began (N,), in seconds."""
        return self.hazard.times(self.rate)

    def error(self, goals: Array) -> Array:
        """Goals (N, 4, 4) minus where the end effector was after each tick (N, 6)."""
        return difference(goals, self.hazard.arm.frames(self.q[1:]))


def run(hazard: Hazard, controller: Controller | Factory, rate: float = 300.0, operator: Operator | None = None) -> Run:
    """Put a controller through a hazard.

    Args:
        hazard: what is commanded.
        controller: a `Controller`, or what makes one from an `Arm` and a tick in seconds.
        rate: ticks a second.
        operator: the hand that gives the command; by default it is clean and given in every tick.
    """
    times, dt = hazard.times(rate), 1.0 / rate
    whole = hasattr(controller, "step") and not isinstance(controller, type)
    made: Any = controller if whole else cast(Factory, controller)(hazard.arm, dt)
    if not hasattr(made, "step") or not hasattr(made, "reset"):
        raise BadInput(f"a controller needs reset(q) and step(q, command, dt, stamp=None), got {made!r}")
    commands, stamps = given(hazard, rate, operator)
    if operator is None and hasattr(made, "run"):
        made.reset(hazard.start.copy())
        q = np.asarray(made.run(commands, dt, hazard.start.copy()), dtype=float)
        if q.shape != (len(times) + 1, hazard.arm.dof):
            raise BadInput(f"run must return joint values {(len(times) + 1, hazard.arm.dof)}, got {q.shape}")
        whole = np.nan_to_num(q)
        bad = int((~np.isfinite(q)).any(axis=1).sum())
        return Run(hazard, rate, whole, np.diff(whole, axis=0), commands, not_finite=bad)
    return _ticked(hazard, made, rate, commands, stamps, operator)


def given(hazard: Hazard, rate: float, operator: Operator | None) -> tuple[Array, Array | None]:
    """What a loop is given at each tick: frames (N, 4, 4), and their stamps (N,) if there are any."""
    if operator is None:
        return hazard.frames(rate), None
    samples = hazard.samples(operator)
    newest = samples.newest(hazard.times(rate))
    frames = np.ascontiguousarray(samples.frames[newest])
    return frames, samples.stamps[newest] if operator.stamped else None


def _ticked(
    hazard: Hazard, made: Any, rate: float, commands: Array, stamps: Array | None, operator: Operator | None
) -> Run:
    arm, dt, n = hazard.arm, 1.0 / rate, len(commands)
    lower, upper, most = arm.lower, arm.upper, arm.speed * dt
    goals = made.prepare(commands) if hasattr(made, "prepare") else list(commands)
    known = [None] * n if stamps is None else stamps.tolist()
    q, rows, asked = hazard.start.copy(), np.empty((n + 1, arm.dof)), np.zeros((n, arm.dof))
    wall, work = np.empty(n), np.empty(n)
    lags = np.zeros(n)
    raised: dict[str, int] = {}
    broken = 0
    _warmed(made, q, goals[0], dt, known[0])
    rows[0] = q
    clock, used = time.perf_counter_ns, time.thread_time_ns
    gc.collect()
    gc.disable()
    try:
        for k in range(n):
            mine = q.copy()
            c0, t0 = used(), clock()
            try:
                after = made.step(mine, goals[k], dt, known[k])
            except Exception as error:  # a peer's failure is a result
                after = None
                raised[type(error).__name__] = raised.get(type(error).__name__, 0) + 1
            wall[k], work[k] = clock() - t0, used() - c0
            if after is not None:
                change = np.asarray(after) - q
                if np.isfinite(change).all():
                    asked[k] = change
                else:
                    broken += 1
            if operator is not None:
                lags[k] = getattr(made, "lag", 0.0)
            q = np.minimum(np.maximum(q + np.minimum(np.maximum(asked[k], -most), most), lower), upper)
            rows[k + 1] = q
    finally:
        gc.enable()
    return Run(hazard, rate, rows, asked, commands, operator, lags, wall, work, raised, broken)


def _warmed(made: Any, q: Array, goal: Any, dt: float, stamp: float | None) -> None:
    """Twenty ticks that do not count, for caches and late imports; then a clean start."""
    made.reset(q.copy())
    with suppress(Exception):  # it will be counted when it counts
        for _ in range(20):
            made.step(q.copy(), goal, dt, stamp)
    made.reset(q.copy())
