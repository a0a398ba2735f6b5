"""An independent check of solutions: forward kinematics by pinocchio, and the distance from the goal."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple import Linkage
from supple.joint import Kind

from .arms import AXIS

Array = NDArray[np.float64]

METRES = 1e-6
"""Tolerance of the position."""
RADIANS = 1e-6
"""Tolerance of the orientation, or of the axis."""
LIMITS = 1e-9
"""Largest violation of a joint limit, in radians or metres, for rounding."""
ROUGH = 1e-6
"""The same for peers; some keep limits in single precision."""


class Judge:
    """Forward kinematics of a linkage by pinocchio, built joint by joint from the linkage."""

    def __init__(self, linkage: Linkage, links: Sequence[str]) -> None:
        import pinocchio as pin

        self.pin, self.linkage = pin, linkage
        self.model = model = pin.Model()
        base = pin.SE3(np.array(linkage.base.matrix))
        carrier: dict[str, tuple[int, Any]] = {
            linkage.root: (0, base)
        }  # the joint that moves a link, and the placement on it
        self.afloat: list[int] = []  # first column in q of each floating joint
        column = 0
        for joint in linkage.joints:
            parent, place = carrier[joint.parent]
            place = place * pin.SE3(np.array(joint.location.matrix))
            if joint.kind is Kind.FIXED:
                carrier[joint.child] = parent, place
                continue
            axis = np.array(joint.axis)
            if joint.kind is Kind.FLOATING:
                self.afloat.append(column)
                made = pin.JointModelFreeFlyer()
            elif joint.kind is Kind.PRISMATIC:
                made = pin.JointModelPrismaticUnaligned(axis)
            elif joint.kind in (Kind.REVOLUTE, Kind.CONTINUOUS):
                made = pin.JointModelRevoluteUnaligned(axis)
            else:
                raise ValueError(f"no pinocchio joint for {joint.kind.value}")
            number = model.addJoint(parent, made, place, joint.name)
            carrier[joint.child] = number, pin.SE3.Identity()
            column += joint.dof
        self.at = [
            (model.addFrame(pin.Frame(f"goal {link}", *carrier[link], pin.FrameType.OP_FRAME)), link) for link in links
        ]
        self.data = model.createData()

    def frames(self, q: Array) -> Array:
        """Frames (n, links, 4, 4) of the links for rows of q (n, dof)."""
        pin, out = self.pin, np.empty((len(q), len(self.at), 4, 4))
        for row, values in enumerate(self.plain(q)):
            pin.framesForwardKinematics(self.model, self.data, values)
            for i, (number, _) in enumerate(self.at):
                out[row, i] = self.data.oMf[number].homogeneous
        return out

    def plain(self, q: Array) -> Array:
        """Rows of q for pinocchio: the rotation of a floating joint as a quaternion."""
        for first in reversed(self.afloat):
            turn = np.array([self.pin.Quaternion(self.pin.exp3(row)).coeffs() for row in q[:, first + 3 : first + 6]])
            q = np.concatenate([q[:, : first + 3], turn, q[:, first + 6 :]], axis=1)
        return q


def apart(found: Array, wanted: Array, kind: str = "frame") -> tuple[Array, Array]:
    """Metres and radians (...) between frames (..., 4, 4); for ``axis`` goals the angle between the axes."""
    metres = np.linalg.norm(found[..., :3, 3] - wanted[..., :3, 3], axis=-1)
    if kind == "axis":
        a, b = found[..., :3, :3] @ AXIS, wanted[..., :3, :3] @ AXIS
        return metres, np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1))
    turn = wanted[..., :3, :3] @ np.swapaxes(found[..., :3, :3], -1, -2)
    twice = np.stack([turn[..., i, j] - turn[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=-1)
    return metres, np.arctan2(np.linalg.norm(twice, axis=-1), np.trace(turn, axis1=-2, axis2=-1) - 1)


def arrived(judge: Judge, q: Array, wanted: Array, kind: str = "frame", slack: float = LIMITS) -> NDArray[np.bool_]:
    """Whether rows of q (n, dof) bring all links to their frames (n, links, 4, 4), inside limits; False for NaN."""
    whole: NDArray[np.bool_] = np.all(np.isfinite(q), axis=1)
    safe = np.where(whole[:, None], q, 0.0)
    metres, radians = apart(judge.frames(safe), wanted, kind)
    inside: NDArray[np.bool_] = np.all(
        (safe >= judge.linkage.lower - slack) & (safe <= judge.linkage.upper + slack), axis=1
    )
    near: NDArray[np.bool_] = np.all((metres <= METRES) & (radians <= RADIANS), axis=1)
    return whole & inside & near


def wrapped(linkage: Linkage, q: Array) -> Array:
    """Rows of q with angles moved inside the limits by whole turns, where possible."""
    turns = np.array([unit == "rad" for joint in linkage.joints if joint.dof for unit in joint.units])
    low, high = linkage.lower - ROUGH, linkage.upper + ROUGH
    with np.errstate(invalid="ignore"):
        up, down = np.ceil((low - q) / (2 * pi)), np.floor((high - q) / (2 * pi))
        moved = q + 2 * pi * np.where(q < low, up, np.where(q > high, down, 0.0))
    return np.where(turns, moved, q)
