"""Rows: the measures of a run with where they belong, as the tables read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from supple.gauntlet.runner import Run

Row = dict[str, Any]
"""The measures of one run, with ``arm``, ``hazard``, ``rate``, ``controller`` and ``operator`` (None if clean)."""
RETURNS = ("s3_shoulder", "s4_reach", "s5_limit", "s6_step", "s8_orient")  # the hazards that one comes back from
SIX = ("ur5", "puma560")


def row_of(run: Run, controller: str, measures: Row) -> Row:
    """The measures of a run, with where they belong."""
    place = {"arm": run.hazard.arm.name, "hazard": run.hazard.key, "rate": run.rate, "controller": controller}
    return place | {"operator": None if run.operator is None else str(run.operator)} | measures


def worst(rows: Iterable[Row], key: str) -> float:
    """The greatest value of a measure; inf where it is None."""
    return max((or_infinity(row[key]) for row in rows if key in row), default=0.0)


def or_infinity(value: float | None) -> float:
    """A measure as a number; inf where it is None."""
    return float("inf") if value is None else float(value)
