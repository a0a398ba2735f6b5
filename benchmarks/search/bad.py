"""The part on bad input: refused before any work if it is single, marked in its own row if it is one of many."""

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
    """A row for each law, with whether it held."""
    arm = ARMS["panda"]()
    linkage, link, solver = arm.linkage, arm.link, Solver()
    frames = np.array(linkage.frame(goals.uniform(arm, ROWS, 4), link).matrix)
    broken, start = frames.copy(), goals.uniform(arm, ROWS, 5)
    broken[7, 0, 3], broken[500, 1, 1], broken[-1] = np.nan, np.inf, np.nan
    spoilt = np.zeros(ROWS, dtype=bool)
    spoilt[[7, 500, -1]] = True
    good, mixed = solver.solve(linkage, Goal(link, frames), start), solver.solve(linkage, Goal(link, broken), start)
    find = solver.compile(linkage, link)
    laws = {
        "a single goal that is not finite raises": _raises(lambda: solver.solve(linkage, Goal(link, broken[7]))),
        "so it does at the fast door": _raises(lambda: find(broken[7])),
        "a single start that is not finite raises": _raises(lambda: find(frames[0], start[0] * np.nan)),
        "of many it is INVALID, and only it": bool((np.array(mixed.outcomes == Outcome.INVALID.value) == spoilt).all()),
        "its q is its start": np.array_equal(mixed.q[spoilt], start[spoilt]),
        "the others are the same to the bit": np.array_equal(mixed.q[~spoilt], good.q[~spoilt]),
    }
    for law, held in laws.items():
        yield {"part": "bad", "law": law, "held": held}


def _raises(call: Callable[[], object]) -> bool:
    try:
        call()
    except BadInput:
        return True
    return False
