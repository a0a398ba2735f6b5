"""Devices on the desk: a SpaceMouse or a gamepad pushes a hand along, and a button takes hold."""

from __future__ import annotations

import importlib
import math
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadInput, MissingExtra, missing_extra
from supple.frame import Array, Frame
from supple.teleop.command import Command

_DEAD = 0.06  # of the way of a stick that counts as none: sticks seldom come back to their centre
_POLL = 4e-3  # s between two looks at a device
_SILENT = 0.2  # s without a look, or of a push without news, after which a device counts as gone
_LONGEST = 0.1  # s that a push counts at most, so that a pause of the loop is no leap of the hand


class Reading(NamedTuple):
    """How a device is held."""

    axes: tuple[float, ...]
    """How far it is pushed and turned (6,), -1 to 1, along and about the operator's axes: forward, left, up."""
    buttons: int
    """Bit k is set while button k is down."""
    grip: bool
    """Whether the button that takes hold is down."""
    alive: bool = True
    """False where a device is still pushed, but has said nothing for long: perhaps it is unplugged."""


class Device(Protocol):
    """Something that can be asked how it is held; all of it in one thread."""

    def poll(self) -> Reading:
        """How it is held now; raises when it is gone."""
        ...

    def close(self) -> None:
        """Ends it."""
        ...


def pushed(hand: Frame, axes: ArrayLike, dt: float, speed: float, turn: float) -> Frame:
    """Where a hand is after it was pushed for dt seconds.

    Args:
        hand: where it was, in the operator's axes.
        axes: how far a device is pushed and turned (6,), -1 to 1. Below 0.06 it counts as not at all.
        dt: how long, in seconds.
        speed: metres a second of a full push.
        turn: radians a second of a full turn.
    """
    given = np.clip(np.asarray(axes, dtype=float), -1.0, 1.0)
    eased = np.sign(given) * np.maximum(np.abs(given) - _DEAD, 0.0) / (1 - _DEAD)
    turned = Frame.rotvec(turn * dt * eased[3:]) @ Frame.at([0, 0, 0], hand)
    # by way of a quaternion, so that hours of small turns are still a turn
    return Frame.at(hand.position + speed * dt * eased[:3]) @ Frame.quaternion(turned.to_quaternion())


class Pushed:
    """A source of a hand that a device pushes along; made by `SpaceMouse` and `Gamepad`."""

    def __init__(self, opened: Callable[[], Device], speed: float, turn: float) -> None:
        """Opens the device, in a thread of its own; raises what opening it raises."""
        for name, value in (("speed", speed), ("turn", turn)):
            if not (isinstance(value, int | float) and 0 < value < math.inf):
                raise BadInput(f"{name} must be finite and positive, got {value!r}")
        self._speed, self._turn = speed, turn
        self._hand, self._sequence, self._last = Frame(), 0, time.monotonic()
        self._seen: tuple[float, Reading] = (-math.inf, Reading((0.0,) * 6, 0, False))
        self._end = threading.Event()
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._look, args=(opened, started), name="supple-device", daemon=True)
        self._thread.start()
        started.result()

    def read(self) -> Command | None:
        """The hand now; None if the device is gone. While nobody grips, the hand waits at its origin."""
        now, (seen, state) = time.monotonic(), self._seen
        dt, self._last = min(now - self._last, _LONGEST), now
        if now - seen > _SILENT or not state.alive:
            return None
        axes: Array = np.array(state.axes)
        self._hand = pushed(self._hand, axes, dt, self._speed, self._turn) if state.grip else Frame()
        self._sequence += 1
        return Command(self._hand, state.grip, now, self._sequence, state.buttons)

    def close(self) -> None:
        """Ends the device."""
        self._end.set()
        self._thread.join()

    def _look(self, opened: Callable[[], Device], started: Future[None]) -> None:
        # some systems tell a device's news only to the thread that opened it
        try:
            device = opened()
            self._seen = time.monotonic(), device.poll()
        except BaseException as error:
            started.set_exception(error)
            return
        started.set_result(None)
        try:
            while not self._end.wait(_POLL):
                self._seen = time.monotonic(), device.poll()
        except Exception:  # whatever happened, the device is gone: its silence holds the arm
            return
        finally:
            device.close()


class SpaceMouse(Pushed):
    """A 3Dconnexion SpaceMouse. The hand goes as the cap is pushed and turned; hold its first button to take hold.

    Forward, left and up on the desk are x, y and z; `Mapping(calibration=...)` turns them. Needs ``supple[devices]``
    and the system's hidapi library.
    """

    def __init__(self, speed: float = 0.2, turn: float = 0.8) -> None:
        """Opens the first one there is; BadInput if there is none.

        Args:
            speed: metres a second of a full push.
            turn: radians a second of a full turn.
        """
        super().__init__(_space_mouse, speed, turn)


class Gamepad(Pushed):
    """A gamepad that SDL knows. Hold a shoulder button to take hold.

    Left stick: forward and left. Triggers: right up, left down. Right stick: tilt and turn. Directional pad: roll.
    Forward, left and up are x, y and z; `Mapping(calibration=...)` turns them. Needs ``supple[devices]``; no window.
    """

    def __init__(self, speed: float = 0.2, turn: float = 0.8) -> None:
        """Opens the first one there is; BadInput if there is none. Arguments as for `SpaceMouse`."""
        super().__init__(_Pad, speed, turn)


class Cap:
    """A SpaceMouse that pyspacemouse has opened, in its ROS axes: x forward, y left, z up."""

    def __init__(self, device: Any) -> None:
        """`device` is pyspacemouse's own."""
        self._device = device

    def poll(self) -> Reading:
        """How it is held now."""
        state = self._device.read()
        for _ in range(32):  # reports wait in a queue; the last one counts
            before = state.t
            state = self._device.read()
            if state.t == before:
                break
        axes = (state.x, state.y, state.z, state.roll, state.pitch, state.yaw)
        # a cap that is pushed says so again and again
        alive = time.perf_counter() - state.t < _SILENT or max(map(abs, axes)) <= _DEAD
        buttons = sum(bool(down) << k for k, down in enumerate(state.buttons[:32]))
        return Reading(axes, buttons, bool(buttons & 1), alive)

    def close(self) -> None:
        """Ends it."""
        self._device.close()


def _space_mouse() -> Cap:
    what = "a SpaceMouse needs the system's hidapi library (libhidapi-hidraw0 on Debian, hidapi of Homebrew)"
    try:
        library = importlib.import_module("pyspacemouse")
    except ImportError:
        raise missing_extra("devices", "a SpaceMouse") from None
    except OSError as error:
        raise MissingExtra(f"{what}: {error}") from None
    try:
        found = library.get_connected_devices()
    except RuntimeError:
        raise MissingExtra(what) from None
    if not found:
        known = ", ".join(name for name, *_ in library.get_supported_devices())
        raise BadInput(f"no SpaceMouse is connected; looked for {known}")
    try:
        return Cap(library.open(axis_convention=library.AxisConvention.ROS))
    except RuntimeError as error:
        raise BadInput(
            f"{found[0]} is there, but may not be opened ({error}); on Linux a udev rule allows it"
        ) from None


class _Pad:
    """A gamepad that SDL has opened."""

    def __init__(self) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            self._game = importlib.import_module("pygame")
            pads = importlib.import_module("pygame._sdl2.controller")
        except ImportError:
            raise missing_extra("devices", "a gamepad") from None
        # SDL tells of sticks through its display; one without a window will do, unless there is one already
        self._ours = not self._game.display.get_init()
        if self._ours:
            wanted = {"SDL_VIDEODRIVER": "dummy", "SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS": "1"}
            before = {name: os.environ.get(name) for name in wanted}
            os.environ.update(wanted)
            self._game.display.init()
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        pads.init()
        count = pads.get_count()
        known = [k for k in range(count) if pads.is_controller(k)]
        if not known:
            self._quit()
            raise BadInput(f"no gamepad is connected; looked for one that SDL knows among {count} game devices")
        self._pad = pads.Controller(known[0])

    def poll(self) -> Reading:
        """How it is held now."""
        if self._ours:
            self._game.event.clear()  # so that SDL looks, and keeps no news that nobody reads
        if not self._pad.attached():
            raise OSError("the gamepad is gone")
        game, button = self._game, self._pad.get_button

        def axis(name: str) -> float:
            return float(self._pad.get_axis(getattr(game, f"CONTROLLER_AXIS_{name}"))) / 32767

        axes = (
            -axis("LEFTY"),
            -axis("LEFTX"),
            axis("TRIGGERRIGHT") - axis("TRIGGERLEFT"),
            float(button(game.CONTROLLER_BUTTON_DPAD_RIGHT) - button(game.CONTROLLER_BUTTON_DPAD_LEFT)),
            -axis("RIGHTY"),
            -axis("RIGHTX"),
        )
        grip = button(game.CONTROLLER_BUTTON_LEFTSHOULDER) or button(game.CONTROLLER_BUTTON_RIGHTSHOULDER)
        return Reading(axes, sum(button(k) << k for k in range(game.CONTROLLER_BUTTON_DPAD_RIGHT + 1)), bool(grip))

    def close(self) -> None:
        """Ends it."""
        self._pad.quit()
        self._quit()

    def _quit(self) -> None:
        if self._ours:
            self._game.display.quit()
