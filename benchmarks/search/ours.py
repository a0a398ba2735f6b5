"""supple in the benchmark: the compiled solver, and `supple.solve`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import supple
from supple import Goal, Solver

from .arms import AXIS, Arm
from .judge import Array


def goal(arm: Arm, frames: Array) -> Goal:
    """The goal of an arm for a frame (4, 4) or many (..., 4, 4)."""
    if arm.kind == "frame":
        return Goal(arm.link, frames)
    return Goal(arm.link, position=frames[..., :3, 3], axis=AXIS, direction=frames[..., :3, :3] @ AXIS)


def compiled(arm: Arm) -> Callable[..., Any]:
    """The compiled solver: called with a frame, or a frame and a start."""
    return Solver().compile(arm.linkage, goal(arm, np.eye(4)))


def one_call(arm: Arm) -> Callable[..., Any]:
    """`supple.solve` with a `Goal` made in each call; returns q if it arrived, else None."""

    def solve(frame: Array, start: Array | None = None) -> Array | None:
        found = supple.solve(arm.linkage, goal(arm, frame), start)
        return found.q if found.arrived else None

    return solve


def calls(frames: Array, starts: Array | None) -> list[tuple[Any, ...]]:
    """The arguments of each call."""
    rows = list(np.ascontiguousarray(frames))
    return [(row,) for row in rows] if starts is None else list(zip(rows, list(starts), strict=True))
