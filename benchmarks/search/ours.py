"""supple as the benchmark calls it: through the fast door, and in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import supple
from supple import Goal, Solver

from .arms import AXIS, Arm
from .judge import Array


def goal(arm: Arm, frames: Array) -> Goal:
    """What is wanted of the arm, for a frame (4, 4) or many (..., 4, 4)."""
    if arm.kind == "frame":
        return Goal(arm.link, frames)
    return Goal(arm.link, position=frames[..., :3, 3], axis=AXIS, direction=frames[..., :3, :3] @ AXIS)


def door(arm: Arm) -> Callable[..., Any]:
    """The fast door: called with a frame, or a frame and a start."""
    return Solver().compile(arm.linkage, goal(arm, np.eye(4)))


def line(arm: Arm) -> Callable[..., Any]:
    """The one line: `supple.solve` with a `Goal` made in the call; q if it arrived."""

    def solve(frame: Array, start: Array | None = None) -> Array | None:
        found = supple.solve(arm.linkage, goal(arm, frame), start)
        return found.q if found.arrived else None

    return solve


def calls(frames: Array, starts: Array | None) -> list[tuple[Any, ...]]:
    """What they are called with, one row a goal."""
    rows = list(np.ascontiguousarray(frames))
    return [(row,) for row in rows] if starts is None else list(zip(rows, list(starts), strict=True))
