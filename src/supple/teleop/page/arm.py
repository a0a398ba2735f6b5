"""Arm: the linkage that a page drives, its driven end effectors, and what each can do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple import analysis, models
from supple.errors import BadInput, BadLinkage
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.joint import Joint
from supple.link import Mesh, Shape
from supple.linkage import Linkage
from supple.read import isolated
from supple.teleop.gripper import GripperJoints
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
        """The linkage with these end effectors; by default those of a bundled model, or the farthest tip."""
        if linkage.dof > MAX_DOF:
            raise BadInput(f"{linkage.name} has {linkage.dof} joint values; the page drives at most {MAX_DOF}")
        chosen = links or _model_links(linkage) or (max(linkage.tips, key=ways(linkage).__getitem__),)
        for link in chosen:
            linkage.link(link)
        return cls(linkage, tuple(chosen))

    @cached_property
    def goals(self) -> tuple[Goal, ...]:
        """The goal of each end effector: its frame, or its position if it has too few joints for a frame."""
        return tuple(self._goal(k, link) for k, link in enumerate(self.links))

    @cached_property
    def turns(self) -> tuple[bool, ...]:
        """Whether each end effector can be rotated freely, not only moved."""
        return tuple(analysis.constraint(self.linkage, Goal(link, Frame())).rank == 6 for link in self.links)

    @cached_property
    def axes(self) -> tuple[tuple[bool, bool, bool], ...]:
        """Whether each end effector can be moved along the world's x, y and z: a planar arm along two of them."""
        samples = self.linkage.random(16, seed=0)
        moved = [np.abs(self.linkage.jacobian(samples, link)[:, :3]).max(axis=(0, 2)) for link in self.links]
        return tuple((bool(x), bool(y), bool(z)) for x, y, z in (m > 1e-9 * max(m.max(), 1e-9) for m in moved))

    @cached_property
    def columns(self) -> NDArray[np.intp]:
        """Indices (n,) of the joint values that move an end effector."""
        samples = self.linkage.random(16, seed=0)
        moved = sum(np.abs(self.linkage.jacobian(samples, link)).max(axis=(0, 1)) for link in self.links)
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
        if self.turns[k]:
            return Goal(link, Frame())
        weight = None if all(self.axes[k]) else tuple(float(axis) for axis in self.axes[k])
        return Goal(link, position=np.zeros(3)) if weight is None else Goal(link, position=np.zeros(3), weight=weight)


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


def _model_links(linkage: Linkage) -> tuple[str, ...]:
    """The end effectors of a bundled model, from its description; none for any other linkage."""
    if linkage.name not in models.names() or linkage != models.get(linkage.name):
        return ()
    named = models.about(linkage.name).partition("end effector ")[2].partition(";")[0]
    return tuple(named.split(", "))[:MAX_HANDLES]
