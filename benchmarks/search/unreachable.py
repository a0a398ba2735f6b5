"""Part "unreachable": the error of goals out of reach, compared with an offline optimisation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import supple
from supple.solution import Outcome

from . import ours, truth
from .arms import ARMS
from .descent import weighted
from .judge import LIMITS, Judge
from .measure import Row, spread, timed

CLOSE = 1.01
"""Within one per cent of the reference."""
EXPLAINED = 40
"""Number of goals of a family whose outcome and reason are checked."""


def unreachable(name: str, count: int) -> Iterator[Row]:
    """Rows of one robot: all families together, then each."""
    arm = ARMS[name]()
    frames, best, sorts = truth.unreachable(name)
    order = np.random.default_rng(0).permutation(len(frames))[:count]
    frames, best, sorts = frames[order], best[order], sorts[order]
    out = np.zeros((len(frames), arm.linkage.dof))
    calls: list[tuple[Any, ...]] = [(frame, None, row) for frame, row in zip(frames, out, strict=True)]
    answers, spent = timed(ours.compiled(arm), calls)
    error = weighted(arm, Judge(arm.linkage, [arm.link]).frames(out)[:, 0], frames)
    inside = ((out >= arm.linkage.lower - LIMITS) & (out <= arm.linkage.upper + LIMITS)).all(axis=1)
    close = inside & (error <= CLOSE * best)
    claimed = np.array([answer is not None for answer in answers])
    for sort in ("all", *dict.fromkeys(sorts.tolist())):
        rows = np.ones(len(sorts), bool) if sort == "all" else sorts == sort
        solutions = [supple.solve(arm.linkage, ours.goal(arm, frame)) for frame in frames[rows][:EXPLAINED]]
        yield {
            "part": "unreachable",
            "robot": name,
            "family": sort,
            "goals": int(rows.sum()),
            "close": float(close[rows].mean()),
            "excess": float(np.quantile(error[rows] / best[rows], 0.99) - 1),
            "better": float((error[rows] < 0.999 * best[rows]).mean()),
            "claimed": int(claimed[rows].sum()),
            "stuck": float(np.mean([found.outcome is Outcome.STUCK for found in solutions])),
            "reasons": float(np.mean([bool(found.why) for found in solutions])),
            "why": solutions[0].why,
        } | spread(spent[:, rows])
