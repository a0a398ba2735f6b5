"""Which joints would have to leave their limits to reach a goal, and how far, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from supple._solve import encoding, margins
from supple._solve.text import angle_text, length_text
from supple._solve.unmet_part import Solve
from supple.frame import Array
from supple.goal import Goal
from supple.joint import Joint, Kind
from supple.linkage import Linkage

_RANDOM_STARTS = 30  # beside the nearest q and rest
_ROUNDS = 8  # projections onto the limits
_LEAST = 1e-6  # rad, or the same in natural units: less is rounding
_SHARE = 0.01  # of the largest excess: a joint that is past its limits by less is not named


def past_limits(linkage: Linkage, goals: Sequence[Goal], q: Array, solve: Solve, margin: Any) -> list[str]:
    """Which joints would have to leave their limits or enter a margin, and how far, if that would help.

    Alternating projections from several starts: solve without limits, clamp to the limits, solve again from there. Of
    the results that reach the goals, the one nearest to its limits is reported. Metres and radians are compared in
    natural units.
    """
    start = np.stack([q, linkage.rest, *linkage.random(_RANDOM_STARTS, seed=0)])
    for _ in range(_ROUNDS):
        found = solve(goals, start, False)
        if not found.arrived.any():
            return []
        values = _unwrapped(linkage, found.q)
        start = margins.clamp(linkage, values, margin)
    past, wide = values - start, margins.sizes(linkage, margin)
    units = encoding.natural_units(linkage, [encoding.goal_length(linkage, goal) for goal in goals])
    size = np.abs(past) / units
    k = int(np.argmin(np.where(found.arrived, size.sum(axis=-1), math.inf)))
    least = units * max(_LEAST, _SHARE * float(size[k].max()))
    reasons = [text for joint in linkage.joints for text in _past(linkage, joint, past[k], least, wide)]
    margined = " or inside their margins" if wide.any() else ""
    return reasons if len(reasons) <= 4 else [f"{len(reasons)} joints would have to be past their limits{margined}"]


def _past(linkage: Linkage, joint: Joint, past: Array, least: Array, margin: Array) -> list[str]:
    """How far past its limits a joint is, or inside the margins (dof,) of them, if more than ``least`` (dof,)."""
    if not joint.dof:
        return []
    first = linkage._sources[joint.name].first
    far, wide, least = (row[first : first + joint.dof] for row in (past, margin, least))
    if joint.kind is Kind.BALL:
        angle = float(np.linalg.norm(far))
        where = "its limits" if not wide.any() else "the margin of its limits"
        return [f"{joint.name} would have to be {angle_text(angle)} past {where}"] if angle > least[0] else []
    reasons = []
    names = linkage.names[first : first + joint.dof]
    for name, unit, x, width, smallest in zip(names, joint.units, far, wide, least, strict=True):
        if abs(x) > smallest:
            within = abs(x) <= width
            size, where = (abs(x), "inside the margin of") if within else (abs(x) - width, "past")
            way = angle_text(size) if unit == "rad" else length_text(size)
            reasons.append(f"{name} would have to be {way} {where} its {'upper' if x > 0 else 'lower'} limit")
    return reasons


def _unwrapped(linkage: Linkage, q: Array) -> Array:
    """The same q (..., dof), with each revolute joint moved by whole turns nearest to the middle of its limits."""
    followed = {joint.mimic.joint for joint in linkage.joints if joint.mimic}
    revolute = [
        joint.kind is Kind.REVOLUTE and joint.name not in followed for joint in linkage.joints for _ in range(joint.dof)
    ]
    both = np.array(revolute) & np.isfinite(linkage.lower) & np.isfinite(linkage.upper)
    middle = np.where(both, 0.5 * (np.where(both, linkage.lower, 0) + np.where(both, linkage.upper, 0)), q)
    unwrapped: Array = q + 2 * math.pi * np.round((middle - q) / (2 * math.pi))
    return unwrapped
