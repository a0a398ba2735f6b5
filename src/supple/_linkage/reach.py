"""The reach of a link, how far its joints can take it, and the point that this is measured from."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from supple._linkage.tree import z_to
from supple.frame import Array
from supple.joint import Joint, Kind

if TYPE_CHECKING:
    from supple.linkage import Linkage


def reach(linkage: Linkage, link: str) -> float:
    """See `Linkage.reach`; cached in the linkage."""
    known: dict[str, float] = linkage.__dict__.setdefault("_turning_reaches", {})
    if link not in known:
        chain = _chain(linkage, link)
        turning = next((k for k, joint in enumerate(chain) if joint.kind in (Kind.REVOLUTE, Kind.CONTINUOUS)), 0)
        carried = any(joint.kind is Kind.PRISMATIC for joint in chain[:turning])
        turned = _measure(linkage, link, chain[turning:])[0] if carried else 0.0
        known[link] = turned if turned > 1e-6 else measured(linkage, link)[0]
    return known[link]


def beyond(linkage: Linkage, link: str, position: Array, other: str | None = None) -> float:
    """How far a position (3,) is beyond the reach of a link, in metres; 0 if it is within reach."""
    most, base = measured(linkage, link, other)
    return max(0.0, math.hypot(*(position - base)) - most)


def measured(linkage: Linkage, link: str, other: str | None = None) -> tuple[float, Array]:
    """Reach of a link and the point (3,) that it is measured from, in metres; cached in the linkage.

    It counts the travel of prismatic joints before the first turn, unlike the reach. With ``other``, a bound of its
    distance from that link, in the axes of that link.
    """
    if other is not None:
        return sum(between(linkage, link, other)), np.zeros(3)
    known: dict[str, tuple[float, Array]] = linkage.__dict__.setdefault("_reaches", {})
    if link not in known:
        known[link] = _measure(linkage, link, _chain(linkage, link))
    return known[link]


def between(linkage: Linkage, link: str, other: str) -> tuple[float, float, float]:
    """Reaches of two links from their deepest common ancestor, and the distance of the points they are measured from.

    In metres; cached in the linkage.
    """
    known: dict[tuple[str, str], tuple[float, float, float]] = linkage.__dict__.setdefault("_reaches_between", {})
    if (link, other) not in known:
        known[link, other] = _measure_between(linkage, link, other)
    return known[link, other]


_measured = measured


def _chain(linkage: Linkage, link: str, root: str | None = None) -> list[Joint]:
    """The joints from the root, or another link above, to a link, as prismatic, revolute and fixed ones."""
    joints: list[Joint] = []
    for joint in linkage.part(linkage.root if root is None else root, link).joints:
        if joint.kind is Kind.BALL:
            joints += Joint.ball_from_revolutes(joint.name, joint.parent, joint.child, at=joint.location)
        elif joint.kind in (Kind.PLANAR, Kind.FLOATING):
            joints += _simple_joints(joint)
        else:
            joints.append(replace(joint, mimic=None, **_range(linkage, joint)))
    return joints


def _range(linkage: Linkage, joint: Joint) -> dict[str, Any]:
    """The limits of a prismatic mimic: those of its source, since its own are not used."""
    if joint.kind is not Kind.PRISMATIC or linkage.joint(joint.name).mimic is None:
        return {}
    source = linkage._sources[joint.name]
    low, high = float(linkage.lower[source.first]), float(linkage.upper[source.first])
    ends = sorted(source.gain * end + source.offset if source.gain else source.offset for end in (low, high))
    return {"lower": (ends[0],), "upper": (ends[1],), "rest": ()}


def _measure(linkage: Linkage, link: str, joints: list[Joint]) -> tuple[float, Array]:
    slides = [joint for joint in joints if joint.kind is Kind.PRISMATIC]
    if not np.isfinite([value for joint in slides for value in joint.lower + joint.upper]).all():
        return math.inf, np.zeros(3)
    if not any(joint.dof for joint in joints):
        return 0.0, linkage.frame(linkage.rest, link).position
    chain = type(linkage)("chain", joints, base=linkage.base)
    most, x, y, z = chain._native.reach(link, chain.lower, chain.upper)
    return most, np.array([x, y, z])


def _measure_between(linkage: Linkage, link: str, other: str) -> tuple[float, float, float]:
    parent = {joint.child: joint.parent for joint in linkage.joints}

    def ancestors(name: str) -> list[str]:
        found = [name]
        while found[-1] in parent:
            found.append(parent[found[-1]])
        return found

    above = ancestors(other)
    ancestor = next(name for name in ancestors(link) if name in above)

    def from_ancestor(name: str) -> tuple[float, Array]:
        if name == ancestor:
            return 0.0, np.zeros(3)
        return _measure(linkage.part(ancestor, name), name, _chain(linkage, name, ancestor))

    (a, base_a), (b, base_b) = from_ancestor(link), from_ancestor(other)
    return a, b, math.hypot(*(base_a - base_b))


def _simple_joints(joint: Joint) -> list[Joint]:
    """A planar or floating joint as an equivalent chain of prismatic and revolute joints."""
    directions = z_to(joint.axis)[:3, :3].T if joint.kind is Kind.PLANAR else np.eye(3)
    slides = joint.kind.translations
    links = [joint.parent, *(f"{joint.name} {i}" for i in range(slides)), joint.child]
    made = [
        Joint.prismatic(
            links[i + 1],
            links[i],
            links[i + 1],
            at=joint.location if i == 0 else None,
            axis=directions[i],
            lower=joint.lower[i],
            upper=joint.upper[i],
        )
        for i in range(slides)
    ]
    if joint.kind is Kind.PLANAR:
        return [*made, Joint.revolute(joint.name, links[-2], joint.child, axis=joint.axis)]
    return [*made, *Joint.ball_from_revolutes(joint.name, links[-2], joint.child)]
