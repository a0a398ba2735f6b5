"""Part "bad": a single goal that is not finite is refused; among many it is marked invalid in its row."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from supple import Goal, Solver
from supple.errors import BadInput
from supple.solution import Outcome

from . import goals
from .arms import ARMS
from .measure import Row

ROWS = 1000


def bad() -> Iterator[Row]:
    """A row for each rule, with whether it holds."""
    arm = ARMS["panda"]()
    linkage, link, solver = arm.linkage, arm.link, Solver()
    frames = np.array(linkage.frame(goals.uniform(arm, ROWS, 4), link).matrix)
    broken, start = frames.copy(), goals.uniform(arm, ROWS, 5)
    broken[7, 0, 3], broken[500, 1, 1], broken[-1] = np.nan, np.inf, np.nan
    invalid = np.zeros(ROWS, dtype=bool)
    invalid[[7, 500, -1]] = True
    good, mixed = solver.solve(linkage, Goal(link, frames), start), solver.solve(linkage, Goal(link, broken), start)
    find = solver.compile(linkage, link)
    rules = {
        "a single goal that is not finite raises": _raises(lambda: solver.solve(linkage, Goal(link, broken[7]))),
        "so it does with the compiled solver": _raises(lambda: find(broken[7])),
        "a single start that is not finite raises": _raises(lambda: find(frames[0], start[0] * np.nan)),
        "of many it is INVALID, and only it": bool(
            (np.array(mixed.outcomes == Outcome.INVALID.value) == invalid).all()
        ),
        "its q is its start": np.array_equal(mixed.q[invalid], start[invalid]),
        "the others are identical": np.array_equal(mixed.q[~invalid], good.q[~invalid]),
    }
    for rule, held in rules.items():
        yield {"part": "bad", "rule": rule, "held": held}


def _raises(call: Callable[[], object]) -> bool:
    try:
        call()
    except BadInput:
        return True
    return False
