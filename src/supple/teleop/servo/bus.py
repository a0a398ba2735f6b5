"""Bus: what is asked of a bus of servo motors; the buses of LeRobot, and a simulated one."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from supple import _check
from supple.errors import BadInput, MissingExtra

_PACKAGES = {"feetech": "FeetechMotorsBus", "dynamixel": "DynamixelMotorsBus"}


@runtime_checkable
class Bus(Protocol):
    """A bus of servo motors: any object with these two methods, as LeRobot's buses have them.

    It may also have ``enable_torque()`` and ``disable_torque()`` of all motors, ``connect()``, and
    ``disconnect(disable_torque=...)``.
    """

    def sync_read(self, data_name: str) -> Mapping[str, float]:
        """The present value of each motor, by its name."""
        ...

    def sync_write(self, data_name: str, values: Mapping[str, float]) -> object:
        """Writes a value to each motor."""
        ...


def lerobot_bus(kind: str, port: str, motors: Mapping[str, tuple[int, str]], *, degrees: bool = True) -> Any:
    """A bus of LeRobot, connected: ``lerobot_bus("feetech", "/dev/ttyACM0", {"elbow_flex": (3, "sts3215")})``.

    Args:
        kind: "feetech" or "dynamixel".
        port: the serial port.
        motors: number on the bus and model of each motor, by its name.
        degrees: whether it counts in degrees, by LeRobot's own calibration as it is stored in the motors; else in
            ticks.
    """
    _check.one_of(kind, "kind", tuple(_PACKAGES))
    try:
        base = importlib.import_module("lerobot.motors")
        made = getattr(importlib.import_module(f"lerobot.motors.{kind}"), _PACKAGES[kind])
    except ImportError as error:
        raise MissingExtra(f"a {kind} bus needs LeRobot: pip install 'lerobot[{kind}]' ({error})") from None
    norm = base.MotorNormMode.DEGREES if degrees else base.MotorNormMode.RANGE_M100_100
    bus = made(port=port, motors={name: base.Motor(number, model, norm) for name, (number, model) in motors.items()})
    bus.connect()
    if not degrees:
        return _Ticks(bus)
    bus.calibration = bus.read_calibration()
    return bus


class _Ticks:
    """A bus of LeRobot that is read and written in ticks, without LeRobot's own calibration."""

    def __init__(self, bus: Any) -> None:
        self._bus = bus

    def sync_read(self, data_name: str) -> Mapping[str, float]:
        found: Mapping[str, float] = self._bus.sync_read(data_name, normalize=False)
        return found

    def sync_write(self, data_name: str, values: Mapping[str, float]) -> object:
        return self._bus.sync_write(data_name, dict(values), normalize=False)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)


class SimulatedBus:
    """A bus of motors that are at once where they are sent, for tests and for trying a calibration.

    Motors without torque stay where they are.
    """

    def __init__(self, motors: Sequence[str], number: float = 0.0) -> None:
        """Motors by their names, all at a number."""
        self.positions = {name: float(number) for name in motors}
        """The present number of each motor."""
        self.torque = True
        """Whether the motors hold their position."""

    def sync_read(self, data_name: str) -> dict[str, float]:
        """The present number of each motor."""
        if data_name != "Present_Position":
            raise BadInput(f"a simulated bus reads Present_Position only, not {_check.short(data_name)}")
        return dict(self.positions)

    def sync_write(self, data_name: str, values: Mapping[str, float]) -> None:
        """Moves motors."""
        if data_name != "Goal_Position":
            raise BadInput(f"a simulated bus writes Goal_Position only, not {_check.short(data_name)}")
        for name in values:
            if name not in self.positions:
                raise BadInput(f"the bus has no motor {_check.short(name)}; it has {', '.join(self.positions)}")
        if self.torque:
            self.positions.update({name: float(value) for name, value in values.items()})

    def enable_torque(self) -> None:
        """The motors hold where they are."""
        self.torque = True

    def disable_torque(self) -> None:
        """The motors go limp."""
        self.torque = False
