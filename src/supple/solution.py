"""Solution: what came of a solve, with a measured error and a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from supple import _core
from supple._solve import explanation
from supple._solve.explanation import said_angle, said_length
from supple.frame import Array
from supple.goal import Goal, picked
from supple.linkage import Linkage
from supple.prefer import nothing

if TYPE_CHECKING:
    from supple.solver import Solver


_NOTHING = np.float64(0)


class Outcome(Enum):
    """How a solve ended."""

    ARRIVED = 0
    """Every goal is within tolerance."""
    STUCK = 1
    """As near as it gets from here."""
    OUT_OF_BUDGET = 2
    """The budget is used up."""
    INVALID = 3
    """This row of a batch was not finite."""


def in_words(outcome: Outcome) -> str:
    """An outcome as a sentence says it: "out of budget"."""
    return outcome.name.lower().replace("_", " ")


@dataclass(frozen=True, eq=False)
class Solution:
    """What came of a solve; every array has the leading axes of the goals and the start."""

    linkage: Linkage
    goals: tuple[Goal, ...]
    q: Array
    """Joint values (..., dof): those that arrived, or the best that were visited."""
    outcomes: Array
    """How each ended (...), as the numbers of `Outcome`."""
    iterations: Array
    """Steps taken (...); by a search, those of the start that arrived, or else those of its lanes, side by side."""
    starts: Array
    """How many starts the search began from (...); 1 for other methods."""
    largest_step: Array
    """The largest change of a joint in a step (...); 0 for the search."""
    path: Array
    """Length of the way through joint values (...); 0 for the search, which jumps."""
    solver: Solver
    """How it was solved."""

    @classmethod
    def _from_rows(
        cls,
        linkage: Linkage,
        goals: Sequence[Goal],
        shape: tuple[int, ...],
        tail: tuple[int, ...],
        q: Array,
        report: Any,
        solver: Solver,
    ) -> Solution:
        """From rows of q (rows, *tail, dof) and their report (parts, rows, *tail).

        Its parts are outcomes, iterations, then the starts of a search, or the largest step and the path of another
        method. ``tail`` is how many answers each row has, if several.
        """
        if tail and not shape:  # of a single goal, those that were found
            tail = (max(1, int(np.sum(report[0] == Outcome.ARRIVED.value))),)
            q, report = q[:, : tail[0]], report[:, :, : tail[0]]
        elif tail:
            which = np.repeat(np.arange(len(q)), tail[0]).reshape(*shape, *tail)
            goals = [picked(goal, shape, which) for goal in goals]
        shape += tail
        columns: list[Any] = [column.reshape(shape) for column in report]
        if solver.searches:
            none = np.broadcast_to(np.zeros(()), shape)
            columns += [none, none]
        else:
            columns[:2] = columns[0].astype(np.int64), columns[1].astype(np.int64)
            columns.insert(2, np.ones(shape, np.int64))
        outcomes, iterations, starts, largest, path = columns
        values = q.reshape(*shape, linkage.dof)
        return cls(linkage, tuple(goals), values, outcomes, iterations, starts, largest, path, solver)

    @classmethod
    def _from_answer(
        cls, linkage: Linkage, goal: Goal, answer: tuple[Array, int, int, int], solver: Solver
    ) -> Solution:
        """From the answer of a search for one goal; it goes past the constructor, which costs as much as a search."""
        q, outcome, iterations, starts = answer
        made = object.__new__(cls)
        made.__dict__.update(
            linkage=linkage,
            goals=(goal,),
            q=q,
            outcomes=np.int64(outcome),
            iterations=np.int64(iterations),
            starts=np.int64(starts),
            largest_step=_NOTHING,
            path=_NOTHING,
            solver=solver,
        )
        return made

    @cached_property
    def error(self) -> Array:
        """Goal minus end effector (..., goals, 6): metres, then radians, in world axes; 0 where nothing is asked.

        With slack, what lies outside it."""
        shape = self.outcomes.shape
        return np.stack([_error(self.linkage, goal, self.q, shape) for goal in self.goals], axis=-2)

    @property
    def outcome(self) -> Any:
        """How it ended: an `Outcome`, or an array of them (...)."""
        if self.outcomes.ndim == 0:
            return Outcome(int(self.outcomes))
        return np.array(list(Outcome), dtype=object)[self.outcomes]

    @property
    def arrived(self) -> Any:
        """Whether every goal is within tolerance: bool, or an array (...)."""
        there = self.outcomes == Outcome.ARRIVED.value
        return bool(there) if there.ndim == 0 else there

    @property
    def distance(self) -> Array:
        """How far the positions are from their goals (..., goals), in metres."""
        distance: Array = np.linalg.norm(self.error[..., :3], axis=-1)
        return distance

    @property
    def angle(self) -> Array:
        """How far the orientations are from their goals (..., goals), in radians."""
        angle: Array = np.linalg.norm(self.error[..., 3:], axis=-1)
        return angle

    @cached_property
    def why(self) -> str:
        """The reason why a single solution did not arrive, in words; empty if it did. It may take some more solves."""
        if self.outcomes.ndim:
            raise ValueError("many solutions have many reasons; take one: found[i].why")
        if self.arrived:
            return ""
        if self.outcome is Outcome.INVALID:
            return "the goal or the start is not finite"
        return "; ".join(_reasons(self)) or "no nearer from this start"

    def __getitem__(self, index: Any) -> Solution:
        """One row of many, or some."""
        if not self.outcomes.ndim:
            raise IndexError("a single solution cannot be indexed")
        shape = self.outcomes.shape
        which = np.arange(self.outcomes.size).reshape(shape)[index]  # an index never reaches past the leading axes
        rows = (self.q, self.outcomes, self.iterations, self.starts, self.largest_step, self.path)
        picked_rows: Any = (a.reshape(self.outcomes.size, *a.shape[len(shape) :])[which] for a in rows)
        q, outcomes, iterations, starts, largest, path = picked_rows
        goals = tuple(picked(goal, shape, which) for goal in self.goals)
        return Solution(self.linkage, goals, q, outcomes, iterations, starts, largest, path, self.solver)

    def __len__(self) -> int:
        if not self.outcomes.ndim:
            raise TypeError("a single solution has no length")
        return len(self.outcomes)

    def __str__(self) -> str:
        if self.outcomes.ndim:
            count = np.bincount(self.outcomes.ravel(), minlength=4)
            parts = [f"{count[o.value]:,} {in_words(o)}" for o in Outcome if count[o.value]]
            if not parts:
                return "0 solves"
            return (
                f"{self.outcomes.size:,} solves: {', '.join(parts)}; {self.iterations.mean():.1f} iterations on average"
            )
        said = f"{in_words(self.outcome)} after {self.iterations} iteration{'s' if self.iterations != 1 else ''}"
        away = [
            text
            for goal, d, a in zip(self.goals, self.distance, self.angle, strict=True)
            for text in [_away(goal, d, a)]
        ]
        return f"{said}, {'; '.join(away)}" + ("" if self.arrived else f": {self.why}")

    def __repr__(self) -> str:
        return f"<Solution: {self}>"


def _error(linkage: Linkage, goal: Goal, q: Array, shape: tuple[int, ...]) -> Array:
    tip = linkage.frame(q, goal.link)
    out = np.zeros((*shape, 6))
    free = np.array([w == 0 for w in goal.weight or (1.0, 1.0, 1.0)])
    if goal.position is not None:
        out[..., :3] = _outside(np.where(free, 0.0, goal.position - tip.apply(goal.point)), goal.slack)
    if goal.orientation is not None:
        turn = np.zeros((*shape, 4, 4))
        turn[..., :3, :3] = goal.orientation @ np.swapaxes(tip.rotation, -1, -2)
        out[..., 3:] = _outside(
            np.where(np.array(goal.turn_weight) == 0, 0.0, _core.log_rotation(turn)), goal.turn_slack
        )
    elif goal.axis is not None and goal.direction is not None:
        at = tip.rotation @ goal.axis
        across = np.cross(at, goal.direction)
        sine = np.linalg.norm(across, axis=-1, keepdims=True)
        cosine = np.sum(at * goal.direction, axis=-1, keepdims=True)
        angle = np.maximum(np.arctan2(sine, cosine) - goal.turn_slack[0], 0.0)
        other = np.cross(at, np.where(np.abs(at[..., :1]) < 0.6, [1.0, 0, 0], [0, 1.0, 0]))
        back = other / np.linalg.norm(other, axis=-1, keepdims=True)
        out[..., 3:] = (
            np.where(sine > 1e-12, across / np.where(sine > 0, sine, 1), np.where(cosine > 0, 0.0, back)) * angle
        )
    return out


def _outside(error: Array, slack: tuple[float, ...]) -> Array:
    """The part of an error (..., 3) that lies outside a box."""
    if not any(slack):
        return error
    box = np.array(slack)
    outside: Array = error - np.clip(error, -box, box)
    return outside


def _away(goal: Goal, distance: float, angle: float) -> str:
    parts = []
    if goal.position is not None:
        parts.append(said_length(distance))
    if goal.orientation is not None or goal.axis is not None:
        parts.append(said_angle(angle))
    return f"{goal.link} {' and '.join(parts)} away"


def _reasons(found: Solution) -> list[str]:
    """What stands in the way: all that the search can find out; for other methods, what holds them back there."""
    from supple._solve.search import joint_weights
    from supple.solver import Solver

    how = found.solver
    again = how if how.searches else Solver(tolerance=how.tolerance, keep_limits=how.keep_limits)
    again = replace(again, prefer=nothing, timeout=None, max_iterations=None)
    locked = joint_weights(found.linkage, again.joint_weights) == 0

    def solve(goals: Sequence[Goal], start: Array, keep_limits: bool) -> Solution:
        limited = again if keep_limits else replace(again, keep_limits=False)
        return limited.solve(found.linkage, goals, np.where(locked, found.q, start), progress=False)

    reasons = explanation.unreachable(found.linkage, found.goals, found.q, found.error, solve)
    free = replace(again, joint_weights=None)
    if locked.any() and reasons != [explanation.ELSEWHERE] and free.solve(found.linkage, found.goals, found.q).arrived:
        names = [name for name, held in zip(found.linkage.names, locked, strict=True) if held]
        reasons.append(f"with {explanation.listed(names)} unlocked it can be reached")
    if how.searches:
        return reasons
    return _here(found) + reasons if reasons == [explanation.ELSEWHERE] else reasons


def _here(found: Solution) -> list[str]:
    """What holds a method back that goes one way: joints at their limits, or else a singular place."""
    linkage, q = found.linkage, found.q
    helps = np.zeros(linkage.dof, dtype=bool)  # the values of q that move some end effector from here
    singular = []
    for goal, error in zip(found.goals, found.error, strict=True):
        J = linkage.jacobian(q, goal.link, point=goal.point)
        helps |= J.any(axis=0)
        if np.linalg.norm(error @ J) < 1e-6 * np.linalg.norm(error) * np.linalg.norm(J):
            singular.append(f"singular here: no joint moves {goal.link} nearer")
    sides = np.where(helps, 1.0 * (q >= linkage.upper - 1e-9) - (q <= linkage.lower + 1e-9), 0.0)
    return explanation.at_limits(linkage.names, sides) or singular
