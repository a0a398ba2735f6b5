"""The sources of commands by their names: gamepad, spacemouse, keyboard, udp:PORT and ws:PORT."""

from __future__ import annotations

from typing import Any

from supple.errors import BadInput, MissingExtra
from supple.teleop import Source
from supple.teleop.devices import DeviceSource, Gamepad, Reading, SpaceMouse

NAMES = ("page", "gamepad", "spacemouse", "keyboard", "udp:PORT", "ws:PORT")
# as on the page; LeRobot takes the arrows and Escape
KEYS = {"i": (0, 1), "k": (0, -1), "j": (1, 1), "l": (1, -1), "u": (2, 1), "o": (2, -1)}
"""Axis and direction of each key: forward, left, up; with Shift they turn about that axis."""
GRIPPER_KEYS = {"n": -1, "m": 1}
"""Closes and opens the gripper while it is down."""


def source(name: str, host: str, token: str | None, speed: float, turn: float) -> Source:
    """A source by its name.

    Args:
        name: of `NAMES`, without "page".
        host: address that a network source listens on.
        token: token of its packets, needed if other machines can reach it.
        speed: metres a second at full deflection of a device.
        turn: radians a second at full deflection.
    """
    kind, _, port = name.partition(":")
    if kind in ("udp", "ws") and (port.isdecimal() or not port):
        from supple.teleop import network

        made = network.UdpSource if kind == "udp" else network.WebSocketSource
        return made(int(port) if port else network.PORT, host, token or "")
    devices: dict[str, Any] = {"gamepad": Gamepad, "spacemouse": SpaceMouse, "keyboard": Keyboard}
    if name not in devices:
        raise BadInput(f"source must be one of {', '.join(NAMES)}, got {name!r}")
    opened: Source = devices[name](speed, turn)
    return opened


class Keyboard(DeviceSource):
    """The keyboard: I K J L U O move, with Shift they turn, N and M close and open the gripper. Needs pynput."""

    def __init__(self, speed: float = 0.1, turn: float = 0.8) -> None:
        """Listens to the keys of the whole desktop.

        Args:
            speed: metres a second while a key is down.
            turn: radians a second while a key is down.
        """
        super().__init__(KeyboardDevice, speed, turn)


class KeyboardDevice:
    """The keys that are down, by pynput."""

    def __init__(self) -> None:
        try:
            from pynput import keyboard
        except ImportError as error:  # pynput raises it without a display too
            raise MissingExtra(
                f"the keyboard needs pynput and a display: pip install 'lerobot_teleoperator_supple[devices]' ({error})"
            ) from None
        self._down: set[str] = set()
        self._listener = keyboard.Listener(
            on_press=lambda key: self._down.add(_name(key)), on_release=lambda key: self._down.discard(_name(key))
        )
        self._listener.start()

    def poll(self) -> Reading:
        """The current state; it raises when the keys are no longer read."""
        if not self._listener.is_alive():
            raise OSError("the keyboard is gone")
        return reading(set(self._down))

    def close(self) -> None:
        """Stops listening."""
        self._listener.stop()


def reading(down: set[str]) -> Reading:
    """What the keys that are down mean; the hand is engaged while one of them moves it.

    >>> from lerobot_teleoperator_supple.sources import reading
    >>> reading({"i", "m"}).axes, reading({"i", "m"}).grip
    ((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), 1)
    """
    axes = [0.0] * 6
    for key in down & KEYS.keys():
        axis, way = KEYS[key]
        axes[axis + (3 if "shift" in down else 0)] += way
    grip = sum(GRIPPER_KEYS[key] for key in down & GRIPPER_KEYS.keys())
    return Reading(tuple(axes), 0, any(axes), grip=grip)


def _name(key: Any) -> str:
    """The letter of a key, or its name: "shift" for both shift keys."""
    letter = getattr(key, "char", None)
    return letter.lower() if letter else str(getattr(key, "name", "")).partition("_")[0]
