"""Measures of a planned path: margins to limits and to singularities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from supple._solve import batch, compilation, encoding
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.solver import Solver

_CHUNK = 4096  # frames whose Jacobians are held at once


def limit_margin(linkage: Linkage, goals: Sequence[Goal], solver: Solver, q: Array) -> Array:
    """How far each q (..., dof) is from the nearest position limit of a joint (...), in radians or metres.

    Of a ball joint the distance to its cone or to its twist range, whichever is nearer. Negative outside. Joints that
    move no goal do not count; inf where no joint has limits.
    """
    margins = np.full(q.shape, math.inf)
    columns = list(compilation.compiled(linkage, goals, solver).columns)
    margins[..., columns] = np.minimum(q - linkage.lower, linkage.upper - q)[..., columns]
    for first, axis, swing, low, high in encoding.balls(linkage):
        if first in columns:
            ball = _ball_margin(q[..., first : first + 3], np.array(axis, float), swing, low, high)
            margins[..., first : first + 3] = ball[..., None]
    margin: Array = margins.min(axis=-1, initial=math.inf)
    return margin


def _ball_margin(vectors: Array, axis: Array, swing: float, low: float, high: float) -> Array:
    """How far rotation vectors (..., 3) of a ball joint are from its cone and from its twist range (...), in radians.

    With the quaternion (w, v), w >= 0, the twist is 2 atan2(v axis, w), and w^2 + (v axis)^2 the squared cosine of half
    the swing.
    """
    quaternion = Frame.rotvec(vectors).to_quaternion()
    w, v = quaternion[..., 0], quaternion[..., 1:]
    along, across = v @ axis, np.linalg.norm(np.cross(v, axis), axis=-1)
    margin = np.full(w.shape, math.inf)
    if swing < math.pi:
        margin = swing - 2 * np.arctan2(across, np.hypot(w, along))
    if low > -math.pi or high < math.pi:
        twist = 2 * np.arctan2(along, w)
        off = np.abs(twist[..., None] - [low, high])
        outside = np.minimum(off, 2 * math.pi - off).min(axis=-1)  # to the nearer end, either way round
        margin = np.minimum(margin, np.where((twist < low) | (twist > high), -outside, off.min(axis=-1)))
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
