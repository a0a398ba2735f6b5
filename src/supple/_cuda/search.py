"""The search on a GPU: a compiled solver in its memory, and the results of a solve."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from supple import _core
from supple._cuda import driver
from supple._cuda.arm_search import ArmSearch
from supple._cuda.blocks import NONE, Output, Part, head_of, numbers, part_from, placed
from supple._cuda.driver import DeviceArray
from supple._cuda.general_search import GeneralSearch

CHUNK = 1 << 21
"""Rows that are solved together, at most."""
_REAL, _WHOLE, _BYTES = np.dtype(np.float64), np.dtype(np.int32), np.dtype(np.uint8)


class Found:
    """Results of a solve on a GPU: arrays with one row for each problem."""

    def __init__(self, q: DeviceArray, report: DeviceArray, shape: tuple[int, ...]) -> None:
        self.q = q
        """(rows, dof), or (rows, wanted, dof) if several solutions were wanted."""
        self.report, self.count, self._shape = report, math.prod(shape), shape
        """All other results, a block of bytes; and how many solutions there are."""

    def _part(self, before: int, dtype: np.dtype[Any]) -> DeviceArray:
        """A part of the report, after so many bytes for each solution."""
        report = self.report
        pointer = report.pointer + before * self.count if self.count else 0
        return driver.wrapped(pointer, self._shape, dtype, report.ordinal, report.stream, report)

    @functools.cached_property
    def position_error(self) -> DeviceArray:
        """The largest distance of a row's goals, in metres, of what is returned; as float64."""
        return self._part(0, _REAL)

    @functools.cached_property
    def angle_error(self) -> DeviceArray:
        """The largest angle of a row's goals, in radians."""
        return self._part(8, _REAL)

    @functools.cached_property
    def outcome(self) -> DeviceArray:
        """(rows,) or (rows, wanted) of int32: numbers of `Outcome`."""
        return self._part(16, _WHOLE)

    @functools.cached_property
    def iterations(self) -> DeviceArray:
        """As int32."""
        return self._part(20, _WHOLE)

    @functools.cached_property
    def restarts(self) -> DeviceArray:
        """As int32."""
        return self._part(24, _WHOLE)


_REPORT_BYTES = 28  # of a solution


class DeviceSolver:
    """A compiled solver in the memory of a GPU."""

    def __init__(self, solver: _core.SearchSolver, ordinal: int) -> None:
        block, single, double, goal_kind, sizes = _core.solver_block(solver)
        self.dof, self.n = sizes[:2]
        self.ordinal, self.sizes = ordinal, sizes
        self._device = driver.device(ordinal)
        self.block = placed(block, ordinal)
        self._arm = (single, double, goal_kind)
        self._head = head_of(block, self.block.pointer)

    @property
    def has_arm(self) -> bool:
        """Whether the goal is one that the kernels of an arm have: then the search runs in single precision first."""
        return self._arm[0] is not None

    @functools.cached_property
    def arm(self) -> ArmSearch:
        """The kernels of an arm, compiled when they are first used."""
        single, double, kind = self._arm
        assert single is not None
        assert double is not None
        return ArmSearch(self.block, self._head, self.n, kind, single, double, self.ordinal)

    @functools.cached_property
    def general(self) -> GeneralSearch:
        """The kernels of any goals, compiled when they are first used."""
        return GeneralSearch(self.block, self.sizes, self.ordinal)

    def solve(
        self,
        goals: Sequence[Part],
        rows: int,
        stream: int,
        *,
        starts: DeviceArray | None = None,
        wanted: int = 0,
        dtype: DTypeLike = np.float64,
        q: DeviceArray | None = None,
    ) -> Found:
        """Solves each row. ``goals`` has the parts of each goal, see `blocks.numbers` and `blocks.frame_goal`.

        ``starts`` (rows, dof) or (dof,); ``wanted``: several solutions for each row, nearest first. q is of that dtype,
        and the caller's array if there is one;
        in single precision it is rounded towards the inside of the limits, and judged as it is returned.
        """
        with self._device.current():
            shape = (rows, wanted) if wanted else (rows,)
            found = Found(*self._results(shape, dtype, q, stream), shape)
            q, report = found.q, found.report
            solutions = Output(q.pointer, q.dtype.itemsize, self.dof, report.pointer, found.count)
            if starts is None and wanted <= 1 and self.has_arm:
                self._solve_arm(goals[0], rows, solutions, stream)
            else:
                self._solve_general(goals, rows, starts, wanted, solutions, stream)
        return found

    def _results(
        self, shape: tuple[int, ...], dtype: DTypeLike, q: DeviceArray | None, stream: int
    ) -> tuple[DeviceArray, DeviceArray]:
        """Memory for q and the report: taken at once, unless the caller or another library has that of q."""
        count, ordinal = math.prod(shape), self.ordinal
        if q is not None or not count or getattr(stream, "allocate", None) is not None:
            made = driver.empty((*shape, self.dof), dtype, ordinal, stream) if q is None else q
            return made, driver.empty((_REPORT_BYTES * count,), _BYTES, ordinal, stream)
        kind = np.dtype(dtype)
        first = -(-count * self.dof * kind.itemsize // 256) * 256
        whole = driver.empty((first + _REPORT_BYTES * count,), _BYTES, ordinal, stream)
        made = driver.wrapped(whole.pointer, (*shape, self.dof), kind, ordinal, stream, whole)
        begin, size = whole.pointer + first, _REPORT_BYTES * count
        return made, driver.wrapped(begin, (size,), _BYTES, ordinal, stream, whole)

    def _solve_arm(self, goal: Part, rows: int, solutions: Output, stream: int) -> None:
        for first in range(0, rows, CHUNK):
            here = part_from(goal, first) if first else goal
            self.arm.solve(here, min(CHUNK, rows - first), first, solutions, stream)

    def _solve_general(
        self,
        goals: Sequence[Part],
        rows: int,
        starts: DeviceArray | None,
        wanted: int,
        solutions: Output,
        stream: int,
    ) -> None:
        begin = NONE if starts is None else numbers(starts, 1)
        for first in range(0, rows, CHUNK):
            here = [part_from(goal, first) for goal in goals]
            self.general.solve(here, min(CHUNK, rows - first), first, begin, max(wanted, 1), solutions, stream)
