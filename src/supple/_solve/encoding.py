"""Goals, ball joints and joint weights as the core reads them, and the generic rank of a Jacobian."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from supple import _core
from supple._linkage import masses, reach
from supple._linkage.argument import checked_linkage
from supple.errors import BadInput, unknown
from supple.frame import Array
from supple.goal import Goal
from supple.joint import Kind
from supple.linkage import Linkage

ROTATIONS = range(3, 8)
"""The components of an error that are angles."""
_SMALLEST_WEIGHT = 1e-300  # of the strongest row: below, weights have too few digits for a ratio
Row = tuple[float, float, float]
Target = tuple[
    str,
    tuple[int, ...],
    tuple[float, ...],
    Row,
    Row,
    tuple[float, ...],
    str | None,
    tuple[float, ...],
    Array | None,
    tuple[str, str] | None,
]
"""A link; the components of its error, their weights; its point and axis (3,); the slack of each component; the link
that it is relative to; `Goal._surface`; for a centre of mass `masses.parts`; for a pole `limb`."""


def targets(linkage: Linkage, goals: Sequence[Goal]) -> list[Target]:
    """The goals as the core reads them; `UnknownName` for a link that the linkage does not have."""
    checked_linkage(linkage)
    encoded: list[Any] = []
    for goal in goals:
        for link in (goal.link, goal.relative_to):
            if link is not None and link not in linkage._link_named and not goal.is_center_of_mass:
                raise unknown("link", link, linkage._link_named)
        components, weights = goal._rows(goal_length(linkage, goal))
        axis = (0.0, 0.0, 0.0) if goal.axis is None else tuple(goal.axis.tolist())
        point, slacks = tuple(goal.point.tolist()), tuple(goal._slacks())
        rows = tuple(components), tuple(weights), point, axis, slacks
        parts = masses.parts(linkage) if goal.is_center_of_mass else None
        encoded.append((goal.link, *rows, goal.relative_to, goal._surface, parts, limb(linkage, goal)))
    return encoded


def limb(linkage: Linkage, goal: Goal) -> tuple[str, str] | None:
    """The links whose joints are the shoulder and the elbow of a pole; None for a goal without one.

    By default those of the first two joints above the link that have origins apart from it and from each other.
    """
    if goal.pole is None:
        return None
    above = linkage.part(linkage.root, goal.link).joints
    shared = linkage.part(linkage.root, goal.relative_to).joints if goal.relative_to is not None else ()
    carriers = [joint.child for joint in above if joint.kind is not Kind.FIXED and joint not in shared]
    if goal.limb is not None:
        for name in goal.limb:
            if name not in linkage._link_named:
                raise unknown("link", name, linkage._link_named)
        places = [carriers.index(name) if name in carriers else -1 for name in goal.limb]
        if not 0 <= places[0] < places[1]:
            raise BadInput(f"limb must be two of the links that joints move on the way to {goal.link!r}: {carriers}")
        return goal.limb
    frames = linkage.frames(linkage.rest)
    last, found = frames[goal.link].position, []
    for name in reversed(carriers):
        if np.linalg.norm(frames[name].position - last) > 1e-6:
            last = frames[name].position
            found.append(name)
    if len(found) < 2:
        raise BadInput(f"a pole needs a shoulder and an elbow: two joints apart on the way to {goal.link!r}; give limb")
    return found[1], found[0]


def strongest_weight(targets: Sequence[Target], lengths: Sequence[float]) -> float:
    """The largest weight of encoded goals of some `goal_length`, where that length counts as half a turn."""
    strongest = max(
        weight * (length / math.pi if component not in ROTATIONS and 0 < length < math.inf else 1.0)
        for (_, components, weights, *_), length in zip(targets, lengths, strict=True)
        for component, weight in zip(components, weights, strict=True)
    )
    if strongest < _SMALLEST_WEIGHT:
        raise BadInput(f"one weight of the goals must be at least {_SMALLEST_WEIGHT:g}; only their ratio counts")
    return strongest


def goal_length(linkage: Linkage, goal: Goal) -> float:
    """The length in metres that counts as half a turn in the error of a goal: the reach of its link.

    Relative to another link, it is the larger of both links' reaches from what carries them both, so that a goal has
    about the same weight in the axes of that link as in those of the world. For a centre of mass it is the largest
    reach.
    """
    if goal.is_center_of_mass:
        return max(reach.reach(linkage, tip) for tip in linkage.tips)
    if goal.relative_to is None:
        return reach.reach(linkage, goal.link)
    for link in (goal.link, goal.relative_to):
        if link not in linkage._link_named:
            raise unknown("link", link, linkage._link_named)
    return max(reach.between(linkage, goal.link, goal.relative_to)[:2])


def goal_reach(linkage: Linkage, goal: Goal) -> tuple[float, Array]:
    """How far the link of a goal can get, and from which point (3,) that is measured, in metres and the goal's axes."""
    if goal.is_center_of_mass:
        return math.inf, np.zeros(3)
    return reach.measured(linkage, goal.link, goal.relative_to)


def slide_indices(linkage: Linkage, goal: Goal) -> list[int]:
    """The values of q whose position limits bound `goal_reach`: those that slide a link which carries the goal's."""
    if goal.is_center_of_mass:
        return []
    known: dict[tuple[str, str | None], list[int]] = linkage.__dict__.setdefault("_slide_indices", {})
    key = goal.link, goal.relative_to
    if key not in known:
        links = [link for link in key if link is not None]
        joints = [joint for link in links for joint in linkage.part(linkage.root, link).joints]
        firsts = [(linkage._sources[joint.name].first, joint.kind.translations) for joint in joints if joint.kind.dof]
        known[key] = sorted({first + k for first, count in firsts for k in range(count)})
    return known[key]


def rank_of(jacobian: Array, tolerance: float = 1e-6) -> int:
    """The number of singular values above ``tolerance`` times the largest."""
    values = np.linalg.svd(jacobian, compute_uv=False)
    return int(np.sum(values > tolerance * values[0])) if values[0] > 0 else 0


def jacobian_at(local_solver: _core.LocalSolver, q: Array) -> Array:
    """The weighted Jacobian (rows, dof) of a solver's goals at q (dof,).

    That of a distance or a point to look at depends on the goal's position; it is taken for a position that has no
    symmetry with the linkage. All others do not depend on the goals' frames.
    """
    anywhere = np.tile(np.array([1, 0, 0, 0, 1, 0, 0, 0, 1, 0.337, -0.591, 0.743]), (local_solver.targets, 1))
    return local_solver.evaluate(q, anywhere, False)[1]


def generic_rank(linkage: Linkage, local_solver: _core.LocalSolver, tolerance: float = 1e-6) -> int:
    """The generic rank of the goals' Jacobian: the highest at 32 random q."""
    return max(rank_of(jacobian_at(local_solver, q), tolerance) for q in linkage.random(32, seed=0))


def balls(linkage: Linkage) -> list[tuple[int, Sequence[float], float, float, float]]:
    """For each ball and floating joint: index of its rotation in q, axis, bounds of swing and twist in radians."""
    found: list[tuple[int, Sequence[float], float, float, float]] = []
    for joint in linkage.joints:
        if joint.kind is Kind.BALL:
            found.append((linkage._sources[joint.name].first, joint.axis, joint.swing, *joint.twist))
        elif joint.kind is Kind.FLOATING:
            found.append((linkage._sources[joint.name].first + 3, joint.axis, math.pi, -math.pi, math.pi))
    return found


SHORTEST_LENGTH = 1e-6
"""A `goal_length` in metres that is not longer is rounding, or a link that only turns: 1 m stands for a radian then."""


def natural_units(linkage: Linkage, lengths: Iterable[float]) -> Array:
    """The change of each joint value (dof,) that counts as one radian: length/pi metres for prismatic ones.

    The length is the longest `goal_length` of the goals. Those not longer than `SHORTEST_LENGTH` do not count. An
    infinite one counts as pi metres: that it is far longer than the others is all that is known.
    """
    usable = (math.pi if math.isinf(each) else each for each in lengths if each > SHORTEST_LENGTH)
    length = max(usable, default=math.pi)
    size = np.ones(linkage.dof)
    for joint in linkage.joints:
        if joint.kind.translations and joint.mimic is None:
            first = linkage._sources[joint.name].first
            size[first : first + joint.kind.translations] = length / math.pi
    return size


def joint_weight_values(linkage: Linkage, given: Any) -> Array:
    """Joint weights (dof,): those of `Solver.joint_weights`, or ones."""
    row = np.ones(linkage.dof)
    if given is None:
        return row
    if isinstance(given[0], tuple):
        for name, weight in given:
            if name not in linkage._sources:
                raise unknown("joint", name, linkage._sources)
            source = linkage._sources[name]
            row[source.first : source.first + linkage.joint(name).dof] = weight
        return row
    if len(given) not in (1, linkage.dof):
        raise BadInput(f"joint_weights must be one number or {linkage.dof}, got {len(given)}")
    row[:] = given
    for first in (ball[0] for ball in balls(linkage)):
        if len(set(row[first : first + 3])) > 1:
            raise BadInput(f"the three values of a ball joint have one weight, not {row[first : first + 3].tolist()}")
    return row
