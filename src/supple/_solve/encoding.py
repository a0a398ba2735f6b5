"""Goals and balls of a linkage as the core reads them, and the rank they can have together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from supple import _core
from supple._linkage import reach as _reach
from supple.errors import BadInput, unknown
from supple.frame import Array
from supple.goal import Goal
from supple.joint import Kind
from supple.linkage import Linkage

Row = tuple[float, float, float]
Target = tuple[str, tuple[int, ...], tuple[float, ...], Row, Row, tuple[float, ...]]
"""A link, the components of its error that count, their weights, its point, its axis that points, and their slacks."""


def targets(linkage: Linkage, goals: Sequence[Goal]) -> list[Target]:
    """What is asked of each link; raises `UnknownName` for a link that is none."""
    if not isinstance(linkage, Linkage):
        raise BadInput(f"linkage must be a Linkage, got {linkage!r}")
    asked = []
    for goal in goals:
        if goal.link not in linkage._link_named:
            raise unknown("link", goal.link, linkage._link_named)
        components, weights = goal._rows(_reach.reach(linkage, goal.link))
        axis = (0.0, 0.0, 0.0) if goal.axis is None else tuple(goal.axis.tolist())
        asked.append(
            (goal.link, tuple(components), tuple(weights), tuple(goal.point.tolist()), axis, tuple(goal._slacks()))
        )
    return asked


def rank_of(jacobian: Array, tolerance: float = 1e-6) -> int:
    """How many singular values of a matrix count: those above ``tolerance`` times the largest."""
    values = np.linalg.svd(jacobian, compute_uv=False)
    return int(np.sum(values > tolerance * values[0])) if values[0] > 0 else 0


def jacobian_at(plan: _core.Plan, q: Array) -> Array:
    """The weighted Jacobian (rows, dof) of a plan's goals at q (dof,); where the goals are does not matter to it."""
    anywhere = np.tile(np.array([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], dtype=float), (plan.targets, 1))
    return plan.look(q, anywhere, False)[1]


def generic_rank(linkage: Linkage, plan: _core.Plan, tolerance: float = 1e-6) -> int:
    """The rank that a plan's goals and its linkage can have together: the highest at 32 random q."""
    return max(rank_of(jacobian_at(plan, q), tolerance) for q in linkage.random(32, seed=0))


def balls(linkage: Linkage) -> list[tuple[int, Sequence[float], float, float, float]]:
    """Where the joints that turn any way stand in q, their axes, and how far they swing and twist."""
    found: list[tuple[int, Sequence[float], float, float, float]] = []
    for joint in linkage.joints:
        if joint.kind is Kind.BALL:
            found.append((linkage._sources[joint.name].first, joint.axis, joint.swing, *joint.twist))
        elif joint.kind is Kind.FLOATING:
            found.append((linkage._sources[joint.name].first + 3, joint.axis, math.pi, -math.pi, math.pi))
    return found


def natural_units(linkage: Linkage, reach: float) -> Array:
    """What counts as much as a radian, for each degree of freedom (dof,): reach/pi metres of a slide."""
    size = np.ones(linkage.dof)
    slides = {Kind.PRISMATIC: 1, Kind.PLANAR: 2, Kind.FLOATING: 3}
    for joint in linkage.joints:
        if joint.kind in slides and joint.mimic is None:
            first = linkage._sources[joint.name].first
            size[first : first + slides[joint.kind]] = reach / math.pi
    return size
