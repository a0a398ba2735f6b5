"""The arms of the gauntlet: a linkage, its end effector, and the weights of its errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import pi, radians

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.joint import Joint, Kind
from supple.linkage import Linkage

_H = pi / 2
_SCALAR = (Kind.REVOLUTE, Kind.CONTINUOUS, Kind.PRISMATIC, Kind.FIXED)


@dataclass(frozen=True)
class Arm:
    """A linkage whose joints all lead to one end effector."""

    name: str
    linkage: Linkage
    link: str
    reach: float
    """The length, in metres, that counts as much as a rotation by pi [D30]."""

    @cached_property
    def weights(self) -> Array:
        """Weight of each error component (6,): pi / reach per metre, 1 per radian."""
        return np.array([pi / self.reach] * 3 + [1.0] * 3)

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return self.linkage.dof

    @property
    def lower(self) -> Array:
        """Lower joint limits (dof,)."""
        return self.linkage.lower

    @property
    def upper(self) -> Array:
        """Upper joint limits (dof,)."""
        return self.linkage.upper

    @property
    def speed(self) -> Array:
        """Speed limits of the joints (dof,), in rad/s or m/s."""
        return self.linkage.speed

    def frames(self, q: ArrayLike) -> Array:
        """Frames (..., 4, 4) of the end effector at q (..., dof)."""
        return self.linkage.frame(q, self.link).matrix

    def error(self, q: ArrayLike, goal: Array) -> Array:
        """Error (..., 6) of the end effector at q (..., dof) to a goal (..., 4, 4), as `difference`."""
        return difference(goal, self.frames(q))

    def evaluate(self, q: ArrayLike, goal: Array) -> tuple[Array, Array]:
        """Weighted error (..., 6) and weighted Jacobian (..., 6, dof) of the end effector."""
        frame, jacobian = self.linkage.frame_and_jacobian(q, self.link)
        return self.weights * difference(goal, frame.matrix), self.weights[:, None] * jacobian

    def singular_values(self, q: ArrayLike) -> Array:
        """Singular values (..., min(6, dof)) of the weighted Jacobian, the largest first."""
        jacobian = self.weights[:, None] * self.linkage.jacobian(q, self.link)
        return np.asarray(np.linalg.svd(jacobian, compute_uv=False))


def difference(goal: Array, frame: Array) -> Array:
    """Error (..., 6) from a frame to a goal (..., 4, 4), in world axes: metres, then a rotation vector."""
    turn = goal[..., :3, :3] @ np.swapaxes(frame[..., :3, :3], -1, -2)
    whole = np.zeros((*turn.shape[:-2], 4, 4))
    whole[..., :3, :3], whole[..., 3, 3] = turn, 1
    shift = np.broadcast_to(goal[..., :3, 3] - frame[..., :3, 3], turn.shape[:-1])
    return np.concatenate([shift, Frame._trusted(whole).to_rotvec()], axis=-1)


def arm_from_linkage(linkage: Linkage, link: str | None = None) -> Arm:
    """The arm of a linkage that ends at a link, by default at its only tip; all other joints stay at rest."""
    if link is None:
        if len(linkage.tips) > 1:
            raise BadInput(f"{linkage.name} has {len(linkage.tips)} tips; choose a link: {', '.join(linkage.tips)}")
        link = linkage.tips[0]
    chain = linkage.part(linkage.root, linkage.link(link).name).at(linkage.base)
    for joint in chain.joints:
        if joint.kind not in _SCALAR:
            raise BadInput(
                f"the gauntlet takes revolute and prismatic joints; joint {joint.name!r} is {joint.kind.name.lower()}"
            )
    if not chain.dof:
        raise BadInput(f"no joint of {linkage.name} moves the link {link!r}")
    reach = chain.reach(link)
    return Arm(linkage.name, chain, link, reach if 1e-6 < reach < math.inf else pi)


def names() -> tuple[str, ...]:
    """The arms with stored hazards: panda, ur5 and puma560 with a tool, and so101, iiwa14, kraft."""
    return (*_TABLES, *_BUNDLED)


@cache
def known_arm(name: str) -> Arm:
    """An arm with stored hazards, by name."""
    if name in _BUNDLED:
        from supple import models

        return arm_from_linkage(models.get(name), _BUNDLED[name])
    reach, rows, tool = _TABLES[name]
    return Arm(name, _built(name, rows, tool), "tool", reach)


Row = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float], float, float, float]
Place = tuple[tuple[float, float, float], tuple[float, float, float]]


def _built(name: str, rows: Sequence[Row], tool: Place) -> Linkage:
    """A chain of revolute joints: position, roll-pitch-yaw, axis, limits and speed of each; then the tool."""
    links = ["base", *(f"l{i}" for i in range(1, len(rows) + 1)), "tool"]
    joints = [
        Joint.revolute(
            f"j{i + 1}",
            links[i],
            links[i + 1],
            at=Frame.at(xyz, Frame.fixed("xyz", rpy)),
            axis=axis,
            lower=low,
            upper=high,
            speed=speed,
        )
        for i, (xyz, rpy, axis, low, high, speed) in enumerate(rows)
    ]
    mount = Joint.fixed("jt", links[-2], "tool", at=Frame.at(tool[0], Frame.fixed("xyz", tool[1])))
    return Linkage(name, [*joints, mount])


_Z, _Y, _O = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)


def _deg(low: float, high: float, speed: float) -> tuple[float, float, float]:
    return radians(low), radians(high), radians(speed)


# Panda and UR5 as in their usual URDFs (the UR5 limited to one turn); the Puma from its published DH table and speeds.
_TABLES: dict[str, tuple[float, tuple[Row, ...], Place]] = {
    "panda": (
        0.94742,
        (
            ((0, 0, 0.333), _O, _Z, -2.8973, 2.8973, 2.175),
            (_O, (-_H, 0, 0), _Z, -1.7628, 1.7628, 2.175),
            ((0, -0.316, 0), (_H, 0, 0), _Z, -2.8973, 2.8973, 2.175),
            ((0.0825, 0, 0), (_H, 0, 0), _Z, -3.0718, -0.0698, 2.175),
            ((-0.0825, 0.384, 0), (-_H, 0, 0), _Z, -2.8973, 2.8973, 2.61),
            (_O, (_H, 0, 0), _Z, -0.0175, 3.7525, 2.61),
            ((0.088, 0, 0), (_H, 0, 0), _Z, -2.8973, 2.8973, 2.61),
        ),
        ((0, 0, 0.2104), (0, 0, -pi / 4)),
    ),
    "ur5": (
        0.94993,
        (
            ((0, 0, 0.089159), _O, _Z, -pi, pi, 3.15),
            ((0, 0.13585, 0), (0, _H, 0), _Y, -pi, pi, 3.15),
            ((0, -0.1197, 0.425), _O, _Y, -pi, pi, 3.15),
            ((0, 0, 0.39225), (0, _H, 0), _Y, -pi, pi, 3.2),
            ((0, 0.093, 0), _O, _Z, -pi, pi, 3.2),
            ((0, 0, 0.09465), _O, _Y, -pi, pi, 3.2),
        ),
        ((0, 0.0823, 0), (-_H, 0, 0)),
    ),
    "puma560": (
        1.03435,
        (
            ((0, 0, 0.672), _O, _Z, *_deg(-160, 160, 82)),
            (_O, (-_H, 0, 0), _Z, *_deg(-225, 45, 74)),
            ((0.4318, 0, 0.14909), _O, _Z, *_deg(-45, 225, 122)),
            ((-0.02032, 0, 0), (_H, 0, 0), _Z, *_deg(-110, 170, 228)),
            ((0, 0, 0.43307), (-_H, 0, 0), _Z, *_deg(-100, 100, 241)),
            (_O, (_H, 0, 0), _Z, *_deg(-266, 266, 228)),
        ),
        ((0, 0, 0.15625), _O),
    ),
}
CHOSEN_ARMS = tuple(_TABLES)
"""The arms whose hazards were chosen one by one; those of the others are derived."""
_BUNDLED = {"so101": "gripper_frame_link", "iiwa14": "tool0", "kraft": "tool"}
