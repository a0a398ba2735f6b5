"""SuppleTeleoperator: a person moves the end effector, LeRobot gets joint targets."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

from lerobot.teleoperators import Teleoperator, TeleoperatorConfig
from lerobot.utils.decorators import check_if_already_connected, check_if_not_connected
from lerobot.utils.errors import DeviceNotConnectedError

from lerobot_teleoperator_supple import poses, sources
from lerobot_teleoperator_supple.arm import Arm
from lerobot_teleoperator_supple.follower_bus import FollowerBus, FollowerConnection
from supple import Solver
from supple.integrations.lerobot import ACCELERATION
from supple.teleop import Loop, Mapping, page

_log = logging.getLogger(__name__)


@TeleoperatorConfig.register_subclass("supple")
@dataclass
class SuppleTeleoperatorConfig(TeleoperatorConfig):
    """How the end effector of a follower is driven."""

    source: str = "page"
    """page (a browser), gamepad, spacemouse, keyboard, udp:PORT or ws:PORT."""
    model: str = "so101"
    """A robot description, or the name of a bundled model."""
    target_frame_name: str = "gripper_frame_link"
    """The link that is driven."""
    sign: dict[str, float] = field(default_factory=dict)
    """-1 for motors that turn the other way round than their joint, by name: joint = sign (motor - offset)."""
    offset: dict[str, float] = field(default_factory=dict)
    """What motors count where their joint is at 0 in the description, in degrees, by name."""
    gripper_closed: float = 0.0
    """What the motor of the gripper counts where it is closed."""
    gripper_open: float = 100.0
    """What the motor of the gripper counts where it is open."""
    scale: float = 1.0
    """Metres of the end effector for a metre of the operator's hand."""
    speed: float = 0.1
    """Metres a second at full deflection of a gamepad, a SpaceMouse or a key."""
    turn: float = 0.8
    """Radians a second at full deflection."""
    acceleration: float = ACCELERATION
    """Most acceleration of a joint, in rad/s^2; the page uses its own."""
    rate: float = 100.0
    """Ticks of the loop a second; LeRobot asks for actions at its own rate."""
    follower: str | None = None
    """Id of the follower, if several share their pose."""
    host: str = "127.0.0.1"
    """Address that the page or the network source listens on."""
    port: int = 8080
    """Port of the page, or the next free one."""
    token: str | None = None
    """Token for other machines."""
    open_browser: bool = True
    """Whether the page is opened in a browser."""


class SuppleTeleoperator(Teleoperator):
    """A teleoperator by end effector. It begins where the follower is, and holds it when the operator is silent.

    The follower must share its measured pose, as those of this package do; or call `send_feedback` with each
    observation.
    """

    config_class = SuppleTeleoperatorConfig
    name = "supple"

    def __init__(self, config: SuppleTeleoperatorConfig) -> None:
        """A teleoperator that is not connected; raises for a model, link or motor that does not exist."""
        super().__init__(config)
        self.config = config
        ends = config.gripper_closed, config.gripper_open
        self._arm = Arm.of(config.model, config.target_frame_name, config.sign, config.offset, ends)
        self._connection: FollowerConnection | None = None
        self.loop: Loop | None = None
        """The loop that runs; None before `connect`."""
        self.page: page.Page | None = None
        """The page, if that is the source."""

    @property
    def action_features(self) -> dict[str, Any]:
        """The motors: degrees, and 0 to 100 for the gripper."""
        return {f"{motor}.pos": float for motor in self._arm.motor_names}

    @property
    def feedback_features(self) -> dict[str, Any]:
        """The measured motors, for a follower that does not share them itself."""
        return self.action_features

    @property
    def is_connected(self) -> bool:
        """Whether it is connected."""
        return self._connection is not None

    @check_if_already_connected
    def connect(self, calibrate: bool = True) -> None:
        """Opens the source and begins; the arm stays where it is until the operator moves it."""
        config = self.config
        connection = FollowerConnection(FollowerBus(config.follower), self._arm)
        try:
            if config.source == "page":
                self.page = self._serve(connection)
                self.loop = self.page.session.loop
                _log.warning("drive the arm at %s", self.page.url)
            else:
                self.loop = self._drive(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _serve(self, connection: FollowerConnection) -> page.Page:
        config = self.config
        return page.serve(
            self._arm.linkage,
            [self._arm.link],
            rate=config.rate,
            scale=config.scale,
            host=config.host,
            port=config.port,
            token=config.token,
            open_browser=config.open_browser,
            arm=connection,
        )

    def _drive(self, connection: FollowerConnection) -> Loop:
        config = self.config
        tracker = Solver().track(self._arm.linkage, self._arm.link, acceleration=config.acceleration)
        source = sources.source(config.source, config.host, config.token, config.speed, config.turn)
        loop = Loop(source, Mapping(config.scale), tracker, lambda tick: None, config.rate, arm=connection)
        loop.start()
        return loop

    @property
    def is_calibrated(self) -> bool:
        """It needs no calibration."""
        return True

    def calibrate(self) -> None:
        """Does nothing; ``sign`` and ``offset`` are in the config."""

    def configure(self) -> None:
        """Does nothing."""

    @check_if_not_connected
    def get_action(self) -> dict[str, Any]:
        """The next joint targets. Raises if the pose of the follower is unknown, or if the loop has failed."""
        assert self._connection is not None
        assert self.loop is not None
        if not self.loop.running:
            self.loop.stop()  # raises what ended it
            raise DeviceNotConnectedError("the loop of the teleoperator has ended")
        action = self._connection.next_action()
        if action is None:
            raise DeviceNotConnectedError(_unknown_pose(self.config.follower))
        return {f"{motor}.pos": action[motor] for motor in self._arm.motor_names}

    @check_if_not_connected
    def send_feedback(self, feedback: dict[str, Any]) -> None:
        """Takes the observation of a follower that does not share its pose itself."""
        poses.share(self.config.follower, feedback)

    @check_if_not_connected
    def disconnect(self) -> None:
        """Brakes, and closes the source or the page."""
        loop, served, self._connection = self.loop, self.page, None
        self.page = None
        if served is not None:
            served.close()
        elif loop is not None:
            loop.stop()


def _unknown_pose(follower: str | None) -> str:
    """Why the pose of a follower is unknown, and what to do."""
    known = poses.followers()
    if known:
        wanted = (
            "several followers share their pose" if follower is None else f"no follower {follower!r} shares its pose"
        )
        return f"{wanted}: give --teleop.follower, the id of one of {', '.join(known)}"
    return (
        "the follower does not share its measured pose: use --robot.type=supple_so101_follower, supple_so100_follower "
        "or supple_simulated_follower, or call send_feedback(robot.get_observation()) before get_action"
    )
