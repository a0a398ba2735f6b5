"""Part "branches": the share of the branches enumerated by EAIK that `solutions=16` finds."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

import numpy as np
from numpy.typing import NDArray

from supple import Linkage, Solver

from . import goals, ours
from .arms import ARMS
from .closed_form import Eaik
from .judge import ROUGH, Array, Judge, arrived
from .measure import Row, spread, timed

ROBOTS = ("ur5", "puma560")
MANY = 16
SAME = 1e-3
"""Solutions with a smaller difference in every joint, in radians, are the same branch."""


def branches(name: str, count: int) -> Iterator[Row]:
    """The row of one robot, for goals at uniform random q."""
    arm = ARMS[name]()
    judge, closed = Judge(arm.linkage, [arm.link]), Eaik(arm)
    frames = judge.frames(goals.uniform(arm, count, 5))[:, 0]
    solver = Solver()
    calls = [(arm.linkage, ours.goal(arm, frame)) for frame in frames]
    answers, spent = timed(lambda linkage, goal: solver.solve(linkage, goal, solutions=MANY), calls)
    theirs = found = more = wrong = 0
    for frame, answer, (turned,) in zip(frames, answers, closed.prepare(frames, frames[:, 0]), strict=True):
        if isinstance(answer, Exception):
            raise answer
        known = closed.branches(closed.solve(turned))
        known = _distinct(arm.linkage, known[_right(judge, known, frame)])
        mine = answer.q[answer.arrived]
        right = _right(judge, mine, frame)
        same = np.abs(_apart(arm.linkage, known[:, None], mine[right][None])).max(axis=2, initial=0) < SAME
        theirs += len(known)
        found += int(same.any(axis=1).sum())
        more += int((~same.any(axis=0)).sum())
        wrong += int((~right).sum())
    result = {"goals": count, "branches": theirs, "share": found / max(theirs, 1), "more": more, "wrong": wrong}
    yield {"part": "branches", "robot": name} | result | spread(spent)


def _right(judge: Judge, q: Array, frame: Array) -> NDArray[np.bool_]:
    return arrived(judge, q, np.broadcast_to(frame, (len(q), 1, 4, 4)), slack=ROUGH)


def _apart(linkage: Linkage, a: Array, b: Array) -> Array:
    """Differences of joint values, modulo whole turns for joints with a range of at least one turn."""
    turns = np.array([unit == "rad" for joint in linkage.joints if joint.dof for unit in joint.units])
    wide = turns & (linkage.upper - linkage.lower >= 2 * pi - 1e-6)
    d = a - b
    return np.where(wide, d - 2 * pi * np.round(d / (2 * pi)), d)


def _distinct(linkage: Linkage, q: Array) -> Array:
    """Rows of q without duplicates of a branch."""
    kept: list[Array] = []
    for row in q:
        if not any(np.abs(_apart(linkage, row, other)).max() < SAME for other in kept):
            kept.append(row)
    return np.array(kept).reshape(-1, linkage.dof)
