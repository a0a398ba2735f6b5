"""Levels of priority: which rows of the goals come before which, and how many directions each level takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple._solve import encoding
from supple.frame import Array
from supple.goal import Goal


class Levels(NamedTuple):
    """As the core takes them."""

    of_rows: list[int]
    """The level of each row."""
    ranks: list[int]
    """The rank that each level adds to those before."""
    first: int
    """How many levels are of the first goals."""


def levels_of(goals: Sequence[Goal], reaches: Sequence[float], samples: Sequence[Array]) -> Levels:
    """The levels of goals, from Jacobians (rows, dof) of all goals at some joint values.

    Goals with a lower priority number come first. Where a goal asks for more rows than the joints can meet, as of an
    arm with five joints, its position comes before its orientation.
    """
    keys: list[tuple[int, int]] = []
    for goal, length in zip(goals, reaches, strict=True):
        components = goal._without_slack()._rows(length)[0]
        rows = [sample[len(keys) : len(keys) + len(components)] for sample in samples]
        split = max(map(encoding.rank_of, rows)) < len(components)
        keys += [(goal.priority, int(split and component in encoding.ROTATIONS)) for component in components]
    order = sorted(set(keys))
    levels = [order.index(key) for key in keys]
    first = sum(priority == order[0][0] for priority, _ in order)
    return Levels(levels, _ranks(samples, levels), first)


def _ranks(samples: Sequence[Array], levels: Sequence[int]) -> list[int]:
    """The rank that each level of rows adds to those before."""
    ranks = [
        max(encoding.rank_of(sample[np.array(levels) <= level]) for sample in samples) for level in sorted(set(levels))
    ]
    return [rank - before for before, rank in zip([0, *ranks], ranks, strict=False)]
