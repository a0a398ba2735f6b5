"""Part "trees": several end effectors with goals at a random q."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from supple import Solver

from .arms import TREES
from .descent import middle
from .judge import Judge, arrived
from .measure import Row, spread, stacked, timed


def trees(name: str, count: int) -> Iterator[Row]:
    """Rows of one tree: without a start, from mid-range and from a random start."""
    tree = TREES[name]()
    linkage, judge = tree.linkage, Judge(tree.linkage, tree.links)
    frames = judge.frames(linkage.random(count, seed=1))
    find = Solver().compile(linkage, tree.links)
    begin = {
        "none": None,
        "mid-range": np.tile(middle(linkage), (count, 1)),
        "random": linkage.random(count, seed=2),
    }
    for start, rows in begin.items():
        calls = [(each,) for each in frames] if rows is None else list(zip(frames, rows, strict=True))
        answers, spent = timed(find, calls)
        met = arrived(judge, stacked(answers, linkage.dof), frames)
        wrong = sum(answer is not None and not there for answer, there in zip(answers, met, strict=True))
        labels = {"part": "trees", "robot": name, "start": start, "goals": count, "links": len(tree.links)}
        yield labels | {"success": float(met.mean()), "wrong": int(wrong)} | spread(spent)
