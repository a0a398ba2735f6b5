"""The search for one goal of an arm: in single precision, finished in double; few rows by one kernel, many by five."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ctypes import Structure, c_int, c_longlong, c_void_p
from typing import Any

import numpy as np

from supple._cuda import driver
from supple._cuda.blocks import GoalNumbers, Output, Part, Solutions, by_value, places
from supple._cuda.driver import DeviceArray

FEW_ROWS = 4096
"""Up to so many rows each is solved by a warp of its own; of more, each is solved by one thread first."""
SEEDS = 8
"""Seeds of a row that its thread tries; a row that needs more gets a warp."""
FIRST_RESTARTS = 64
"""Restarts of a row in one warp; a row that needs more gets a block, if few do."""
OPTIONS = ("--prec-div=false", "--prec-sqrt=false", "--ftz=true")
"""Of the compilation: single precision finds what double precision finishes."""
_THREADS, _TEAM_THREADS = 128, 256  # of a block; of one whose warps have a row each, or one together
_FEW_LEFT = 4  # rows for each block of the GPU, up to which they get a block each
_COUNTERS_BYTES = 32
_LISTS = ("hard_rows", "left_rows", "counters")
_WORK = ("goals", "single_goals", "seeds", "near_q", "outcome", "iterations", "restarts", *_LISTS)
_set_work = struct.Struct(f"{len(_WORK)}Q").pack_into  # the first fields of ArmRows
_NO_WORK = (0,) * len(_WORK)
_MANY, _WARPS = "arm.cu", "arm_warps.cu"
_KERNELS = {
    "begin": ("begin_rows", _MANY),
    "descend": ("descend", _MANY),
    "polish": ("polish_rows", _MANY),
    "warps": ("search_in_warps", _WARPS),
}


class ArmRows(Structure):
    """Arrays of many rows on their way; see ``arm_search.h``."""

    _fields_ = (*((name, c_void_p) for name in _WORK), ("seed_count", c_int))


_BASE = np.dtype(
    [
        ("frames", float, 24),
        ("axis", float, 3),
        ("weight", float, 6),
        ("max_step", float),
        ("joint_count", np.int32),
        ("goal", np.int32),
    ]
)
_JOINT = np.dtype(
    [
        ("shift", float, 3),
        ("tilt_cos_sin", float, 2),
        ("turn", float, 2),
        ("slide", float, 2),
        ("limits", float, 2),
        ("size", float),
        ("seeds", float, 4),
        ("wrap", float, 3),
        ("motion", np.int16),
        ("tilt", np.int16),
        ("index", np.int32),
        ("column", np.int32),
        ("unused", np.int32),
    ]
)
"""Of an arm in double precision; see ``types.h``."""
_SLIDES = 1


def shape_of(arm: bytes) -> dict[str, object]:
    """What the compiler is to know of an arm: macros of ``arm.h``."""
    base, joints = np.frombuffer(arm, _BASE, 1)[0], np.frombuffer(arm, _JOINT, offset=_BASE.itemsize)
    shifted = [bool(part) for joint in joints["shift"] != 0 for part in joint]

    def bits(values: Iterable[int], each: int = 1) -> str:
        return f"{sum(int(value) << (each * k) for k, value in enumerate(values))}ULL"

    return {
        "SUPPLE_SLIDES": bits(joints["motion"] == _SLIDES),
        "SUPPLE_TILTS": bits(joints["tilt"], 2),
        "SUPPLE_SHIFTS": bits(shifted),
        "SUPPLE_UNIT_GAINS": bits(joints["turn"][:, 0] == 1),
        "SUPPLE_UNIT_SIZES": bits(joints["size"] == 1),
        "SUPPLE_WRAPS": bits(joints["wrap"][:, 0] > 0),
        "SUPPLE_UNIT_TURNS": int((base["weight"][3:] == 1).all()),
    }


class ArmSearch:
    """The kernels for one goal of an arm, and what they take: set before each launch, under a lock."""

    def __init__(
        self, block: DeviceArray, head: bytes, n: int, kind: int, single: bytes, double: bytes, ordinal: int
    ) -> None:
        self._block, self._n, self._kind, self._ordinal = block, n, kind, ordinal
        self._lock = threading.Lock()
        self._goals, self._solutions, self._rows, self._count = GoalNumbers(), Solutions(), ArmRows(), c_longlong()
        self._rows.seed_count = SEEDS
        self._shape = shape_of(double)
        solver, arms = by_value(head), (by_value(single), by_value(double))
        rows, solutions, count = self._rows, self._solutions, self._count
        self._few_left, self._last = c_int(), c_int()
        restarts = (c_int(FIRST_RESTARTS), self._few_left, self._last)
        self._args: dict[str, tuple[Any, ...]] = {
            "begin": (solver, arms[0], self._goals, rows, count),
            "descend": (arms[0], rows, count),
            "polish": (solver, *arms, rows, solutions, count),
            "warps": (solver, *arms, self._goals, rows, solutions, *restarts, count),
        }
        self._made: dict[str, driver.Kernel] = {}
        self._layouts: dict[int, tuple[list[int], int]] = {}

    def solve(self, goal: Part, count: int, first: int, output: Output, stream: int) -> None:
        """Starts the kernels for some rows, whose solutions begin at row ``first``."""
        few = count <= FEW_ROWS
        kernels = self.kernels(few)
        in_warps = -(-32 * count // _TEAM_THREADS)
        work: Sequence[int] = _NO_WORK
        if not few:
            begins, size = self._layout(count)
            memory = driver.empty((size,), np.uint8, self._ordinal, stream)
            driver.fill(memory.pointer, _COUNTERS_BYTES, self._ordinal, stream)
            work = [memory.pointer + begin for begin in begins]
        with self._lock:
            given = self._goals
            given.position, given.orientation, given.direction = goal
            self._solutions.set(output, first)
            self._count.value, self._last.value = count, 0
            _set_work(self._rows, 0, *work)
            if few:
                kernels["warps"].launch(in_warps, _TEAM_THREADS, stream)
                return
            each, at_once = -(-count // _THREADS), kernels["warps"].blocks_at_once(_TEAM_THREADS)
            kernels["begin"].launch(each, _THREADS, stream)
            kernels["descend"].launch(min(each, kernels["descend"].blocks_at_once(_THREADS)), _THREADS, stream)
            kernels["polish"].launch(each, _THREADS, stream)
            kernels["warps"].launch(min(in_warps, at_once), _TEAM_THREADS, stream)
            self._last.value, self._few_left.value = 1, _FEW_LEFT * at_once
            kernels["warps"].launch(min(count, at_once), _TEAM_THREADS, stream)

    def kernels(self, few: bool) -> dict[str, driver.Kernel]:
        """The kernels, those for few rows or all. They are compiled side by side when they are first used."""
        made = self._made
        if len(made) == len(_KERNELS) or (few and made):
            return made
        defines = {"SUPPLE_JOINTS": self._n, "SUPPLE_GOAL": self._kind, **self._shape}
        sources = (_WARPS,) if few else (_WARPS, _MANY)
        with ThreadPoolExecutor(len(sources)) as pool:
            found = pool.map(lambda source: driver.module(self._ordinal, source, defines, OPTIONS), sources)
            modules = dict(zip(sources, found, strict=True))
        for key, (name, source) in _KERNELS.items():
            if source in modules and key not in made:
                made[key] = modules[source].kernel(name, self._args[key])
        return made

    def _layout(self, count: int) -> tuple[list[int], int]:
        """Where the work arrays of so many rows are in one block of memory, and its size."""
        known = self._layouts.get(count)
        if known is None:
            if len(self._layouts) > 64:
                self._layouts.clear()
            sizes = (96, 48, 4 * self._n * SEEDS, 4 * self._n, 4, 4, 4, 4, 4)
            wanted = {"counters": _COUNTERS_BYTES}
            wanted |= {name: size * count for name, size in zip(_WORK[:-1], sizes, strict=True)}
            begins, whole = places(wanted)
            known = self._layouts[count] = [begins[name] for name in _WORK], whole
        return known
