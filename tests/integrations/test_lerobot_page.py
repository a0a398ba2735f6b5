"""The page in a real Chromium drives a follower of LeRobot, through the loop that LeRobot's commands run.

Needs Python 3.12 with lerobot and `pip install integrations/lerobot_teleoperator_supple`.
"""

import threading
import time
from importlib import util

import numpy as np
import pytest

from driven_page import Browser
from supple import models

pytestmark = [
    pytest.mark.gate,
    pytest.mark.alone,
    pytest.mark.browser,
    pytest.mark.skipif(util.find_spec("lerobot") is None, reason="lerobot is not installed"),
    pytest.mark.skipif(
        util.find_spec("lerobot_teleoperator_supple") is None, reason="lerobot_teleoperator_supple is not installed"
    ),
]


class Paused(Exception):
    """Ends LeRobot's loop."""


class Teleoperation:
    """LeRobot's teleoperation in a thread, which can pause."""

    def __init__(self, folder, monkeypatch):
        from lerobot.processor import make_default_processors
        from lerobot.scripts import lerobot_teleoperate
        from lerobot_teleoperator_supple import (
            SuppleSimulatedFollower,
            SuppleSimulatedFollowerConfig,
            SuppleTeleoperator,
            SuppleTeleoperatorConfig,
        )

        monkeypatch.setattr("lerobot.robots.robot.HF_LEROBOT_CALIBRATION", folder)
        monkeypatch.setattr("lerobot.teleoperators.teleoperator.HF_LEROBOT_CALIBRATION", folder)
        self.follower = SuppleSimulatedFollower(SuppleSimulatedFollowerConfig())
        self.teleoperator = SuppleTeleoperator(SuppleTeleoperatorConfig(port=0, open_browser=False))
        self.teleoperator.connect()
        self.follower.connect()
        self._loop, self._processors = lerobot_teleoperate.teleop_loop, make_default_processors()
        self._end, self._failed = threading.Event(), None

    @property
    def held(self):
        return self.teleoperator.loop.held

    def run(self):
        """Starts LeRobot's loop."""
        names = ("teleop_action_processor", "robot_action_processor", "robot_observation_processor")
        options = dict(zip(names, self._processors, strict=True))
        self._end.clear()
        self._thread = threading.Thread(target=self._work, args=(options,))
        self._thread.start()

    def _work(self, options):
        send = type(self.follower).send_action

        def send_or_end(action):
            if self._end.is_set():
                raise Paused
            return send(self.follower, action)

        self.follower.send_action = send_or_end
        try:
            self._loop(self.teleoperator, self.follower, 30, **options)
        except Paused:
            pass
        except BaseException as error:
            self._failed = error

    def pause(self):
        """Ends LeRobot's loop; `run` starts it again."""
        self._end.set()
        self._thread.join()
        assert self._failed is None, self._failed

    def close(self):
        self._end.set()
        self._thread.join()
        self.teleoperator.disconnect()
        self.follower.disconnect()


@pytest.fixture
def running(tmp_path, monkeypatch):
    made = Teleoperation(tmp_path, monkeypatch)
    yield made
    made.close()


def test_keys_of_the_browser_move_the_follower_stop_latches_and_a_pause_does_not(running, chromium):
    arm, simulation = models.so101(), running.follower.simulation

    def height():
        return float(arm.frame(simulation.q, "gripper_frame_link").position[2])

    running.run()
    browser = Browser(running.teleoperator.page, chromium)
    assert browser.until(lambda: not running.held), running.held
    browser.tab.mouse.click(330, 250)  # the scene: keys are for it

    def moves_up():
        before = height()

        def press():
            browser.tab.keyboard.press("u")
            return height() > before + 0.02

        return browser.until(press)

    assert moves_up()
    browser.tab.keyboard.press("Escape")
    assert browser.until(lambda: running.teleoperator.loop.stopped)
    time.sleep(0.7)
    stopped = simulation.q
    for _ in range(10):
        browser.tab.keyboard.press("u")
    time.sleep(0.5)
    np.testing.assert_allclose(simulation.q, stopped, atol=0.01)
    browser.button("re-arm").first.click()
    assert browser.until(lambda: not running.held), running.held
    running.pause()
    assert browser.until(lambda: "no actions" in running.held)
    time.sleep(1.5)  # longer than what counts as a lost arm
    running.run()
    assert browser.until(lambda: not running.held), running.held
    browser.tab.mouse.click(330, 250)
    assert moves_up()
    assert simulation.outside == 0
