"""Valid calls of `supple.teleop`, for hostile values to replace arguments of."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

import supple
from supple import Frame, models, teleop
from supple.teleop.network.wire import Form
from supple.teleop.robot import Lost

ARM = models.planar3()
PANDA = models.panda()
TIP = "panda_hand_tcp"
Q = [0.1, 0.2, 0.3]
FRAME = Frame.at([0.4, 0.0, 0.5])


class StillClock:
    """Time that passes only while somebody waits."""

    time = 0.0

    def now(self) -> float:
        return self.time

    def wait(self, until: float) -> None:
        self.time = max(self.time, until)


class Hand:
    """An operator who holds still, closes the gripper, and leaves after some ticks."""

    left = 20

    def read(self) -> teleop.Command:
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return teleop.Command(Frame(), gripper=0.0)

    def close(self) -> None:
        pass


def tracker() -> supple.Tracker:
    return supple.Solver().track(ARM, "tip", Q)


def made(kind: Callable[..., Any]) -> Callable[..., str]:
    """A function that makes an object, closes it and returns what it is."""

    def make(**given: Any) -> str:
        one = kind(**given)
        try:
            return repr(one)
        finally:
            one.close()

    return make


def drive(**given: Any) -> Any:
    try:
        return teleop.drive(**{"source": Hand(), "tracker": tracker(), **given}, clock=StillClock())
    except TypeError as error:
        if "_gentle" in str(error):  # a sink that takes other arguments: its own error ends the loop
            return None
        raise


def replay(**given: Any) -> Any:
    try:
        return teleop.replay(**given)
    except TypeError as error:
        if "_gentle" in str(error):
            return None
        raise


def loop(method: str) -> Callable[..., Any]:
    """A method of a loop that then runs for some ticks."""

    def call(**given: Any) -> Any:
        one = teleop.Loop(Hand(), teleop.Mapping(), tracker(), print_nothing, clock=StillClock())
        getattr(one, method)(**given)
        return one.run(0.05) if method != "run" else None

    return call


def first(items: Any) -> Any:
    with contextlib.suppress(StopIteration, NotImplementedError):  # a memoryview of two axes has no iterator
        return teleop.frames(items).read()


def print_nothing(tick: teleop.Tick) -> None:
    pass


def simulated(method: str) -> Callable[..., Any]:
    def call(**given: Any) -> Any:
        arm = teleop.SimulatedArm(ARM, Q, clock=StillClock().now)
        getattr(arm, method)(**given)
        return None if method == "block" else arm.read()

    return call


def connect(**given: Any) -> str:
    connection = teleop.Connection(**given)
    try:
        with contextlib.suppress(Lost):  # what is no arm is never read; its connection says so
            connection.start()
        return repr(connection)
    finally:
        connection.close()


def mapping(method: str) -> Callable[..., Any]:
    def call(**given: Any) -> Any:
        one = teleop.Mapping(filter=teleop.OneEuro())
        one.engage(Frame(), FRAME, 0.0)
        return getattr(one, method)(**given)

    return call


def recording(folder: str) -> str:
    """A short recording, as a file."""
    path = os.path.join(folder, "drive.csv")
    used = tracker()
    recorder = teleop.Recorder(path, used, overwrite=True)
    teleop.drive(Hand(), teleop.Mapping(), used, recorder, seconds=0.05, clock=StillClock())
    return path


def calls(folder: str) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """A valid call for each name; files are made in the folder."""
    made_before = recording(folder)
    return {
        "supple.teleop.Command": (
            teleop.Command,
            {"hand": Frame(), "engaged": True, "stamp": 0.5, "sequence": 3, "buttons": 1, "gripper": 0.5},
        ),
        "supple.teleop.Command, of two hands": (
            teleop.Command,
            {"hands": [Frame(), None], "grippers": [0.5, None]},
        ),
        "supple.teleop.Mapping": (
            teleop.Mapping,
            {"scale": 1.5, "axes": "world", "calibration": FRAME, "view": Frame(), "filter": teleop.OneEuro()}
            | {"box": ([-1.0, -1, -1], [1.0, 1, 1]), "gripper_speed": 2.0, "gripper_range": (0.0, 1.0)},
        ),
        "supple.teleop.Mapping.engage": (mapping("engage"), {"hand": Frame(), "goal": FRAME, "t": 1.0}),
        "supple.teleop.Mapping.goal": (mapping("goal"), {"hand": FRAME, "t": 1.0}),
        "supple.teleop.Mapping.move_gripper": (
            mapping("move_gripper"),
            {"opening": 0.2, "wanted": 0.8, "dt": 0.01},
        ),
        "supple.teleop.OneEuro": (teleop.OneEuro, {"cutoff": 2.0, "gain": 20.0, "speed_cutoff": 1.0}),
        "supple.teleop.OneEuro.lag": (teleop.OneEuro().lag, {"speed": 0.5}),
        "supple.teleop.OneEuro.begin": (lambda **given: teleop.OneEuro().begin(**given), {"hand": FRAME, "t": 0.5}),
        "supple.teleop.OneEuro.smooth": (lambda **given: teleop.OneEuro().smooth(**given), {"hand": FRAME, "t": 0.5}),
        "supple.teleop.Loop": (
            teleop.Loop,
            {"source": Hand(), "mapping": teleop.Mapping(), "tracker": tracker(), "sink": print_nothing}
            | {"rate": 300.0, "patience": 0.25, "measured": None, "arm": None, "grippers": [0.5], "clock": None},
        ),
        "supple.teleop.Loop.run": (loop("run"), {"seconds": 0.05}),
        "supple.teleop.Loop.pause": (loop("pause"), {"why": "tea"}),
        "supple.teleop.Loop.stop_arm": (loop("stop_arm"), {"why": "tea"}),
        "supple.teleop.Loop.reset": (loop("reset"), {"q": Q}),
        "supple.teleop.Loop.move": (loop("move"), {"q": Q, "speed": 0.5, "why": "home"}),
        "supple.teleop.Loop.cancel_moves": (loop("cancel_moves"), {"why": "home"}),
        "supple.teleop.Loop.use": (loop("use"), {"tracker": tracker()}),
        "supple.teleop.drive": (
            drive,
            {"mapping": teleop.Mapping(), "sink": print_nothing, "rate": 300.0, "seconds": 0.05}
            | {"patience": 0.25, "grippers": [0.5]},
        ),
        "supple.teleop.frames": (first, {"items": [FRAME]}),
        "supple.teleop.callback": (teleop.callback, {"call": print_nothing}),
        "supple.teleop.tee": (teleop.tee, {"*": [print_nothing, print_nothing]}),
        "supple.teleop.SimulatedArm": (
            teleop.SimulatedArm,
            {"linkage": ARM, "start": Q, "lag": 0.06, "friction": 0.002, "noise": 0.0005, "gripper": False, "seed": 1},
        ),
        "supple.teleop.SimulatedArm.write": (simulated("write"), {"q": Q}),
        "supple.teleop.SimulatedArm.push": (simulated("push"), {"q": Q}),
        "supple.teleop.SimulatedArm.block": (simulated("block"), {"seconds": 0.5}),
        "supple.teleop.Connection": (
            connect,
            {"robot": teleop.SimulatedArm(ARM, Q), "linkage": ARM, "links": ["tip"], "rate": 100.0, "on_exit": "hold"},
        ),
        "supple.teleop.Recorder": (
            made(teleop.Recorder),
            {"path": os.path.join(folder, "one.csv"), "tracker": tracker(), "rate": 300.0, "overwrite": True},
        ),
        "supple.teleop.Recorder.within": (
            made(teleop.Recorder.within),
            {"folder": folder, "tracker": tracker(), "rate": 300.0, "ending": ".csv"},
        ),
        "supple.teleop.Recording": (lambda path: teleop.Recording(path).rows().t, {"path": made_before}),
        "supple.teleop.Recording.blocks": (
            lambda size: len(list(teleop.Recording(made_before).blocks(size))),
            {"size": 4},
        ),
        "supple.teleop.Recording.tracker": (
            teleop.Recording(made_before).tracker,
            {"solver": supple.Solver(), "linkage": ARM, "start": np.array(Q)},
        ),
        "supple.teleop.Playback": (made(teleop.Playback), {"recording": made_before}),
        "supple.teleop.replay": (
            replay,
            {"recording": made_before, "solver": supple.Solver(), "linkage": ARM, "watch": None},
        ),
        "supple.teleop.Statistics": (teleop.Statistics, {"rate": 300.0}),
        "supple.teleop.Statistics.count": (lambda late: teleop.Statistics(300.0).count(late), {"late": 0.001}),
        "supple.teleop.Statistics.jitter": (teleop.Statistics(300.0).jitter, {"share": 0.9}),
        "supple.teleop.UdpSource": (
            made(teleop.UdpSource),
            {"port": 0, "host": "127.0.0.1", "token": "a-token-of-length", "limit": 1000.0, "release": 5.0},
        ),
        "supple.teleop.UdpSink": (made(teleop.UdpSink), {"to": ("127.0.0.1", 7301), "form": Form.BINARY}),
    }
