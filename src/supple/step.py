"""Step: the result of one tick of a tracker, with a reason."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple import _check, _renamed
from supple._solve import common_reasons, step_reasons
from supple._solve.goal_error import goal_frame
from supple._solve.text import angle_text, length_text
from supple.frame import Array

if TYPE_CHECKING:
    from supple._solve.tolerance import Tolerance
    from supple.goal import Goal
    from supple.linkage import Linkage
    from supple.solver import Solver
    from supple.tracker import Tracker

LONGEST_TICK = 0.25
"""Seconds: a longer tick counts as one of this length, as if the pause had been short."""

# where the numbers after the arrays stand in the result of a tick
_STATUS = 0
_DAMPING = 1
_IS_SINGULAR = 4
_LAG = 7
_SINGULAR_GOAL = 9
_SINGULAR_DIRECTION = 10  # to 15


class TrackingStatus(Enum):
    """How a tick of a tracker ended.

    >>> from supple import Solver, models
    >>> arm = models.panda()
    >>> Solver().track(arm, "panda_hand_tcp").step(arm.frame(arm.rest, "panda_hand_tcp"), 0.01).status
    <TrackingStatus.FOLLOWING: 0>
    """

    FOLLOWING = 0
    """The end effectors are within tolerance of the command, as it was `Step.lag` seconds ago."""
    YIELDING = 1
    """The end effectors come no nearer: out of reach, at limits or along a singular direction."""
    LAGGING = 2
    """The end effectors come nearer; bounds of speed, acceleration or jerk delay them."""
    HELD = 3
    """The arm brakes, then stands: the command is not finite, not a frame or beyond 1e12 m. If dt is shorter than
    1 us, 1e9 s or longer, or nan, nothing moves."""
    RETURNING = 4
    """The arm goes by itself to other joint values that reach the command, or is about to; see `Solver.track`."""


@dataclass(frozen=True)
class _Settings:
    """What a step reads of its tracker: a step that was pickled has this in its place."""

    linkage: Linkage
    goals: tuple[Goal, ...]
    solver: Solver
    tolerance: Tolerance
    speed: Array
    turn_speed: Array
    lower: Array
    upper: Array
    _dof: int
    _numbers: int
    _moved: NDArray[np.bool_]


def _restored(result: Array, settings: Any, dt: float | None, blind: bool) -> Step:
    return Step(result, settings, dt, blind)


@_renamed.answers_old_names
class Step(metaclass=_renamed.HidesOldNames):
    """The result of one tick. For many arms every array has one leading axis (arms,).

    Arrays are views of memory that belongs to this step.

    >>> from supple import Solver, models
    >>> arm = models.panda()
    >>> tracker = Solver().track(arm, "panda_hand_tcp")
    >>> step = tracker.step(arm.frame(arm.rest, "panda_hand_tcp"), dt=0.01)
    >>> step.q.shape, step.status.name, step.why
    ((8,), 'FOLLOWING', '')
    """

    __slots__ = ("_blind", "_dt", "_result", "_tracker")

    def __init__(self, result: Array, tracker: Tracker, dt: float | None = None, blind: bool = False) -> None:
        self._blind = blind  # measured values were not finite
        self._result = result
        self._tracker = tracker
        self._dt = dt  # only for the reason of a step that is held

    @property
    def q(self) -> Array:
        """Joint values (dof,) or (arms, dof) to send to the arm."""
        result = self._result
        return result[: self._tracker._dof] if result.ndim == 1 else result[:, : self._tracker._dof]

    @property
    def velocity(self) -> Array:
        """Joint velocities (dof,) at the end of the tick, per second; for dt up to 4 ms, the change of q over dt.

        For a ball joint it is an angular velocity in the axes of its child, not the change of its values of q.
        """
        return self._part(1)

    @property
    def joint_weights(self) -> Array:
        """Joint weights (dof,): 1 for a free joint, less in a near-singular direction, 0 at its limit."""
        return self._part(2)

    @property
    def sides(self) -> Array:
        """The bound that each joint is at (dof,): 1 position, 2 speed, 3 acceleration, 0 none.

        4: the joint waits for the measured one, which is behind. Negative for the lower bound.
        """
        return self._part(3)

    @property
    def at_bounds(self) -> tuple[str, ...]:
        """Names of the joint values at a bound; `sides` says which."""
        self._single("at_bounds")
        return tuple(name for name, side in zip(self._tracker.linkage.names, self.sides, strict=True) if side)

    @property
    def error(self) -> Array:
        """Goal minus end effector (goals, 6), at q or at ``measured`` if given: metres, then radians.

        The goal here is `goal`, the command after its lag and filters. In world axes; for a goal with ``relative_to``,
        in the axes of that link.
        """
        k, count = 4 * self._tracker._dof, len(self._tracker.goals)
        part = self._result[..., k : k + 6 * count]
        return part.reshape(*part.shape[:-1], count, 6)

    @property
    def goal(self) -> Array:
        """The command after filtering (goals, 12): rotation matrix row by row, then position in metres.

        If the step is held, the command as it came; for a twist, its six numbers and zeros.
        """
        k, count = 4 * self._tracker._dof + 6 * len(self._tracker.goals), len(self._tracker.goals)
        part = self._result[..., k : k + 12 * count]
        return part.reshape(*part.shape[:-1], count, 12)

    @property
    def status(self) -> TrackingStatus:
        """How the tick of a single arm ended. For many arms, use `statuses`, or step[i]."""
        self._single("status")
        return _STATUSES[int(self._number(_STATUS))]

    @property
    def statuses(self) -> NDArray[np.int64]:
        """How the tick ended (arms,), as the values of `TrackingStatus`; a NumPy integer for a single arm."""
        statuses: NDArray[np.int64] = self._number(_STATUS).astype(np.int64)
        return statuses

    @property
    def damping(self) -> Array:
        """The largest damping along any direction, in weighted units; 0 away from singularities."""
        return self._number(_DAMPING)

    @property
    def lag(self) -> Array:
        """Age of the filtered command, in seconds: 0 unless commands come slowly, are smoothed, or tremble too much.

        Negative if the command is predicted beyond its newest sample.
        """
        return self._number(_LAG)

    @property
    def distance(self) -> Array:
        """Distance of the positions from their goals (goals,), in metres."""
        distance: Array = np.linalg.norm(self.error[..., :3], axis=-1)
        return distance

    @property
    def angle(self) -> Array:
        """Angle of the orientations from their goals (goals,), in radians."""
        angle: Array = np.linalg.norm(self.error[..., 3:], axis=-1)
        return angle

    @property
    def why(self) -> str:
        """Why a single arm is not at its goal, in words; empty if it is."""
        self._single("why")
        return "; ".join(_reasons(self))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the operator of a single arm should know before it matters, in words.

        - A joint moves towards a limit that is near: within a twelfth of its range (60 degrees for a range of two
          turns) and half a minute. The text has the angle or distance and the time left. `why` names a joint that is
          at its limit already.
        - A joint is outside its limits and is brought back.
        - dt counts as a shorter one.
        - Measured values are not finite, and not used.
        """
        self._single("warnings")
        tracker = self._tracker
        if self.status is TrackingStatus.HELD or not tracker.solver.keep_limits:
            return ()
        dt = float(self._dt or 0)
        paused = [f"dt of {dt:.3g} s counts as {LONGEST_TICK} s"] if dt > LONGEST_TICK else []
        if self._blind:
            paused.append("measured values that are not finite are not used")
        return tuple(paused + step_reasons.approaching_limits(tracker.linkage, tracker.lower, tracker.upper, self))

    def __getitem__(self, arm: int) -> Step:
        """The step of one arm of many."""
        if self._result.ndim == 1:
            raise IndexError("the step of a single arm cannot be indexed")
        leading = arm if isinstance(arm, tuple) else (arm,)
        whole = (*leading, slice(None))  # an index is over the arms only
        try:
            taken = self._result[_check.index(whole)]
        except IndexError:
            taken = None
        if taken is None or not 1 <= taken.ndim <= 2:
            raise _check.no_such_index(arm, (len(self),), "arms")
        return Step(taken, self._tracker, self._dt, self._blind)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled without the state of the tracker."""
        tracker = self._tracker
        settings = _Settings(**{field.name: getattr(tracker, field.name) for field in fields(_Settings)})
        return _restored, (self._result, settings, self._dt, self._blind)

    def __len__(self) -> int:
        if self._result.ndim == 1:
            raise TypeError("the step of a single arm has no length")
        return len(self._result)

    def __str__(self) -> str:
        if self._result.ndim > 1:
            count = np.bincount(self.statuses, minlength=len(TrackingStatus))
            return f"{len(self):,} arms: " + ", ".join(
                f"{count[s.value]:,} {s.name.lower()}" for s in TrackingStatus if count[s.value]
            )
        why = self.why
        if self.status is TrackingStatus.HELD:
            return why
        warnings = "".join(f"; {warning}" for warning in self.warnings)
        if self.status is TrackingStatus.FOLLOWING:
            return f"following, within tolerance{warnings}"
        remaining = f"{length_text(self.distance.max())} and {angle_text(self.angle.max())}"
        return f"{self.status.name.lower()}, {remaining} away" + (f": {why}" if why else "") + warnings

    def __repr__(self) -> str:
        return f"<Step: {self}>"

    def _part(self, k: int) -> Array:
        dof = self._tracker._dof
        return self._result[..., k * dof : (k + 1) * dof]

    def _number(self, k: int) -> Array:
        """One of the numbers after the arrays: (arms,), or a NumPy scalar for a single arm."""
        number: Array = self._result[..., self._tracker._numbers + k]
        return number

    def _single(self, what: str) -> None:
        if self._result.ndim > 1:
            raise ValueError(f"for many arms, use step[i].{what}")


_STATUSES = tuple(TrackingStatus)


def _reasons(step: Step) -> list[str]:
    """Why a tick is not at its goal."""
    tracker, linkage = step._tracker, step._tracker.linkage
    status = step.status
    if status is TrackingStatus.FOLLOWING:
        return []
    if status is TrackingStatus.HELD:
        return [step_reasons.held(step.goal, step._dt)]
    if status is TrackingStatus.RETURNING:
        return ["the arm was in a local minimum: it moves to other joint values that reach the command"]
    if status is TrackingStatus.LAGGING:
        slow = step_reasons.effectors_too_slow(linkage, tracker.goals, (tracker.speed, tracker.turn_speed), step)
        return slow + step_reasons.too_slow(linkage.names, step.sides) or [_late(step)]
    reasons = []
    outside = common_reasons.may_be_outside(linkage, step.q, tracker.solver.keep_limits)
    for goal, row, error in zip(tracker.goals, step.goal, step.error, strict=True):
        if goal.position is not None and goal.distance is None and not goal.point.any():
            reasons += common_reasons.out_of_reach(linkage, goal, row[9:], error[:3], outside)
    reasons += step_reasons.turned_less(step)
    reasons += common_reasons.at_limits(linkage.names, step.sides, step_reasons.margins_in_use(step))
    if not reasons and step._number(_IS_SINGULAR):
        first = tracker._numbers + _SINGULAR_DIRECTION
        direction = step._result[first : first + 6]
        goal = tracker.goals[int(step._number(_SINGULAR_GOAL))]
        link = goal.link if len(tracker.goals) > 1 else ""
        reasons += common_reasons.singular(linkage.names, step.joint_weights, direction, link, goal)
    return reasons or _giving_way(step) or ["local minimum: no small joint motion reduces the error"]


def _late(step: Step) -> str:
    """Why an arm that is at no bound is late: one that stands has arrived, and the measured arm has not."""
    if np.abs(step.velocity).max() > 1e-6:
        return "catching up"
    tracker = step._tracker
    for goal, row, error in zip(tracker.goals, step.goal, step.error, strict=True):
        if goal.position is not None and goal.distance is None:
            commanded = goal_frame(tracker.linkage, goal, step.q).apply(goal.point)
            if np.abs(row[9:] - error[:3] - commanded).max() < 1e-9:  # the error is that of q: nothing is measured
                return "catching up"
    return "the measured arm does not follow its commanded joint values"


def _giving_way(step: Step) -> list[str]:
    """Which goals give way to others with a lower priority number."""
    goals, near = step._tracker.goals, step._tracker.tolerance
    first = min(goal.priority for goal in goals)
    away = (step.distance > near.position) | (step.angle > near.angle)
    return [
        f"{goal.link} gives way to goals of a lower priority number"
        for goal, is_away in zip(goals, away, strict=True)
        if is_away and goal.priority > first
    ]
