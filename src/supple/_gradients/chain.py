"""The joints from the root to one link, each with a value of its own: what the derivatives of its frame depend on."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from supple._linkage.argument import checked_linkage
from supple._solve import encoding
from supple.errors import unknown
from supple.frame import Array
from supple.joint import Joint, Kind
from supple.linkage import Linkage

_CACHE = "_gradient_chains"


class Balls:
    """Where the rotation vectors of balls are among values (..., size)."""

    def __init__(self, at: list[int], size: int) -> None:
        self.at = _row(at, int)
        """Their columns, three by three."""
        self.order = np.arange(size)
        """Takes the values, then those of all balls, to values with those of the balls in their places."""
        self.order[self.at] = size + np.arange(len(at))


class Chain:
    """The chain of a link. Its ``values`` (..., count) are ``gain * q[..., columns] + offset``, mimics included.

    A *mover* is one value of the chain, in the order from root to link. The chain is a linkage without mimics, so that
    the columns of its Jacobian, `columns_of_movers`, belong to one mover each. That is what their derivative needs.
    """

    def __init__(self, linkage: Linkage, link: str) -> None:
        joints = _joints_to(linkage, link)
        self.linkage = linkage
        self.link = link
        self.alone = Linkage(
            linkage.name,
            [dataclasses.replace(joint, mimic=None) for joint in joints],
            [linkage.link(linkage.root), *(linkage.link(joint.child) for joint in joints)],
            linkage.base,
        )
        moving = [joint for joint in joints if joint.kind is not Kind.FIXED]
        sources = [(linkage._sources[joint.name], joint.kind.dof) for joint in moving]
        self.count = self.alone.dof
        """How many movers there are."""
        self.columns = _row([source.first + k for source, dof in sources for k in range(dof)], int)
        """The value of q (count,) that each mover follows."""
        self.gain = _row([source.gain for source, dof in sources for _ in range(dof)], float)
        self.offset = _row([source.offset for source, dof in sources for _ in range(dof)], float)
        self.spread = np.zeros((self.count, linkage.dof))
        """d values / d q, (count, dof): a Jacobian of the movers times it is that of q."""
        self.spread[np.arange(self.count), self.columns] = self.gain
        self.is_q = np.array_equal(self.spread, np.eye(linkage.dof)) and not self.offset.any()
        """Whether the values are q itself."""
        first, balls = _groups(moving)
        self.balls = Balls(balls, self.count)
        self.balls_of_q = Balls([ball[0] + k for ball in encoding.balls(linkage) for k in range(3)], linkage.dof)
        self.turns_with = (np.arange(self.count)[:, None] >= first).astype(float)
        """1 at (k, i) where mover k turns with i, as it comes after i or is of the same ball, else 0 (count, count)."""

    def frame(self, q: Array) -> Array:
        """The link's frame (..., 4, 4) for q (..., dof)."""
        frame = np.empty((*q.shape[:-1], 4, 4))
        self.linkage._native.frame_into(q, self.link, frame)
        return frame

    def evaluated(self, values: Any) -> tuple[Array, Array]:
        """The link's frame (..., 4, 4) and the movers' columns (..., 6, count) for values (..., count)."""
        given = np.ascontiguousarray(values, dtype=float)
        lead = given.shape[:-1]
        frame, movers = np.empty((*lead, 4, 4)), np.empty((*lead, 6, self.count))
        self.alone._native.frame_and_jacobian_into(given, self.link, frame, movers)
        return frame, movers


def chain_of(linkage: Linkage, link: str, call: str = "") -> Chain:
    """The chain of a link, made once for each linkage and link; ``call`` is the call, for the message."""
    known: dict[str, Chain] = checked_linkage(linkage, call).__dict__.setdefault(_CACHE, {})
    if not isinstance(link, str) or link not in linkage._link_named:
        raise unknown("link", link, linkage._link_named)
    if link not in known:
        known[link] = Chain(linkage, link)
    return known[link]


def _joints_to(linkage: Linkage, link: str) -> list[Joint]:
    """The joints from the root to a link, in that order."""
    above = {joint.child: joint for joint in linkage.joints}
    found = []
    while link in above:
        found.append(above[link])
        link = above[link].parent
    return found[::-1]


def _groups(joints: list[Joint]) -> tuple[Any, list[int]]:
    """For each mover the first of its ball, or itself; and the movers of balls, three by three."""
    first: list[int] = []
    balls: list[int] = []
    for joint in joints:
        here = len(first)
        slides = 3 if joint.kind is Kind.FLOATING else 0
        if joint.kind in (Kind.BALL, Kind.FLOATING):
            first += [*range(here, here + slides), *[here + slides] * 3]
            balls += range(here + slides, here + slides + 3)
        else:
            first += range(here, here + joint.kind.dof)
    return _row(first, int), balls


def _row(numbers: list[Any], kind: type) -> Any:
    return np.array(numbers, dtype=kind)
