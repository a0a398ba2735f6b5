"""The follower as an arm of supple: measured by the poses that it shares, moved by the actions that LeRobot takes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from lerobot_teleoperator_supple import poses
from lerobot_teleoperator_supple.arm import Arm
from supple.frame import Array
from supple.teleop import Connection
from supple.teleop.robot import Lost
from supple.teleop.servo import ServoArm

PAUSE = 0.25
"""Seconds without a request for an action after which LeRobot counts as pausing, as between two episodes."""
MOVED = 5.0
"""Degrees by which a motor may be away from its last action after such a pause; else the arm begins where it is."""
_OLD = 0.3  # s; a pose that is older while LeRobot asks for actions is an error
_RATE = 100.0  # Hz


class FollowerBus:
    """A bus of motors: reads the shared pose, and keeps what is written as the next action. Safe from any thread."""

    def __init__(self, follower: str | None) -> None:
        """For the follower with an id; None: the only one that shares its pose."""
        self._follower = follower
        self._asked = -float("inf")
        self._action: dict[str, float] | None = None

    def sync_read(self, data_name: str) -> dict[str, float]:
        """The measured motors; OSError if they are unknown."""
        pose = poses.newest(self._follower)
        if pose is None:
            raise OSError("no follower shares its pose")
        age = time.monotonic() - pose.t
        if age > _OLD and not self.pausing:
            raise OSError(f"the follower was measured {age:.1f} s ago")
        return pose.motors

    def sync_write(self, data_name: str, values: Mapping[str, float]) -> None:
        """Takes the next action. While LeRobot pauses it would not be carried out, and is left out."""
        if not self.pausing:
            self._action = dict(values)

    @property
    def pausing(self) -> bool:
        """Whether LeRobot does not ask for actions."""
        return time.monotonic() - self._asked > PAUSE

    def ask(self) -> tuple[dict[str, float], bool] | None:
        """The action for now, and whether the arm was moved in a pause; None if its pose is unknown."""
        pose = poses.newest(self._follower)
        if pose is None:
            return None
        paused, self._asked = self.pausing, time.monotonic()
        if self._action is None:  # stay where it is, until the loop has taken over
            self._action = pose.motors
        away = max(abs(value - pose.motors.get(motor, value)) for motor, value in self._action.items())
        moved = paused and away > MOVED
        if moved:
            self._action = pose.motors
        return dict(self._action), moved


class FollowerConnection(Connection):
    """The connection of a loop to the follower. While LeRobot pauses the arm is held, and not counted as lost."""

    def __init__(self, bus: FollowerBus, arm: Arm) -> None:
        """Begins to read the bus."""
        self._bus = bus
        super().__init__(ServoArm(bus, arm.linkage, arm.calibration, rate=_RATE), arm.linkage, [arm.link])

    def measured(self) -> Array:
        """The measured joint values (dof,); `Lost` if they are unknown, or while LeRobot pauses."""
        if self._bus.pausing:
            raise Lost("LeRobot asks for no actions")
        return super().measured()

    def next_action(self) -> dict[str, Any] | None:
        """The number of each motor for now; None if the pose of the follower is unknown."""
        asked = self._bus.ask()
        if asked is None:
            return None
        action, moved = asked
        if moved:
            self.arm()
        return action
