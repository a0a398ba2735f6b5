"""Parts "uniform" and "clustered": reachable goals at random q and of the harder families, from several starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import goals, ours, truth
from .arms import ARMS, Arm
from .descent import middle
from .judge import LIMITS, ROUGH, Array, Judge, arrived
from .measure import Row, spread, stacked, timed
from .peers import PEERS

LINE = 10_000
"""Largest number of goals for `supple.solve`."""
HARD = 300
"""Largest number of goals of a hard family for a peer."""
QUICK = ("TRAC-IK", "ik_LM")
"""The peers that also solve the hard families."""


def starts(arm: Arm, count: int) -> dict[str, Array | None]:
    """Starts (count, dof): none, mid-range, random."""
    return {
        "none": None,
        "mid-range": np.tile(middle(arm.linkage), (count, 1)),
        "random": goals.uniform(arm, count, 2),
    }


def uniform(name: str, count: int, peers: Sequence[str], with_supple: bool) -> Iterator[Row]:
    """Rows of one robot for goals at uniform random q; peers solve fewer of them."""
    arm = ARMS[name]()
    judge = Judge(arm.linkage, [arm.link])
    frames = judge.frames(goals.uniform(arm, count))[:, 0]
    labels = {"part": "uniform", "robot": name}
    begin = starts(arm, count)
    if with_supple:
        for start, rows in begin.items():
            yield labels | {"solver": "supple", "start": start} | _ours(arm, judge, ours.compiled(arm), frames, rows)
        few = _ours(arm, judge, ours.one_call(arm), frames[:LINE], None)
        yield labels | {"solver": "supple.solve", "start": "none"} | few
    for peer in peers:
        for start, rows in begin.items():
            row = None if rows is None else _peer(arm, judge, peer, start, frames, rows)
            if row:
                yield labels | {"solver": peer, "start": start} | row


def clustered(name: str, count: int, peers: Sequence[str], with_supple: bool) -> Iterator[Row]:
    """Rows of one robot for each hard family; success is the share of the goals known to be reachable."""
    arm = ARMS[name]()
    judge = Judge(arm.linkage, [arm.link])
    for family in goals.FAMILIES:
        if family in goals.UNSURE:
            frames, sure = truth.reachable(name, family)
        else:
            frames = goals.FAMILIES[family](arm, truth.COUNT)
            sure = np.ones(len(frames), dtype=bool)
        frames, sure = frames[:count], sure[:count]
        labels = {"part": "clustered", "robot": name, "family": family}
        begin = starts(arm, len(frames))
        if with_supple:
            for start, rows in begin.items():
                result = _ours(arm, judge, ours.compiled(arm), frames, rows, sure)
                yield labels | {"solver": "supple", "start": start} | result
        few, mid = np.flatnonzero(sure)[:HARD], np.tile(middle(arm.linkage), (HARD, 1))
        for peer in [peer for peer in peers if peer in QUICK and len(few)]:
            row = _peer(arm, judge, peer, "mid-range", frames[few], mid[: len(few)])
            yield labels | {"solver": peer, "start": "mid-range"} | (row or {})


def _ours(arm: Arm, judge: Judge, solve: Any, frames: Array, begin: Array | None, sure: Any = None) -> Row:
    """The results of supple; ``sure`` are the goals known to be reachable, by default all."""
    answers, spent = timed(solve, ours.calls(frames, begin))
    met = arrived(judge, stacked(answers, arm.linkage.dof), frames[:, None], arm.kind, LIMITS)
    said = np.array([answer is not None for answer in answers])
    known = met if sure is None else sure | met
    counted = len(met) if sure is None else int(known.sum())
    return {
        "goals": counted,
        "success": float(met.sum() / max(counted, 1)),
        "wrong": int((said & ~met).sum()),
        "missed": np.flatnonzero((np.ones(len(met), bool) if sure is None else known) & ~met)[:20].tolist(),
    } | spread(spent if sure is None else spent[:, known])


def _peer(arm: Arm, judge: Judge, name: str, start: str, frames: Array, begin: Array) -> Row | None:
    """The results of a peer; None if it does not run on this arm, or if it ignores the start."""
    made = PEERS[name]
    if start == "random" and not made.starts:
        return None
    try:
        peer = made(arm)
    except Exception as error:
        return (
            {"goals": 0, "note": f"{type(error).__name__}: {error}".splitlines()[0][:120]}
            if start != "random"
            else None
        )
    frames, begin = frames[: peer.most], begin[: peer.most]
    answers, spent = timed(peer.solve, peer.prepare(frames, begin))
    rows = [None if isinstance(answer, Exception) else peer.q(answer) for answer in answers]
    met = arrived(judge, stacked(rows, arm.linkage.dof), frames[:, None], "frame", ROUGH)
    raised = sum(isinstance(answer, Exception) for answer in answers)
    return {"goals": len(frames), "success": float(met.mean()), "raised": raised} | spread(spent)
