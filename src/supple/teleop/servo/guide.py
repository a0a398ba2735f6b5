"""A guided calibration: a person moves the arm by hand, and the numbers of its motors are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from supple import _check
from supple.errors import BadInput, UnknownName
from supple.linkage import Linkage
from supple.teleop.servo.bus import Bus
from supple.teleop.servo.motors import Calibration, Motor, Unit


def calibrated(
    bus: Bus,
    linkage: Linkage,
    ask: Callable[[str], str],
    *,
    unit: Unit = "ticks",
    ticks_per_turn: int = 4096,
    motors: Mapping[str, str] | None = None,
) -> Calibration:
    """A calibration found with a person who moves the arm by hand; its torque must be off.

    It asks first for the zero pose, in which all joint values are 0. Then each joint in turn is moved to its upper
    limit, and to its lower limit: these give its sign and the limits of the motor. For a joint without limits they are
    90 and -90 degrees.

    Args:
        bus: the bus.
        linkage: the linkage.
        ask: shows a sentence and returns when the person has done it; "s" skips the joint, which then has sign 1 and
            no limits, "q" ends.
        unit: what the bus counts in.
        ticks_per_turn: ticks in a turn of a motor.
        motors: name of the motor of each joint value; by default that of the joint value.
    """
    if not isinstance(bus, Bus):
        raise BadInput(f"a bus has sync_read(name) and sync_write(name, values), got {_check.short(bus)}")
    named = {name: name for name in linkage.names} if motors is None else dict(motors)
    first = bus.sync_read("Present_Position")
    for joint, motor in named.items():
        if joint not in linkage.names:
            raise UnknownName(f"{linkage.name} has no joint value {joint!r}; it has {', '.join(linkage.names)}")
        if motor not in first:
            raise BadInput(f"the bus has no motor {motor!r} for {joint}; it has {', '.join(map(str, first))}")

    def place(sentence: str) -> dict[str, float] | None:
        word = ask(sentence).strip().lower()
        if word == "q":
            raise BadInput("the calibration was ended; nothing was written")
        if word == "s":
            return None
        found = {name: float(number) for name, number in bus.sync_read("Present_Position").items()}
        if not all(math.isfinite(number) for number in found.values()):
            raise BadInput(f"the bus gave numbers that are not finite: {found}")
        return found

    zero = place("Move the arm by hand to its zero pose, in which every joint value is 0. Then press Enter.")
    if zero is None:
        raise BadInput("the zero pose cannot be skipped: it gives the offset of every motor")
    plain = {joint: Motor(joint, motor, zero[motor], 1, 1.0, unit, ticks_per_turn) for joint, motor in named.items()}
    done = [_with_limits(plain[joint], linkage, place) for joint in linkage.names if joint in plain]
    return Calibration(tuple(done))


def _with_limits(motor: Motor, linkage: Linkage, place: Callable[[str], dict[str, float] | None]) -> Motor:
    """Sign and limits of one motor, from its two ends."""
    column = linkage.names.index(motor.joint)
    low, high, unit = linkage.lower[column], linkage.upper[column], linkage.units[column]
    limited = math.isfinite(low) and math.isfinite(high)
    if not limited:
        low, high = -math.pi / 2, math.pi / 2
    ends = []
    for end, name in ((high, "upper"), (low, "lower")):
        shown = f"{math.degrees(end):+.0f} degrees" if unit == "rad" else f"{end:+.3g} m"
        where = f"its {name} limit, {shown}" if limited else f"{shown} (it has no limits)"
        found = place(f"{motor.joint}: move it to {where}. Then press Enter; type s to skip this joint.")
        if found is None:
            return motor
        ends.append(found[motor.motor])
    upper, lower = ends
    whole, moved = abs((high - low) / motor.scale), abs(upper - lower)
    if not 0.2 * whole <= moved <= 1.6 * whole:
        raise BadInput(
            f"{motor.joint}: motor {motor.motor!r} moved by {moved:.0f} {motor.unit} from limit to limit, about "
            f"{whole:.0f} are expected; nothing was written. Is it the right motor, and --unit right? Was the joint "
            "moved to both limits? Does the count of the motor jump from its largest number to 0 on the way?"
        )
    sign = 1 if upper > lower else -1
    return Motor(
        motor.joint,
        motor.motor,
        motor.offset,
        sign,
        motor.gear,
        motor.unit,
        motor.ticks_per_turn,
        min(lower, upper),
        max(lower, upper),
    )
