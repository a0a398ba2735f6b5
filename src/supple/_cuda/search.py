"""The search on a GPU: a compiled solver in its memory, and the kernels of a solve."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ctypes import c_int, c_longlong
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from supple import _core
from supple._cuda import driver
from supple._cuda.blocks import NONE, Answers, Numbers, Part, Rows, by_value, numbers, placed
from supple._cuda.driver import DeviceArray

FEW_ROWS = 4096
"""Up to so many rows each is solved by a warp of its own; of more, each is solved by one thread."""
SEEDS = 8
"""Seeds of a row that its thread tries; a row that needs more gets a warp."""
CHUNK = 1 << 21
"""Rows that are solved together, at most."""
LEFT_RESTARTS = 96
"""Restarts in double precision of a row that has had all of its restarts in single precision."""
_THREADS, _WARP_THREADS = 128, 64  # of a block; of one that solves a row in each warp
_COUNTERS = 8  # of a solve: next row, hard rows, next hard row, rows left, next of them
_LEFT, _NEXT_LEFT = 3, 4  # places of counters
_ROWS = ("goals", "starts", "q", "outcome", "iterations", "restarts", "answers")  # fields of `Rows`, in order
_FAST_COMPILATION = ("--Ofast-compile=max",)  # of the general kernels: all optimisations take minutes
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
        self._single = None if single is None else by_value(single)
        self._double = None if double is None else by_value(double)
        self._layouts: dict[tuple[int, int, bool, bool], _Layout] = {}
        self._at_once: dict[str, int] = {}

    def layout(self, count: int, wanted: int, has_starts: bool, few: bool) -> _Layout:
        """The layout of some rows, made once; see `_Layout`."""
        rows = (count, wanted, has_starts, few)
        known = self._layouts.get(rows)
        if known is None:
            if len(self._layouts) > 64:
                self._layouts.clear()
            known = self._layouts[rows] = _Layout(self, *rows)
        return known

    def blocks_at_once(self, module: str, kernel: str) -> int:
        """How many blocks of a kernel the GPU runs at a time; asked once."""
        if kernel not in self._at_once:
            self._at_once[kernel] = self.modules[module].blocks_at_once(kernel, _THREADS)
        return self._at_once[kernel]

    @functools.cached_property
    def modules(self) -> dict[str, driver.Module]:
        """The kernels by name, compiled side by side when they are first used."""
        axes = -(-self._axes // 16) * 16  # rounded up, so that one module serves many linkages
        wanted: dict[str, tuple[str, dict[str, object], tuple[str, ...]]] = {
            "general": ("general.cu", {"SUPPLE_AXES": axes, "SUPPLE_COMPACT": 1}, _FAST_COMPILATION)
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
            count = min(CHUNK, rows - first)
            part = _Chunk(self, found, first, count, max(wanted, 1), _from(begin, first), stream)
            part.solve([(_from(goal[0], first), _from(goal[1], first), _from(goal[2], first)) for goal in goals])
        return found

    def _results(self, rows: int, wanted: int, kind: np.dtype[Any], stream: int) -> Found:
        shape = (rows, wanted) if wanted else (rows,)
        reals, integers = np.dtype(np.float64), np.dtype(np.int32)
        layout = [((*shape, self._dof), kind), (shape, integers), *[(shape, reals)] * 2, *[(shape, integers)] * 2]
        if getattr(stream, "allocate", None) is not None:  # of another library: each array is one of its own
            return Found(*(driver.empty(*each, self._ordinal, stream) for each in layout))
        places, whole = _placed([math.prod(each) * dtype.itemsize for each, dtype in layout])
        memory = driver.empty((whole,), np.uint8, self._ordinal, stream)

        def made(place: int, array_shape: tuple[int, ...], dtype: np.dtype[Any]) -> DeviceArray:
            return driver.wrapped(memory.pointer + place, array_shape, dtype, self._ordinal, stream, memory)

        return Found(*(made(place, *each) for place, each in zip(places, layout, strict=True)))


def _placed(sizes: Iterable[int]) -> tuple[list[int], int]:
    """Where parts of so many bytes begin in one block of memory, and the bytes of the block."""
    *begins, whole = accumulate(((size + 255) // 256 * 256 for size in sizes), initial=0)
    return begins, whole


def _from(given: Numbers, first: int) -> Numbers:
    """The same array from a row on."""
    if not given.data:
        return given
    offset = first * given.row * (4 if given.single else 8)
    return Numbers(given.data + offset, given.row, given.step, given.inner, given.single)


class _Layout:
    """How some rows are solved, and where their work arrays are in one block of memory."""

    def __init__(self, owner: DeviceSolver, count: int, wanted: int, has_starts: bool, few: bool) -> None:
        self.in_arm, self.few = owner.has_arm and not has_starts and wanted == 1, few
        self.in_warps = self.in_arm or (few and wanted == 1)  # which of several answers are found depends on the lanes
        self.in_turn = (
            not self.in_warps and wanted == 1 and not has_starts
        )  # first in threads, then what is left in warps
        self.thread_bytes, self.warp_bytes = (
            (size + 8 * wanted * owner._n + 63) // 64 * 64 for size in (owner._thread_bytes, owner._warp_bytes)
        )
        multiprocessors = driver.device(owner._ordinal).multiprocessors
        self.threads = 0 if self.in_warps else _pool(count, _THREADS, 2 * _THREADS * multiprocessors, self.thread_bytes)
        self.warp_threads = 0
        if self.in_warps or self.in_turn:
            most = _WARP_THREADS * multiprocessors
            self.warp_threads = _pool(32 * count, _WARP_THREADS, most, self.warp_bytes)
        n, many = owner._n, self.in_arm and not few
        sizes = {
            "counters": 4 * _COUNTERS,
            "goals": 8 * 12 * count * owner._targets,
            "q": 8 * n * count * wanted,
            **dict.fromkeys(("outcome", "iterations", "restarts"), 4 * count),
            "answers": 4 * count if wanted > 1 else 0,
            "starts": 8 * n * count if has_starts else 0,
            "left": 4 * count if self.in_arm or self.in_turn else 0,
            "hard": 4 * count if many else 0,
            "seeds": 4 * n * count * SEEDS if many else 0,
            "near": 4 * n * count if many else 0,
            "scratch": self.threads * self.thread_bytes,
            "warp_scratch": self.warp_threads * self.warp_bytes,
        }
        begins, self.bytes = _placed(sizes.values())
        self.begins = {name: begin for (name, size), begin in zip(sizes.items(), begins, strict=True) if size}
        self.missing = dict.fromkeys((name for name, size in sizes.items() if not size), 0)


def _pool(needed: int, block: int, most: int, thread_bytes: int) -> int:
    """Threads of the general search that work at a time, in whole blocks."""
    return max(block, min(-(-needed // block) * block, most, _POOL_BYTES // thread_bytes) // block * block)


class _Chunk:
    """Some rows of a solve: their work arrays, and the launches of their kernels."""

    def __init__(
        self, owner: DeviceSolver, found: Found, first: int, count: int, wanted: int, starts: Numbers, stream: int
    ) -> None:
        self._owner, self._count, self._starts, self._stream = owner, count, starts, stream
        self._layout = layout = owner.layout(count, wanted, bool(starts.data), count <= FEW_ROWS)
        self._memory = driver.empty((layout.bytes,), np.uint8, owner._ordinal, stream)
        base = self._memory.pointer
        self._at = {name: base + begin for name, begin in layout.begins.items()} | layout.missing
        counters = driver.wrapped(self._at["counters"], (_COUNTERS,), np.int32, owner._ordinal, stream, self._memory)
        driver.fill_bytes(counters, 0, stream)
        self._rows = Rows(*[self._at[name] or None for name in _ROWS], wanted)
        at, size = first * wanted, found.q.dtype.itemsize
        self._answers = Answers(
            found.q.pointer + at * owner._dof * size,
            size == 4,
            *[each.pointer + 4 * at for each in (found.outcome, found.iterations, found.restarts)],
            *[each.pointer + 8 * at for each in (found.position_error, found.angle_error)],
        )

    def solve(self, goals: Sequence[Part]) -> None:
        """Starts the kernels."""
        if self._layout.in_arm:
            self._solve_arm(goals[0])
        else:
            self._solve_general(goals)

    def _launch(self, module: str, name: str, grid: int, *args: Any, block: int = _THREADS) -> None:
        self._owner.modules[module].launch(name, grid, block, args, self._stream)

    def _solve_arm(self, goal: Part) -> None:
        """One frame of an arm: in single precision, what that does not solve in double precision."""
        owner, rows, at, count = self._owner, self._rows, self._at, c_longlong(self._count)
        single, double = owner._single, owner._double
        each = -(-self._count // _THREADS)
        position, orientation, _ = goal
        counters = at["counters"]
        if not self._layout.few:
            seeds = (c_int(SEEDS), at["seeds"])
            self._launch("arm", "begin_rows", each, owner._block, single, position, orientation, rows, *seeds, count)
            grid = min(each, owner.blocks_at_once("arm", "descend"))
            self._launch("arm", "descend", grid, single, rows, *seeds, at["near"], counters, count)
            lists = (at["near"], at["hard"], counters)
            self._launch("arm", "polish_rows", each, owner._block, double, rows, *lists, count)
        grid = min(-(-self._count * 32 // _THREADS), owner.blocks_at_once("warps", "search_in_warps"))
        args = (single, double, position, orientation, rows, at["hard"], at["left"], counters, count)
        self._launch("warps", "search_in_warps", grid, owner._block, *args)
        self._search_in_warps(at["left"], counters + 4 * _LEFT, counters + 4 * _NEXT_LEFT, LEFT_RESTARTS)
        self._launch("arm", "finish_arm", each, owner._block, double, rows, self._answers, count)

    def _solve_general(self, goals: Sequence[Part]) -> None:
        """Any goals, in double precision."""
        owner, rows, count = self._owner, self._rows, c_longlong(self._count)
        each = -(-self._count // _THREADS)
        for target, parts in enumerate(goals):
            self._launch("general", "read_goals", each, owner._block, c_int(target), *parts, rows, count)
        if self._starts.data:
            self._launch("general", "read_starts", each, owner._block, self._starts, rows, count)
        if self._layout.in_warps:
            self._search_in_warps(0, 0, self._at["counters"], 0)
        else:
            at, left = self._at, self._at["counters"] + 4 * _LEFT
            args = (rows, at["scratch"], c_longlong(self._layout.thread_bytes), at["counters"], at["left"], left, count)
            self._launch("general", "solve_rows", self._layout.threads // _THREADS, owner._block, *args)
        if self._layout.in_turn:
            self._search_in_warps(at["left"], left, self._at["counters"] + 4 * _NEXT_LEFT, 0)
        self._launch("general", "finish_rows", each, owner._block, self._starts, rows, self._answers, count)

    def _search_in_warps(self, rows: int, row_count: int, next_row: int, restarts: int) -> None:
        """Solves the rows of a list, or all, each in the threads of a warp."""
        scratch, size = self._at["warp_scratch"], c_longlong(self._layout.warp_bytes)
        args = (self._rows, rows, row_count, c_int(restarts), scratch, size, next_row, c_longlong(self._count))
        grid = self._layout.warp_threads // _WARP_THREADS
        self._launch("general", "solve_in_warps", grid, self._owner._block, *args, block=_WARP_THREADS)
