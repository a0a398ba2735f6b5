"""Input devices: a SpaceMouse or a gamepad sets the velocity of a virtual hand, and a button engages it."""

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

from supple import _check
from supple.errors import BadInput, MissingExtra, missing_extra
from supple.frame import Array, Frame
from supple.teleop.command import Command

_DEAD_ZONE = 0.06  # of full deflection; sticks seldom return exactly to their centre
_POLL_INTERVAL = 4e-3  # s
_SILENT = 0.2  # s without a successful poll, or deflected without a report, after which a device counts as gone
_MAX_DT = 0.1  # s; bounds the step of the hand after a pause of the loop


class Reading(NamedTuple):
    """State of a device."""

    axes: tuple[float, ...]
    """Deflection (6,), -1 to 1: translation along, then rotation about the operator's axes forward, left and up."""
    buttons: int
    """Bit k is set while button k is down."""
    engaged: bool
    """Whether the button that engages the hand is down."""
    alive: bool = True
    """False if a deflected device has sent no report for a while: it may be unplugged."""
    grip: int = 0
    """-1 while the gripper should close, 1 while it should open, 0 to leave it as it is."""


class Device(Protocol):
    """A device that can be polled. All calls come from one thread."""

    def poll(self) -> Reading:
        """The current state; raises when the device is gone."""
        ...

    def close(self) -> None:
        """Closes the device."""
        ...


def move_hand(hand: Frame, axes: ArrayLike, dt: float, speed: float, turn: float) -> Frame:
    """Moves a hand for dt seconds at the velocity that the deflection of a device sets.

    Args:
        hand: frame in the operator's axes.
        axes: deflection (6,), -1 to 1: translation, then rotation. Below 0.06 it counts as 0.
        dt: time step in seconds.
        speed: metres per second at full deflection.
        turn: radians per second at full deflection.
    """
    deflection = np.clip(np.asarray(axes, dtype=float), -1.0, 1.0)
    velocity = np.sign(deflection) * np.maximum(np.abs(deflection) - _DEAD_ZONE, 0.0) / (1 - _DEAD_ZONE)
    turned = Frame.rotvec(turn * dt * velocity[3:]) @ Frame.at([0, 0, 0], hand)
    # through a quaternion, so that rounding does not accumulate over many small rotations
    return Frame.at(hand.position + speed * dt * velocity[:3]) @ Frame.quaternion(turned.to_quaternion())


class DeviceSource:
    """A source with a virtual hand that a device moves; the base of `SpaceMouse` and `Gamepad`."""

    def __init__(self, open_device: Callable[[], Device], speed: float, turn: float) -> None:
        """Opens the device in a thread of its own; raises what opening it raises."""
        self._speed, self._turn = _check.positive(speed, "speed"), _check.positive(turn, "turn")
        self._hand, self._sequence, self._last = Frame(), 0, time.monotonic()
        self._polled: tuple[float, Reading] = (-math.inf, Reading((0.0,) * 6, 0, False))
        self._end = threading.Event()
        started: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._poll, args=(open_device, started), name="supple-device", daemon=True
        )
        self._thread.start()
        started.result()

    def read(self) -> Command | None:
        """The current hand; None if the device is gone. While it is not engaged, the hand is at its origin."""
        now, (polled, state) = time.monotonic(), self._polled
        dt, self._last = min(now - self._last, _MAX_DT), now
        if now - polled > _SILENT or not state.alive:
            return None
        axes: Array = np.array(state.axes)
        self._hand = move_hand(self._hand, axes, dt, self._speed, self._turn) if state.engaged else Frame()
        self._sequence += 1
        opening = {-1: 0.0, 0: None, 1: 1.0}[state.grip]
        return Command(self._hand, state.engaged, now, self._sequence, state.buttons, grippers=(opening,))

    def close(self) -> None:
        """Closes the device."""
        self._end.set()
        self._thread.join()

    def _poll(self, open_device: Callable[[], Device], started: Future[None]) -> None:
        # opened in this thread: some systems deliver a device's reports only to the thread that opened it
        try:
            device = open_device()
            self._polled = time.monotonic(), device.poll()
        except BaseException as error:
            started.set_exception(error)
            return
        started.set_result(None)
        try:
            while not self._end.wait(_POLL_INTERVAL):
                self._polled = time.monotonic(), device.poll()
        except Exception:  # the device is gone; without new polls the loop holds the arm
            return
        finally:
            device.close()


class SpaceMouse(DeviceSource):
    """A 3Dconnexion SpaceMouse. The hand moves as the cap is pushed and turned while the first button is down.

    While the second button is down the gripper closes, at the next press it opens, and so on in turn.

    Forward, left and up on the table are x, y and z; `Mapping(calibration=...)` rotates them. Needs ``supple[devices]``
    and the system's hidapi library.
    """

    def __init__(self, speed: float = 0.2, turn: float = 0.8) -> None:
        """Opens the first SpaceMouse; BadInput if there is none.

        Args:
            speed: metres per second at full deflection.
            turn: radians per second at full deflection.
        """
        super().__init__(_open_space_mouse, speed, turn)


class Gamepad(DeviceSource):
    """A gamepad that SDL knows. The hand moves while a shoulder button is down. A closes the gripper, B opens it.

    Left stick: forward and left. Triggers: right up, left down. Right stick: pitch and yaw. Directional pad: roll.
    Forward, left and up are x, y and z; `Mapping(calibration=...)` rotates them. Needs ``supple[devices]``; no window.
    """

    def __init__(self, speed: float = 0.2, turn: float = 0.8) -> None:
        """Opens the first gamepad; BadInput if there is none. Arguments as for `SpaceMouse`."""
        super().__init__(GamepadDevice, speed, turn)


class SpaceMouseDevice:
    """A SpaceMouse opened by pyspacemouse with its ROS axes: x forward, y left, z up."""

    def __init__(self, device: Any) -> None:
        """`device` is pyspacemouse's own."""
        self._device = device
        self._grip, self._gripping = 1, False  # which way the second button moves the gripper, and whether it is down

    def poll(self) -> Reading:
        """The current state."""
        state = self._device.read()
        for _ in range(32):  # reports are queued; the last one counts
            before = state.t
            state = self._device.read()
            if state.t == before:
                break
        axes = (state.x, state.y, state.z, state.roll, state.pitch, state.yaw)
        # a deflected cap sends reports all the time
        alive = time.perf_counter() - state.t < _SILENT or max(map(abs, axes)) <= _DEAD_ZONE
        buttons = sum(bool(down) << k for k, down in enumerate(state.buttons[:32]))
        down = bool(buttons & 2)
        if down and not self._gripping:
            self._grip = -self._grip
        self._gripping = down
        return Reading(axes, buttons, bool(buttons & 1), alive, self._grip if down else 0)

    def close(self) -> None:
        """Closes the device."""
        self._device.close()


def _open_space_mouse() -> SpaceMouseDevice:
    needs = "a SpaceMouse needs the system's hidapi library (libhidapi-hidraw0 on Debian, hidapi of Homebrew)"
    try:
        library = importlib.import_module("pyspacemouse")
    except ImportError:
        raise missing_extra("devices", "a SpaceMouse") from None
    except OSError as error:
        raise MissingExtra(f"{needs}: {error}") from None
    try:
        found = library.get_connected_devices()
    except RuntimeError:
        raise MissingExtra(needs) from None
    if not found:
        known = ", ".join(name for name, *_ in library.get_supported_devices())
        raise BadInput(f"no SpaceMouse is connected; looked for {known}")
    try:
        return SpaceMouseDevice(library.open(axis_convention=library.AxisConvention.ROS))
    except RuntimeError as error:
        raise BadInput(
            f"{found[0]} is connected but cannot be opened ({error}); on Linux a udev rule gives permission"
        ) from None


class GamepadDevice:
    """A gamepad opened by SDL."""

    def __init__(self) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            self._game = importlib.import_module("pygame")
            pads = importlib.import_module("pygame._sdl2.controller")
        except ImportError:
            raise missing_extra("devices", "a gamepad") from None
        # SDL reports sticks through its display module; without a window, unless the program has initialised it
        self._own_display = not self._game.display.get_init()
        if self._own_display:
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
        """The current state."""
        if self._own_display:
            self._game.event.clear()  # makes SDL poll, and empties its queue of events
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
        engaged = button(game.CONTROLLER_BUTTON_LEFTSHOULDER) or button(game.CONTROLLER_BUTTON_RIGHTSHOULDER)
        grip = int(button(game.CONTROLLER_BUTTON_B)) - int(button(game.CONTROLLER_BUTTON_A))
        buttons = sum(button(k) << k for k in range(game.CONTROLLER_BUTTON_DPAD_RIGHT + 1))
        return Reading(axes, buttons, bool(engaged), grip=grip)

    def close(self) -> None:
        """Closes the device."""
        self._pad.quit()
        self._quit()

    def _quit(self) -> None:
        if self._own_display:
            self._game.display.quit()
