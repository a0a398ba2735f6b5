"""The examples of the chapter as numbers: a planar arm follows a moving goal, frame by frame [K 5.3]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np
from numpy.typing import ArrayLike

from supple import method, models, prefer
from supple._solve.options import TAKE_DAMPING
from supple.errors import unknown
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage
from supple.method import Method
from supple.solver import Solver

START = (pi / 8, pi / 4, pi / 4)
NEAR, FAR = (-20.0, 5.0), (-35.0, 5.0)
FRAMES = 20  # frames after frame 0
LINK = "tip"


@dataclass(frozen=True)
class Run:
    """An arm whose end effector follows a goal on a straight line, frame by frame."""

    label: str
    """The method in words."""
    solver: Solver
    q: Array
    """Joint values (frames, dof)."""
    goals: Array
    """Positions of the goal (frames, 3), in metres."""
    linkage: Linkage

    @cached_property
    def end_effector(self) -> Array:
        """Positions of the end effector (frames, 3), in metres."""
        return self.linkage.frame(self.q, LINK).position

    @property
    def distance(self) -> Array:
        """Distance of the end effector from the goal (frames,), in metres."""
        distance: Array = np.linalg.norm(self.end_effector - self.goals, axis=-1)
        return distance

    @property
    def largest_change(self) -> float:
        """The largest change of a joint from one frame to the next, in radians."""
        return float(np.abs(np.diff(self.q, axis=0)).max())

    @property
    def deviation(self) -> float:
        """The largest distance of the end effector from the straight line, in metres."""
        a, b = self.goals[0], self.goals[-1]
        along = (b - a) / np.linalg.norm(b - a)
        off = self.end_effector - a
        return float(np.linalg.norm(off - np.outer(off @ along, along), axis=-1).max())


def textbook_solver(chosen: Method, damping: float = 0.0, preference: prefer.Preference = prefer.nothing) -> Solver:
    """A solver with the step of the chapter: without joint limits, step limit and limit escapes."""
    alpha = damping if chosen.name in TAKE_DAMPING else None
    return Solver(method=chosen, damping=alpha, prefer=preference, keep_limits=False, max_step=1e9, limit_escapes=0)


def planar_goal(position: ArrayLike) -> Goal:
    """A goal position in the plane for the end effector, with weights 1."""
    return Goal(LINK, position=position, weight=(1, 1, 0))


def follow(label: str, solver: Solver, goal: ArrayLike = NEAR, steps: int = 1) -> Run:
    """Move the goal from the end effector of planar3 to ``goal`` (2,), with ``steps`` steps of the solver per frame."""
    arm = models.planar3()
    q = [np.array(START)]
    first = arm.frame(q[0], LINK).position
    goals = first + np.linspace(0, 1, FRAMES + 1)[:, None] * (np.array([*np.asarray(goal, dtype=float), 0.0]) - first)
    for position in goals[1:]:
        now = q[-1]
        for _ in range(steps):
            now = solver.step(arm, planar_goal(position), now)
        q.append(now)
    return Run(label, solver, np.array(q), goals, arm)


def places(linkage: Linkage, q: ArrayLike) -> Array:
    """Positions of joints and end effector of a planar arm (..., n, 2), in metres, at joint values q (..., dof)."""
    frames = linkage.frames(q)
    return np.stack([frames[link.name].position[..., :2] for link in linkage.links[1:]], axis=-2)


def names() -> tuple[str, ...]:
    """The figures that `runs` has."""
    return tuple(_RUNS)


def runs(name: str) -> tuple[Run, ...]:
    """The rows of a figure: one run each."""
    if name not in _RUNS:
        raise unknown("figure with frames", name, _RUNS)
    return _RUNS[name]()


def shown(name: str) -> tuple[int, ...]:
    """Numbers of the frames that a figure shows."""
    return (0, 10, 18, 19, 20) if name == "5.21" else (0, 5, 10, 15, 20)


def _damping(goal: ArrayLike) -> tuple[Run, ...]:
    plain, damped = textbook_solver(method.pseudoinverse()), textbook_solver(method.damped(), damping=25)
    return follow("pseudo-inverse", plain, goal), follow("damped least squares, damping 25", damped, goal)


def _control() -> tuple[Run, ...]:
    return tuple(
        follow(
            f"gains {', '.join(map(str, gains))}: joint {stiff} stays straighter",
            textbook_solver(method.pseudoinverse(), preference=prefer.rest([0, 0, 0], gains)),
        )
        for gains, stiff in (((0.1, 0.5, 0.1), 2), ((0.1, 0.1, 0.5), 3))
    )


def _transpose() -> tuple[Run, ...]:
    return (
        follow("scale 0.003, ten steps per frame", textbook_solver(method.transpose(0.003)), steps=10),
        follow("optimal scale, one step per frame", textbook_solver(method.transpose())),
    )


def _descent() -> tuple[Run, ...]:
    solver = textbook_solver(method.coordinate_descent())
    return follow("one sweep per frame", solver), follow("ten sweeps per frame", solver, steps=10)


_RUNS: dict[str, Callable[[], tuple[Run, ...]]] = {
    "5.20": lambda: _damping(NEAR),
    "5.21": lambda: _damping(FAR),
    "5.22": _control,
    "5.23": lambda: (
        follow("pseudo-inverse of the alternative Jacobian", textbook_solver(method.alternative_jacobian())),
    ),
    "5.24": _transpose,
    "5.25": _descent,
}
