"""Arm: a model, its end effector, and the motors of a follower that move it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass

from supple import models, read
from supple.integrations.lerobot import motors
from supple.linkage import Linkage
from supple.teleop.gripper import GripperJoints
from supple.teleop.servo import Calibration, Motor

GRIPPER = "gripper"
"""The motor of a gripper, which LeRobot counts from 0 (closed) to 100 (open)."""


@dataclass(frozen=True)
class Arm:
    """A linkage that is driven by one link, and its motors, which have the names of its joints."""

    linkage: Linkage
    link: str
    calibration: Calibration
    """The motors, in degrees; that of the gripper from 0 to 100."""

    @classmethod
    def of(
        cls,
        model: str,
        link: str,
        sign: Mapping[str, float] | None = None,
        offset: Mapping[str, float] | None = None,
        gripper: tuple[float, float] = (0.0, 100.0),
    ) -> Arm:
        """The arm in a file, or a bundled model by name.

        Args:
            model: a robot description, or the name of a bundled model.
            link: the end effector.
            sign: -1 for motors that turn the other way round than their joint.
            offset: what motors count where their joint is at 0, in degrees.
            gripper: what the motor of the gripper counts where it is closed and where it is open.
        """
        bundled = not os.path.exists(model) and model in models.names()
        linkage = models.get(model) if bundled else read.load(model)
        fingers = GripperJoints(linkage, [linkage.link(link).name])
        moving = linkage.part(linkage.root, link).names
        found = list(motors(moving, sign, offset))
        found += [_gripper(linkage, column, gripper) for column in fingers.every[:1]]
        return cls(linkage, link, Calibration(tuple(found)))

    @property
    def motor_names(self) -> list[str]:
        """The motors."""
        return [motor.motor for motor in self.calibration.motors]


def _gripper(linkage: Linkage, column: int, ends: tuple[float, float]) -> Motor:
    """The motor of a gripper's joint: linear, from its lower limit where it is closed to its upper where it is open."""
    low, high = float(linkage.lower[column]), float(linkage.upper[column])
    closed, opened = ends
    if closed == opened:
        raise ValueError(f"a gripper that is closed and open at {closed} does not move")
    slope = (high - low) / (opened - closed)  # of the joint value, for 1 of the motor
    sign = 1 if slope > 0 else -1
    return Motor(
        linkage.names[column],
        GRIPPER,
        offset=closed - low / slope,
        sign=sign,
        gear=abs(slope) / math.radians(1),
        low=min(ends),
        high=max(ends),
    )
