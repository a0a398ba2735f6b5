"""The plug-in without hardware: followers, the teleoperator, pauses, and what is not known."""

import math
import time

import numpy as np
import pytest
from lerobot.robots.utils import make_robot_from_config
from lerobot.teleoperators.utils import make_teleoperator_from_config
from lerobot.utils.errors import DeviceNotConnectedError
from lerobot_teleoperator_supple import (
    SuppleSimulatedFollowerConfig,
    SuppleSO100FollowerConfig,
    SuppleSO101FollowerConfig,
    SuppleTeleoperatorConfig,
    poses,
    sources,
)
from lerobot_teleoperator_supple.arm import Arm
from lerobot_teleoperator_supple.follower_bus import PAUSE

from supple import Frame, models
from supple.teleop import Command
from supple.teleop.servo import ServoArm, SimulatedBus

MOTORS = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]
LINK = "gripper_frame_link"


class Hand:
    """A source that a test moves."""

    def __init__(self):
        self.y, self.gripper, self.silent, self._count = 0.0, None, False, 0

    def read(self):
        self._count += 1
        if self.silent:
            return None
        return Command(Frame.at([0, self.y, 0]), sequence=self._count, gripper=self.gripper)

    def close(self):
        pass


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    for module in ("lerobot.robots.robot", "lerobot.teleoperators.teleoperator"):
        monkeypatch.setattr(f"{module}.HF_LEROBOT_CALIBRATION", tmp_path)
    for follower in poses.followers():
        poses.withdraw(follower)


@pytest.fixture
def driven(monkeypatch):
    """A connected teleoperator and simulated follower, and the hand that drives them."""
    hand = Hand()
    monkeypatch.setattr(sources, "source", lambda *_: hand)
    teleoperator = make_teleoperator_from_config(SuppleTeleoperatorConfig(source="udp:1"))
    follower = make_robot_from_config(SuppleSimulatedFollowerConfig(id="one"))
    teleoperator.connect()
    follower.connect()
    yield teleoperator, follower, hand
    teleoperator.disconnect()
    if follower.is_connected:
        follower.disconnect()


def cycle(teleoperator, follower):
    """One cycle of LeRobot's loops: the observation and the action (6,)."""
    observation, action = follower.get_observation(), teleoperator.get_action()
    follower.send_action(action)
    time.sleep(1 / 30)
    return (np.array([values[f"{motor}.pos"] for motor in MOTORS]) for values in (observation, action))


def cycles(teleoperator, follower, seconds, joint_speed=np.inf, gripper_speed=np.inf):
    """Observations and actions (n, 6); no action moves faster than so many degrees, and hundredths, a second."""
    rows = [(*cycle(teleoperator, follower), time.monotonic()) for _ in range(round(30 * seconds))]
    observed, sent, t = (np.array(column) for column in zip(*rows, strict=True))
    passed = np.diff(t)[:, None] + 0.02  # a busy machine makes longer cycles; the loop may be a tick early or late
    assert (np.abs(np.diff(sent, axis=0)) <= passed * [*[joint_speed] * 5, gripper_speed]).all()
    return observed, sent


def test_the_features_are_those_of_an_so101(driven):
    teleoperator, follower, _ = driven
    assert list(teleoperator.action_features) == list(follower.action_features) == [f"{m}.pos" for m in MOTORS]


def test_it_begins_where_the_follower_is_and_follows_the_hand(driven):
    teleoperator, follower, hand = driven
    observed, sent = cycles(teleoperator, follower, 1.0)
    assert np.abs(sent - observed[0])[:, :5].max() < 0.5
    hand.y = 0.05
    observed, sent = cycles(teleoperator, follower, 3.5, joint_speed=90)
    arm = models.so101()
    before, after = (arm.frame(np.append(np.radians(row[:5]), 0), LINK).position for row in (sent[0], sent[-1]))
    np.testing.assert_allclose(after - before, [0, 0.05, 0], atol=2e-3)
    assert np.abs(observed[-1] - sent[-1])[:5].max() < 1


def test_the_gripper_opens_and_closes(driven):
    teleoperator, follower, hand = driven
    cycles(teleoperator, follower, 0.7)
    for opening in (1.0, 0.0):
        hand.gripper = opening
        _, sent = cycles(teleoperator, follower, 1.0, gripper_speed=600)
        assert abs(sent[-1, 5] - 100 * opening) < 1e-6


def test_a_silent_operator_holds_the_arm(driven):
    teleoperator, follower, hand = driven
    cycles(teleoperator, follower, 1.0)
    hand.y = 0.3
    cycles(teleoperator, follower, 0.5)
    hand.silent = True
    cycles(teleoperator, follower, 1.0)
    _, sent = cycles(teleoperator, follower, 0.5)
    assert np.ptp(sent[:, :5], axis=0).max() < 1e-6


def test_after_a_pause_of_lerobot_nothing_jumps_and_the_hand_drives_on(driven):
    teleoperator, follower, hand = driven
    cycles(teleoperator, follower, 1.0)
    _, sent = cycles(teleoperator, follower, 0.3)
    hand.y = 0.1
    time.sleep(1.5 + PAUSE)  # longer than what counts as a lost arm
    assert "no actions" in teleoperator.loop.held
    _, after = cycles(teleoperator, follower, 1.0, joint_speed=90)
    assert np.abs(after[0] - sent[-1])[:5].max() < 1
    assert not teleoperator.loop.stopped
    hand.y = 0.13
    _, moved = cycles(teleoperator, follower, 2.5)
    assert abs(moved[-1, 0] - after[-1, 0]) > 3


def test_an_arm_that_was_moved_in_a_pause_stays_where_it_is(driven):
    teleoperator, follower, _ = driven
    cycles(teleoperator, follower, 1.0)
    time.sleep(2 * PAUSE)
    arm = models.so101()
    follower.simulation.push(arm.clamp(follower.simulation.q + np.eye(6)[0] / 2))
    observed, sent = cycles(teleoperator, follower, 1.0)
    assert np.abs(sent - observed[0])[:, :5].max() < 1


def test_a_gripper_that_holds_something_keeps_its_force_in_a_pause(driven, monkeypatch):
    teleoperator, follower, hand = driven
    hand.gripper = 0.0
    measure = follower.get_observation

    def blocked():
        observation = measure()
        observation["gripper.pos"] = 40.0
        poses.share("one", observation)
        return observation

    monkeypatch.setattr(follower, "get_observation", blocked)
    cycles(teleoperator, follower, 2.0)
    time.sleep(2 * PAUSE)
    _, sent = cycles(teleoperator, follower, 0.5)
    assert sent[:, 5].max() < 1


def test_a_follower_that_does_not_share_its_pose_is_an_error_that_says_what_to_do(monkeypatch):
    monkeypatch.setattr(sources, "source", lambda *_: Hand())
    teleoperator = make_teleoperator_from_config(SuppleTeleoperatorConfig(source="udp:1"))
    with pytest.raises(DeviceNotConnectedError):
        teleoperator.get_action()
    teleoperator.connect()
    try:
        with pytest.raises(DeviceNotConnectedError, match="supple_so101_follower"):
            teleoperator.get_action()
        teleoperator.send_feedback({f"{motor}.pos": 10.0 for motor in MOTORS})
        assert teleoperator.get_action() == {f"{motor}.pos": 10.0 for motor in MOTORS}
        poses.share("other", {"a.pos": 1.0})
        with pytest.raises(DeviceNotConnectedError, match=r"several followers .*--teleop.follower"):
            teleoperator.get_action()
    finally:
        teleoperator.disconnect()
    assert not teleoperator.is_connected


def test_a_second_arm_is_chosen_by_its_id():
    poses.share("left", {"a.pos": 1.0})
    poses.share("right", {"a.pos": 2.0})
    assert poses.newest("right").motors == {"a": 2.0}
    assert poses.newest("up") is poses.newest(None) is None


@pytest.mark.parametrize("config", [SuppleSO100FollowerConfig, SuppleSO101FollowerConfig])
def test_so_followers_share_what_they_measure(config, monkeypatch):
    class Bus:
        is_connected, is_calibrated = True, True

        def __init__(self, port, motors, calibration):
            self.motors = motors

        def sync_read(self, name, **_):
            return dict.fromkeys(self.motors, 7.0)

        def disconnect(self, disable_torque):
            pass

    monkeypatch.setattr("lerobot.robots.so_follower.so_follower.FeetechMotorsBus", Bus)
    follower = make_robot_from_config(config(port="/dev/null", id="arm"))
    assert follower.name == "so_follower"  # the calibration of LeRobot's own follower is used
    assert follower.get_observation()["elbow_flex.pos"] == 7.0
    assert poses.newest(None).motors == dict.fromkeys(MOTORS, 7.0)
    follower.disconnect()
    assert poses.newest(None) is None
    with pytest.raises(ValueError, match="use_degrees"):
        make_robot_from_config(config(port="/dev/null", use_degrees=False))


def test_motors_have_sign_offset_and_a_gripper_from_0_to_100():
    for closed, opened in ((0, 100), (100, 0), (20, 80)):
        arm = Arm.of("so101", LINK, {"elbow_flex": -1}, {"wrist_flex": 15.0}, (closed, opened))
        bus = SimulatedBus(arm.motor_names)
        servos = ServoArm(bus, arm.linkage, arm.calibration)
        for share in (0.0, 0.3, 1.0):
            gripper = arm.linkage.lower[5] + share * (arm.linkage.upper[5] - arm.linkage.lower[5])
            q = np.array([0.1, 0.2, 0.3, 0.4, 0.5, gripper])
            servos.write(q)
            np.testing.assert_allclose(servos.read(), q, atol=1e-12)
            assert bus.positions["elbow_flex"] == pytest.approx(-math.degrees(0.3))
            assert bus.positions["wrist_flex"] == pytest.approx(math.degrees(0.4) + 15)
            assert bus.positions["gripper"] == pytest.approx(closed + share * (opened - closed))


def test_keys_move_turn_and_grip():
    assert sources.reading({"i", "u", "x"}).axes == (1.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    assert sources.reading({"l", "shift"}).axes == (0.0, 0.0, 0.0, 0.0, -1.0, 0.0)
    assert sources.reading({"i", "k"}).axes == (0.0,) * 6
    assert [sources.reading(keys).grip for keys in ({"n"}, {"m"}, {"n", "m"}, set())] == [-1, 1, 0, 0]
    assert sources.reading({"n"}).engaged is False


def test_unknown_sources_and_models_are_refused():
    with pytest.raises(ValueError, match="no joint"):
        make_teleoperator_from_config(SuppleTeleoperatorConfig(sign={"elbow": -1}))
    teleoperator = make_teleoperator_from_config(SuppleTeleoperatorConfig(source="telepathy"))
    with pytest.raises(ValueError, match="spacemouse, keyboard"):
        teleoperator.connect()
    assert not teleoperator.is_connected


def test_the_page_serves_and_holds_while_nobody_drives():
    config = SuppleTeleoperatorConfig(source="page", port=0, open_browser=False)
    teleoperator = make_teleoperator_from_config(config)
    follower = make_robot_from_config(SuppleSimulatedFollowerConfig())
    teleoperator.connect()
    follower.connect()
    try:
        assert teleoperator.page.url.startswith("http://127.0.0.1:")
        observed, sent = cycles(teleoperator, follower, 1.0)
        assert np.abs(sent - observed[0])[:, :5].max() < 0.5
    finally:
        teleoperator.disconnect()
        follower.disconnect()
