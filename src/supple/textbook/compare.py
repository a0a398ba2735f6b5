"""Every method on the same goals, side by side: what arrives, and what it costs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from supple import method, models
from supple.errors import BadInput
from supple.goal import Goal
from supple.linkage import Linkage
from supple.method import Rank
from supple.solver import Solver, Tolerance
from supple.textbook import chapter


@dataclass(frozen=True)
class Row:
    """What one method did with some goals."""

    method: str
    arrived: float
    """Part of the goals that it arrived at, from 0 to 1."""
    inside: float
    """Part of the answers that are within the joint limits, from 0 to 1."""
    iterations: float
    """Steps taken, on average."""
    distance: float
    """Distance that is left, in metres: the median."""
    largest: float
    """The largest change of a joint in any step, in radians or metres, without the jumps of ``limit_escapes``."""
    path: float
    """Length of the way through joint values, on average, without the jumps of ``limit_escapes``."""
    microseconds: float
    """Time of one solve among many, called from Python together; a single goal is solved 64 times over."""
    refused: str = ""
    """Why the method does not apply; the numbers are then not numbers."""


@dataclass(frozen=True)
class Table:
    """Rows under a heading; prints as Markdown."""

    title: str
    many: bool
    """Whether each row is about many goals."""
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        heads = ["method", "arrived", "iterations", "distance left, m", "largest change", "joint path", "us"]
        lines = [heads, *(_line(row, self.many) for row in self.rows)]
        wide = [max(len(line[i]) for line in lines) for i in range(len(heads))]
        padded = [[line[0].ljust(wide[0]), *map(str.rjust, line[1:], wide[1:])] for line in lines]
        padded.insert(1, ["-" * wide[0], *("-" * (width - 1) + ":" for width in wide[1:])])
        return "\n".join([f"**{self.title}**", "", *(f"| {' | '.join(cells)} |" for cells in padded)])

    def data(self) -> dict[str, Any]:
        """The table as plain data; what is not a number is NaN."""
        return {"title": self.title, "rows": [asdict(row) for row in self.rows]}


def every(solver: Solver) -> dict[str, Solver]:
    """The solver with each method, by name, and with descent by each of its rankings."""
    ways = {name: method.get(name) for name in method.names()}
    ways |= {
        f"coordinate_descent, {rank.name.lower().replace('_', ' ')}": method.coordinate_descent(rank)
        for rank in list(Rank)[1:]
    }
    return {name: replace(solver, method=way) for name, way in ways.items()}


def table(title: str, linkage: Linkage, goal: Goal, solvers: Mapping[str, Solver], rounds: int = 5) -> Table:
    """Each solver from rest to one goal or many; the time is the least of some rounds."""
    rows = [_row(name, linkage, goal, solver, rounds) for name, solver in solvers.items()]
    return Table(title, bool(goal.shape), tuple(rows))


def chapters(rounds: int = 3) -> list[Table]:
    """Tables on the chapter's two goals, and on one of a two-link arm, whose Jacobian is square."""
    solvers = every(Solver()) | {"damped, damping 25": Solver(method=method.damped(), damping=25)}
    cases = (
        ("planar3 to (-20, 5)", models.planar3(), chapter.NEAR),
        ("planar3 to (-35, 5), out of reach", models.planar3(), chapter.FAR),
        ("planar2 to (-20, 5)", models.planar2(), chapter.NEAR),
    )
    return [table(title, arm, chapter.wanted([*at, 0]), solvers, rounds) for title, arm, at in cases]


def positions(linkage: Linkage, link: str, count: int, seed: int) -> tuple[Goal, Solver]:
    """Positions that a link can reach, from random joint values, and a solver that wants 1e-4 of the reach."""
    goal = Goal(link, position=linkage.frame(linkage.random(count, seed=seed), link).position)
    return goal, Solver(tolerance=Tolerance(position=1e-4 * linkage.reach(link)))


def _row(name: str, linkage: Linkage, goal: Goal, solver: Solver, rounds: int) -> Row:
    crowd = np.broadcast_to(linkage.rest, (*(goal.shape or (64,)), linkage.dof))
    best = float("inf")
    try:
        found = solver.solve(linkage, goal)
        for _ in range(rounds):
            start = time.perf_counter()
            solver.solve(linkage, goal, crowd)
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
        best / crowd[..., 0].size * 1e6,
    )


def _line(row: Row, many: bool) -> list[str]:
    if row.refused:
        return [row.method, "does not apply", *[""] * 5]
    arrived = f"{row.arrived:.1%}" if many else "yes" if row.arrived else "no"
    steps = f"{row.iterations:.1f}" if many else f"{row.iterations:.0f}"
    rest = (f"{row.distance:.2g}", f"{row.largest:.2f}", f"{row.path:.2f}", f"{row.microseconds:.1f}")
    return [row.method, arrived, steps, *rest]
