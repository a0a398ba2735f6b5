"""CompiledSolver: a search compiled for one linkage and its goals, for the least time in each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _core
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.solver import Solver


class CompiledSolver(_core.DirectSearch):
    """A search compiled for one linkage and its goals: made by `Solver.compile`, then called with frames.

    >>> from supple import Solver, models
    >>> arm = models.panda()
    >>> find = Solver().compile(arm, "panda_hand_tcp")
    >>> q = find(arm.frame(arm.rest, "panda_hand_tcp"))
    >>> q.shape
    (8,)

    ``find(goal, start=None, out=None)`` returns joint values (dof,) that bring the end effector to the goal, or None
    if the search does not arrive. ``goal`` is a Frame or an array (4, 4), for several end effectors (goals, 4, 4).
    With ``start`` (dof,) the solution nearest to it is returned. ``out`` (dof,) of float64 is filled and returned; it
    holds the nearest q if the search does not arrive. A goal with an axis takes its direction from the frame.

    A call adds a fraction of a microsecond to the search itself. The result is that of `Solver.solve`, bit for bit,
    without the error and the reason.

    Threads may share it: each call has its own memory. A call holds Python's interpreter lock for half a millisecond at
    most; a search that takes longer releases it, and Ctrl-C ends it.
    """

    linkage: Linkage
    goals: tuple[Goal, ...]
    """The goals: their components and weights are used; the frames come with each call."""
    solver: Solver

    def __init__(self, solver: Solver, linkage: Linkage, links: str | Goal | Sequence[str | Goal]) -> None:
        from supple._solve import search

        if not isinstance(getattr(type(solver), "searches", None), property):  # `Solver` is above this module
            raise BadInput(f"solver must be a Solver, got {_check.short(solver)}")
        given: list[Any] = list(links) if isinstance(links, list | tuple) else [links]
        if not given or not all(isinstance(each, str | Goal) for each in given):
            raise BadInput(f"links must be names of links, or goals; got {_check.short(links)}")
        self.goals = tuple(Goal(each, np.eye(4)) if isinstance(each, str) else each for each in given)
        if any(goal.priority != self.goals[0].priority for goal in self.goals):
            raise BadInput("a compiled solver takes goals of one priority")
        self.linkage, self.solver = linkage, solver
        super().__init__(search.compiled(linkage, self.goals, solver))

    if TYPE_CHECKING:  # the call goes to the core directly

        def __call__(
            self, goal: Frame | ArrayLike, start: ArrayLike | None = None, out: Array | None = None
        ) -> Array | None:
            """Joint values (dof,), or None."""
            ...

    def __reduce__(self) -> tuple[object, ...]:
        return CompiledSolver, (self.solver, self.linkage, self.goals)

    def __repr__(self) -> str:
        return f"{self.solver!r}.compile({self.linkage.name!r}, {[goal.link for goal in self.goals]!r})"
