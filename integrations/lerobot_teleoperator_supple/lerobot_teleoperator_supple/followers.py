"""SO-100 and SO-101 followers of LeRobot that share their measured pose with the teleoperator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lerobot.robots import RobotConfig
from lerobot.robots.so_follower import SOFollower, SOFollowerRobotConfig

from lerobot_teleoperator_supple import poses


@RobotConfig.register_subclass("supple_so100_follower")
@dataclass
class SuppleSO100FollowerConfig(SOFollowerRobotConfig):
    """As LeRobot's SO-100 follower. Motors must be in degrees, which is the default."""


@RobotConfig.register_subclass("supple_so101_follower")
@dataclass
class SuppleSO101FollowerConfig(SOFollowerRobotConfig):
    """As LeRobot's SO-101 follower. Motors must be in degrees, which is the default."""


class SuppleSO100Follower(SOFollower):
    """LeRobot's SO-100 follower, which also shares what it measures. It uses the same calibration file."""

    config_class = SuppleSO100FollowerConfig

    def __init__(self, config: SOFollowerRobotConfig) -> None:
        """A follower that is not connected; its motors must count in degrees."""
        if not config.use_degrees:
            raise ValueError("the teleoperator 'supple' needs a follower in degrees: use_degrees must be true")
        super().__init__(config)

    def get_observation(self) -> dict[str, Any]:
        """The observation of LeRobot's follower, which is also shared."""
        observation: dict[str, Any] = super().get_observation()
        poses.share(self.id, observation)
        return observation

    def disconnect(self) -> None:
        """Disconnects; the pose is no longer shared."""
        poses.withdraw(self.id)
        super().disconnect()


class SuppleSO101Follower(SuppleSO100Follower):
    """LeRobot's SO-101 follower, which also shares what it measures. It uses the same calibration file."""

    config_class = SuppleSO101FollowerConfig
