"""CompiledSolver: linkage, goals and search compiled together, for callers in a hurry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _core
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.solver import Solver


class CompiledSolver(_core.Door):
    """The fast door to the search: made once by `Solver.compile`, then called with frames.

    >>> find = Solver().compile(arm, "hand")           # doctest: +SKIP
    >>> q = find(frame)                             # doctest: +SKIP

    ``find(goal, start=None, out=None)`` gives joint values (dof,) that bring the end effector there, or None if the
    search does not arrive. ``goal`` is a Frame or an array (4, 4), for several end effectors (goals, 4, 4); ``start``
    (dof,) asks for the answer nearest to it; ``out`` (dof,) of float64 is filled and returned, and holds the nearest q
    if it does not arrive. A goal that only points takes its direction from the frame.

    A call costs a fraction of a microsecond beside the search itself. It answers as `Solver.solve` does, bit for bit,
    but without a `Solution`: no error, no reason.
    """

    linkage: Linkage
    goals: tuple[Goal, ...]
    """What is wanted of each end effector: their rows and weights; the frames come with each call."""
    solver: Solver

    def __init__(self, solver: Solver, linkage: Linkage, links: str | Goal | Sequence[str | Goal]) -> None:
        from supple._solve import search as _search

        given: list[Any] = list(links) if isinstance(links, list | tuple) else [links]
        if not given or not all(isinstance(each, str | Goal) for each in given):
            raise BadInput(f"links must be names of links, or goals; got {links!r}")
        self.goals = tuple(Goal(each, np.eye(4)) if isinstance(each, str) else each for each in given)
        if any(goal.priority != self.goals[0].priority for goal in self.goals):
            raise BadInput("the fast door takes goals of one priority")
        self.linkage, self.solver = linkage, solver
        super().__init__(_search.compiled(linkage, self.goals, solver))

    if TYPE_CHECKING:  # the native call needs no frame of Python's

        def __call__(
            self, goal: Frame | ArrayLike, start: ArrayLike | None = None, out: Array | None = None
        ) -> Array | None:
            """Joint values (dof,), or None."""
            ...

    def __repr__(self) -> str:
        return f"{self.solver!r}.compile({self.linkage.name!r}, {[goal.link for goal in self.goals]!r})"
