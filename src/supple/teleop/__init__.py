"""Drive an arm by hand: how a hand becomes a goal, the timed loop, and its sources and sinks."""

from importlib import import_module
from typing import TYPE_CHECKING

from supple import _renamed
from supple.teleop.adapters import callback, frames, tee
from supple.teleop.command import Command, Sink, Source, Tick
from supple.teleop.filter import OneEuro
from supple.teleop.loop import Loop, drive
from supple.teleop.mapping import Mapping
from supple.teleop.statistics import Statistics

if TYPE_CHECKING:
    from supple.teleop import page
    from supple.teleop.devices import Gamepad, SpaceMouse
    from supple.teleop.network import UdpSink, UdpSource, WebSocketSink, WebSocketSource, wire
    from supple.teleop.recording import Recorded, Recorder, Recording
    from supple.teleop.recording.replay import replay

__all__ = [
    "Command",
    "Gamepad",
    "Loop",
    "Mapping",
    "OneEuro",
    "Recorded",
    "Recorder",
    "Recording",
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
    "tee",
    "wire",
]

# entered when first asked for: what they need is not needed to drive
_LATER = {
    "devices": ("Gamepad", "SpaceMouse"),
    "network": ("UdpSink", "UdpSource", "WebSocketSink", "WebSocketSource", "wire"),
    "page": (),
    "recording": ("Recorded", "Recorder", "Recording"),
    "recording.replay": ("replay",),
}
_ROOM = {name: room for room, names in _LATER.items() for name in names or (room,)}


def __getattr__(name: str) -> object:
    if name not in _ROOM:
        raise _renamed.no_attribute("supple.teleop", name)
    room = import_module(f"supple.teleop.{_ROOM[name]}")
    value = room if name == _ROOM[name] else getattr(room, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
