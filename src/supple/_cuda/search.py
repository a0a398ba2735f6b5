"""The search on a GPU: a compiled solver in its memory, and the kernels of a solve."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from ctypes import c_int, c_longlong
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from supple import _core
from supple._cuda import driver
from supple._cuda.blocks import NONE, Answers, Numbers, Part, Rows, by_value, numbers, placed
from supple._cuda.driver import DeviceArray

FEW_ROWS = 4096
"""Up to so many rows each is solved by a warp of its own; of more, each is solved by one thread."""
SEEDS = 4
"""Seeds of a row that its thread tries; a row that needs more gets a warp."""
CHUNK = 1 << 21
"""Rows that are solved together, at most."""
LEFT_RESTARTS = 96
"""Restarts in double precision of a row that has had all of its restarts in single precision."""
_THREADS = 128  # of a block
_COUNTERS = 8  # of a solve: next row, hard rows, next hard row, rows left, next of them
_LEFT, _NEXT_LEFT = 3, 4  # places of counters
_FAST_COMPILATION = ("--Ofast-compile=max",)  # of kernels that solve what others leave, or goals of any kind
_POOL_BYTES = 1 << 30  # scratch of the general search, at most


@dataclass(frozen=True)
class Found:
    """Results of a solve on a GPU: arrays with one row for each problem."""

    q: DeviceArray
    """(rows, dof), or (rows, wanted, dof) if several answers were wanted."""
    outcome: DeviceArray
    """(rows,) or (rows, wanted) of int32: numbers of `Outcome`."""
    position_error: DeviceArray
    """The largest distance of a row's goals, in metres, of what is returned; as float64."""
    angle_error: DeviceArray
    """The largest angle of a row's goals, in radians."""
    iterations: DeviceArray
    """As int32."""
    restarts: DeviceArray
    """As int32."""


class DeviceSolver:
    """A compiled solver in the memory of a GPU."""

    def __init__(self, solver: _core.SearchSolver, ordinal: int) -> None:
        block, single, double, sizes = _core.solver_block(solver)
        self._dof, self._n, self._targets, self._axes, self._thread_bytes, self._warp_bytes = sizes
        self._block, self._ordinal = placed(block, ordinal), ordinal
        self._single, self._double = single, double

    @functools.cached_property
    def modules(self) -> dict[str, driver.Module]:
        """The kernels by name, compiled side by side when they are first used."""
        wanted: dict[str, tuple[str, dict[str, object], tuple[str, ...]]] = {
            "general": ("general.cu", {"SUPPLE_AXES": self._axes, "SUPPLE_COMPACT": 1}, _FAST_COMPILATION)
        }
        if self.has_arm:
            wanted["arm"] = ("arm.cu", {"SUPPLE_JOINTS": self._n}, ())
            wanted["warps"] = ("arm_warps.cu", {"SUPPLE_JOINTS": self._n}, ())
        with ThreadPoolExecutor(len(wanted)) as pool:
            made = pool.map(lambda each: driver.module(self._ordinal, *each), wanted.values())
            return dict(zip(wanted, made, strict=True))

    @property
    def has_arm(self) -> bool:
        """Whether the goal is one frame of an arm: then the search runs in single precision first."""
        return self._single is not None

    def solve(
        self,
        goals: Sequence[Part],
        rows: int,
        stream: int,
        *,
        starts: DeviceArray | None = None,
        wanted: int = 0,
        dtype: DTypeLike = np.float64,
    ) -> Found:
        """Solves each row. ``goals`` has the parts of each goal, see `blocks.numbers` and `blocks.frame_goal`.

        ``starts`` (rows, dof) or (dof,); ``wanted``: several answers for each row, nearest first. q is of that dtype;
        in single precision it is rounded towards the inside of the limits, and judged as it is returned.
        """
        found = self._results(rows, wanted, np.dtype(dtype), stream)
        begin = NONE if starts is None else numbers(starts, 1)
        for first in range(0, rows, CHUNK):
            part = _Chunk(self, found, first, min(CHUNK, rows - first), max(wanted, 1), stream)
            ours = [tuple(_from(each, first) for each in goal) for goal in goals]
            if self.has_arm and starts is None and not wanted:
                part.solve_arm(ours[0])
            else:
                part.solve_general(ours, _from(begin, first))
        return found

    def _results(self, rows: int, wanted: int, kind: np.dtype[Any], stream: int) -> Found:
        shape = (rows, wanted) if wanted else (rows,)

        def made(dtype: DTypeLike, *last: int) -> DeviceArray:
            return driver.empty((*shape, *last), dtype, self._ordinal, stream)

        integers, reals = np.int32, np.float64
        return Found(made(kind, self._dof), made(integers), made(reals), made(reals), made(integers), made(integers))


def _from(given: Numbers, first: int) -> Numbers:
    """The same array from a row on."""
    if not given.data:
        return given
    offset = first * given.row * (4 if given.single else 8)
    return Numbers(given.data + offset, given.row, given.step, given.inner, given.single)


class _Chunk:
    """Some rows of a solve: their work arrays, and the launches of their kernels."""

    def __init__(self, owner: DeviceSolver, found: Found, first: int, count: int, wanted: int, stream: int) -> None:
        self._owner, self._count, self._stream, self._wanted = owner, count, stream, wanted
        self._goals = self._empty(count * owner._targets * 12, np.float64)
        self._q = self._empty(count * wanted * owner._n, np.float64)
        self._state = self._empty(4 * count, np.int32)
        self._counters = self._empty(_COUNTERS, np.int32)
        driver.fill_bytes(self._counters, 0, stream)
        outcome, iterations, restarts, answers = (self._state.pointer + 4 * count * i for i in range(4))
        several = answers if wanted > 1 else None
        self._rows = Rows(self._goals.pointer, None, self._q.pointer, outcome, iterations, restarts, several, wanted)
        at, size = first * wanted, found.q.dtype.itemsize
        self._answers = Answers(
            found.q.pointer + at * owner._dof * size,
            size == 4,
            *(each.pointer + 4 * at for each in (found.outcome, found.iterations, found.restarts)),
            *(each.pointer + 8 * at for each in (found.position_error, found.angle_error)),
        )

    def _empty(self, size: int, dtype: DTypeLike) -> DeviceArray:
        return driver.empty((size,), dtype, self._owner._ordinal, self._stream)

    def solve_arm(self, goal: Part) -> None:
        """One frame of an arm: in single precision, what that does not solve in double precision."""
        owner, count, rows = self._owner, c_longlong(self._count), self._rows
        assert owner._single is not None
        assert owner._double is not None
        single, double = by_value(owner._single), by_value(owner._double)
        module, warps = owner.modules["arm"], owner.modules["warps"]
        lists = self._empty(2 * self._count, np.int32)
        hard, left = lists.pointer, lists.pointer + 4 * self._count
        each = -(-self._count // _THREADS)

        def launch(name: str, grid: int, *args: Any) -> None:
            (warps if name == "search_in_warps" else module).launch(name, grid, _THREADS, args, self._stream)

        position, orientation, _ = goal
        few = self._count <= FEW_ROWS
        if not few:
            seeds = self._empty(self._count * SEEDS * owner._n, np.float32)
            near = self._empty(self._count * owner._n, np.float32)
            tried = c_int(SEEDS)
            launch("begin_rows", each, owner._block, single, position, orientation, rows, tried, seeds, count)
            grid = min(each, module.blocks_at_once("descend", _THREADS))
            launch("descend", grid, single, rows, tried, seeds, near, self._counters, count)
            launch("polish_rows", each, owner._block, double, rows, near, hard, self._counters, count)
        grid = min(-(-self._count * 32 // _THREADS), warps.blocks_at_once("search_in_warps", _THREADS))
        shared = (owner._block, single, double, position, orientation, rows)
        launch("search_in_warps", grid, *shared, 0 if few else hard, left, self._counters, count)
        counters = self._counters.pointer
        self._in_warps(left, counters + 4 * _LEFT, counters + 4 * _NEXT_LEFT, LEFT_RESTARTS)
        launch("finish_arm", each, owner._block, double, rows, self._answers, count)

    def solve_general(self, goals: Sequence[Part], starts: Numbers) -> None:
        """Any goals, in double precision."""
        owner, count, rows = self._owner, c_longlong(self._count), self._rows
        module, each = owner.modules["general"], -(-self._count // _THREADS)
        begin = self._empty(self._count * owner._n if starts.data else 0, np.float64)
        rows.starts = begin.pointer or None
        for target, (position, orientation, direction) in enumerate(goals):
            args = (owner._block, c_int(target), position, orientation, direction, rows, count)
            module.launch("read_goals", each, _THREADS, args, self._stream)
        if starts.data:
            module.launch("read_starts", each, _THREADS, (owner._block, starts, rows, count), self._stream)
        if self._count <= FEW_ROWS and self._wanted == 1:  # which several answers are found depends on the lanes
            self._in_warps(0, 0, self._counters.pointer, 0)
        else:
            size = self._padded(owner._thread_bytes)
            threads = min(_THREADS * each, self._pool(size, 2 * _THREADS))
            scratch = self._empty(threads * size, np.uint8)
            args = (owner._block, rows, scratch, c_longlong(size), self._counters, count)
            module.launch("solve_rows", threads // _THREADS, _THREADS, args, self._stream)
        args = (owner._block, starts, rows, self._answers, count)
        module.launch("finish_rows", each, _THREADS, args, self._stream)

    def _in_warps(self, rows: int, row_count: int, next_row: int, restarts: int) -> None:
        """Solves the rows of a list, or all, each in the threads of a warp."""
        owner = self._owner
        size = self._padded(owner._warp_bytes)
        threads = min(32 * self._count, self._pool(size, 64)) // 32 * 32
        threads = max(_THREADS // 2, threads // (_THREADS // 2) * (_THREADS // 2))
        scratch = self._empty(threads * size, np.uint8)
        args = [owner._block, self._rows, rows, row_count, c_int(restarts), scratch, c_longlong(size), next_row]
        args.append(c_longlong(self._count))
        block = _THREADS // 2
        self._owner.modules["general"].launch("solve_in_warps", threads // block, block, args, self._stream)

    def _padded(self, scratch_bytes: int) -> int:
        """Bytes of scratch of a thread, with room for all answers."""
        return (scratch_bytes + 8 * self._wanted * self._owner._n + 63) // 64 * 64

    def _pool(self, thread_bytes: int, each: int) -> int:
        """Threads that may work at a time, ``each`` on a multiprocessor at most, in whole blocks."""
        most = driver.device(self._owner._ordinal).multiprocessors * each
        return max(_THREADS, min(most, _POOL_BYTES // thread_bytes) // _THREADS * _THREADS)
