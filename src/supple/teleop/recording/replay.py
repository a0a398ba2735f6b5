"""Replay: a recording through a solver once more, and what differs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from supple import _core
from supple._solve.text import angle_text, length_text
from supple.errors import BadInput, SuppleError
from supple.frame import Array
from supple.linkage import Linkage
from supple.solver import Solver
from supple.step import Step, TrackingStatus
from supple.teleop.page import methods
from supple.teleop.recording import metadata
from supple.teleop.recording.recording import Recording, Rows
from supple.tracker import Tracker

_LONGEST = 0.25  # s: a tick that takes longer counts as one of this length
_EXACT = 1e-9  # what rounding may add to a limit
Watch = Callable[[Rows, Step], None]


@dataclass(frozen=True)
class Side:
    """How one of the two went."""

    solver: str
    """Text of its solver; of several, one after the other."""
    statuses: dict[str, int]
    """Ticks of each `TrackingStatus`, by its name in small letters."""
    distance: tuple[float, float]
    """Mean and largest distance of an end effector from its goal, in metres, over all ticks not held."""
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
        """What its solver is called, if it is one that `named` knows; else its text."""
        for name, solver in methods.METHODS.items():
            for said, called in ((solver, name), (replace(solver, keep_limits=False), f"{name}, raw")):
                if repr(said) == self.solver:
                    return called
        return self.solver


@dataclass(frozen=True)
class Comparison:
    """A recording and its replay, side by side."""

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
    """The first row, from 0 on, whose joint values differ."""
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
    """What kept the replay from being exact, as far as that is known; else empty."""

    def data(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        said = f"{self.ticks:,} ticks ({self.seconds:.1f} s) of {self.linkage}: "
        if self.identical:
            return said + "the joint values are the same, bit for bit"
        worst = int(np.argmax(self.largest))
        said += (
            f"the joint values differ from row {self.first:,} on, by {self.largest[worst]:.3g} {self.units[worst]} "
            f"at most ({self.names[worst]}, on average {self.mean[worst]:.2g}), and the end effector by "
            f"{length_text(self.error_largest[0])} and {angle_text(self.error_largest[1])} at most"
        )
        return f"{said}; {self.note}" if self.note else said


def named(name: str) -> Solver:
    """The solver of that name: "supple", "paper", "damped" or "pseudoinverse"."""
    return methods.METHODS[methods.named(name)]


def replay(
    recording: Recording | str | os.PathLike[str],
    solver: Solver | None = None,
    *,
    linkage: Linkage | None = None,
    watch: Watch | None = None,
) -> Comparison:
    """Gives the recorded goals to a tracker once more, in the same ticks, and compares.

    Args:
        recording: what to replay, or its file. It is read a block at a time, however long it is.
        solver: another solver. By default the one it was recorded with, and then the joint values are the same, bit
            for bit, on a machine with the same instruction set.
        linkage: another linkage, with the same names of joint values; by default the recorded one.
        watch: called with each block of rows and what the replay made of them, a `Step` whose arrays have a row a tick.
    """
    opened = recording if isinstance(recording, Recording) else Recording(recording)
    if linkage is not None and linkage.names != opened.linkage.names:
        raise BadInput(f"{linkage.name} has joint values {', '.join(linkage.names)}; the recording has others")
    moved = linkage or opened.linkage
    solvers = [opened.solver]
    old, new, beside = _Tally(moved), _Tally(moved), _Beside(moved.dof)
    for rows, step in _steps(opened, solver, moved, solvers):
        begins = ~np.isnan(rows.begin[:, 0])
        old.add(rows.dt, begins, rows.q, rows.velocity, rows.error, rows.status)
        new.add(rows.dt, begins, step.q, step.velocity, step.error, step._number(0).astype(int))
        beside.add(rows, step)
        if watch is not None:
            watch(rows, step)
    if not beside.ticks:
        raise BadInput(f"{opened.path}: there is no tick in it")
    replayed = repr(solver) if solver is not None else ", then ".join(solvers)
    return Comparison(
        os.fspath(opened.path),
        moved.name,
        moved.names,
        tuple(unit for joint in moved.joints if joint.dof for unit in joint.units),
        beside.ticks,
        beside.end - beside.begin,
        beside.lost,
        beside.first is None,
        beside.first,
        *beside.differences(),
        old.side(", then ".join(solvers)),
        new.side(replayed),
        beside.note(opened),
    )


def _steps(
    recording: Recording, solver: Solver | None, linkage: Linkage, solvers: list[str]
) -> Iterator[tuple[Rows, Step]]:
    """The rows, and what a tracker makes of them; notes the solvers that took over on the way."""
    tracker = recording.tracker(solver, linkage=linkage)
    for rows in recording.blocks():
        goals: Any = rows.goals if len(recording.links) > 1 else rows.goals[:, 0]
        begins, felt = ~np.isnan(rows.begin[:, 0]), ~np.isnan(rows.measured[:, 0])
        stamps = [None if math.isnan(stamp) else stamp for stamp in rows.stamp.tolist()]
        told = []
        for k, (dt, stamp) in enumerate(zip(rows.dt.tolist(), stamps, strict=True)):
            if rows.how[k]:
                tracker = _another(rows.how[k], tracker, recording, solver, solvers)
            if begins[k]:
                tracker.reset(rows.begin[k])
            goal = goals[k] if goals.ndim == 3 else list(goals[k])
            told.append(tracker.step(goal, dt, stamp, rows.measured[k] if felt[k] else None)._result)
        yield rows, Step(np.array(told), tracker)


def _another(how: str, tracker: Tracker, recording: Recording, solver: Solver | None, solvers: list[str]) -> Tracker:
    """The tracker that took over here, from where the arm is."""
    try:
        said = json.loads(how)
        solvers.append(str(said["solver"]))
        return metadata.tracker_from(said, tracker.linkage, tracker.q, solver)
    except (SuppleError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"{recording.path}: column 'how': {error}") from None


class _Tally:
    """Counts how one side goes."""

    def __init__(self, linkage: Linkage) -> None:
        self._linkage = linkage
        self._statuses = np.zeros(len(TrackingStatus), dtype=int)
        self._sum, self._most = np.zeros(2), np.zeros(2)
        self._outside = self._too_fast = 0
        self._speed, self._acceleration, self._before = (np.zeros(linkage.dof) for _ in range(3))

    def add(self, dt: Array, begins: Any, q: Array, velocity: Array, error: Array, status: Any) -> None:
        self._statuses += np.bincount(status, minlength=len(TrackingStatus))
        away = error[status != TrackingStatus.HELD.value].reshape(-1, *error.shape[1:-1], 2, 3)
        if len(away):
            size = np.linalg.norm(away, axis=-1).max(axis=1)  # of the end effector that is farthest
            self._sum += size.sum(axis=0)
            self._most = np.maximum(self._most, size.max(axis=0))
        fast = np.abs(velocity)
        self._outside += int((~self._linkage.inside(q, _EXACT)).sum())
        self._too_fast += int((fast > self._linkage.speed * (1 + _EXACT)).any(axis=1).sum())
        self._speed = np.maximum(self._speed, fast.max(axis=0))
        before = np.vstack([self._before, velocity[:-1]])
        before[begins] = 0  # a tracker begins at rest
        passed = dt > 0
        change = np.abs(velocity - before)[passed] / np.minimum(dt[passed], _LONGEST)[:, None]
        self._acceleration = np.maximum(self._acceleration, change.max(axis=0, initial=0))
        self._before = velocity[-1]

    def side(self, solver: str) -> Side:
        moving = max(int(self._statuses.sum() - self._statuses[TrackingStatus.HELD.value]), 1)
        (distance, angle), (far, turned) = (self._sum / moving).tolist(), self._most.tolist()
        statuses = {state.name.lower(): int(self._statuses[state.value]) for state in TrackingStatus}
        paces = tuple(self._speed.tolist()), tuple(self._acceleration.tolist())
        return Side(solver, statuses, (distance, far), (angle, turned), self._outside, self._too_fast, *paces)


class _Beside:
    """Compares the two sides tick by tick."""

    def __init__(self, dof: int) -> None:
        self.ticks = self.lost = 0
        self.begin = self.end = 0.0
        self.first: int | None = None
        self.midway = False  # whether it was recorded from the middle of a drive
        self._sum, self._most = np.zeros(dof), np.zeros(dof)
        self._error_sum, self._error_most = np.zeros(2), np.zeros(2)

    def add(self, rows: Rows, step: Step) -> None:
        ours, theirs = np.ascontiguousarray(step.q), np.ascontiguousarray(rows.q)
        unlike = np.flatnonzero((ours.view(np.int64) != theirs.view(np.int64)).any(axis=1))
        if len(unlike) and self.first is None:
            self.first = self.ticks + int(unlike[0])
        if not self.ticks:
            self.begin, self.midway = float(rows.t[0]), bool(np.isnan(rows.begin[0, 0]))
        self.end = float(rows.t[-1])
        apart = np.abs(ours - theirs)
        self._sum += apart.sum(axis=0)
        self._most = np.maximum(self._most, apart.max(axis=0))
        away = np.linalg.norm((step.error - rows.error).reshape(-1, step.error.shape[1], 2, 3), axis=-1).max(axis=1)
        self._error_sum += away.sum(axis=0)
        self._error_most = np.maximum(self._error_most, away.max(axis=0))
        self.ticks += len(rows)
        self.lost += int(rows.lost.sum())

    def differences(self) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, float], tuple[float, float]]:
        (a, b), (c, d) = self._error_most.tolist(), (self._error_sum / self.ticks).tolist()
        return tuple(self._most.tolist()), tuple((self._sum / self.ticks).tolist()), (a, b), (c, d)

    def note(self, recording: Recording) -> str:
        """Why the same solver may give other joint values."""
        reasons = []
        if self.lost:
            reasons.append(f"{self.lost:,} ticks were lost while recording")
        if self.midway:
            reasons.append("it was recorded from the middle of a drive, and a replay begins at rest")
        if recording.instructions != _core.instruction_set():
            reasons.append(f"it was recorded with {recording.instructions}, and this is {_core.instruction_set()}")
        return "; ".join(reasons)
