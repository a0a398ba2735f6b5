"""The set-up of a tracker: bounds of the joints, weights and levels of the goals, and the tracker of the core."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import _core
from supple._solve import compilation, encoding
from supple._solve.tracker_arguments import bounds, status_slack
from supple._solve.tracker_levels import levels_of
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.solver import Solver, Tolerance

_FASTEST_SLIDE = 10.0  # m/s^2: largest default acceleration of a prismatic joint
_LONGEST_RAMP = 0.04  # s: to reach the acceleration in use, where jerk is given
_SHORTEST_END = 0.008  # s: in which an acceleration may end whatever the jerk, where jerk is given
_SUDDEN = 1e9  # 1/s: else in any tick


@dataclass(frozen=True)
class Setup:
    """What a tracker knows of its goals and joints from the start."""

    reaches: list[float]
    """Length of each goal that counts as half a turn."""
    targets: Sequence[encoding.Target]
    """The goals without slack, as the core takes them: slack counts for the status, not for the step."""
    unit: Array
    """Natural unit of each joint (dof,)."""
    acceleration: Array
    jerk: Array
    end_rate: float
    """1/s: an acceleration may end within its inverse, or sooner where jerk allows."""
    local_solver: _core.LocalSolver
    """Of the goals with their slack."""
    rank: int
    samples: list[Array]
    """Jacobians (rows, dof) of all goals at some joint values."""

    @property
    def moved(self) -> NDArray[np.bool_]:
        """The joints that move some end effector (dof,)."""
        moved: NDArray[np.bool_] = np.any(self.samples, axis=(0, 1))
        return moved


def set_up(
    linkage: Linkage, goals: Sequence[Goal], solver: Solver, acceleration: ArrayLike | None, jerk: ArrayLike | None
) -> Setup:
    """Bounds, weights and rank of a tracker of these goals."""
    reaches = [encoding.goal_length(linkage, goal) for goal in goals]
    tight = [goal._without_slack() for goal in goals] if solver.searches else list(goals)
    targets = encoding.targets(linkage, tight)
    unit = encoding.natural_units(linkage, reaches)
    limit, jerks = joint_bounds(linkage, unit, acceleration, jerk)
    local_solver, tight_solver = (compilation.compiled(linkage, some, solver) for some in (goals, tight))
    return Setup(
        reaches=reaches,
        targets=targets,
        unit=unit,
        acceleration=limit,
        jerk=jerks,
        end_rate=1 / _SHORTEST_END if jerk is not None and solver.searches else _SUDDEN,
        local_solver=local_solver,
        rank=max(encoding.generic_rank(linkage, tight_solver), 1),
        samples=[encoding.jacobian_at(tight_solver, q) for q in linkage.random(8, seed=0)],
    )


def joint_bounds(
    linkage: Linkage, unit: Array, acceleration: ArrayLike | None, jerk: ArrayLike | None
) -> tuple[Array, Array]:
    """Acceleration and jerk of each joint (dof,): an acceleration is at most what jerk reaches in a short time."""
    usual = np.where([kind == "m" for kind in linkage.units], np.minimum(15.0 * unit, _FASTEST_SLIDE), 15.0)
    limit = bounds(linkage, acceleration, "acceleration", linkage.acceleration, usual)
    jerks = bounds(linkage, jerk, "jerk", np.full(linkage.dof, math.inf), limit / 6e-3)
    return np.minimum(limit, _LONGEST_RAMP * jerks), jerks


def native_tracker(
    linkage: Linkage,
    goals: Sequence[Goal],
    made: Setup,
    start: Array,
    tolerance: Tolerance,
    recovery: int,
    smooth: float,
    predict: float,
) -> _core.Tracker:
    """The tracker of the core."""
    strongest = encoding.strongest_weight(made.targets, made.reaches)
    return _core.Tracker(
        linkage._native,
        list(made.targets),
        linkage.lower,
        linkage.upper,
        encoding.balls(linkage),
        (linkage.speed, made.acceleration, made.jerk, made.unit, made.end_rate),
        made.rank,
        1.0 / strongest,
        (tolerance.position, tolerance.angle),
        recovery,
        levels_of(goals, made.reaches, made.samples),
        [status_slack(goal, target) for goal, target in zip(goals, made.targets, strict=True)],
        [length if 0 < length < math.inf else math.pi for length in made.reaches],
        np.ascontiguousarray(start),
        smooth,
        predict,
    )
