"""Arm: what a page drives, which links of a linkage are its hands, and what can be asked of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple import analysis, models, read
from supple.errors import BadInput, BadLinkage
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.link import Mesh
from supple.linkage import Linkage
from supple.view.bodies import ways

UPLOAD = 2 * 1024 * 1024
"""Bytes of the largest description that is taken from a browser."""
LINKS = 300
"""Most links of a linkage that is taken from a browser."""
HANDS = 2
"""Most hands that are driven at once: a person has two."""


@dataclass(frozen=True)
class Arm:
    """A linkage, and the links of it that are driven."""

    linkage: Linkage
    links: tuple[str, ...]
    """The end effectors, one for each handle."""

    @classmethod
    def of(cls, linkage: Linkage, links: tuple[str, ...] = ()) -> Arm:
        """The linkage with the hands given, or those it is known for, or else its farthest tip."""
        chosen = links or _known(linkage) or (max(linkage.tips, key=ways(linkage).__getitem__),)
        for link in chosen:
            linkage.link(link)
        return cls(linkage, tuple(chosen))

    @cached_property
    def goals(self) -> tuple[Goal, ...]:
        """What is asked of each hand: its frame, or of a hand with too few joints for that, its position."""
        return tuple(self._goal(k, link) for k, link in enumerate(self.links))

    @cached_property
    def whole(self) -> tuple[bool, ...]:
        """Whether each hand can be turned at will, and not only moved."""
        return tuple(analysis.constraint(self.linkage, Goal(link, Frame())).rank == 6 for link in self.links)

    @cached_property
    def axes(self) -> tuple[tuple[bool, bool, bool], ...]:
        """Along which world axes each hand can be moved at all: a planar arm has two."""
        some = self.linkage.random(16, seed=0)
        moved = [np.abs(self.linkage.jacobian(some, link)[:, :3]).max(axis=(0, 2)) for link in self.links]
        return tuple((bool(x), bool(y), bool(z)) for x, y, z in (m > 1e-9 * max(m.max(), 1e-9) for m in moved))

    @cached_property
    def columns(self) -> NDArray[np.intp]:
        """The degrees of freedom (n,) that move a hand, as places in q."""
        some = self.linkage.random(16, seed=0)
        moved = sum(np.abs(self.linkage.jacobian(some, link)).max(axis=(0, 1)) for link in self.links)
        return np.flatnonzero(moved)

    @cached_property
    def size(self) -> float:
        """About how far the hands reach, in metres: what is drawn is drawn in proportion to it."""
        reaches = [self.linkage.reach(link) for link in self.links]
        sane = [r for r in reaches if 0 < r < np.inf]
        return max(sane, default=1.0)

    def frames(self, q: Array) -> tuple[Frame, ...]:
        """Where joint values q (dof,) put each hand."""
        return tuple(self.linkage.frame(q, link) for link in self.links)

    def _goal(self, k: int, link: str) -> Goal:
        if self.whole[k]:
            return Goal(link, Frame())
        weight = None if all(self.axes[k]) else tuple(float(axis) for axis in self.axes[k])
        return Goal(link, position=np.zeros(3)) if weight is None else Goal(link, position=np.zeros(3), weight=weight)


def uploaded(name: str, content: bytes) -> Arm:
    """The arm that a URDF text from a browser describes; raises `BadInput` or `BadLinkage`, saying why not.

    Nothing is written and no file is opened: meshes that it names are left out, and limbs are drawn instead.
    """
    if len(content) > UPLOAD:
        raise BadInput(f"{name} has {len(content):,} bytes; a description may have {UPLOAD:,}")
    linkage = read.urdf_text(content, file=name)
    if len(linkage.links) > LINKS:
        raise BadLinkage(f"{len(linkage.links):,} links; from a browser at most {LINKS} are taken", file=name)
    if not linkage.dof:
        raise BadLinkage("nothing in it moves", file=name)
    shapes = [geometry.shape for link in linkage.links for geometry in link.geometry]
    if any(isinstance(shape, Mesh) for shape in shapes):
        bare = [replace(link, geometry=()) for link in linkage.links]
        linkage = Linkage(linkage.name, linkage.joints, bare, linkage.base)
    return Arm.of(linkage)


def _known(linkage: Linkage) -> tuple[str, ...]:
    """The end effectors of a stock linkage, as its own line names them; none for any other."""
    if linkage.name not in models.names() or linkage != models.get(linkage.name):
        return ()
    named = models.about(linkage.name).partition("end effector ")[2].partition(";")[0]
    return tuple(named.split(", "))[:HANDS]
