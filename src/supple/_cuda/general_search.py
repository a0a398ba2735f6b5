"""The search for any goals on a GPU, in double precision: a row in each thread, or in each warp."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from ctypes import c_int, c_longlong
from typing import Any

import numpy as np

from supple._cuda import driver
from supple._cuda.blocks import Numbers, Output, Part, Rows, Solutions, places
from supple._cuda.driver import DeviceArray

FEW_ROWS = 4096
"""Up to so many rows each is solved by a warp of its own; of more, each is solved by one thread first."""
FAST_COMPILATION = ("--Ofast-compile=mid",)
"""Options of the compilation: all optimisations take a minute."""
_THREADS, _WARP_THREADS = 128, 64  # of a block; of one that solves a row in each warp
_COUNTERS = 8  # of a solve: next row, rows left, next of them
_LEFT, _NEXT_LEFT = 1, 2  # places of counters
_ROWS = ("goals", "starts", "q", "outcome", "iterations", "restarts", "solutions")  # fields of `Rows`, in order
_POOL_BYTES = 1 << 30  # scratch, at most


class GeneralSearch:
    """The kernels of the search for any goals, and their launches."""

    def __init__(self, block: DeviceArray, sizes: tuple[int, ...], ordinal: int) -> None:
        self.dof, self.n, self.targets, self._axes, self.thread_bytes, self.warp_bytes = sizes
        self.block, self.ordinal = block, ordinal
        self._layouts: dict[tuple[int, int, bool, bool], _Layout] = {}

    @functools.cached_property
    def module(self) -> driver.Module:
        """The kernels, compiled when they are first used."""
        axes = -(-self._axes // 16) * 16  # rounded up, so that one module serves many linkages
        return driver.module(self.ordinal, "general.cu", {"SUPPLE_AXES": axes, "SUPPLE_COMPACT": 1}, FAST_COMPILATION)

    def layout(self, count: int, wanted: int, has_starts: bool, few: bool) -> _Layout:
        """The layout of some rows, made once; see `_Layout`."""
        rows = (count, wanted, has_starts, few)
        known = self._layouts.get(rows)
        if known is None:
            if len(self._layouts) > 64:
                self._layouts.clear()
            known = self._layouts[rows] = _Layout(self, *rows)
        return known

    def solve(
        self, goals: Sequence[Part], count: int, first: int, starts: Numbers, wanted: int, output: Output, stream: int
    ) -> None:
        """Starts the kernels for some rows, whose solutions begin at row ``first``, as the starts do."""
        layout = self.layout(count, wanted, bool(starts.data), count <= FEW_ROWS)
        memory = driver.empty((layout.bytes,), np.uint8, self.ordinal, stream)
        driver.fill(memory.pointer, 4 * _COUNTERS, self.ordinal, stream)
        at = {name: memory.pointer + begin for name, begin in layout.begins.items()}
        rows = Rows(*[at.get(name) for name in _ROWS], wanted)
        solutions = Solutions()
        solutions.set(output, first * wanted)
        begin = starts.after(first)
        each, size = -(-count // _THREADS), c_longlong(count)

        def launch(name: str, grid: int, *args: Any, block: int = _THREADS) -> None:
            self.module.launch(name, grid, block, (self.block, *args), stream)

        def in_warps(list_of_rows: int, length: int, next_row: int) -> None:
            scratch = (at["warp_scratch"], c_longlong(layout.warp_bytes))
            grid = layout.warp_threads // _WARP_THREADS
            args = (rows, list_of_rows, length, c_int(0), *scratch, next_row, size)
            launch("solve_in_warps", grid, *args, block=_WARP_THREADS)

        for target, parts in enumerate(goals):
            launch("read_goals", each, c_int(target), *parts, rows, size)
        if starts.data:
            launch("read_starts", each, begin, rows, size)
        counters = at["counters"]
        if layout.in_warps:
            in_warps(0, 0, counters)
        else:
            left = (at.get("left", 0), counters + 4 * _LEFT)
            args = (rows, at["scratch"], c_longlong(layout.thread_bytes), counters, *left, size)
            launch("solve_rows", layout.threads // _THREADS, *args)
            if layout.in_turn:
                in_warps(*left, counters + 4 * _NEXT_LEFT)
        launch("finish_rows", each, begin, rows, solutions, size)


class _Layout:
    """How some rows are solved, and where their work arrays are in one block of memory."""

    def __init__(self, owner: GeneralSearch, count: int, wanted: int, has_starts: bool, few: bool) -> None:
        self.in_warps = few and wanted == 1  # which of several solutions are found depends on the lanes
        self.in_turn = not few and wanted == 1 and not has_starts  # first in threads, then what is left in warps
        self.thread_bytes, self.warp_bytes = (
            (size + 8 * wanted * owner.n + 63) // 64 * 64 for size in (owner.thread_bytes, owner.warp_bytes)
        )
        multiprocessors = driver.device(owner.ordinal).multiprocessors
        self.threads = 0 if self.in_warps else _pool(count, _THREADS, 2 * _THREADS * multiprocessors, self.thread_bytes)
        self.warp_threads = 0
        if self.in_warps or self.in_turn:
            most = _WARP_THREADS * multiprocessors
            self.warp_threads = _pool(32 * count, _WARP_THREADS, most, self.warp_bytes)
        n = owner.n
        sizes = {
            "counters": 4 * _COUNTERS,
            "goals": 8 * 12 * count * owner.targets,
            "q": 8 * n * count * wanted,
            **dict.fromkeys(("outcome", "iterations", "restarts"), 4 * count),
            "solutions": 4 * count if wanted > 1 else 0,
            "starts": 8 * n * count if has_starts else 0,
            "left": 4 * count if self.in_turn else 0,
            "scratch": self.threads * self.thread_bytes,
            "warp_scratch": self.warp_threads * self.warp_bytes,
        }
        self.begins, self.bytes = places({name: size for name, size in sizes.items() if size})


def _pool(needed: int, block: int, most: int, thread_bytes: int) -> int:
    """Threads that work at a time, in whole blocks."""
    return max(block, min(-(-needed // block) * block, most, _POOL_BYTES // thread_bytes) // block * block)
