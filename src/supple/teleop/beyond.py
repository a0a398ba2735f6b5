"""Beyond: how far a real arm is outside its limits when it is taken over, and its slow way back."""

from __future__ import annotations

import math

import numpy as np

from supple.frame import Array
from supple.linkage import Linkage
from supple.teleop.joint_move import JointMove

TURN_SPEED, SLIDE_SPEED = 0.15, 0.04
"""rad/s and m/s with which joints come back; as fast as a soft start begins."""
ACCELERATION = 0.5
"""rad/s^2 or m/s^2 with which that motion begins and ends."""
TOLD_ANGLE, TOLD_SLIDE = math.radians(1.0), 1e-3
"""rad and m beyond a limit that an operator is told of; less is noise."""


class Beyond:
    """The way e from joint values that the loop leads to those of the arm: the arm is sent to q + e.

    When the arm is taken over at joint values outside the limits, the loop begins at the nearest inside, and e is the
    difference: the arm is sent to where it is. While it is driven e goes to 0; while it is held e stays.
    """

    def __init__(self, linkage: Linkage, measured: Array, inside: Array) -> None:
        """For an arm at measured joint values (dof,) that the loop leads by others (dof,)."""
        self._names, self._units = linkage.names, linkage.units
        angles = np.array([unit == "rad" for unit in linkage.units])
        outside = np.abs(measured - linkage.clamp(measured))
        self._told = np.flatnonzero(outside > np.where(angles, TOLD_ANGLE, TOLD_SLIDE))
        speed = np.minimum(np.where(angles, TURN_SPEED, SLIDE_SPEED), linkage.speed)
        self._move = JointMove(measured - inside, np.zeros(linkage.dof), speed, np.full(linkage.dof, ACCELERATION))
        self.way: Array = self._move.q
        """From the joint values of the loop to those of the arm (dof,)."""

    @property
    def ended(self) -> bool:
        """Whether the arm is where the loop leads it."""
        return self._move.arrived

    def step(self, dt: float, driven: bool) -> None:
        """The arm comes back for dt seconds while it is driven; else it brakes, and stays."""
        if not self._move.arrived:
            self.way = self._move.step(dt, brake=not driven)

    @property
    def text(self) -> str:
        """Which joints are beyond their limits, and by how much; empty if none is."""
        if not len(self._told) or self.ended:
            return ""
        told = []
        for k in self._told:
            far = abs(float(self.way[k]))
            by = f"{math.degrees(far):.0f}°" if self._units[k] == "rad" else f"{1e3 * far:.0f} mm"
            told.append(f"{self._names[k]} is {by} beyond its limit")
        return ", ".join(told)
