"""Arm: the linkage that a page drives, its driven end effectors, and what each can do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple import models
from supple.errors import BadInput, BadLinkage
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.joint import Joint, Kind
from supple.link import Mesh, Shape
from supple.linkage import Linkage
from supple.read import isolated
from supple.teleop.gripper import GripperJoints, is_finger
from supple.teleop.reachable import turning_freedom
from supple.view.bodies import bodies, ways
from supple.view.solids import Solid

MAX_UPLOAD = 2 * 1024 * 1024
"""Largest robot description from a browser, in bytes."""
MAX_LINKS = 300
"""Most links of a linkage from a browser."""
MAX_DOF = 64
"""Most joint values of a linkage that a page drives: a tick of more does not fit into its time."""
SIZES = (1e-3, 1e3)
"""Smallest and largest reach of an arm from a browser, in metres; no length in its file may be larger."""
MAX_HANDLES = 2
"""Most end effectors driven at once: a person has two hands."""


@dataclass(frozen=True)
class Arm:
    """A linkage and the links that are driven."""

    linkage: Linkage
    links: tuple[str, ...]
    """The end effectors, one for each handle."""

    @classmethod
    def of(cls, linkage: Linkage, links: tuple[str, ...] = ()) -> Arm:
        """The linkage with these end effectors; by default those of a bundled model, or the farthest hand."""
        if linkage.dof > MAX_DOF:
            raise BadInput(f"{linkage.name} has {linkage.dof} joint values; the page drives at most {MAX_DOF}")
        chosen = links or _model_links(linkage) or (_hand(linkage),)
        for link in chosen:
            linkage.link(link)
        return cls(linkage, tuple(chosen))

    @cached_property
    def goals(self) -> tuple[Goal, ...]:
        """The goal of each end effector: its frame, or its position if it cannot be turned there."""
        return tuple(self._goal(k, link) for k, link in enumerate(self.links))

    @cached_property
    def turns(self) -> tuple[bool, ...]:
        """Whether each end effector can be turned where it is, in some direction at least."""
        return tuple(turning_freedom(self.linkage, link) > 0 for link in self.links)

    @cached_property
    def turn_axes(self) -> tuple[tuple[bool, bool, bool], ...]:
        """Whether each end effector can be turned about the world's x, y and z: a planar arm about one of them."""
        return tuple(_nonzero(self.linkage.jacobian(self._samples, link)[:, 3:]) for link in self.links)

    @cached_property
    def axes(self) -> tuple[tuple[bool, bool, bool], ...]:
        """Whether each end effector can be moved along the world's x, y and z: a planar arm along two of them."""
        return tuple(_nonzero(self.linkage.jacobian(self._samples, link)[:, :3]) for link in self.links)

    @cached_property
    def columns(self) -> NDArray[np.intp]:
        """Indices (n,) of the joint values that move an end effector."""
        moved = sum(np.abs(self.linkage.jacobian(self._samples, link)).max(axis=(0, 1)) for link in self.links)
        return np.flatnonzero(moved)

    @cached_property
    def grippers(self) -> GripperJoints:
        """The joint values that open the gripper of each end effector."""
        return GripperJoints(self.linkage, self.links)

    @cached_property
    def bodies(self) -> tuple[tuple[Solid, ...], ...]:
        """The solids of each link in its own axes."""
        return bodies(self.linkage)

    @cached_property
    def size(self) -> float:
        """Approximate reach in metres; drawings are scaled with it."""
        reaches = [self.linkage.reach(link) for link in self.links]
        finite = [r for r in reaches if 0 < r < np.inf]
        return max(finite, default=1.0)

    def frames(self, q: Array) -> tuple[Frame, ...]:
        """Frame of each end effector at joint values q (dof,)."""
        return tuple(self.linkage.frame(q, link) for link in self.links)

    def _goal(self, k: int, link: str) -> Goal:
        weight = None if all(self.axes[k]) else tuple(float(axis) for axis in self.axes[k])
        if not self.turns[k]:
            return Goal(link, position=np.zeros(3), weight=weight)
        return Goal(link, Frame(), weight=weight, turn_weight=tuple(float(axis) for axis in self.turn_axes[k]))

    @cached_property
    def _samples(self) -> Array:
        return self.linkage.random(16, seed=0)


def _nonzero(rows: Array) -> tuple[bool, bool, bool]:
    """Which of the three rows of Jacobians (n, 3, dof) are not zero."""
    most = np.abs(rows).max(axis=(0, 2))
    x, y, z = (bool(one) for one in most > 1e-9 * max(float(most.max()), 1e-9))
    return x, y, z


def from_upload(name: str, content: bytes) -> Arm:
    """The arm that a URDF text from a browser describes; raises `BadInput` or `BadLinkage` with the reason.

    No file is written or opened. Meshes are left out, and the links are drawn as simple solids. An arm with the name of
    a bundled model gets another name.
    """
    if len(content) > MAX_UPLOAD:
        raise BadInput(f"{name} has {len(content):,} bytes; a description may have {MAX_UPLOAD:,}")
    linkage = isolated.urdf(content, name, MAX_LINKS)  # in a separate process: a loop may run in this one
    if not linkage.dof:
        raise BadLinkage("it has no joint that moves", file=name)
    if linkage.dof > MAX_DOF:
        raise BadLinkage(f"it has {linkage.dof} joint values; the page drives at most {MAX_DOF}", file=name)
    _check_lengths(linkage, name)
    shapes = [geometry.shape for link in linkage.links for geometry in link.geometry]
    links = linkage.links
    if any(isinstance(shape, Mesh) for shape in shapes):
        links = tuple(replace(link, geometry=()) for link in links)
    called = f"{linkage.name} (uploaded)" if linkage.name in models.names() else linkage.name
    if links is not linkage.links or called != linkage.name:
        linkage = Linkage(called, linkage.joints, links, linkage.base)
    arm = Arm.of(linkage)
    if not SIZES[0] <= arm.size <= SIZES[1]:
        raise BadLinkage(f"its reach is {arm.size:.3g} m; from a browser {SIZES[0]:g} to {SIZES[1]:g} m", file=name)
    return arm


def _check_lengths(linkage: Linkage, file: str) -> None:
    """Raises `BadLinkage` for a length that cannot be drawn or driven."""
    lengths = {f"joint {joint.name!r}": [joint.location.position, _slides(joint)] for joint in linkage.joints}
    for link in linkage.links:
        shapes = [(geometry.frame.position, *_sizes(geometry.shape)) for geometry in link.geometry]
        lengths[f"link {link.name!r}"] = [np.ravel(size) for shape in shapes for size in shape]
    for element, found in lengths.items():
        most = float(np.abs(np.concatenate([*found, [0.0]])).max())
        if not most <= SIZES[1]:
            raise BadLinkage(
                f"a length of {most:.3g} m; from a browser at most {SIZES[1]:g} m", file=file, element=element
            )


def _slides(joint: Joint) -> Array:
    """The finite limits in metres (n,)."""
    bounds = [
        (lower, upper) for lower, upper, unit in zip(joint.lower, joint.upper, joint.units, strict=False) if unit == "m"
    ]
    values: Array = np.ravel(bounds).astype(float)
    finite: Array = values[np.isfinite(values)]
    return finite


def _sizes(shape: Shape) -> list[Array]:
    """The lengths of a shape."""
    return [np.ravel(size).astype(float) for size in vars(shape).values() if not isinstance(size, str | bool)]


def _hand(linkage: Linkage) -> str:
    """The farthest tip; where that is a finger, what the finger is attached to."""
    way, above = ways(linkage), {joint.child: joint for joint in linkage.joints}
    tip = max(linkage.tips, key=way.__getitem__)
    while True:
        link = tip
        while link in above and above[link].kind is Kind.FIXED:
            link = above[link].parent
        if link not in above or not is_finger(linkage, above[link]):
            return tip
        palm = above[link].parent
        fixed = [
            joint.child
            for joint in linkage.joints
            if joint.parent == palm and joint.kind is Kind.FIXED and joint.child in linkage.tips
        ]
        tip = max(fixed, key=way.__getitem__, default=palm)


def _model_links(linkage: Linkage) -> tuple[str, ...]:
    """The end effectors of a bundled model, from its description; none for any other linkage."""
    if linkage.name not in models.names() or linkage != models.get(linkage.name):
        return ()
    named = models.about(linkage.name).partition("end effector ")[2].partition(";")[0]
    return tuple(named.split(", "))[:MAX_HANDLES]
