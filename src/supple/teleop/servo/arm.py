"""ServoArm: an arm whose joint values are read from and written to a bus of servo motors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple.errors import BadInput, UnknownName
from supple.frame import Array
from supple.linkage import Linkage
from supple.teleop.servo.bus import Bus
from supple.teleop.servo.motors import Calibration


class ServoArm:
    """An arm on a servo bus, for `page.serve(arm=...)`, `drive(arm=...)` and `supple teleop --arm`.

    Joint values that have no motor are read as their rest.

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
            rate: readings and writes a second that the bus can do.
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
        with suppress(OSError):  # a bus that does not answer now is checked when it is read
            self._read_motors()

    def read(self) -> Array:
        """The measured joint values (dof,), in radians or metres."""
        found = self._read_motors()
        q: Array = np.array(self._rest)
        for column, motor in self._motors.items():
            q[column] = motor.to_joint(float(found[motor.motor]))
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
        goals = {motor.motor: motor.to_motor(float(values[column])) for column, motor in self._motors.items()}
        ticks = {motor.motor for motor in self._motors.values() if motor.unit == "ticks"}
        self._bus.sync_write("Goal_Position", {k: int(v) if k in ticks else v for k, v in goals.items()})

    def hold(self) -> None:
        """Writes the present pose as the goal."""
        self.write(self.read())

    def release(self) -> None:
        """Torque off, if the bus can do that."""
        off = getattr(self._bus, "disable_torque", None)
        if off is None:
            raise OSError(f"{type(self._bus).__name__} has no disable_torque()")
        off()

    def connect(self) -> None:
        """Opens the bus again after a failure, if it can do that."""
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
