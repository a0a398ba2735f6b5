"""One problem or many: what a solve is asked, shared out in slices that can be shown and interrupted."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from supple._progress import Progress
from supple.errors import BadInput, Interrupted
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solution import Outcome, Solution

if TYPE_CHECKING:
    from supple.solver import Solver

Work = Callable[[Array, "Array | None", Array, Array, int, int], None]
"""Solves rows of goals (k, goals, 12) and starts (k, dof), if any, into q (k, ..., dof) and report (k, ..., 4), in place.

The last two numbers say which rows. A row of the report: outcome, iterations, starts, squared error."""

_SLICE, _PAUSE = 2048, 0.15  # rows at first; seconds of a slice, so that Ctrl-C is heard


@dataclass(frozen=True)
class Asked:
    """What a solve is asked."""

    linkage: Linkage
    goals: Sequence[Goal]
    start: Array | None
    shape: tuple[int, ...]
    solutions: int | None
    out: Array | None
    progress: bool | None

    def __post_init__(self) -> None:
        count = self.solutions
        if count is not None and (not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 1000):
            raise BadInput(f"solutions must be a whole number between 1 and 1000, got {count!r}")
        if self.progress not in (None, True, False):
            raise BadInput(f"progress must be True, False or None, got {self.progress!r}")
        if self.out is None:
            return
        if count is not None:
            raise BadInput("out holds one answer for each goal; with solutions=, take q from the solution")
        out, wanted = self.out, (*self.shape, self.linkage.dof)
        fits = isinstance(out, np.ndarray) and out.dtype == np.float64 and out.shape == wanted
        if not (fits and out.flags.c_contiguous and out.flags.writeable):
            raise BadInput(f"out must be a writable, C-contiguous float64 array of shape {wanted}")


def solved(asked: Asked, work: Work, solver: Solver) -> Solution:
    """The solution of all rows. Rows that are not finite are INVALID and keep their start; a single one raises.

    With several answers for each it has one axis more; for a single goal, only those that were found.
    """
    linkage, shape = asked.linkage, asked.shape
    count, dof = math.prod(shape), linkage.dof
    numbers = goal_numbers(asked.goals, shape)
    begin = None
    if asked.start is not None:
        begin = np.ascontiguousarray(np.broadcast_to(asked.start, (*shape, dof))).reshape(count, dof)
    good: Any = None
    if not np.isfinite(numbers).all() or (begin is not None and not np.isfinite(begin).all()):
        good = np.isfinite(numbers).all(axis=(1, 2))
        if begin is not None:
            good &= np.isfinite(begin).all(axis=1)
            begin = np.where(np.isfinite(begin), begin, linkage.rest)
        if not shape:
            raise BadInput("a goal must be finite")
    tail = () if asked.solutions is None else (asked.solutions,)
    q = np.empty((count, *tail, dof)) if asked.out is None else asked.out.reshape(count, dof)
    q[...] = linkage.rest if begin is None else begin.reshape(count, *(1 for _ in tail), dof)
    report = np.zeros((count, *tail, 4))
    report[..., 0] = Outcome.SPENT.value
    if good is not None:
        report[~good, ..., 0] = Outcome.INVALID.value

    def shaped() -> Solution:
        return Solution._of(linkage, asked.goals, shape, tail, q, report, solver)

    try:
        if good is None:
            _sliced(work, numbers, begin, q, report, asked.progress)
        else:
            part, told = q[good], report[good]
            try:
                _sliced(work, numbers[good], None if begin is None else begin[good], part, told, asked.progress)
            finally:
                q[good], report[good] = part, told
    except KeyboardInterrupt:
        raise Interrupted(shaped()) from None
    return shaped()


def goal_numbers(goals: Sequence[Goal], shape: tuple[int, ...]) -> Array:
    """The goals as the core reads them (rows, goals, 12), for rows of that shape."""
    rows = [goal.numbers(shape) for goal in goals]
    whole = rows[0] if len(rows) == 1 else np.stack(rows, axis=-2)
    return whole.reshape(math.prod(shape), len(goals), 12)


def _sliced(work: Work, numbers: Array, begin: Array | None, q: Array, report: Array, progress: bool | None) -> None:
    """The work in slices of a fraction of a second: between two of them Ctrl-C is heard and the bar moves."""
    count = len(numbers)
    if count <= _SLICE:
        work(numbers, begin, q, report, 0, count)
        return
    first, size = 0, _SLICE
    with Progress("solving", count, shown=progress is not False, anywhere=progress is True) as bar:
        while first < count:
            last, then = min(first + size, count), time.perf_counter()
            work(numbers, begin, q, report, first, last)
            taken = time.perf_counter() - then
            size = max(64, min(int(size * min(4.0, _PAUSE / max(taken, 1e-6))), 1 << 20))
            bar.step(last - first)
            first = last
