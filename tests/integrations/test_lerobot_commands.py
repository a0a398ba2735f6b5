"""LeRobot's own commands with the plug-in: they run unmodified, headless, driven over the network.

Needs Python 3.12 with `lerobot[dataset]` (and placo) and `pip install integrations/lerobot_teleoperator_supple`.
"""

import inspect
import math
import os
import socket
import subprocess
import sys
import threading
import time
from importlib import metadata, util
from pathlib import Path

import numpy as np
import pytest

from supple import Frame
from supple.integrations.lerobot import RobotKinematics
from supple.teleop import Command, wire

ROOT = Path(__file__).parents[2]
PLUGIN = "lerobot_teleoperator_supple"
pytestmark = [
    pytest.mark.gate,
    pytest.mark.alone,
    pytest.mark.skipif(util.find_spec("lerobot") is None, reason="lerobot is not installed"),
    pytest.mark.skipif(util.find_spec(PLUGIN) is None, reason=f"{PLUGIN} is not installed"),
]
FPS = 30


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Operator:
    """Sends a waving hand and a gripper to a port, until it is closed."""

    def __init__(self, port):
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._send, args=(port,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _send(self, port):
        begin, sequence = time.monotonic(), 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            while not self._end.wait(0.02):
                t, sequence = time.monotonic() - begin, sequence + 1
                hand = Frame.at([0, 0.05 * math.sin(t), 0.03 * math.sin(2 * t)])
                command = Command(hand, stamp=t, sequence=sequence, gripper=0.5 + 0.4 * math.sin(t))
                sender.sendto(wire.encode(command), ("127.0.0.1", port))


def run(command, folder, *options):
    """A command of LeRobot with the simulated follower and a network operator; its output."""
    port = free_port()
    words = [
        f"--robot.type=supple_simulated_follower --robot.id=try --teleop.type=supple --teleop.source=udp:{port}",
        *options,
    ]
    home = {"HF_HOME": str(folder), "HF_LEROBOT_HOME": str(folder / "lerobot"), "HF_HUB_OFFLINE": "1"}
    line = [sys.executable, "-m", f"lerobot.scripts.{command.replace('-', '_')}"]
    with Operator(port):
        done = subprocess.run(
            [*line, *(word for part in words for word in part.split())],
            env={**os.environ, **home},
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def test_lerobot_finds_the_plugin_by_its_name():
    assert metadata.distribution(PLUGIN).metadata["Name"] == PLUGIN


def test_lerobot_teleoperate_runs(tmp_path):
    output = run("lerobot-teleoperate", tmp_path, f"--fps={FPS} --teleop_time_s=6")
    assert "Teleop loop time" in output


@pytest.mark.skipif(util.find_spec("datasets") is None, reason="needs pip install 'lerobot[dataset]'")
def test_lerobot_record_writes_a_dataset_that_loads(tmp_path):
    from lerobot.datasets import LeRobotDataset

    root = tmp_path / "recorded"
    run(
        "lerobot-record",
        tmp_path,
        f"--dataset.repo_id=someone/waving --dataset.root={root} --dataset.fps={FPS} --dataset.num_episodes=2",
        "--dataset.episode_time_s=5 --dataset.reset_time_s=1 --dataset.single_task=wave --dataset.push_to_hub=false",
        "--play_sounds=false",
    )
    dataset = LeRobotDataset("someone/waving", root=root)
    assert (dataset.num_episodes, dataset.fps) == (2, FPS)
    rows = dataset.hf_dataset
    action, state = np.array(rows["action"]), np.array(rows["observation.state"])
    episode = np.array(rows["episode_index"])
    assert np.bincount(episode).min() > FPS  # a busy machine records fewer than 30 a second
    assert dataset.features["action"]["names"] == dataset.features["observation.state"]["names"]
    assert dataset.features["action"]["names"][-1] == "gripper.pos"
    assert np.abs(action[0] - state[0])[:5].max() < 0.5  # it begins where the arm is
    assert (np.ptp(action, axis=0) > [5, 1, 5, 2, 1, 40]).all()
    same = np.diff(episode) == 0
    assert np.abs(np.diff(action[:, :5], axis=0))[same].max() < 12  # degrees in a frame, which may be late
    behind = np.abs(action - state)[:, :5].max(axis=1)  # degrees
    assert behind.max() < 15  # the simulated arm follows
    first = np.flatnonzero(~same)[0] + 1
    # and goes on from there after the pause: no farther than in the rest, in which a late frame is far behind too
    assert behind[first] < max(5, np.delete(behind, first).max())


def test_the_signatures_are_those_of_lerobot():
    from lerobot.model.kinematics import RobotKinematics as Theirs

    for name in ("__init__", "forward_kinematics", "inverse_kinematics"):
        ours, theirs = (inspect.signature(getattr(one, name)).parameters for one in (RobotKinematics, Theirs))
        for key, parameter in theirs.items():
            assert ours[key].default == parameter.default
        assert list(ours)[: len(theirs)] == list(theirs)


@pytest.mark.skipif(util.find_spec("placo") is None, reason="placo is not installed")
def test_ahead_of_placo_in_the_steps_of_lerobot():
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "lerobot_kinematics.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


def test_the_tests_of_the_plugin_pass(tmp_path):
    folder = ROOT / "integrations" / PLUGIN / "tests"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        env={**os.environ, "HF_HOME": str(tmp_path), "HF_LEROBOT_HOME": str(tmp_path / "lerobot")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
