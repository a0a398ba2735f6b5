"""Which arrays the results of a solve are to be: those of the goals and the start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from supple._arrays.given import PLAIN, Given, given
from supple._arrays.library import library_of
from supple.errors import BadInput

if TYPE_CHECKING:
    from supple.goal import Goal


def given_to_solve(goals: Sequence[Goal], values: dict[str, Any]) -> Given | None:
    """What the foreign arrays of goals, and of start values by their names, have in common; None if there is none."""
    found = [goal._given for goal in goals if goal._frame is None and goal._given is not None]
    likes = {f"goal {k}": each.like for k, each in enumerate(found)}
    arrays = given({**likes, **values})
    if arrays is None:
        return None
    if arrays.is_on_gpu and len(found) < len(goals):
        raise BadInput("some goals are on a GPU and some on the CPU; put them on one device")
    single = all(each.dtype == np.float32 for each in found) and arrays.dtype == np.float32
    return arrays if single else replace(arrays, dtype=np.dtype(np.float64))


def is_foreign(goals: Any, start: Any) -> bool:
    """Whether a goal or the start is a foreign array; quick for those that are not."""
    if type(start) not in PLAIN and library_of(start) is not None:
        return True
    several = goals if isinstance(goals, list | tuple) else (goals,)
    return any(_has_given(goal) for goal in several)


def _has_given(goal: Any) -> bool:
    return getattr(goal, "_frame", 0) is None and goal._given is not None
