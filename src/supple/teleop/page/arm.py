"""Arm: the linkage that a page drives, its driven end effectors, and what each can do."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple import models
from supple.errors import BadInput, BadLinkage
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.joint import Joint, Kind
from supple.link import Link, Mesh, Shape
from supple.linkage import Linkage
from supple.read import isolated
from supple.teleop.gripper import GripperJoints, is_finger
from supple.teleop.page.archive import Archive, is_archive
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
MAX_HANDLES = 8
"""Most end effectors driven at once: hands, feet, head, and some more."""
FIRST_HANDLES = 2
"""Most end effectors that a bundled model begins with: a person has two hands."""


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
        chosen = links or _model_links(linkage)[:FIRST_HANDLES] or (_hand(linkage),)
        for link in chosen:
            linkage.link(link)
        return cls(linkage, tuple(chosen))

    def with_links(self, links: tuple[str, ...]) -> Arm:
        """The same linkage, drawn in the same way, with other end effectors."""
        arm = Arm.of(self.linkage, links)
        arm.__dict__["bodies"] = self.bodies
        return arm

    @cached_property
    def candidates(self) -> tuple[str, ...]:
        """The end effectors that may be driven, at most `MAX_HANDLES`: those now, then hands, feet and heads."""
        known = tuple(dict.fromkeys((*self.links, *_model_links(self.linkage))))
        return (*known, *_end_effectors(self.linkage, known))[:MAX_HANDLES]

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
    """The arm that a URDF text from a browser describes, alone or in a zip file with its meshes.

    Raises `BadInput` or `BadLinkage` with the reason. No file that the text names is opened. Meshes of a zip file are
    unpacked into a folder that is removed again; without them the links are drawn as simple solids. An arm with the
    name of a bundled model gets another name.
    """
    with tempfile.TemporaryDirectory(prefix="supple-") as folder:
        archive = Archive(name, content, Path(folder)) if is_archive(name) else None
        linkage = _uploaded_linkage(name, content if archive is None else archive.description)
        shapes = [geometry.shape for link in linkage.links for geometry in link.geometry]
        if not any(isinstance(shape, Mesh) for shape in shapes):
            arm = Arm.of(linkage)
        else:
            arm = Arm.of(_with_links(linkage, [replace(link, geometry=()) for link in linkage.links]))
            if archive is not None and (found := archive.with_meshes(linkage.links)):
                arm.__dict__["bodies"] = bodies(_with_links(linkage, found))  # while the files are there
    if not SIZES[0] <= arm.size <= SIZES[1]:
        raise BadLinkage(f"its reach is {arm.size:.3g} m; from a browser {SIZES[0]:g} to {SIZES[1]:g} m", file=name)
    return arm


def _uploaded_linkage(name: str, description: bytes) -> Linkage:
    if len(description) > MAX_UPLOAD:
        raise BadInput(f"{name} has {len(description):,} bytes; a description may have {MAX_UPLOAD:,}")
    linkage = isolated.urdf(description, name, MAX_LINKS)  # in a separate process: a loop may run in this one
    if not linkage.dof:
        raise BadLinkage("it has no joint that moves", file=name)
    if linkage.dof > MAX_DOF:
        raise BadLinkage(f"it has {linkage.dof} joint values; the page drives at most {MAX_DOF}", file=name)
    _check_lengths(linkage, name)
    if linkage.name in models.names():
        linkage = Linkage(f"{linkage.name} (uploaded)", linkage.joints, linkage.links, linkage.base)
    return linkage


def _with_links(linkage: Linkage, links: Sequence[Link]) -> Linkage:
    return Linkage(linkage.name, linkage.joints, links, linkage.base)


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


def _end_effectors(linkage: Linkage, taken: tuple[str, ...]) -> list[str]:
    """A tip of each rigid body that a joint moves and no finger is, without those of the ``taken`` links.

    Bodies where a branch of the tree ends come first, then others, if one of their tips is named a head.
    """
    above = {joint.child: joint for joint in linkage.joints}

    def body(link: str) -> str:
        while link in above and above[link].kind is Kind.FIXED:
            link = above[link].parent
        return link

    goes_on = {body(joint.parent) for joint in linkage.joints if joint.kind is not Kind.FIXED}
    tips: dict[str, list[str]] = {}
    for tip in linkage.tips:
        tips.setdefault(body(tip), []).append(tip)
    used = {body(link) for link in taken}
    ends, heads = [], []
    for part, on in tips.items():
        if part not in above or part in used or is_finger(linkage, above[part]):
            continue
        head = next((tip for tip in on if "head" in tip.lower()), None)
        if part not in goes_on:
            ends.append(head or min(on, key=len))
        elif head is not None:
            heads.append(head)
    return [*ends, *heads]


def _model_links(linkage: Linkage) -> tuple[str, ...]:
    """The end effectors of a bundled model, from its description; none for any other linkage."""
    if linkage.name not in models.names() or linkage != models.get(linkage.name):
        return ()
    named = models.about(linkage.name).partition("end effector ")[2].partition(";")[0]
    return tuple(named.split(", "))
