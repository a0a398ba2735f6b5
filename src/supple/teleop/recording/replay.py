"""Replay: the goals of a recording given to a tracker again, and the differences."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from supple import _check, _core
from supple._solve.text import angle_text, length_text
from supple.errors import BadInput, SuppleError
from supple.frame import Array
from supple.linkage import Linkage
from supple.solver import Solver
from supple.step import Step, TrackingStatus
from supple.teleop import methods
from supple.teleop.goals import GoalFrames
from supple.teleop.recording.columns import Rows
from supple.teleop.recording.recording import Recording
from supple.tracker import Tracker

_MAX_DT = 0.25  # s; the tracker uses at most this time step
_ROUNDING = 1e-9  # tolerance of a limit
Watch = Callable[[Rows, Step], None]


@dataclass(frozen=True)
class Side:
    """Measures of the recording or of its replay."""

    solver: str
    """The solver as text; of several, one after the other."""
    statuses: dict[str, int]
    """Ticks of each `TrackingStatus`, by its name in lower case."""
    distance: tuple[float, float]
    """Mean and largest distance of an end effector from its goal, in metres, over all ticks that were not held."""
    angle: tuple[float, float]
    """Mean and largest angle from it, in radians."""
    outside: int
    """Ticks with a joint outside its limits."""
    too_fast: int
    """Ticks with a joint faster than its speed limit."""
    speed: tuple[float, ...]
    """Largest speed of each joint value (dof,), per second."""
    acceleration: tuple[float, ...]
    """Largest acceleration of each joint value (dof,), per second squared."""

    @property
    def name(self) -> str:
        """The name of the method, as in `supple.teleop.methods`; for any other solver its text."""
        return methods.name_of(self.solver)


@dataclass(frozen=True)
class Comparison:
    """A recording compared with its replay."""

    file: str
    linkage: str
    names: tuple[str, ...]
    """Names of the joint values (dof,)."""
    units: tuple[str, ...]
    """Their units (dof,): rad or m."""
    ticks: int
    seconds: float
    """From the first tick to the last."""
    lost: int
    """Ticks that were lost while recording."""
    identical: bool
    """Whether all joint values are the same, bit for bit."""
    first: int | None
    """Index of the first row whose joint values differ; None if none do."""
    largest: tuple[float, ...]
    """Largest difference of each joint value (dof,), in radians or metres."""
    mean: tuple[float, ...]
    """Mean difference of each joint value (dof,)."""
    error_largest: tuple[float, float]
    """Largest difference of the error: metres, radians."""
    error_mean: tuple[float, float]
    """Mean difference of the error: metres, radians."""
    recorded: Side
    replayed: Side
    note: str
    """Known reasons why the replay is not exact; else empty."""

    def data(self) -> dict[str, Any]:
        """All fields as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        text = f"{self.ticks:,} ticks ({self.seconds:.1f} s) of {self.linkage}: "
        if self.identical:
            return text + "the joint values are the same, bit for bit"
        worst = int(np.argmax(self.largest))
        text += (
            f"the joint values differ from row {self.first:,} on, by {self.largest[worst]:.3g} {self.units[worst]} "
            f"at most ({self.names[worst]}, on average {self.mean[worst]:.2g}), and the end effector by "
            f"{length_text(self.error_largest[0])} and {angle_text(self.error_largest[1])} at most"
        )
        return f"{text}; {self.note}" if self.note else text


def replay(
    recording: Recording | str | os.PathLike[str],
    solver: Solver | None = None,
    *,
    linkage: Linkage | None = None,
    watch: Watch | None = None,
) -> Comparison:
    """Gives the recorded goals to a tracker again, with the same time steps, and compares the results.

    Args:
        recording: the recording, or its file. It is read in blocks, so its length is not limited by memory.
        solver: another solver. By default the recorded one; then the joint values are identical, bit for bit, on a
            machine with the same instruction set.
        linkage: another linkage, with the same names of joint values; by default the recorded one.
        watch: called with each block of rows and the results of the replay, a `Step` whose arrays have a row for each
            tick.
    """
    opened = recording if isinstance(recording, Recording) else Recording(recording)
    if watch is not None:
        _check.function(watch, "watch")
    if linkage is not None and _check.instance(linkage, Linkage, "linkage").names != opened.linkage.names:
        raise BadInput(f"{linkage.name} has joint values {', '.join(linkage.names)}; the recording has others")
    chosen = linkage or opened.linkage
    solvers = [opened.solver]
    recorded, replayed, differences = _Measures(chosen), _Measures(chosen), _Differences(chosen.dof)
    for rows, step in _steps(opened, solver, chosen, solvers):
        begins = ~np.isnan(rows.begin[:, 0])
        recorded.add(rows.dt, begins, rows.q, rows.velocity, rows.error, rows.status)
        replayed.add(rows.dt, begins, step.q, step.velocity, step.error, step._number(0).astype(int))
        differences.add(rows, step)
        if watch is not None:
            watch(rows, step)
    if not differences.ticks:
        raise BadInput(f"{opened.path}: there is no tick in it")
    return Comparison(
        os.fspath(opened.path),
        chosen.name,
        chosen.names,
        chosen.units,
        differences.ticks,
        differences.end - differences.begin,
        differences.lost,
        differences.first is None,
        differences.first,
        *differences.results(),
        recorded.side(", then ".join(solvers)),
        replayed.side(repr(solver) if solver is not None else ", then ".join(solvers)),
        differences.note(opened),
    )


def _steps(
    recording: Recording, solver: Solver | None, linkage: Linkage, solvers: list[str]
) -> Iterator[tuple[Rows, Step]]:
    """The rows and the results of a tracker; adds the recorded solvers that replaced others to ``solvers``."""
    tracker = recording.tracker(solver, linkage=linkage)
    frames = GoalFrames(tracker)
    for rows in recording.blocks():
        begins, has_measured = ~np.isnan(rows.begin[:, 0]), ~np.isnan(rows.measured[:, 0])
        stamps = [None if math.isnan(stamp) else stamp for stamp in rows.stamp.tolist()]
        results = []
        for k, (dt, stamp) in enumerate(zip(rows.dt.tolist(), stamps, strict=True)):
            if rows.new_tracker[k]:
                tracker = _new_tracker(rows.new_tracker[k], tracker, recording, solver, solvers)
                frames = GoalFrames(tracker)
            if begins[k]:
                tracker.reset(rows.begin[k])
            measured = rows.measured[k] if has_measured[k] else None
            results.append(tracker.step(frames.commands(rows.goals[k]), dt, stamp, measured)._result)
        yield rows, Step(np.array(results), tracker)


def _new_tracker(
    text: str, tracker: Tracker, recording: Recording, solver: Solver | None, solvers: list[str]
) -> Tracker:
    """The tracker that took over here, at the current joint values."""
    try:
        tracker, solver_text = recording._new_tracker(text, tracker, solver)
    except (SuppleError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise BadInput(f"{recording.path}: column 'how': {error}") from None
    solvers.append(solver_text)
    return tracker


class _Measures:
    """Accumulates a `Side`."""

    def __init__(self, linkage: Linkage) -> None:
        self._linkage = linkage
        self._statuses = np.zeros(len(TrackingStatus), dtype=int)
        self._sum, self._largest = np.zeros(2), np.zeros(2)
        self._outside = self._too_fast = 0
        self._speed, self._acceleration, self._before = (np.zeros(linkage.dof) for _ in range(3))

    def add(self, dt: Array, begins: Any, q: Array, velocity: Array, error: Array, status: Any) -> None:
        self._statuses += np.bincount(status, minlength=len(TrackingStatus))
        errors = error[status != TrackingStatus.HELD.value].reshape(-1, *error.shape[1:-1], 2, 3)
        if len(errors):
            size = np.linalg.norm(errors, axis=-1).max(axis=1)  # of the worst end effector
            self._sum += size.sum(axis=0)
            self._largest = np.maximum(self._largest, size.max(axis=0))
        speed = np.abs(velocity)
        self._outside += int((~self._linkage.inside(q, _ROUNDING)).sum())
        self._too_fast += int((speed > self._linkage.speed * (1 + _ROUNDING)).any(axis=1).sum())
        self._speed = np.maximum(self._speed, speed.max(axis=0))
        before = np.vstack([self._before, velocity[:-1]])
        before[begins] = 0  # after a reset the tracker is at rest
        passed = dt > 0
        change = np.abs(velocity - before)[passed] / np.minimum(dt[passed], _MAX_DT)[:, None]
        self._acceleration = np.maximum(self._acceleration, change.max(axis=0, initial=0))
        self._before = velocity[-1]

    def side(self, solver: str) -> Side:
        moving = max(int(self._statuses.sum() - self._statuses[TrackingStatus.HELD.value]), 1)
        (mean_distance, mean_angle), (distance, angle) = (self._sum / moving).tolist(), self._largest.tolist()
        statuses = {status.name.lower(): int(self._statuses[status.value]) for status in TrackingStatus}
        return Side(
            solver,
            statuses,
            (mean_distance, distance),
            (mean_angle, angle),
            self._outside,
            self._too_fast,
            tuple(self._speed.tolist()),
            tuple(self._acceleration.tolist()),
        )


class _Differences:
    """Accumulates the differences of recording and replay."""

    def __init__(self, dof: int) -> None:
        self.ticks = self.lost = 0
        self.begin = self.end = 0.0
        self.first: int | None = None
        self.starts_midway = False  # whether the recording began while the arm was being driven
        self._sum, self._largest = np.zeros(dof), np.zeros(dof)
        self._error_sum, self._error_largest = np.zeros(2), np.zeros(2)

    def add(self, rows: Rows, step: Step) -> None:
        new, old = np.ascontiguousarray(step.q), np.ascontiguousarray(rows.q)
        different = np.flatnonzero((new.view(np.int64) != old.view(np.int64)).any(axis=1))
        if len(different) and self.first is None:
            self.first = self.ticks + int(different[0])
        if not self.ticks:
            self.begin, self.starts_midway = float(rows.t[0]), bool(np.isnan(rows.begin[0, 0]))
        self.end = float(rows.t[-1])
        difference = np.abs(new - old)
        self._sum += difference.sum(axis=0)
        self._largest = np.maximum(self._largest, difference.max(axis=0))
        errors = np.linalg.norm((step.error - rows.error).reshape(-1, step.error.shape[1], 2, 3), axis=-1).max(axis=1)
        self._error_sum += errors.sum(axis=0)
        self._error_largest = np.maximum(self._error_largest, errors.max(axis=0))
        self.ticks += len(rows)
        self.lost += int(rows.lost.sum())

    def results(self) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, float], tuple[float, float]]:
        """Largest and mean difference of joint values (dof,), then of the error in metres and radians."""
        mean, error_mean = self._sum / self.ticks, self._error_sum / self.ticks
        largest, (length, angle) = tuple(self._largest.tolist()), self._error_largest.tolist()
        return largest, tuple(mean.tolist()), (length, angle), (float(error_mean[0]), float(error_mean[1]))

    def note(self, recording: Recording) -> str:
        """Reasons why the same solver may give other joint values."""
        reasons = []
        if self.lost:
            reasons.append(f"{self.lost:,} ticks were lost while recording")
        if self.starts_midway:
            reasons.append("the recording starts from the middle of a drive, and a replay begins at rest")
        if recording.instructions != _core.instruction_set():
            reasons.append(f"it was recorded with {recording.instructions} instructions, not {_core.instruction_set()}")
        return "; ".join(reasons)
