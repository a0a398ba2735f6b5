"""Goals and balls of a linkage as the core reads them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from supple import _reach
from supple.errors import BadInput, unknown
from supple.goal import Goal
from supple.joint import Kind
from supple.linkage import Linkage

Row = tuple[float, float, float]
Target = tuple[str, tuple[int, ...], tuple[float, ...], Row, Row]
"""A link, the components of its error that count, their weights, its point, and its axis that points."""


def targets(linkage: Linkage, goals: Sequence[Goal]) -> list[Target]:
    """What is asked of each link; raises `UnknownName` for a link that is none."""
    if not isinstance(linkage, Linkage):
        raise BadInput(f"linkage must be a Linkage, got {linkage!r}")
    asked = []
    for goal in goals:
        if goal.link not in linkage._link_named:
            raise unknown("link", goal.link, linkage._link_named)
        components, weights = goal.rows(_reach.reach(linkage, goal.link))
        axis = (0.0, 0.0, 0.0) if goal.axis is None else tuple(goal.axis.tolist())
        asked.append((goal.link, tuple(components), tuple(weights), tuple(goal.point.tolist()), axis))
    return asked


def balls(linkage: Linkage) -> list[tuple[int, Sequence[float], float, float, float]]:
    """Where the joints that turn any way stand in q, their axes, and how far they swing and twist."""
    found: list[tuple[int, Sequence[float], float, float, float]] = []
    for joint in linkage.joints:
        if joint.kind is Kind.BALL:
            found.append((linkage._sources[joint.name].first, joint.axis, joint.swing, *joint.twist))
        elif joint.kind is Kind.FLOATING:
            found.append((linkage._sources[joint.name].first + 3, joint.axis, math.pi, -math.pi, math.pi))
    return found
