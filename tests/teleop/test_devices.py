"""Devices: from how a stick is held to where the hand is, with the real libraries and without a device."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from packets import until
from supple import BadInput, Frame, MissingExtra
from supple.teleop import devices
from supple.teleop.command import Command

HERE = np.zeros(6)


def along(k: int, by: float = 1.0) -> np.ndarray:
    axes = np.zeros(6)
    axes[k] = by
    return axes


# -- from axes to frames --------------------------------------------------------------------------------------------


def test_a_full_push_is_the_speed_and_a_full_turn_the_turning_speed() -> None:
    for k in range(3):
        assert devices.move_hand(Frame(), along(k), 0.5, 0.2, 0.8).position == pytest.approx(0.1 * np.eye(3)[k])
        assert devices.move_hand(Frame(), along(3 + k, -1), 0.5, 0.2, 0.8).to_rotvec() == pytest.approx(
            -0.4 * np.eye(3)[k]
        )
    assert devices.move_hand(Frame(), [9, 0, 0, 0, 0, 0], 1, 0.2, 0.8).position == pytest.approx([0.2, 0, 0])


def test_a_device_at_rest_moves_nothing_and_the_dead_zone_has_no_step() -> None:
    hand = Frame.at([1, 2, 3]) @ Frame.rotvec([0.1, -0.4, 2])
    for axes in (HERE, along(0, 0.059), along(4, -0.059)):
        assert np.abs(devices.move_hand(hand, axes, 0.1, 0.2, 0.8).matrix - hand.matrix).max() < 1e-15
    assert 0 < devices.move_hand(Frame(), along(0, 0.061), 1, 1, 1).position[0] < 0.002


def test_pushes_are_along_the_operators_axes_however_the_hand_is_turned() -> None:
    hand = Frame.rotvec([1.0, 2.0, -0.5])
    moved = devices.move_hand(hand, along(1), 1, 0.2, 0.8)
    assert moved.position == pytest.approx([0, 0.2, 0])
    turned = devices.move_hand(hand, along(5), 1, 0.2, 0.8)
    assert np.abs(turned.matrix - (Frame.turn([0, 0, 1], 0.8) @ hand).matrix).max() < 1e-14


def test_many_short_pushes_are_one_long_push_and_stay_a_frame() -> None:
    hand, axes = Frame(), np.array([0.3, -0.7, 1, 0.5, 0.9, -1])
    for _ in range(4000):
        hand = devices.move_hand(hand, axes, 1e-3, 0.2, 0.8)
    once = devices.move_hand(Frame(), axes, 4.0, 0.2, 0.8)
    assert np.abs(hand.matrix - once.matrix).max() < 1e-9
    assert np.abs(hand.rotation @ hand.rotation.T - np.eye(3)).max() < 1e-14


# -- a source -------------------------------------------------------------------------------------------------------


class Stick:
    """A device whose readings a test sets."""

    def __init__(self) -> None:
        self.now = devices.Reading((0.0,) * 6, 0, False)
        self.gone = self.closed = False

    def poll(self) -> devices.Reading:
        if self.gone:
            raise OSError("unplugged")
        return self.now

    def close(self) -> None:
        self.closed = True


class FakeTime:
    """The time as `devices` sees it; it passes only when a test says so, however busy the machine is."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    fake = FakeTime()
    monkeypatch.setattr(devices, "time", fake)
    return fake


def test_the_hand_moves_only_while_the_button_is_held_and_starts_again_each_time_it_is_engaged(clock: FakeTime) -> None:
    stick = Stick()
    source = devices.DeviceSource(lambda: stick, 0.2, 0.8)

    def said() -> Command:
        command = source.read()
        assert command is not None
        return command

    first = said()
    assert first.hand == Frame()
    assert not first.engaged
    stick.now = devices.Reading((1.0, 0, 0, 0, 0, 0), 5, False)
    assert until(lambda: said().buttons == 5)
    clock.now += 0.05
    assert said().hand == Frame()
    stick.now = devices.Reading((1.0, 0, 0, 0, 0, 0), 5, True)
    assert until(lambda: said().engaged)
    for seconds in (0.01, 0.05, 0.09):
        before = said()
        clock.now += seconds
        after = said()
        assert before.hand is not None
        assert after.hand is not None
        assert (after.hand.position - before.hand.position)[0] == pytest.approx(0.2 * seconds, rel=1e-6)
        assert after.stamp - before.stamp == pytest.approx(seconds)
        assert after.sequence == before.sequence + 1
        assert until(lambda: source._polled[0] == clock.now)
    stick.now = devices.Reading((1.0, 0, 0, 0, 0, 0), 0, False)
    assert until(lambda: said().hand == Frame())
    source.close()
    assert stick.closed


def test_a_pause_of_the_loop_is_no_leap_of_the_hand(clock: FakeTime) -> None:
    stick = Stick()
    stick.now = devices.Reading((1.0, 0, 0, 0, 0, 0), 1, True)
    source = devices.DeviceSource(lambda: stick, 0.2, 0.8)
    before = source.read()
    clock.now += 0.3
    assert until(lambda: source._polled[0] == clock.now)
    after = source.read()
    assert before is not None
    assert after is not None
    assert before.hand is not None
    assert after.hand is not None
    assert (after.hand.position - before.hand.position)[0] == pytest.approx(0.2 * 0.1)
    source.close()


def test_a_device_that_is_gone_says_nothing(clock: FakeTime) -> None:
    stick = Stick()
    source = devices.DeviceSource(lambda: stick, 0.2, 0.8)
    assert source.read() is not None
    stick.now = stick.now._replace(alive=False)
    assert until(lambda: source.read() is None)
    stick.now = stick.now._replace(alive=True)
    assert until(lambda: source.read() is not None)
    stick.gone = True
    assert until(lambda: stick.closed)
    assert source.read() is not None  # not silent for long yet
    clock.now += 0.21
    assert source.read() is None
    source.close()


@pytest.mark.parametrize(("speed", "turn"), [(0, 1), (1, -1), (float("nan"), 1), (1, float("inf")), ("1", 1)])
def test_speeds_are_finite_and_positive(speed: Any, turn: Any) -> None:
    with pytest.raises(BadInput):
        devices.DeviceSource(Stick, speed, turn)


# -- the real libraries ---------------------------------------------------------------------------------------------


def needs(package: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"{package} is not installed")


def why_not(device: Callable[[], devices.DeviceSource]) -> str:
    try:
        device().close()
    except (BadInput, MissingExtra) as error:
        return str(error)
    pytest.skip("there is one")


@pytest.mark.parametrize(("device", "word"), [(devices.SpaceMouse, "SpaceMouse"), (devices.Gamepad, "gamepad")])
def test_without_a_device_it_says_what_was_looked_for(device: Callable[[], devices.DeviceSource], word: str) -> None:
    why = why_not(device)
    assert word in why
    assert any(hint in why for hint in ("looked for", "pip install 'supple[devices]'", "library"))


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for device, package in ((devices.SpaceMouse, "pyspacemouse"), (devices.Gamepad, "pygame")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingExtra, match="devices"):
            device()


@needs("pyspacemouse")
def test_a_spacemouse_pushed_forward_left_and_up_moves_the_hand_so() -> None:
    """The real library reads reports as a SpaceMouse sends them: x right, y to the user, z down, each in +-350."""
    import pyspacemouse
    from pyspacemouse.config_helpers import apply_axis_convention

    spec = apply_axis_convention(pyspacemouse.get_device_specs()["SpaceNavigator"], pyspacemouse.AxisConvention.ROS)
    reports: list[bytes] = []

    class Cable:
        def read(self, size: int) -> bytes:
            return reports.pop(0).ljust(size, b"\0") if reports else b""

        def close(self) -> None:
            pass

    def report(channel: int, *values: int) -> bytes:
        return bytes([channel]) + b"".join(value.to_bytes(2, "little", signed=True) for value in values)

    cap = devices.SpaceMouseDevice(pyspacemouse.SpaceMouseDevice(spec, Cable()))
    assert cap.poll() == devices.Reading((0.0,) * 6, 0, False)
    reports += [report(1, 0, -350, 0), report(2, 0, 0, 0)]
    assert cap.poll().axes == pytest.approx([1, 0, 0, 0, 0, 0])
    reports += [report(1, -350, 0, 0)]
    assert cap.poll().axes == pytest.approx([0, 1, 0, 0, 0, 0])
    reports += [report(1, 0, 0, -350)]
    assert cap.poll().axes == pytest.approx([0, 0, 1, 0, 0, 0])
    # turned to the left as seen from above, which is about up; many reports wait, and the last one counts
    reports += [report(1, 0, 0, 0), *([report(2, 350, 350, 350)] * 10), report(2, 0, 0, -350), bytes([3, 1])]
    last = cap.poll()
    assert last.axes == pytest.approx([0, 0, 0, 0, 0, 1])
    assert (last.engaged, last.buttons, last.alive) == (True, 1, True)
    assert until(lambda: not cap.poll().alive)  # pushed, and not a word: unplugged
    reports += [report(2, 0, 0, 0)]
    assert cap.poll().alive


@pytest.fixture
def sdl() -> Iterator[ctypes.CDLL]:
    """SDL as pygame brings it along; it knows virtual gamepads, though pygame has no word for them."""
    pygame = pytest.importorskip("pygame")
    found = sorted((Path(pygame.__file__).parents[1] / "pygame_ce.libs").glob("libSDL2-2*"))
    if not found:
        pytest.skip("pygame's own SDL is not where it is on Linux")
    library = ctypes.CDLL(str(found[0]))
    library.SDL_JoystickOpen.restype = ctypes.c_void_p
    library.SDL_JoystickSetVirtualAxis.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int16]
    library.SDL_JoystickSetVirtualButton.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint8]
    library.SDL_InitSubSystem(0x2000)  # game controllers
    yield library
    library.SDL_QuitSubSystem(0x2000)


def test_a_gamepad_drives_the_hand(sdl: ctypes.CDLL) -> None:
    place = sdl.SDL_JoystickAttachVirtual(1, 6, 15, 0)
    assert place >= 0
    stick = sdl.SDL_JoystickOpen(place)
    source = devices.Gamepad(speed=0.2)

    def engage_and(axis: int, value: int) -> Frame:
        sdl.SDL_JoystickSetVirtualAxis(stick, axis, value)
        sdl.SDL_JoystickSetVirtualButton(stick, 9, 1)  # left shoulder
        assert until(lambda: bool((said := source.read()) and said.hand and np.abs(said.hand.log()).max() > 0.005))
        said = source.read()
        sdl.SDL_JoystickSetVirtualAxis(stick, axis, 0)
        sdl.SDL_JoystickSetVirtualButton(stick, 9, 0)
        assert until(lambda: bool((said := source.read()) and not said.engaged))
        assert said is not None
        assert said.buttons == 1 << 9
        assert said.hand is not None
        return said.hand

    full = 32767
    forward, left = engage_and(1, -full), engage_and(0, -full)
    assert forward.position[0] > 0.9 * np.abs(forward.log()).max() > 0
    assert left.position[1] > 0.9 * np.abs(left.log()).max() > 0
    tilted, turned = engage_and(3, -full), engage_and(2, -full)  # nose down, and to the left
    assert tilted.to_rotvec()[1] > 0.9 * np.abs(tilted.log()).max() > 0
    assert turned.to_rotvec()[2] > 0.9 * np.abs(turned.log()).max() > 0
    up, down = engage_and(5, full), engage_and(4, full)
    assert up.position[2] > 0 > down.position[2]
    sdl.SDL_JoystickDetachVirtual(place)
    assert until(lambda: source.read() is None)
    source.close()
    with pytest.raises(BadInput, match="looked for"):
        devices.Gamepad()
