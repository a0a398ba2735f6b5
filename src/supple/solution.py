"""Solution: the result of a solve, with a measured error and a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple import _check
from supple._linkage.text import value_rows
from supple._solve import explanation
from supple._solve.goal_error import goal_error
from supple._solve.text import angle_text, length_text
from supple._solve.tolerance import Tolerance
from supple._table import html_table
from supple.frame import Array
from supple.goal import Goal, take_rows
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.solver import Solver

_ZERO: Any = np.float64(0)
_OTHER_WORDS = {
    "converged": "arrived",
    "joints": "q",
    "orientation_error": "angle",
    "position_error": "distance",
    "reason": "why",
    "residual": "error",
    "rotation_error": "angle",
    "solved": "arrived",
    "status": "outcome",
    "success": "arrived",
    "x": "q",
}
"""Attributes of the results of other libraries."""
_COUNTS = ("outcomes", "iterations", "starts", "largest_step", "path")


class Outcome(Enum):
    """How a solve ended.

    >>> import supple
    >>> arm = supple.models.planar3()
    >>> supple.solve(arm, supple.Goal("tip", position=[12, 6, 0])).outcome
    <Outcome.ARRIVED: 0>
    """

    ARRIVED = 0
    """Every goal is within tolerance."""
    STUCK = 1
    """The error does not fall any more."""
    OUT_OF_BUDGET = 2
    """The iterations or the time are used up."""
    INVALID = 3
    """This row of a batch has a goal or a start that is not finite."""
    NO_MORE = 4
    """With ``solutions=``: no further solution was found for this goal. The row repeats the first one."""


_ARRIVED = Outcome.ARRIVED.value
_BOOLS: Any = (np.False_, np.True_)


def in_words(outcome: Outcome) -> str:
    """An outcome as a sentence says it: "out of budget"."""
    return outcome.name.lower().replace("_", " ")


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a solve, of one problem or many. A frozen value, which threads may share.

    Every array has the leading axes of the goals and the start, written (...) below. For one problem there are none:
    ``arrived`` and the counts are then NumPy scalars, which have the methods of arrays. ``if found:`` asks whether one
    solution arrived; of many, ask ``found.arrived.all()``.

    >>> import supple
    >>> arm = supple.models.panda()
    >>> goals = supple.Goal("panda_hand_tcp", arm.frame(arm.random(4, seed=0), "panda_hand_tcp"))
    >>> found = supple.solve(arm, goals)
    >>> found.arrived
    array([ True,  True,  True,  True])
    >>> found[0].outcome.name
    'ARRIVED'
    """

    linkage: Linkage
    goals: tuple[Goal, ...]
    q: Array
    """Joint values (..., dof): of the solution, or the nearest that were visited."""
    outcomes: NDArray[np.int64]
    """How each solve ended (...), as the values of `Outcome`."""
    iterations: NDArray[np.int64]
    """Iterations (...); of a search, those of the seed that arrived, or else of the seeds together, batch by batch."""
    starts: NDArray[np.int64]
    """How many seeds the search used (...); 1 for other methods."""
    largest_step: Array
    """The largest change of a joint in one step (...), in radians or metres; 0 for the search."""
    path: Array
    """Length of the path through joint values (...); 0 for the search, which restarts elsewhere."""
    solver: Solver
    """The solver that was used."""

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
        """From rows of q (rows, *tail, dof) and their report (columns, rows, *tail).

        The columns are outcomes and iterations, then the seeds of a search, or the largest step and the path of
        another method. ``tail`` is the number of solutions for each row, if several were requested.
        """
        if tail and not shape:  # for a single goal, only those that were found
            tail = (max(1, int(np.sum(report[0] == Outcome.ARRIVED.value))),)
            q, report = q[:, : tail[0]], report[:, :, : tail[0]]
        elif tail:
            rows = np.repeat(np.arange(len(q)), tail[0]).reshape(*shape, *tail)
            goals = [take_rows(goal, shape, rows) for goal in goals]
        shape += tail
        columns: list[Any] = [column.reshape(shape) for column in report]
        if solver.searches:
            zeros = np.broadcast_to(np.zeros(()), shape)
            columns += [zeros, zeros]
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
        """From the core's answer for one goal. It bypasses the constructor, which would take as long as the search."""
        made = object.__new__(cls)
        fields = made.__dict__
        fields["linkage"] = linkage
        fields["goals"] = (goal,)
        fields["q"] = answer[0]
        fields["solver"] = solver
        fields["_answer"] = answer
        return made

    if not TYPE_CHECKING:  # a misspelt name is found by type checkers

        def __getattr__(self, name: str) -> Any:
            """A field of a single answer that is not set yet: NumPy scalars are made when the first of them is read."""
            answer = self.__dict__.get("_answer")
            if answer is None or name not in _COUNTS:
                hint = f"; did you mean {_OTHER_WORDS[name]}?" if name in _OTHER_WORDS else ""
                raise AttributeError(f"a Solution has no {name!r}{hint}")
            fields = dict(zip(_COUNTS, (*map(np.int64, answer[1:]), _ZERO, _ZERO), strict=True))
            self.__dict__.update(fields)
            return fields[name]

    @cached_property
    def error(self) -> Array:
        """Goal minus end effector (..., goals, 6): metres, then radians.

        In world axes; of a goal with ``relative_to``, in the axes of that link.
        A component that a goal leaves free is 0; with slack, only the part outside of the slack counts.
        """
        shape = self.outcomes.shape
        return np.stack([goal_error(self.linkage, goal, self.q, shape) for goal in self.goals], axis=-2)

    @property
    def outcome(self) -> Outcome:
        """How a single solve ended. For many, compare ``outcomes`` with ``Outcome.STUCK.value``, or use found[i]."""
        if self.outcomes.ndim:
            raise ValueError("many solutions have many outcomes; use found.outcomes, or found[i].outcome")
        return Outcome(int(self.outcomes))

    @property
    def arrived(self) -> NDArray[np.bool_]:
        """Whether every goal is within tolerance (...); a NumPy bool for one solution."""
        answer = self.__dict__.get("_answer")
        if answer is not None:
            one: NDArray[np.bool_] = _BOOLS[answer[1] == _ARRIVED]
            return one
        arrived: NDArray[np.bool_] = self.outcomes == Outcome.ARRIVED.value
        return arrived

    def __bool__(self) -> bool:
        answer = self.__dict__.get("_answer")
        if answer is not None:  # without the NumPy scalars of `outcomes`
            return bool(answer[1] == _ARRIVED)
        if self.outcomes.ndim:
            raise ValueError("many solutions are neither true nor false; use found.arrived.all() or .any()")
        return bool(self.outcomes == Outcome.ARRIVED.value)

    @property
    def distance(self) -> Array:
        """Distance of the positions from their goals (..., goals), in metres."""
        distance: Array = np.linalg.norm(self.error[..., :3], axis=-1)
        return distance

    @property
    def angle(self) -> Array:
        """Angle of the orientations from their goals (..., goals), in radians."""
        angle: Array = np.linalg.norm(self.error[..., 3:], axis=-1)
        return angle

    @cached_property
    def why(self) -> str:
        """Why a single solve did not arrive, in words; empty if it did. It may take some more solves.

        >>> import supple
        >>> arm = supple.models.planar3()
        >>> supple.solve(arm, supple.Goal("tip", position=[50, 0, 0])).why
        'tip is out of reach by 20 m along +x'
        """
        if self.outcomes.ndim:
            raise ValueError("many solutions have many reasons; use found[i].why")
        if self.outcome is Outcome.ARRIVED:
            return ""
        if self.outcome is Outcome.INVALID:
            return "the goal or the start is not finite"
        if self.outcome is Outcome.NO_MORE:
            return "no further solution was found; this row repeats the first"
        return "; ".join(explanation.solution_reasons(self)) or "no nearer from this start"

    def __getitem__(self, index: Any) -> Solution:
        """One row of many, or some; NumPy's rules for an index of the leading axes."""
        if not self.outcomes.ndim:
            raise IndexError("a single solution cannot be indexed")
        shape, size = self.outcomes.shape, self.outcomes.size
        try:
            rows = np.arange(size).reshape(shape)[_check.index(index)]
        except IndexError:
            raise _check.no_such_index(index, shape, "solutions") from None
        arrays = (self.q, self.outcomes, self.iterations, self.starts, self.largest_step, self.path)
        taken: Any = (array.reshape(size, *array.shape[len(shape) :])[rows] for array in arrays)
        q, outcomes, iterations, starts, largest, path = taken
        goals = tuple(take_rows(goal, shape, rows) for goal in self.goals)
        return Solution(self.linkage, goals, q, outcomes, iterations, starts, largest, path, self.solver)

    def __len__(self) -> int:
        if not self.outcomes.ndim:
            raise TypeError("a single solution has no length")
        return len(self.outcomes)

    def __str__(self) -> str:
        ended = self._counts()
        if self.outcomes.ndim:
            return ended
        near = self.solver.tolerance
        remaining = [_remaining(*each, near) for each in zip(self.goals, self.distance, self.angle, strict=True)]
        return f"{ended}, {'; '.join(remaining)}" + (f": {self.why}" if self.why else "")

    def _counts(self) -> str:
        """The outcomes and iterations in words, without any reason: nothing is solved for this text."""
        if not self.outcomes.ndim:
            return f"{in_words(self.outcome)} after {self.iterations} iteration{'s' if self.iterations != 1 else ''}"
        if not self.outcomes.size:
            return "0 solves"
        counts = self._outcome_counts()
        repeats = counts.pop(Outcome.NO_MORE, 0)
        parts = [f"{count:,} {in_words(outcome)}" for outcome, count in counts.items()] or ["0 arrived"]
        mean = self.iterations[self.outcomes != Outcome.NO_MORE.value].mean() if counts else 0.0
        text = f"{sum(counts.values()):,} solves: {', '.join(parts)}; {mean:.1f} iterations on average"
        if not repeats:
            return text
        rows = f"{repeats:,} rows repeat" if repeats > 1 else "1 row repeats"
        return f"{text}; no more solutions were found: {rows} the first of the same goal"

    def _outcome_counts(self) -> dict[Outcome, int]:
        """How many solves ended in each way, of those ways that occur."""
        counts = np.bincount(self.outcomes.ravel(), minlength=len(Outcome))
        return {outcome: int(counts[outcome.value]) for outcome in Outcome if counts[outcome.value]}

    def __repr__(self) -> str:
        return f"<Solution: {self}>"

    def _repr_html_(self) -> str:
        """For a notebook: the joint values of one solution, or the counts of many."""
        if self.outcomes.ndim:
            ended = [(in_words(outcome), f"{count:,}") for outcome, count in self._outcome_counts().items()]
            return html_table(str(self), [("outcome", "solves"), *ended], "<>")
        return html_table(str(self), value_rows(self.linkage, {"value": self.q}), "<<>")


def _remaining(goal: Goal, distance: float, angle: float, tolerance: Tolerance) -> str:
    """What remains of the error of a goal, in words."""
    parts = []
    if goal.position is not None and distance > tolerance.position:
        parts.append(length_text(distance))
    if (goal.orientation is not None or goal.axis is not None or goal.pole is not None) and angle > tolerance.angle:
        parts.append(angle_text(angle))
    return f"{goal.link} {' and '.join(parts)} away" if parts else f"{goal.link} within tolerance"
