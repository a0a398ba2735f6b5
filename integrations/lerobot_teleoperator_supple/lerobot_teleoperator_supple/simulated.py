"""A simulated follower: an arm with lag, friction and noise in place of hardware, for a first try and for tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from lerobot.cameras import CameraConfig, make_cameras_from_configs
from lerobot.robots import Robot, RobotConfig
from lerobot.utils.decorators import check_if_already_connected, check_if_not_connected

from lerobot_teleoperator_supple import poses
from lerobot_teleoperator_supple.arm import Arm
from supple.teleop import SimulatedArm
from supple.teleop.servo import ServoArm


@RobotConfig.register_subclass("supple_simulated_follower")
@dataclass
class SuppleSimulatedFollowerConfig(RobotConfig):
    """A simulated arm."""

    model: str = "so101"
    """A robot description, or the name of a bundled model."""
    target_frame_name: str = "gripper_frame_link"
    """Its end effector."""
    sign: dict[str, float] = field(default_factory=dict)
    """-1 for motors that turn the other way round than their joint."""
    offset: dict[str, float] = field(default_factory=dict)
    """What motors count where their joint is at 0, in degrees."""
    lag: float = 0.06
    """How late it follows, in seconds."""
    noise: float = 5e-4
    """Standard deviation of the measured joints, in radians."""
    cameras: dict[str, CameraConfig] = field(default_factory=dict)


class _Bus:
    """The motors of a simulated arm: numbers in, numbers out."""

    def __init__(self, values: dict[str, float]) -> None:
        self.values = values

    def sync_read(self, data_name: str) -> dict[str, float]:
        return self.values

    def sync_write(self, data_name: str, values: Any) -> None:
        self.values = {**self.values, **values}


class SuppleSimulatedFollower(Robot):
    """A simulated arm as a follower. It begins at the rest pose of its model."""

    config_class = SuppleSimulatedFollowerConfig
    name = "supple_simulated_follower"

    def __init__(self, config: SuppleSimulatedFollowerConfig) -> None:
        """A follower that is not connected."""
        super().__init__(config)
        self.config = config
        self.cameras = make_cameras_from_configs(config.cameras)
        self._arm = Arm.of(config.model, config.target_frame_name, config.sign, config.offset)
        self._bus = _Bus(dict.fromkeys(self._arm.motor_names, 0.0))
        self._units = ServoArm(self._bus, self._arm.linkage, self._arm.calibration)
        self.simulation: SimulatedArm | None = None
        """The arm, while it is connected."""

    @cached_property
    def observation_features(self) -> dict[str, Any]:
        """The motors, and the pictures of the cameras."""
        return self.action_features | {name: (one.height, one.width, 3) for name, one in self.cameras.items()}

    @cached_property
    def action_features(self) -> dict[str, Any]:
        """The motors."""
        return {f"{motor}.pos": float for motor in self._arm.motor_names}

    @property
    def is_connected(self) -> bool:
        """Whether it is connected."""
        return self.simulation is not None

    @check_if_already_connected
    def connect(self, calibrate: bool = True) -> None:
        """Puts the arm at its rest pose."""
        for camera in self.cameras.values():
            camera.connect()
        self.simulation = SimulatedArm(self._arm.linkage, lag=self.config.lag, noise=self.config.noise)

    @property
    def is_calibrated(self) -> bool:
        """It needs no calibration."""
        return True

    def calibrate(self) -> None:
        """Does nothing."""

    def configure(self) -> None:
        """Does nothing."""

    @check_if_not_connected
    def get_observation(self) -> dict[str, Any]:
        """The measured motors, which are also shared, and pictures."""
        self._units.write(self.simulation.read())
        observation: dict[str, Any] = {f"{motor}.pos": value for motor, value in self._bus.values.items()}
        poses.share(self.id, observation)
        for name, camera in self.cameras.items():
            observation[name] = camera.read_latest()
        return observation

    @check_if_not_connected
    def send_action(self, action: dict[str, Any]) -> dict[str, Any]:
        """Moves the motors; what is outside the limits of the model is clipped, as a real motor does."""
        self._bus.sync_write("", {name.removesuffix(".pos"): float(value) for name, value in action.items()})
        linkage = self._arm.linkage
        self.simulation.write(np.clip(self._units.read(), linkage.lower, linkage.upper))
        return action

    @check_if_not_connected
    def disconnect(self) -> None:
        """Ends the simulation; the pose is no longer shared."""
        poses.withdraw(self.id)
        self.simulation = None
        for camera in self.cameras.values():
            camera.disconnect()
