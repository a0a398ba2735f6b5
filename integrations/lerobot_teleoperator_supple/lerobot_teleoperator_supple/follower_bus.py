"""The follower as an arm of supple: measured by the poses that it shares, moved by the actions that LeRobot takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping

from lerobot_teleoperator_supple import poses
from lerobot_teleoperator_supple.arm import GRIPPER, Arm
from supple.frame import Array
from supple.teleop import Connection
from supple.teleop.robot import Lost
from supple.teleop.servo import ServoArm

PAUSE = 0.25
"""Seconds without a request for an action after which LeRobot counts as pausing, as between two episodes."""
MOVED = 5.0
"""Degrees by which a motor may be away from its last action after such a pause; else the arm begins where it is."""
CATCH_UP = 0.5
"""Degrees that a motor moves in one action while it catches up after a pause, in which the loop may have gone ahead."""
_OLD = 0.3  # s; a pose that is older while LeRobot asks for actions is an error
_RATE = 100.0  # Hz


class FollowerBus:
    """A bus of motors: reads the shared pose, and keeps what is written as the next action. Safe from any thread."""

    def __init__(self, follower: str | None) -> None:
        """For the follower with an id; None: the only one that shares its pose."""
        self.follower = follower
        self.asked = -math.inf
        """When LeRobot asked for the last action, in seconds of the monotonic clock."""
        self.action: dict[str, float] | None = None
        """The next action: the number of each motor. None before the first."""
        self.accepts: Callable[[], bool] = lambda: True
        """Whether what is written is for the arm as it is now."""

    def sync_read(self, data_name: str) -> dict[str, float]:
        """The measured motors; OSError if they are unknown."""
        pose = poses.newest(self.follower)
        if pose is None:
            raise OSError("no follower shares its pose")
        age = time.monotonic() - pose.t
        if age > _OLD and not self.pausing:
            raise OSError(f"the follower was measured {age:.1f} s ago")
        return pose.motors

    def sync_write(self, data_name: str, values: Mapping[str, float]) -> None:
        """Takes the next action. While LeRobot pauses it would not be carried out, and is left out."""
        if not self.pausing and self.accepts():
            self.action = dict(values)

    @property
    def pausing(self) -> bool:
        """Whether LeRobot does not ask for actions."""
        return time.monotonic() - self.asked > PAUSE


class FollowerConnection(Connection):
    """The connection of a loop to the follower. While LeRobot pauses the arm is held, and not counted as lost."""

    def __init__(self, bus: FollowerBus, arm: Arm) -> None:
        """Begins to read the bus."""
        self._bus, self._obeyed = bus, 0  # writes count once the loop has begun more often than this
        self._sent: dict[str, float] | None = None  # the last action
        self._catching_up = False
        bus.accepts = lambda: self.starts > self._obeyed
        super().__init__(ServoArm(bus, arm.linkage, arm.calibration, rate=_RATE), arm.linkage, [arm.link])

    def measured(self) -> Array:
        """The measured joint values (dof,); `Lost` if they are unknown, or while LeRobot pauses."""
        if self._bus.pausing:
            raise Lost("LeRobot asks for no actions")
        return super().measured()

    @property
    def _leads(self) -> bool:
        """Whether LeRobot carries out what is written; in a pause a person may move the arm."""
        return super()._leads and not self._bus.pausing

    def next_action(self) -> dict[str, float] | None:
        """The number of each motor for now; None if the pose of the follower is unknown.

        Until the loop has begun, and after an arm was moved in a pause, it is where the arm is. After another pause it
        catches up from the last action: the loop notices a pause late.
        """
        bus = self._bus
        pose = poses.newest(bus.follower)
        if pose is None:
            return None
        action = bus.action
        moved = bus.pausing and action is not None and _distance(action, pose.motors) > MOVED
        if moved:
            self._obeyed = self.starts  # before it goes on: what the loop still writes is for the old pose
            self.arm()
        if action is None or moved:
            action = bus.action = pose.motors
        elif self._sent is not None and (bus.pausing or self._catching_up):
            goal, action = action, _towards(self._sent, action)
            self._catching_up = action != goal
        bus.asked = time.monotonic()
        self._sent = dict(action)
        return dict(action)


def _distance(action: Mapping[str, float], measured: Mapping[str, float]) -> float:
    """How far a motor is from its action at most, in degrees; a gripper that holds something is always away."""
    ways = (abs(value - measured.get(motor, value)) for motor, value in action.items() if motor != GRIPPER)
    return max(ways, default=0.0)


def _towards(last: Mapping[str, float], goal: Mapping[str, float]) -> dict[str, float]:
    """The motors of ``goal``, each at most CATCH_UP away from ``last``; grippers as they are."""
    return {
        motor: value if motor == GRIPPER else last[motor] + min(max(value - last[motor], -CATCH_UP), CATCH_UP)
        for motor, value in goal.items()
    }
