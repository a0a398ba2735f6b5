"""Rows of results: the measures of a run with its arm, hazard, rate and controller."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from supple.gauntlet.runner import Run

Row = dict[str, Any]
"""The measures of one run, with ``arm``, ``hazard``, ``rate``, ``controller`` and ``operator`` (None if clean)."""


def make_row(run: Run, controller: str, measures: Row) -> Row:
    """The measures of a run, with its arm, hazard, rate, controller and operator."""
    labels = {"arm": run.hazard.arm.name, "hazard": run.hazard.key, "rate": run.rate, "controller": controller}
    return labels | {"operator": None if run.operator is None else str(run.operator)} | measures


def worst(rows: Iterable[Row], key: str) -> float:
    """The largest value of a measure; None counts as inf."""
    return max((or_infinity(row[key]) for row in rows if key in row), default=0.0)


def or_infinity(value: float | None) -> float:
    """A measure as a number; inf for None."""
    return float("inf") if value is None else float(value)
