"""OtherMethod: the step of a tick by a method or a damping scheme other than the tracking law."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple import _core
from supple.damping import Damping
from supple.frame import Array

if TYPE_CHECKING:
    from supple.solver import Solver


class MethodStep(NamedTuple):
    """As the core takes it."""

    change: Array
    """Of the joints (dof,)."""
    alpha: float
    """The damping."""
    weights: Array | None
    """Of the joints (dof,)."""


class OtherMethod:
    """The steps of a solver's method; a damping scheme remembers the last tick."""

    def __init__(self, local_solver: _core.LocalSolver, solver: Solver) -> None:
        self._local_solver, self._solver = local_solver, solver
        self._memory = local_solver.memory() if isinstance(solver.damping, Damping) else None

    def step(self, q: Array, goals: Array, dt: float, weights: list[list[float]]) -> MethodStep:
        """The step from q towards goals (goals, 12) with the weights of each goal's rows; none where they are bad."""
        none = np.zeros(len(q))
        if not (np.isfinite(goals).all() and 0 < dt < math.inf):
            return MethodStep(none, 0.0, None)
        if self._memory is not None:
            rows = np.array([weight for row in weights for weight in row])
            taken = self._local_solver.tick(q, goals, dt, self._memory, rows, *self._solver._callbacks())
            return MethodStep(*taken)
        found = self._local_solver.step(q, goals, *self._solver._callbacks())
        return MethodStep(none if found is None else found, 0.0, None)

    def reset(self) -> None:
        """Forget the last tick."""
        if self._memory is not None:
            self._memory.reset()
