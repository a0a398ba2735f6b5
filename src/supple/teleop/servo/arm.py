"""ServoArm: an arm whose joint values are read from and written to a bus of servo motors."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple.errors import BadInput, UnknownName
from supple.frame import Array
from supple.linkage import Linkage
from supple.teleop.servo.bus import Bus
from supple.teleop.servo.motors import Calibration, Motor

_AT_LIMIT = 0.01  # rad or m; a joint that is sent farther beyond the limit of its motor is said to be at it


class ServoArm:
    """An arm on a servo bus, for `page.serve(arm=...)`, `drive(arm=...)` and `supple teleop --arm`.

    The first `write` sends the motors its goals and then switches their torque on, if the bus can do that.

    Joint values that have no motor are read as their rest, with a warning. A motor that stands outside its ``low`` or
    ``high`` is not moved by that alone: what is written is within them, or as far outside as the motor was when it was
    taken over, and never farther out again.

    >>> import numpy as np
    >>> from supple import models
    >>> from supple.teleop.servo import Calibration, ServoArm, SimulatedBus
    >>> arm = models.so101()
    >>> servos = ServoArm(SimulatedBus(arm.names), arm, Calibration.of(arm))
    >>> servos.write(np.full(6, 0.5))
    >>> bool(np.allclose(servos.read(), 0.5))
    True
    """

    def __init__(
        self,
        bus: Bus,
        linkage: Linkage,
        calibration: Calibration | str | os.PathLike[str] | None = None,
        *,
        rate: float = 50.0,
    ) -> None:
        """An arm on a bus that is connected already; raises `BadInput` if the bus lacks a motor of the calibration.

        Args:
            bus: the bus; see `Bus`, and `lerobot_bus`.
            linkage: the linkage whose joint values the motors have.
            calibration: the motors, or the file of a calibration; by default one motor in degrees for each joint value.
            rate: readings and writes per second that the bus can do.
        """
        if not isinstance(bus, Bus):
            raise BadInput(f"a bus has sync_read(name) and sync_write(name, values), got {bus!r}")
        if calibration is None:
            calibration = Calibration.of(linkage)
        elif not isinstance(calibration, Calibration):
            calibration = Calibration.load(calibration)
        names = list(linkage.names)
        for motor in calibration.motors:
            if motor.joint not in names:
                raise UnknownName(f"the calibration has a joint {motor.joint!r}; {linkage.name} has {', '.join(names)}")
        self._bus, self._rest, self.rate = bus, linkage.rest, _check.positive(rate, "rate")
        self._motors = {names.index(motor.joint): motor for motor in calibration.motors}
        bare = [name for column, name in enumerate(names) if column not in self._motors]
        if bare:
            warnings.warn(
                f"the calibration has no motor for {', '.join(bare)}: read as rest, and never moved", stacklevel=2
            )
        self._bounds = {column: (motor.low, motor.high) for column, motor in self._motors.items()}
        self._driven = False  # whether it was written since it was taken over
        self._stiff = False  # whether the torque was switched on here
        self.limited = ""
        """Which joints are sent beyond the limit of their motor; else empty."""
        with suppress(OSError):  # a bus that does not answer now is checked when it is read
            self._read_motors()

    def read(self) -> Array:
        """The measured joint values (dof,), in radians or metres."""
        found = self._read_motors()
        q: Array = np.array(self._rest)
        for column, motor in self._motors.items():
            number = float(found[motor.motor])
            q[column] = motor.to_joint(number)
            if not self._driven:
                self._bounds[column] = (min(motor.low, number), max(motor.high, number))
        return q

    def _read_motors(self) -> Mapping[str, float]:
        """The number of each motor on the bus, all those of the calibration among them."""
        found = self._bus.sync_read("Present_Position")
        wanted = [motor.motor for motor in self._motors.values()]
        if not all(motor in found for motor in wanted):
            raise BadInput(
                f"the calibration and the bus have different motors: the calibration has {', '.join(wanted)}; "
                f"the bus has {', '.join(map(str, found)) or 'none'}"
            )
        return found

    def write(self, q: ArrayLike) -> None:
        """Moves the motors towards joint values q (dof,)."""
        values = np.asarray(q, dtype=float)
        if values.shape != self._rest.shape or not np.isfinite(values).all():
            raise BadInput(f"q must be {len(self._rest)} finite numbers, got {_check.short(q)}")
        goals = {
            motor.motor: self._goal(column, motor, float(values[column])) for column, motor in self._motors.items()
        }
        self._driven, self.limited = True, self._at_limits(values)
        self._bus.sync_write("Goal_Position", goals)
        if not self._stiff:  # after the goals: a motor that goes stiff first moves to an old one
            getattr(self._bus, "enable_torque", lambda: None)()
            self._stiff = True

    def _goal(self, column: int, motor: Motor, value: float) -> float:
        """The number to write for a joint value; the bounds of a motor outside its limits come in with it."""
        low, high = self._bounds[column]
        number = min(max(motor.offset + value / motor.scale, low), high)
        self._bounds[column] = (min(motor.low, max(low, number)), max(motor.high, min(high, number)))
        return round(number) if motor.unit == "ticks" else number

    def _at_limits(self, values: Array) -> str:
        """Which joint values (dof,) are beyond the limit of their motor; else empty."""
        told = []
        for column, motor in self._motors.items():
            number, (low, high) = motor.offset + values[column] / motor.scale, self._bounds[column]
            name, limit = ("low", low) if number < low else ("high", high)
            if abs(number - min(max(number, low), high)) * abs(motor.scale) > _AT_LIMIT:
                told.append(f"{motor.joint} is at the limit of its motor: {name} of {motor.motor} is {limit:g}")
        return "; ".join(told)

    def hold(self) -> None:
        """Writes the present pose as the goal; it may be moved by hand then, and is taken over anew.

        An arm that was not written before stays as it is, limp or stiff.
        """
        self._driven = False
        if not self._stiff:
            return
        try:
            self.write(self.read())
        finally:
            self._driven, self.limited = False, ""

    def release(self) -> None:
        """Torque off, if the bus can do that."""
        self._driven = self._stiff = False
        off = getattr(self._bus, "disable_torque", None)
        if off is None:
            raise OSError(f"{type(self._bus).__name__} has no disable_torque()")
        off()

    def connect(self) -> None:
        """Opens the bus again after a failure, if it can do that; the motors are taken over anew."""
        self._driven = self._stiff = False  # they may have been without power
        again = getattr(self._bus, "connect", None)
        if again is not None:
            with suppress(Exception):
                self.close()
            again()

    def close(self) -> None:
        """Closes the bus, if it can do that; the torque stays as it is."""
        leave = getattr(self._bus, "disconnect", None)
        if leave is not None:
            leave(disable_torque=False)
