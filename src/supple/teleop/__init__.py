"""Tele-operation: a person drives an arm. Mapping of the hand to a goal, the timed loop, sources and sinks.

Order of imports: command, filter, clock, process, statistics < mapping, watchdog, adapters, gripper, goals, joint_move,
soft_start < robot, simulated, steering < ticker < loop, methods < network, recording, devices, servo < page.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from supple import _renamed
from supple.teleop.adapters import callback, frames, tee
from supple.teleop.command import Command, Sink, Source, Tick
from supple.teleop.filter import OneEuro
from supple.teleop.loop import Loop, drive
from supple.teleop.mapping import Mapping
from supple.teleop.robot import Connection, Robot
from supple.teleop.simulated import SimulatedArm
from supple.teleop.statistics import Statistics

if TYPE_CHECKING:
    from supple.teleop import page, servo
    from supple.teleop.devices import Gamepad, SpaceMouse
    from supple.teleop.network import UdpSink, UdpSource, WebSocketSink, WebSocketSource, wire
    from supple.teleop.recording import Playback, Recorder, Recording
    from supple.teleop.recording.replay import replay

__all__ = [
    "Command",
    "Connection",
    "Gamepad",
    "Loop",
    "Mapping",
    "OneEuro",
    "Playback",
    "Recorder",
    "Recording",
    "Robot",
    "SimulatedArm",
    "Sink",
    "Source",
    "SpaceMouse",
    "Statistics",
    "Tick",
    "UdpSink",
    "UdpSource",
    "WebSocketSink",
    "WebSocketSource",
    "callback",
    "drive",
    "frames",
    "page",
    "replay",
    "servo",
    "tee",
    "wire",
]

# imported on first use: their dependencies are not needed to drive
_LAZY = {
    "devices": ("Gamepad", "SpaceMouse"),
    "network": ("UdpSink", "UdpSource", "WebSocketSink", "WebSocketSource", "wire"),
    "page": (),
    "recording": ("Playback", "Recorder", "Recording"),
    "recording.replay": ("replay",),
    "servo": (),
}
_MODULE_OF = {name: module for module, names in _LAZY.items() for name in names or (module,)}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise _renamed.no_attribute("supple.teleop", name)
    module = import_module(f"supple.teleop.{_MODULE_OF[name]}")
    value = module if name == _MODULE_OF[name] else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
