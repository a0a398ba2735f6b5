"""Set-up data of the core in the memory of a GPU, and the structs that kernels take."""

from __future__ import annotations

import ctypes
import struct
from ctypes import c_bool, c_int, c_longlong, c_void_p
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple._cuda import driver
from supple._cuda.driver import DeviceArray
from supple._cuda.memory import copy_in


def relocated(block: bytes, base: int) -> NDArray[Any]:
    """A block whose pointers, offsets so far, are addresses of a block that begins at ``base``."""
    _, count, pointers = struct.unpack_from("<3q", block)
    places = np.frombuffer(block, np.int64, count, pointers)
    made: NDArray[Any] = np.frombuffer(block, np.uint8).copy()
    made[: len(made) // 8 * 8].view(np.int64)[places // 8] += base
    return made


def placed(block: bytes, ordinal: int) -> DeviceArray:
    """A block in the memory of a GPU."""
    owner = driver.device(ordinal)
    made = driver.empty((len(block),), np.uint8, ordinal, owner.stream)
    copy_in(made, relocated(block, made.pointer), owner.stream)
    owner.synchronize(owner.stream)
    return made


def head_of(block: bytes, base: int) -> bytes:
    """The struct that a block placed at ``base`` begins with, for kernels that take it by value."""
    _, count, pointers = struct.unpack_from("<3q", block)
    places = np.frombuffer(block, np.int64, count, pointers)
    size = np.frombuffer(block, np.int64, len(block) // 8)[places // 8].min()  # what it points to is behind it
    return relocated(block, base)[:size].tobytes()


def by_value(data: bytes) -> Any:
    """Bytes that a kernel takes as a struct."""
    return (ctypes.c_char * len(data)).from_buffer_copy(data)


class Numbers(ctypes.Structure):
    """An array of goals or starts: its address and its strides in numbers; see ``rows.h``."""

    _fields_ = (
        ("data", c_void_p),
        ("row", c_longlong),
        ("step", c_longlong),
        ("inner", c_longlong),
        ("single", c_bool),
    )

    def after(self, rows: int) -> Numbers:
        """The same array from a row on."""
        if not self.data or not rows:
            return self
        offset = rows * self.row * (4 if self.single else 8)
        return Numbers(self.data + offset, self.row, self.step, self.inner, self.single)


class GoalNumbers(ctypes.Structure):
    """The parts of a goal; see ``arm_search.h``."""

    _fields_ = (("position", Numbers), ("orientation", Numbers), ("direction", Numbers))


class Rows(ctypes.Structure):
    """What the kernels of a solve share; see ``rows.h``."""

    _fields_ = (
        ("goals", c_void_p),
        ("starts", c_void_p),
        ("q", c_void_p),
        ("outcome", c_void_p),
        ("iterations", c_void_p),
        ("restarts", c_void_p),
        ("solutions", c_void_p),
        ("wanted", c_int),
    )


class Solutions(ctypes.Structure):
    """Where the solutions of a solve go; see ``rows.h``."""

    _fields_ = (
        ("q", c_void_p),
        ("single", c_bool),
        ("outcome", c_void_p),
        ("iterations", c_void_p),
        ("restarts", c_void_p),
        ("position_error", c_void_p),
        ("angle_error", c_void_p),
    )

    def set(self, output: Output, first: int) -> None:
        """Sets all addresses, from a solution on."""
        q, size, dof, report, count = output
        counts = report + 16 * count + 4 * first
        errors = report + 8 * first
        _set_solutions(
            self,
            0,
            q + first * dof * size,
            size == 4,
            counts,
            counts + 4 * count,
            counts + 8 * count,
            errors,
            errors + 8 * count,
        )


_set_solutions = struct.Struct("Q?7x5Q").pack_into  # all fields of Solutions; much quicker than one after another


class Output(NamedTuple):
    """Where the results of a solve go: addresses of q and of the report, see `search.Found`."""

    q: int
    itemsize: int
    """Of the numbers of q."""
    dof: int
    report: int
    solutions: int
    """How many there are, of all rows."""


NONE = Numbers(None, 0, 0, 0, False)
"""An array that is not given."""


def numbers(array: DeviceArray, tail: int, *, offset: int = 0, steps: tuple[int, int] | None = None) -> Numbers:
    """An array of rows: one for each problem, or one for all if it has only the ``tail`` last axes.

    ``steps`` are the strides from line to line and from number to number, ``offset`` that of the first number, for an
    array that is part of a larger one, such as the position of a frame.
    """
    size = int(np.prod(array.shape[len(array.shape) - tail :], dtype=np.int64))
    row = 0 if len(array.shape) == tail else size
    line, number = steps or (array.shape[-1], 1)
    single = array.dtype == np.float32
    return Numbers(array.pointer + offset * array.dtype.itemsize, row, line, number, single)


Part = tuple[Numbers, Numbers, Numbers]
"""Position, orientation and direction of one goal."""


def frame_goal(frames: DeviceArray) -> Part:
    """The parts of a goal that is given as frames (rows, 4, 4) or (rows, 3, 4), or as one for all (4, 4)."""
    return numbers(frames, 2, offset=3, steps=(1, 4)), numbers(frames, 2, steps=(4, 1)), NONE


def part_from(goal: Part, first: int) -> Part:
    """The parts of a goal from a row on."""
    return goal[0].after(first), goal[1].after(first), goal[2].after(first)


def places(sizes: dict[str, int]) -> tuple[dict[str, int], int]:
    """Where parts of so many bytes begin in one block of memory, and the bytes of the block."""
    *begins, whole = accumulate(((size + 255) // 256 * 256 for size in sizes.values()), initial=0)
    return dict(zip(sizes, begins, strict=True)), whole
