"""Measures of a planned path: margins to limits and to singularities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from supple._solve import batch, compilation, encoding
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.solver import Solver

_CHUNK = 4096  # frames whose Jacobians are held at once


def limit_margin(linkage: Linkage, goals: Sequence[Goal], solver: Solver, q: Array) -> Array:
    """How far each q (..., dof) is from the nearest position limit of a joint (...), in radians or metres.

    Joints that move no goal and ball joints do not count; inf where no joint has limits.
    """
    room = np.full(q.shape, math.inf)
    columns = list(compilation.compiled(linkage, goals, solver).columns)
    room[..., columns] = np.minimum(q - linkage.lower, linkage.upper - q)[..., columns]
    for first, *_ in encoding.balls(linkage):
        room[..., first : first + 3] = math.inf
    margin: Array = room.min(axis=-1, initial=math.inf)
    return margin


def smallest_singular_value(linkage: Linkage, goals: Sequence[Goal], solver: Solver, q: Array) -> Array:
    """The smallest singular value (rows,) of the weighted Jacobian of the goals at q (rows, dof).

    Where the goals have more rows than the linkage can move, those that can be moved count.
    """
    local_solver = compilation.compiled(linkage, goals, solver)
    rank = encoding.generic_rank(linkage, local_solver)
    numbers = batch.goal_numbers(goals, (len(q),))
    values = np.zeros(len(q))
    for first in range(0, len(q) if rank else 0, _CHUNK):
        some = slice(first, first + _CHUNK)
        jacobians = local_solver.evaluate(q[some], numbers[some], False)[1]
        values[some] = np.linalg.svd(jacobians, compute_uv=False)[:, rank - 1]
    return values
