"""Analysis without iterations: the two-link arm in closed form [K 5.3.1], and the constraints of goals by rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _renamed
from supple._linkage import limits
from supple._linkage.two_link import Annulus as Annulus
from supple._linkage.two_link import Elbows as Elbows
from supple._linkage.two_link import TwoLink as TwoLink
from supple._solve import compilation, encoding
from supple._solve.arguments import goal_list
from supple.errors import BadInput
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solver import Solver

__all__ = ["Annulus", "Constraint", "Elbows", "TwoLink", "constraint"]


@dataclass(frozen=True)
class Constraint:
    """Whether goals are over- or under-constrained, from ranks of their weighted Jacobian; made by `constraint`."""

    rows: int
    """Number of error components of the goals."""
    joints: int
    """Number of joint values that move them."""
    rank: int
    """Rank of the Jacobian almost everywhere: how many rows the joints can change independently."""
    rank_here: int
    """Rank at the given q."""
    stalled: bool
    """Whether the error at q is orthogonal to the range of the Jacobian: to first order no joint reduces it."""

    @property
    def over(self) -> int:
        """Number of rows that cannot be met at will; 0 if there are none."""
        return self.rows - self.rank

    @property
    def under(self) -> int:
        """Dimension of the null space: independent joint motions that do not change the goals; 0 if there are none."""
        return self.joints - self.rank

    @property
    def lost(self) -> int:
        """Rank lost at this q: above 0 the q is singular."""
        return self.rank - self.rank_here

    def __str__(self) -> str:
        said = []
        if self.over:
            said.append(f"over-constrained by {self.over}: {_count(self.over, 'row')} cannot be met at will")
        if self.under:
            is_are = "is" if self.under == 1 else "are"
            said.append(f"under-constrained by {self.under}: {_count(self.under, 'joint motion')} {is_are} free")
        if not said:
            said.append("well constrained")
        if self.lost:
            here = f"singular here: {_count(self.lost, 'direction')} lost"
            said.append(here + ", the one towards the goal" if self.stalled else here)
        numbers = f"{_count(self.rows, 'row')}, {_count(self.joints, 'joint value')}, rank {self.rank}"
        return "; ".join(said) + f" ({numbers})"


def constraint(
    linkage: Linkage, goals: Goal | Sequence[Goal], q: ArrayLike | None = None, *, tolerance: float = 1e-6
) -> Constraint:
    """Whether goals are over- or under-constrained, by how much, and whether q (dof,), by default rest, is singular.

    A singular value below ``tolerance`` times the largest counts as zero. The rank almost everywhere is the highest
    rank at 32 random q within the limits. Active limits are not taken into account.

    >>> from supple.analysis import constraint
    >>> from supple import Goal, models
    >>> print(constraint(models.planar3(), Goal("tip", position=[10, 0, 0], weight=(1, 1, 0))))
    under-constrained by 1: one joint motion is free (2 rows, 3 joint values, rank 2)
    """
    wanted = goal_list(linkage, goals)
    if any(goal.shape for goal in wanted):
        raise BadInput(
            "constraint takes single goals, without leading axes; the result holds for all goals of the same kind"
        )
    if not 0 < _check.real(tolerance) < 1:
        raise BadInput(f"tolerance must lie between 0 and 1, got {_check.short(tolerance)}")
    local_solver = compilation.compiled(linkage, wanted, Solver())
    here = limits.checked(linkage, linkage.rest if q is None else q)
    if here.ndim != 1:
        raise BadInput(f"constraint takes one q of shape ({linkage.dof},), not {here.shape}")
    numbers = np.stack([goal._encoded(()) for goal in wanted])
    error, jacobian = local_solver.evaluate(here, numbers, False)[:2]
    rank = encoding.rank_of(jacobian, tolerance)
    generic = max(encoding.generic_rank(linkage, local_solver, tolerance), rank)
    size = float(np.linalg.norm(jacobian, 2) * np.linalg.norm(error))
    stalled = size > 0 and float(np.linalg.norm(jacobian.T @ error)) <= tolerance * size
    return Constraint(local_solver.rows, len(local_solver.columns), generic, rank, rank < generic and stalled)


def _count(n: int, what: str) -> str:
    return f"one {what}" if n == 1 else f"{n} {what}s"


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _renamed.no_attribute("supple.analysis", name)
