"""Reasons in words that solves and trackers share: reach, limits, singularities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from supple._solve.encoding import goal_reach, slide_indices
from supple._solve.goal_error import goal_jacobian
from supple._solve.text import direction_text, length_text
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage

Mask = NDArray[np.bool_]
"""Which of the joint values (dof,)."""


def may_be_outside(linkage: Linkage, q: Array, keep_limits: bool, locked: Mask | None = None) -> Mask:
    """Which values (dof,) may be outside their limits: all without limits, else those that are ``locked`` outside at q.

    Without ``locked`` (dof,), any that are outside at q.
    """
    if not keep_limits:
        return np.ones(linkage.dof, dtype=bool)
    outside: Mask = (q < linkage.lower - 1e-9) | (q > linkage.upper + 1e-9)
    return outside if locked is None else outside & locked


def out_of_reach(
    linkage: Linkage, goal: Goal, position: Array, error: Array, unbounded: Mask, tolerance: float = 0.0
) -> list[str]:
    """That the position of a goal, here (3,), is farther than its link can reach, by more than a tolerance in metres.

    The reach bounds the distance of the link, so this is a proof; where a slide is ``unbounded`` (dof,), there is no
    bound. Components of weight 0 and what slack allows do not count. ``error`` (3,) gives the direction.
    """
    if goal.line is not None or unbounded[slide_indices(linkage, goal)].any():
        return []
    most, base = goal_reach(linkage, goal)
    slack = np.where(free_axes(goal), math.inf, 0.0 if goal.distance is not None else goal.slack)
    away = math.hypot(*(position + np.clip(base - position, -slack, slack) - base))
    spared = float(np.linalg.norm(goal.point))
    if goal.distance is not None:
        spared += goal.distance + goal.slack[0]
    beyond = away - spared - most
    if not beyond > max(tolerance, 1e-12 * most):
        return []
    of = "" if goal.relative_to is None else f" of {goal.relative_to}"
    way = along(goal, np.where(free_axes(goal), 0.0, error))
    return [f"{goal.link} is out of reach{of} by {length_text(beyond)} along {way}"]


def along(goal: Goal, error: Array) -> str:
    """A direction (3,) in words, in the axes of a goal."""
    return direction_text(error) + ("" if goal.relative_to is None else f" of {goal.relative_to}")


def at_limits(names: Sequence[str], sides: Iterable[float], margin: Array) -> list[str]:
    """Which joints are at their limits: sides are -1 (lower), 1 (upper) or anything else; margins are (dof,)."""
    at = [
        f"{name} at {limit_text('upper' if side > 0 else 'lower', wide)}"
        for name, side, wide in zip(names, sides, margin, strict=True)
        if side in (1, -1)
    ]
    return at if len(at) <= 4 else [f"{len(at)} joints at their limits{' or margins' if margin.any() else ''}"]


def limit_text(side: str, margin: float) -> str:
    """A limit in words, or the margin before it."""
    return f"the margin of its {side} limit" if margin > 0 else f"its {side} limit"


def singular(
    names: Sequence[str], weights: Array, direction: Array, link: str = "", goal: Goal | None = None
) -> list[str]:
    """That the end effector can hardly move along a near-singular direction (6,): linear, then angular, weighted.

    ``link`` names the end effector, if there are several; ``goal`` is its goal.
    """
    swinging = [name for name, weight in zip(names, weights, strict=True) if weight < 0.8][:3]
    linear, angular, what = direction[:3], direction[3:], f" {link}" if link else ""
    if not direction.any() and goal is not None and goal.distance is not None:
        slow = f"changing the distance{f' of{what}' if what else ''} is slow"
    elif not direction.any():
        slow = f"pointing{what} is slow"
    elif np.linalg.norm(linear) >= np.linalg.norm(angular):
        slow = f"moving{what} along {direction_text(linear, signed=False)} is slow"
    else:
        slow = f"turning{what} about {direction_text(angular, signed=False)} is slow"
    return [f"{', '.join(swinging) or 'the arm'} {'are' if len(swinging) > 1 else 'is'} singular: {slow}"]


def free_axes(goal: Goal) -> list[bool]:
    """Along which world axes the position of a goal is free."""
    return [w == 0 for w in goal.weight or (1.0, 1.0, 1.0)]


def joints_if_too_few(linkage: Linkage, goal: Goal) -> int:
    """The number of joint values that move a link, if it is less than the goal has components; else 0."""
    components = goal._rows(1.0)[0]
    if goal.distance is not None:
        return 0
    used = [*(c for c in components if c < 6), *((3, 4, 5) if 6 in components else ())]
    J = goal_jacobian(linkage, goal, linkage.random(32, seed=0))[:, used]
    moving = int(J.any(axis=(0, 1)).sum())
    span = int(np.linalg.matrix_rank(np.concatenate(list(J), axis=1), tol=1e-6))
    return moving if moving < min(span, len(components)) else 0
