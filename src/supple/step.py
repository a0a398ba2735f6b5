"""Step: what came of a tick, with a reason."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from supple import _renamed
from supple._solve import explanation
from supple.frame import Array

if TYPE_CHECKING:
    from supple.tracker import Tracker


class TrackingStatus(Enum):
    """How a tick went."""

    FOLLOWING = 0
    """The end effectors are within tolerance of the command (after its stated lag)."""
    YIELDING = 1
    """They cannot be: out of reach, at limits or along a singular direction; the best feasible motion instead."""
    LAGGING = 2
    """They will be, but speed, acceleration or jerk bounds hold them back now."""
    HELD = 3
    """No motion on purpose: the goal is not finite or not a frame, or no time passed."""


@_renamed.answers_old_names
class Step:
    """What came of a tick; of many arms, every array has their leading axis. Arrays are views: copy what you keep."""

    __slots__ = ("_told", "_tracker")

    def __init__(self, told: Array, tracker: Tracker) -> None:
        self._told = told
        self._tracker = tracker

    @property
    def q(self) -> Array:
        """Joint values (dof,) or (arms, dof) to send to the arm."""
        told = self._told
        return told[: self._tracker._dof] if told.ndim == 1 else told[:, : self._tracker._dof]

    @property
    def velocity(self) -> Array:
        """Joint velocities (dof,), per second: the change of q in this tick."""
        return self._part(1)

    @property
    def joint_weights(self) -> Array:
        """Joint weights (dof,): 1 for a free joint, less where it swings in a singular direction, 0 at its limit."""
        return self._part(2)

    @property
    def sides(self) -> Array:
        """Which bound stops each joint (dof,): -1, 1 its limits, -2, 2 its speed, -3, 3 its acceleration, 0 none."""
        return self._part(3)

    @property
    def at_bounds(self) -> tuple[str, ...]:
        """Names of the joint values at some bound; see `sides` for which."""
        self._single("at_bounds")
        return tuple(name for name, side in zip(self._tracker.linkage.names, self.sides, strict=True) if side)

    @property
    def error(self) -> Array:
        """Goal minus end effector (goals, 6) at q (at measured, where given): metres, then radians, in world axes."""
        k, count = 4 * self._tracker._dof, len(self._tracker.goals)
        part = self._told[..., k : k + 6 * count]
        return part.reshape(*part.shape[:-1], count, 6)

    @property
    def goal(self) -> Array:
        """The command that was followed (goals, 12), after conditioning: rotation row by row, then position."""
        k, count = 4 * self._tracker._dof + 6 * len(self._tracker.goals), len(self._tracker.goals)
        part = self._told[..., k : k + 12 * count]
        return part.reshape(*part.shape[:-1], count, 12)

    @property
    def status(self) -> Any:
        """How it went: a `TrackingStatus`, or an array of them (arms,)."""
        state = self._number(0)
        if self._told.ndim == 1:
            return _STATES[int(state)]
        return np.array(_STATES, dtype=object)[state.astype(int)]

    @property
    def damping(self) -> Any:
        """The largest damping along any direction, in weighted units; 0 away from singularities."""
        return self._number(1)

    @property
    def lag(self) -> Any:
        """How old the command is that was followed, in seconds: 0 unless it is sampled slowly or irregularly."""
        return self._number(7)

    @property
    def distance(self) -> Any:
        """How far the positions are from their goals (goals,), in metres."""
        return np.linalg.norm(self.error[..., :3], axis=-1)

    @property
    def angle(self) -> Any:
        """How far the orientations are from their goals (goals,), in radians."""
        return np.linalg.norm(self.error[..., 3:], axis=-1)

    @property
    def why(self) -> str:
        """The reason why it does not follow, in words; empty if it does."""
        self._single("why")
        return "; ".join(_reasons(self))

    def __getitem__(self, arm: int) -> Step:
        """The step of one arm of many."""
        if self._told.ndim == 1:
            raise IndexError("the step of a single arm cannot be indexed")
        return Step(self._told[arm], self._tracker)

    def __len__(self) -> int:
        if self._told.ndim == 1:
            raise TypeError("the step of a single arm has no length")
        return len(self._told)

    def __str__(self) -> str:
        if self._told.ndim > 1:
            count = np.bincount(self._number(0).astype(int), minlength=4)
            return f"{len(self):,} arms: " + ", ".join(
                f"{count[s.value]:,} {s.name.lower()}" for s in TrackingStatus if count[s.value]
            )
        why = self.why
        if self.status is TrackingStatus.HELD:
            return why
        away = " and ".join((explanation.said_length(self.distance.max()), explanation.said_angle(self.angle.max())))
        return f"{self.status.name.lower()}, {away} away" + (f": {why}" if why else "")

    def __repr__(self) -> str:
        return f"<Step: {self}>"

    def _part(self, k: int) -> Array:
        dof = self._tracker._dof
        return self._told[..., k * dof : (k + 1) * dof]

    def _number(self, k: int) -> Any:
        number = self._told[..., self._tracker._numbers + k]
        return float(number) if self._told.ndim == 1 else number

    def _single(self, what: str) -> None:
        if self._told.ndim > 1:
            raise ValueError(f"many arms have many answers; take one: step[i].{what}")


_STATES = tuple(TrackingStatus)


def _reasons(step: Step) -> list[str]:
    """What stands in the way of a tick that does not follow."""
    tracker, linkage = step._tracker, step._tracker.linkage
    state = step.status
    if state is TrackingStatus.FOLLOWING:
        return []
    if state is TrackingStatus.HELD:
        return ["held: the goal is not a finite frame, or no time passed"]
    if state is TrackingStatus.LAGGING:
        return explanation.too_slow(linkage.names, step.sides) or ["catching up"]
    reasons = []
    for goal, row, error in zip(tracker.goals, step.goal, step.error, strict=True):
        if goal.position is not None and not goal.point.any():
            reasons += explanation.out_of_reach(
                linkage, goal.link, row[9:], error[:3], float(np.linalg.norm(error[:3]))
            )
    reasons += explanation.at_limits(linkage.names, step.sides)
    if not reasons and step._number(4):
        k = tracker._numbers + 10
        link = tracker.goals[int(step._number(9))].link if len(tracker.goals) > 1 else ""
        reasons += explanation.singular(linkage.names, step.joint_weights, step._told[k : k + 6], link)
    return reasons or ["no nearer from here"]
