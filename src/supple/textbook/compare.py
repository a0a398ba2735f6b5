"""Compares every method on the same goals: success, iterations, error, path length and time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from supple import method, models
from supple._table import markdown_table
from supple.errors import BadInput
from supple.goal import Goal
from supple.linkage import Linkage
from supple.method import Rank
from supple.solver import Solver, Tolerance
from supple.textbook import chapter


@dataclass(frozen=True)
class Row:
    """The results of one method for some goals."""

    method: str
    arrived: float
    """Share of the goals that were reached, from 0 to 1."""
    inside: float
    """Share of the results within the joint limits, from 0 to 1."""
    iterations: float
    """Mean number of iterations."""
    distance: float
    """Median of the remaining distance, in metres."""
    largest: float
    """Largest change of a joint in a step, in radians or metres, without the jumps of ``limit_escapes``."""
    path: float
    """Mean length of the path through joint space, without the jumps of ``limit_escapes``."""
    microseconds: float
    """Time per goal of one call with many goals; a single goal is solved 64 times in one call."""
    refused: str = ""
    """Why the method does not apply; all numbers are then NaN."""


@dataclass(frozen=True)
class Table:
    """A table of methods; prints as Markdown.

    The largest step and the path through joint space are in radians, or metres for slides; the search has neither.
    """

    title: str
    many: bool
    """Whether each row is for many goals."""
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        heads = ["method", "arrived", "iterations", "distance left, m", "largest step", "joint path", "time, us"]
        lines = [heads, *(_line(row, self.many) for row in self.rows)]
        return f"**{self.title}**\n\n{markdown_table(lines, '<>')}"

    def data(self) -> dict[str, Any]:
        """The table as plain data."""
        return {"title": self.title, "rows": [asdict(row) for row in self.rows]}


def with_every_method(solver: Solver) -> dict[str, Solver]:
    """The solver with each method, by name, and with coordinate descent by each ranking of the joints."""
    methods = {name: method.get(name) for name in method.names()}
    methods |= {
        f"coordinate_descent, {rank.name.lower().replace('_', ' ')}": method.coordinate_descent(rank)
        for rank in list(Rank)[1:]
    }
    return {name: replace(solver, method=each) for name, each in methods.items()}


def table(title: str, linkage: Linkage, goal: Goal, solvers: Mapping[str, Solver], rounds: int = 5) -> Table:
    """Each solver from rest to one goal or many; the time is the minimum of some rounds."""
    rows = [_row(name, linkage, goal, solver, rounds) for name, solver in solvers.items()]
    return Table(title, bool(goal.shape), tuple(rows))


def chapter_tables(rounds: int = 3) -> list[Table]:
    """Tables for the two goals of the chapter, and for a two-link arm, whose Jacobian is square."""
    solvers = with_every_method(Solver()) | {"damped, damping 25": Solver(method=method.damped(), damping=25)}
    cases = (
        ("planar3 to (-20, 5)", models.planar3(), chapter.NEAR),
        ("planar3 to (-35, 5), out of reach", models.planar3(), chapter.FAR),
        ("planar2 to (-20, 5)", models.planar2(), chapter.NEAR),
    )
    return [table(title, arm, chapter.planar_goal([*at, 0]), solvers, rounds) for title, arm, at in cases]


def reachable_positions(linkage: Linkage, link: str, count: int, seed: int) -> tuple[Goal, Solver]:
    """Random reachable positions of a link, and a solver with a tolerance of 1e-4 of the reach."""
    goal = Goal(link, position=linkage.frame(linkage.random(count, seed=seed), link).position)
    return goal, Solver(tolerance=Tolerance(position=1e-4 * linkage.reach(link)))


def _row(name: str, linkage: Linkage, goal: Goal, solver: Solver, rounds: int) -> Row:
    starts = np.broadcast_to(linkage.rest, (*(goal.shape or (64,)), linkage.dof))
    best = float("inf")
    try:
        found = solver.solve(linkage, goal)
        for _ in range(rounds):
            start = time.perf_counter()
            solver.solve(linkage, goal, starts)
            best = min(best, time.perf_counter() - start)
    except BadInput as error:
        nan = float("nan")
        return Row(name, nan, nan, nan, nan, nan, nan, nan, refused=str(error))
    return Row(
        name,
        float(np.mean(found.arrived)),
        float(np.mean(linkage.inside(found.q))),
        float(np.mean(found.iterations)),
        float(np.median(found.distance)),
        float(np.max(found.largest_step)),
        float(np.mean(found.path)),
        best / starts[..., 0].size * 1e6,
    )


def _line(row: Row, many: bool) -> list[str]:
    if row.refused:
        return [row.method, "does not apply", *[""] * 5]
    arrived = f"{row.arrived:.1%}" if many else "yes" if row.arrived else "no"
    steps = f"{row.iterations:.1f}" if many else f"{row.iterations:.0f}"
    largest, path = (f"{x:.2f}" if row.path or not row.iterations else "-" for x in (row.largest, row.path))
    return [row.method, arrived, steps, f"{row.distance:.2g}", largest, path, f"{row.microseconds:.1f}"]
