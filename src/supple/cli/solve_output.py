"""The output of `supple solve`: lines of text, a table for many goals, and JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple._solve.text import angle_text, length_text
from supple._table import text_table
from supple.cli import inputs
from supple.cli.output import fixed
from supple.solution import Outcome, Solution, in_words
from supple.solver import Solver

_OF_A_GOAL = [outcome for outcome in Outcome if outcome is not Outcome.NO_MORE]  # NO_MORE is of a further row
MAX_REASONS = 100
"""With many goals, only the first that were not reached get a reason, since reasons take time."""


class Results:
    """The results of many goals, or several of one, as rows: all that arrived, and the nearest of each other goal."""

    def __init__(self, found: Solution, goals: int, several: bool, degrees: bool) -> None:
        outcomes = found.outcomes.reshape(goals, -1)
        listed = outcomes == Outcome.ARRIVED.value
        self.reached = listed[:, 0].copy()  # whether each goal was reached
        listed[:, 0] = True
        goal, number = np.nonzero(listed)
        self.found, self.outcomes, self.degrees = found, outcomes[:, 0], degrees
        self.rows = np.flatnonzero(listed)
        names = np.array([outcome.name.lower() for outcome in Outcome])
        columns: dict[str, Any] = {"goal": goal + 1}
        if several:
            columns["solution"] = number + 1
        columns["outcome"] = names[outcomes[goal, number]]
        first = found.goals[0]
        if first.position is not None:
            columns["distance"] = found.distance.reshape(-1)[self.rows]
        if first.orientation is not None or first.axis is not None:
            angle = found.angle.reshape(-1)[self.rows]
            columns["angle"] = np.degrees(angle) if degrees else angle
        self.columns = columns
        q = found.q.reshape(-1, found.linkage.dof)[self.rows]
        self.q = inputs.in_shown_units(found.linkage, q, degrees)

    def reasons(self) -> dict[int, str]:
        """Why goals were not reached, by row, for the first of them."""
        failed = np.flatnonzero(self.columns["outcome"] != "arrived")[:MAX_REASONS]
        places = (np.unravel_index(int(self.rows[i]), self.found.outcomes.shape) for i in failed)
        return {int(i): self.found[place].why for i, place in zip(failed, places, strict=True)}

    def summary(self, seconds: float) -> dict[str, Any]:
        """The numbers of goals, of each outcome and of solutions, and the time."""
        counts = np.bincount(self.outcomes, minlength=len(Outcome)).tolist()
        by_outcome = {outcome.name.lower(): counts[outcome.value] for outcome in _OF_A_GOAL}
        goals = len(self.outcomes)
        return {"goals": goals, **by_outcome, "solutions": len(self.rows), "seconds": seconds, "rate": goals / seconds}


def joint_lines(found: Solution, degrees: bool) -> list[str]:
    """A line for each joint value: name, value, unit."""
    linkage = found.linkage
    values = inputs.in_shown_units(linkage, found.q, degrees)
    units = inputs.shown_units(linkage, degrees)
    rows = [["", name, fixed(value), unit] for name, value, unit in zip(linkage.names, values, units, strict=True)]
    return text_table(rows, "<<><")


def result_lines(results: Results) -> list[str]:
    """A table with a line for each result; below those that were not reached, the reason."""
    shown = {name: [str(value) for value in column] for name, column in results.columns.items()}
    if "distance" in shown:
        shown["distance"] = ["-" if np.isnan(x) else length_text(x) for x in results.columns["distance"]]
    if "angle" in shown:
        angles = results.columns["angle"]
        texts = [f"{x:.3g} deg" if results.degrees else angle_text(x) for x in angles]
        shown["angle"] = ["-" if np.isnan(x) else text for x, text in zip(angles, texts, strict=True)]
    for name, column in zip(results.found.linkage.names, results.q.T, strict=True):
        shown[name] = [fixed(value) for value in column]
    head, *lines = text_table([list(shown), *zip(*shown.values(), strict=True)], ">")
    reasons = results.reasons()
    table = [head]
    for i, line in enumerate(lines):
        table += [line, f"  {reasons[i]}"] if i in reasons else [line]
    return table


def summary_line(results: Results, seconds: float) -> str:
    """The summary in a line."""
    data = results.summary(seconds)
    counts = [f"{data[outcome.name.lower()]:,} {in_words(outcome)}" for outcome in _OF_A_GOAL]
    counts = [words for words in counts if not words.startswith("0 ")]
    several = f"; {data['solutions']:,} solutions" if "solution" in results.columns else ""
    goals = f"{data['goals']:,} goal{'s' if data['goals'] != 1 else ''}"
    return f"{goals}: {', '.join(counts)}{several}; {seconds:.3g} s, {data['rate']:,.0f} goals per second"


def json_data(found: Solution, results: Results, solver: Solver, seconds: float) -> dict[str, Any]:
    """One solution as plain data, or rows and a summary of many. Parts that no goal asks for are None."""
    columns = {name: column.tolist() for name, column in results.columns.items()}
    missing = [None] * len(results.rows)
    columns |= {name: columns.get(name, missing) for name in ("distance", "angle")}
    columns |= {"iterations": found.iterations.reshape(-1)[results.rows].tolist(), "q": results.q.tolist()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    head = {
        "name": found.linkage.name,
        "link": found.goals[0].link,
        "method": solver.method.name,
        "angles": "deg" if results.degrees else "rad",
        "names": found.linkage.names,
    }
    if found.outcomes.ndim == 0:
        del rows[0]["goal"]
        return {**head, **rows[0], "error": found.error[0], "why": found.why}
    reasons = results.reasons()
    for i, row in enumerate(rows):
        row["why"] = reasons.get(i)
    return {**head, "rows": rows, "summary": results.summary(seconds)}
