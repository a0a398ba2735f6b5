"""Many problems in one call: solved in slices, so that progress is shown and Ctrl-C is noticed between them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from supple import _check
from supple._linkage.limits import exact
from supple._progress import Progress
from supple._solve import margins
from supple.errors import BadInput, Interrupted
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solution import Outcome, Solution

if TYPE_CHECKING:
    from supple.solver import Solver

Work = Callable[[Array, Array, int, int], None]
"""Writes the solutions of rows first to last - 1 to q (rows, ..., dof) and to their report."""

_UNDONE = -1  # outcome of a row that is not solved yet
_FIRST_SLICE = 2048  # rows
_SLICE_SECONDS = 0.15


@dataclass(frozen=True)
class Request:
    """The arguments of one `Solver.solve`, checked."""

    linkage: Linkage
    goals: Sequence[Goal]
    start: Array | None
    shape: tuple[int, ...]
    solutions: int | None
    out: Array | None
    progress: bool | None

    def __post_init__(self) -> None:
        count = self.solutions
        if count is not None:
            _check.whole(count, "solutions", 1, 1000)
        if self.progress not in (None, True, False):
            raise BadInput(f"progress must be True, False or None, got {_check.short(self.progress)}")
        if self.out is None:
            return
        if count is not None:
            raise BadInput("out holds one solution for each goal; with solutions=, take q from the result")
        out, shape = self.out, (*self.shape, self.linkage.dof)
        fits = isinstance(out, np.ndarray) and out.dtype == np.float64 and out.shape == shape
        if not (fits and out.flags.c_contiguous and out.flags.writeable):
            raise BadInput(f"out must be a writable, C-contiguous float64 array of shape {shape}")

    @property
    def start_rows(self) -> Array | None:
        """Joint values (rows, dof) that each row starts from, or None."""
        if self.start is None:
            return None
        whole = (*self.shape, self.linkage.dof)
        return np.ascontiguousarray(np.broadcast_to(self.start, whole)).reshape(-1, self.linkage.dof)


def run(request: Request, work: Work, report: Any, solver: Solver) -> Solution:
    """The solution of all rows. ``report`` receives their outcomes and counts, see `Solution._from_rows`.

    Several solutions for each row add one axis.
    """
    linkage, shape = request.linkage, request.shape
    count, dof = math.prod(shape), linkage.dof
    tail = () if request.solutions is None else (request.solutions,)
    q = np.empty((count, *tail, dof)) if request.out is None else request.out.reshape(count, dof)
    report[0] = _UNDONE
    try:
        _in_slices(work, count, q, report, request.progress)
    except KeyboardInterrupt:
        undone = (report[0] == _UNDONE).reshape(count, -1).any(axis=1)
        start = request.start_rows
        rest = linkage.rest if start is None else start[undone].reshape(-1, *(1 for _ in tail), dof)
        q[undone] = np.where(np.isfinite(rest), rest, linkage.rest)
        report[0, undone], report[1:, undone] = Outcome.OUT_OF_BUDGET.value, 0
        raise Interrupted(Solution._from_rows(linkage, request.goals, shape, tail, q, report, solver)) from None
    return Solution._from_rows(linkage, request.goals, shape, tail, q, report, solver)


def solve_rows(request: Request, solve: Callable[[Array, Array], tuple[Array, Array]], solver: Solver) -> Solution:
    """The solution of a method that takes goals (rows, goals, 12) and starts (rows, dof).

    Rows that are not finite are INVALID; a single one raises.
    """
    count = math.prod(request.shape)
    numbers = goal_numbers(request.goals, request.shape)
    valid: Any = np.isfinite(numbers).all(axis=(1, 2))
    begin = request.start_rows
    if begin is None:
        begin = np.broadcast_to(request.linkage.rest, (count, request.linkage.dof))
    valid &= np.isfinite(begin).all(axis=1)
    if not request.shape and not valid.all():
        raise BadInput("a goal must be finite")

    def work(q: Array, report: Array, first: int, last: int) -> None:
        rows = first + np.flatnonzero(valid[first:last])
        invalid = first + np.flatnonzero(~valid[first:last])
        q[invalid] = np.where(np.isfinite(begin[invalid]), begin[invalid], request.linkage.rest)
        report[0, invalid] = Outcome.INVALID.value
        q[rows], reported = solve(numbers[rows], _usable_start(request.linkage, begin[rows], solver))
        report[:, rows] = reported.T

    return run(request, work, np.zeros((4, count)), solver)


def _usable_start(linkage: Linkage, start: Array, solver: Solver) -> Array:
    """Finite starts (rows, dof) with whole turns taken off angles that are too large to be exact, and within limits."""
    begin = exact(linkage, start)
    return margins.clamp(linkage, begin, solver.margin) if solver.keep_limits else begin


def parts(goal: Goal, shape: tuple[int, ...]) -> tuple[Array | None, Array | None, Array | None]:
    """Position (or point to look at), orientation and direction of a goal.

    Each has one row for each problem of that shape, or one for all.
    """

    def rows(array: Array | None, last: int) -> Array | None:
        if array is None or array.ndim == last or (len(shape) == 1 and array.shape[:-last] == shape):
            return array
        tail = array.shape[array.ndim - last :]
        return np.broadcast_to(array, (*shape, *tail)).reshape(math.prod(shape), *tail)

    return rows(goal._place, 1), rows(goal.orientation, 2), rows(goal.direction, 1)


def goal_numbers(goals: Sequence[Goal], shape: tuple[int, ...]) -> Array:
    """The goals as the core reads them (rows, goals, 12), for rows of that shape."""
    rows = [goal._encoded(shape) for goal in goals]
    whole = rows[0] if len(rows) == 1 else np.stack(rows, axis=-2)
    return whole.reshape(math.prod(shape), len(goals), 12)


def _in_slices(work: Work, count: int, q: Array, report: Array, progress: bool | None) -> None:
    """The work in slices of about `_SLICE_SECONDS`; the number of rows adapts to the time they take."""
    if count <= _FIRST_SLICE:
        work(q, report, 0, count)
        return
    first, size = 0, _FIRST_SLICE
    with Progress("solving", count, shown=progress is not False, anywhere=progress is True) as bar:
        while first < count:
            last, began = min(first + size, count), time.perf_counter()
            work(q, report, first, last)
            taken = time.perf_counter() - began
            size = max(64, min(int(size * min(4.0, _SLICE_SECONDS / max(taken, 1e-6))), 1 << 20))
            bar.step(last - first)
            first = last
