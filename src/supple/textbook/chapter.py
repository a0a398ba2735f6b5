"""The chapter's examples as numbers: planar arms that follow a goal, frame by frame [K 5.3]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np
from numpy.typing import ArrayLike

from supple import method, models, prefer
from supple.errors import unknown
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage
from supple.method import Method
from supple.solver import Solver

START = (pi / 8, pi / 4, pi / 4)
NEAR, FAR = (-20.0, 5.0), (-35.0, 5.0)
FRAMES = 20  # moves of the goal after frame 0
LINK = "tip"


@dataclass(frozen=True)
class Run:
    """An arm whose hand was asked to go along a straight line, one frame after another."""

    label: str
    """What was done, in words."""
    solver: Solver
    q: Array
    """Joint values (frames, dof)."""
    goals: Array
    """Where the hand was asked to be (frames, 3), in metres."""
    linkage: Linkage

    @cached_property
    def hand(self) -> Array:
        """Where the hand was (frames, 3), in metres."""
        return self.linkage.frame(self.q, LINK).position

    @property
    def away(self) -> Array:
        """How far the hand was from where it was asked to be (frames,), in metres."""
        away: Array = np.linalg.norm(self.hand - self.goals, axis=-1)
        return away

    @property
    def largest(self) -> float:
        """The largest change of a joint from one frame to the next, in radians."""
        return float(np.abs(np.diff(self.q, axis=0)).max())

    @property
    def bend(self) -> float:
        """How far the hand strayed from the straight line it was asked to go, in metres."""
        a, b = self.goals[0], self.goals[-1]
        along = (b - a) / np.linalg.norm(b - a)
        off = self.hand - a
        return float(np.linalg.norm(off - np.outer(off @ along, along), axis=-1).max())


def plainly(chosen: Method, damping: float = 0.0, wish: prefer.Preference = prefer.nothing) -> Solver:
    """A solver that takes the book's bare step: no limits, no max_step, no limit_escapes."""
    return Solver(method=chosen, damping=damping, prefer=wish, keep_limits=False, max_step=1e9, limit_escapes=0)


def wanted(position: ArrayLike) -> Goal:
    """A goal for the hand in the plane, with weights 1, as in the chapter."""
    return Goal(LINK, position=position, weight=(1, 1, 0))


def follow(label: str, solver: Solver, goal: ArrayLike = NEAR, steps: int = 1) -> Run:
    """Move the goal in equal parts from the hand of planar3 to ``goal`` (2,), with some steps of the solver a frame."""
    arm = models.planar3()
    q = [np.array(START)]
    first = arm.frame(q[0], LINK).position
    goals = first + np.linspace(0, 1, FRAMES + 1)[:, None] * (np.array([*np.asarray(goal, dtype=float), 0.0]) - first)
    for position in goals[1:]:
        now = q[-1]
        for _ in range(steps):
            now = solver.step(arm, wanted(position), now)
        q.append(now)
    return Run(label, solver, np.array(q), goals, arm)


def places(linkage: Linkage, q: ArrayLike) -> Array:
    """Where the joints and the hand of a planar arm are (..., n, 2), in metres, for joint values q (..., dof)."""
    frames = linkage.frames(q)
    return np.stack([frames[link.name].position[..., :2] for link in linkage.links[1:]], axis=-2)


def names() -> tuple[str, ...]:
    """The figures that `runs` knows."""
    return tuple(_RUNS)


def runs(name: str) -> tuple[Run, ...]:
    """The rows of a figure, each a run from frame 0 to the last."""
    if name not in _RUNS:
        raise unknown("figure with frames", name, _RUNS)
    return _RUNS[name]()


def shown(name: str) -> tuple[int, ...]:
    """The frames that a figure shows."""
    return (0, 10, 18, 19, 20) if name == "5.21" else (0, 5, 10, 15, 20)


def _damping(goal: ArrayLike) -> tuple[Run, ...]:
    plain, damped = plainly(method.pseudoinverse()), plainly(method.damped(), damping=25)
    return follow("pseudo-inverse", plain, goal), follow("damped least squares, damping 25", damped, goal)


def _control() -> tuple[Run, ...]:
    return tuple(
        follow(
            f"gains {', '.join(map(str, gains))}, so joint {stiff} stays straighter",
            plainly(method.pseudoinverse(), wish=prefer.rest([0, 0, 0], gains)),
        )
        for gains, stiff in (((0.1, 0.5, 0.1), 2), ((0.1, 0.1, 0.5), 3))
    )


def _transpose() -> tuple[Run, ...]:
    return (
        follow("scale 0.003, ten steps a frame", plainly(method.transpose(0.003)), steps=10),
        follow("the best scale, one step a frame", plainly(method.transpose())),
    )


def _descent() -> tuple[Run, ...]:
    solver = plainly(method.coordinate_descent())
    return follow("one sweep a frame", solver), follow("ten sweeps a frame", solver, steps=10)


_RUNS: dict[str, Callable[[], tuple[Run, ...]]] = {
    "5.20": lambda: _damping(NEAR),
    "5.21": lambda: _damping(FAR),
    "5.22": _control,
    "5.23": lambda: (follow("the goal pulls, undamped", plainly(method.alternative_jacobian())),),
    "5.24": _transpose,
    "5.25": _descent,
}
