"""Inverse kinematics and its derivative by the goal and the start, by the implicit function theorem.

At a solution q of frame(q) = goal, a change d of the goal (metres, radians; world axes) and a change s of the start
give

    dq = A+ d + (F - A+ J F) s,

with the Jacobian J by the values of q, F the diagonal matrix with 0 for joints at a limit and 1 for others, and
A = J F. The pseudoinverse A+ is that of the search's units: a change of the joints is measured in `natural_units` and
divided by the joint's weight, metres of the goal count as pi / reach radians. A singular value s of A has
s / max(s, DAMPED_BELOW)^2 in place of 1 / s: the exact inverse above, and less and less below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from supple import _core
from supple._gradients import rules
from supple._gradients.chain import Chain
from supple._solve import encoding, margins
from supple.frame import Array, Frame
from supple.goal import Goal

DAMPED_BELOW = 1e-3
"""Singular values of the Jacobian, in radians a radian, below which the inverse is damped."""
AT_LIMIT = 1e-9
"""A joint this near to its limit, in radians or metres, is at the limit."""
_CACHE = "_inverses"
_MOST = 16  # inverses that a chain keeps


class Inverse:
    """Inverse kinematics of one link by one solver, and the transpose of its derivative."""

    def __init__(self, chain: Chain, solver: Any, *, single: bool = False) -> None:
        linkage = chain.linkage
        self.single = single
        """Whether joint values are to be within limits in float32 too."""
        self.chain = chain
        self.solver = solver
        reach = linkage.reach(chain.link)
        length = reach if encoding.SHORTEST_LENGTH < reach < math.inf else math.pi
        self.row_weights = np.repeat([math.pi / length, 1.0], 3)
        weights = encoding.joint_weight_values(linkage, solver.joint_weights)
        self.units = encoding.natural_units(linkage, [length]) * weights
        self.lower, self.upper, self.balls = margins.narrowed(linkage, solver.margin)

    def solved(self, goal: Any, start: Any = None) -> Array:
        """Joint values (..., dof) for goals (..., 4, 4) and a start (..., dof)."""
        frames = Frame(np.asarray(goal, dtype=float))
        begin = None if start is None else np.asarray(start, dtype=float)
        found: Array = self.solver.solve(self.chain.linkage, Goal(self.chain.link, frames), begin).q
        if not self.single or not self.solver.keep_limits:
            return found
        return margins.in_single_precision(self.chain.linkage, found, self.solver.margin).astype(float)

    def pulled(self, q: Any, gradient: Any) -> tuple[Array, Array]:
        """Gradients by the goal (..., 6), as a wrench, and by the start (..., dof), for one by q (..., dof)."""
        values, given = np.asarray(q, dtype=float), np.asarray(gradient, dtype=float)
        shape = np.broadcast_shapes(values.shape, given.shape)
        rows, given = np.broadcast_to(values, shape).reshape(-1, shape[-1]), np.broadcast_to(given, shape)
        given = given.reshape(rows.shape)
        free = self.free(rows)
        jacobian = self.jacobian(rows)
        scaled = self.row_weights[:, None] * jacobian * (self.units * free)[:, None, :]
        wrench = self.row_weights * transposed_inverse(scaled, self.units * free * given)
        back = np.matmul(wrench[:, None, :], jacobian)[:, 0, :]
        return wrench.reshape(*shape[:-1], 6), (free * (given - back)).reshape(shape)

    def pulled_in(self, xp: Any, q: Any, gradient: Any, evaluated: Callable[[Any], Any]) -> tuple[Any, Any]:
        """`pulled` for arrays of another library, where they are; for a linkage whose ball joints have no limits.

        ``evaluated`` gives frames and columns for values of the chain, as `Chain.evaluated` does.
        """
        chain, weights, units = self.chain, xp.asarray(self.row_weights), xp.asarray(self.units)
        free = xp.ones_like(q)
        if self.solver.keep_limits:
            low, high = xp.asarray(self.lower), xp.asarray(self.upper)
            free = xp.where((q > low + AT_LIMIT) & (q < high - AT_LIMIT), free, xp.zeros_like(q))
        values = q if chain.is_q else q @ xp.asarray(chain.spread).T + xp.asarray(chain.offset)
        _, movers = evaluated(values)
        by_values = rules.to_gradient(xp, chain.balls, values[..., None, :], movers)
        jacobian = by_values if chain.is_q else by_values @ xp.asarray(chain.spread)
        scaled = weights[:, None] * jacobian * (units * free)[..., None, :]
        along = (scaled @ (units * free * gradient)[..., None])[..., 0]
        squares, axes = xp.linalg.eigh(scaled @ xp.swapaxes(scaled, -1, -2))  # J J' = U s^2 U'
        part = (xp.swapaxes(axes, -1, -2) @ along[..., None])[..., 0] / squares.clip(DAMPED_BELOW**2)
        wrench = weights * (axes @ part[..., None])[..., 0]
        back = (wrench[..., None, :] @ jacobian)[..., 0, :]
        return wrench, free * (gradient - back)

    def jacobian(self, q: Array) -> Array:
        """The Jacobian (rows, 6, dof) by the values of q (rows, dof), those of balls being rotation vectors."""
        chain = self.chain
        values = chain.gain * q[:, chain.columns] + chain.offset
        _, movers = chain.evaluated(values)
        found: Array = rules.to_gradient(np, chain.balls, values[:, None, :], movers) @ chain.spread
        return found

    def free(self, q: Array) -> Array:
        """1 for the values of joints (rows, dof) that are not at a limit, 0 for others; a ball counts as a whole."""
        if not self.solver.keep_limits:
            return np.ones_like(q)
        free = ((q > self.lower + AT_LIMIT) & (q < self.upper - AT_LIMIT)).astype(float)
        for first, axis, swing, low, high in self.balls:
            swing = swing - AT_LIMIT if swing < math.pi else swing
            if low > -math.pi or high < math.pi:
                low, high = low + AT_LIMIT, high - AT_LIMIT
            vector = np.ascontiguousarray(q[:, first : first + 3])
            inner = np.asarray(_core.clamp_ball(vector, np.array(axis, float), swing, low, high))
            free[:, first : first + 3] *= (np.abs(inner - vector).max(axis=1) < AT_LIMIT / 8)[:, None]
        return free


def inverse_of(chain: Chain, solver: Any, *, single: bool) -> Inverse:
    """The inverse of a chain by a solver, kept with the chain: the same one for equal solvers."""
    kept: list[Inverse] = chain.__dict__.setdefault(_CACHE, [])
    for known in kept:
        if known.single == single and (known.solver is solver or known.solver == solver):
            return known
    made = Inverse(chain, solver, single=single)
    kept[:] = [made, *kept[: _MOST - 1]]
    return made


def of_goal(xp: Any, goal: Any, wrench: Any) -> Any:
    """The gradient by the entries of goals (..., 4, 4) for a wrench (..., 6): torque x R / 2, force, and a row of 0.

    It lies along the rotations: a change of the goal that is no motion of a rigid body changes nothing.
    """
    rotation = 0.5 * rules.cross(xp, wrench[..., 3:, None], goal[..., :3, :3])
    top = xp.concatenate([rotation, wrench[..., :3, None]], -1)
    return xp.concatenate([top, xp.zeros_like(goal[..., 3:, :])], -2)


def transposed_inverse(jacobian: Array, gradient: Array) -> Array:
    """The damped pseudoinverse's transpose (rows, 6, dof) times gradients (rows, dof): (rows, 6).

    Rows whose singular values are all above the bound need none: (J J')^-1 J g by Cholesky. The others are decomposed.
    """
    found = np.zeros((len(jacobian), 6))
    singular = np.ones(len(jacobian), dtype=bool)
    if jacobian.shape[2] >= 6:
        found, inverse_trace = _solved_regular(jacobian, gradient)
        singular = ~(inverse_trace < DAMPED_BELOW**-2)
    if singular.any():
        u, s, vt = np.linalg.svd(jacobian[singular], full_matrices=False)
        gain = s / np.maximum(s, DAMPED_BELOW) ** 2
        along = np.matmul(vt, gradient[singular][..., None])[..., 0]
        found[singular] = np.matmul(u, (gain * along)[..., None])[..., 0]
    return found


def _solved_regular(jacobian: Array, gradient: Array) -> tuple[Array, Array]:
    """(J J')^-1 J g (rows, 6) and the trace of (J J')^-1 (rows,), by L^-1 for all rows at a time; nan where singular.

    The trace is a bound: the least singular value of J is at least 1 / sqrt(trace).
    """
    n = 6
    gram = np.matmul(jacobian, jacobian.transpose(0, 2, 1)).transpose(1, 2, 0).copy()
    right = np.matmul(jacobian, gradient[..., None])[..., 0].T
    lower: list[list[Any]] = [[None] * n for _ in range(n)]
    inverse: list[list[Any]] = [[None] * n for _ in range(n)]
    with np.errstate(all="ignore"):
        for i in range(n):
            for k in range(i):
                lower[i][k] = (gram[i, k] - sum(lower[i][m] * lower[k][m] for m in range(k))) * inverse[k][k]
            inverse[i][i] = 1 / np.sqrt(gram[i, i] - sum(lower[i][m] ** 2 for m in range(i)))
            for k in range(i):
                inverse[i][k] = -inverse[i][i] * sum(lower[i][m] * inverse[m][k] for m in range(k, i))
        half = [sum(inverse[i][k] * right[k] for k in range(i + 1)) for i in range(n)]
        found = np.stack([sum(inverse[i][k] * half[i] for i in range(k, n)) for k in range(n)], axis=-1)
        trace = sum(inverse[i][k] ** 2 for i in range(n) for k in range(i + 1))
    return found, np.asarray(trace)
