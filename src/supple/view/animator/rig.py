"""Rig: handles on a figure. Where they are put, inverse kinematics brings hands, feet, gaze, elbows and knees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from supple import method, prefer
from supple.animate.body import SIDES, Body
from supple.animate.body_map import BodyMap
from supple.animate.limbs import floating
from supple.errors import BadInput, unknown
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.joint import Kind
from supple.linkage import Linkage
from supple.solver import Solver

NATURAL = 0.05
"""Gain of the preference for the pose in which a drag began."""
_FAR = 0.35  # of the length of a leg: how far poles are from their elbow or knee
_GAZE = 0.7  # of the length of a leg: how far ahead of the head the point is that it looks at
_BENT = 0.02  # of the length of a limb: an elbow that is nearer to the line from its root to its tip has no direction
# a local method: a figure that is dragged moves on from where it is, and does not jump to another solution
_NEAR = Solver(method=method.damped(), damping=1e-3, max_iterations=60, limit_escapes=0)


class Role(Enum):
    """What a handle does."""

    FRAME = "position and orientation of a link"
    POINT = "position of a link"
    GAZE = "a point that the head looks at"
    POLE = "a point that an elbow or a knee points to"


@dataclass(frozen=True)
class Handle:
    """A point or frame in the world that a person moves."""

    name: str
    link: str
    """The link that has the goal."""
    role: Role
    priority: int = 1
    limb: tuple[str, str] | None = None
    """Of a pole: the links that begin at the shoulder or hip, and at the elbow or knee."""
    base: str | None = None
    """The link that carries the limb, for key goals; None if all joints may move."""
    behind: float = 0.0
    """How far behind its link the ball is that a person drags, in lengths of a leg: outside of the body."""


class Rig:
    """The handles of a figure, and which of them are pinned. Knows nothing of pages.

    A figure with the parts of a person has handles on hands, feet, pelvis, elbows, knees and gaze. Other linkages have
    them on their tips, and on the link that a floating joint carries. A handle that is moved is pinned from then on:
    its goal holds while others are moved. Goals of feet come before all others.
    """

    def __init__(self, linkage: Linkage) -> None:
        """The handles at the rest pose; feet are pinned."""
        try:
            parts = BodyMap.of(linkage)
            self.linkage = floating(linkage)[0]
            """The linkage; a body that does not float gets a floating root."""
            self._body: Body | None = Body.of(self.linkage, parts)
        except BadInput:
            self.linkage, self._body = linkage, None
        made = _of_tips(linkage) if self._body is None else _of_body(self._body)
        self.handles = {handle.name: handle for handle in made}
        """The handles by their names."""
        self.natural = True
        """Whether what the goals leave free is drawn to the pose in which a drag began."""
        self._forward = {} if self._body is None else _forward(self._body)
        self._size = 1.0 if self._body is None else self._body.leg
        self.pins: dict[str, Frame] = {}
        """Where the pinned handles are."""
        self.pose(self.linkage.rest)

    def pose(self, q: Array) -> None:
        """Take joint values (dof,) as they are: handles go along, feet are pinned where they are."""
        self.q = np.array(q, dtype=float)
        self._natural = self.q
        self.pins = {name: self.at(name) for name, handle in self.handles.items() if handle.priority == 0}

    def begin(self) -> None:
        """A drag begins: the present pose is the natural one from now on."""
        self._natural = self.q

    def at(self, name: str) -> Frame:
        """Where a handle is: where it is pinned, or at its place on the figure."""
        handle = self._handle(name)
        return self.pins[name] if name in self.pins else self._place(handle)

    def grip(self, name: str) -> Array:
        """Where the ball of a handle is (3,), in metres."""
        handle, frame = self._handle(name), self.at(name)
        if not handle.behind:
            return frame.position
        place: Array = frame.position - handle.behind * self._size * (frame.rotation @ self._forward[handle.link])
        return place

    def move(self, name: str, frame: Frame) -> Array:
        """Pin a handle at a frame, and solve. Returns the joint values (dof,)."""
        self._handle(name)
        self.pins[name] = frame
        return self.solve()

    def release(self, name: str) -> None:
        """Unpin a handle: it goes along with the figure."""
        self._handle(name)
        self.pins.pop(name, None)

    def solve(self) -> Array:
        """Joint values (dof,) for all pins, from the present ones."""
        goals = [self.goal(name) for name in self.pins]
        if goals:
            preference = prefer.rest(self._natural, NATURAL) if self.natural else prefer.nothing
            found = replace(_NEAR, prefer=preference).solve(self.linkage, goals, self.q, progress=False)
            if np.isfinite(found.q).all():
                self.q = self.linkage.clamp(found.q)
        return self.q

    def goal(self, name: str) -> Goal:
        """The goal of a handle where it is."""
        handle, frame = self._handle(name), self.at(name)
        if handle.role is Role.GAZE:
            axis = self._forward[handle.link]
            return Goal(handle.link, axis=axis, look_at=frame.position, turn_weight=0.3, priority=handle.priority)
        if handle.role is Role.POLE:
            return Goal(handle.link, pole=frame.position, limb=handle.limb, turn_weight=0.3, priority=handle.priority)
        if handle.role is Role.POINT:
            return Goal(handle.link, position=frame.position, priority=handle.priority)
        return Goal(handle.link, frame, turn_weight=1.0 if handle.priority == 0 else 0.1, priority=handle.priority)

    def _handle(self, name: str) -> Handle:
        if name not in self.handles:
            raise unknown("handle", name, self.handles)
        return self.handles[name]

    def _place(self, handle: Handle) -> Frame:
        """Where a free handle is on the figure."""
        frames = self.linkage.frames(self.q)
        if handle.role is Role.GAZE:
            head = frames[handle.link]
            return Frame.at(head.position + _GAZE * self._size * (head.rotation @ self._forward[handle.link]))
        if handle.role is not Role.POLE or handle.limb is None or self._body is None:
            return frames[handle.link]
        first, middle, last = (frames[link].position for link in (*handle.limb, handle.link))
        along = (last - first) / max(float(np.linalg.norm(last - first)), 1e-9)
        out = (middle - first) - along * float((middle - first) @ along)
        length = float(np.linalg.norm(out))
        if length < _BENT * float(np.linalg.norm(middle - first)):  # straight: elbows point back, knees forward
            forward = frames[handle.limb[0]].rotation @ self._forward[handle.limb[0]]
            out = forward if handle.name.endswith("knee") else -forward
            out = out - along * float(out @ along)
            length = max(float(np.linalg.norm(out)), 1e-9)
        return Frame.at(middle + _FAR * self._size * out / length)


def _of_body(body: Body) -> list[Handle]:
    links = body.links
    chest, pelvis = links["chest"], links["pelvis"]
    made = [Handle("pelvis", pelvis, Role.FRAME, behind=0.3)]
    if "head" in links:
        made.append(Handle("gaze", links["head"], Role.GAZE, base=chest))
    for side in SIDES:
        hand, foot = links[f"{side}_hand"], links[f"{side}_foot"]
        arm = links[f"{side}_upper_arm"], links[f"{side}_forearm"]
        leg = links[f"{side}_thigh"], links[f"{side}_shank"]
        made += [
            Handle(f"{side} hand", hand, Role.FRAME, base=chest),
            Handle(f"{side} elbow", hand, Role.POLE, limb=arm, base=chest),
            Handle(f"{side} foot", foot, Role.FRAME, priority=0, base=pelvis, behind=0.17),
            Handle(f"{side} knee", foot, Role.POLE, limb=leg, base=pelvis),
        ]
    return made


def _of_tips(linkage: Linkage) -> list[Handle]:
    roots = [joint.child for joint in linkage.joints if joint.kind is Kind.FLOATING]
    made = [Handle(link, link, Role.FRAME) for link in roots]
    return made + [Handle(link, link, Role.POINT) for link in linkage.tips if link not in roots]


def _forward(body: Body) -> dict[str, Array]:
    """The direction forward (3,) of the body at rest, in the axes of each part's link."""
    return {link: body.rest[part][:3, :3].T @ body.upright[:, 0] for part, link in body.links.items()}
