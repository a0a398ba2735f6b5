"""Motor and Calibration: how the numbers of servo motors become joint values, stored in a file."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from supple import _check
from supple.errors import BadInput
from supple.linkage import Linkage
from supple.read import bounded
from supple.write import atomic

FORMAT = "supple servo calibration"
VERSION = 1
MAX_FILE = 1 << 20
"""Largest calibration file, in bytes."""
MAX_MOTORS = 256
"""Most motors of a calibration."""
Unit = Literal["degrees", "ticks"]


@dataclass(frozen=True)
class Motor:
    """How the number of a motor becomes a joint value: sign * gear * (number - offset) * unit.

    The unit is a degree or a tick, in radians (or ``metres`` of a slide for a radian of the motor).
    """

    joint: str
    """Name of the joint value."""
    motor: str
    """Name of the motor on the bus."""
    offset: float = 0.0
    """The motor's number where the joint value is 0, in degrees or ticks."""
    sign: int = 1
    """1 if both count in the same direction, else -1."""
    gear: float = 1.0
    """Radians of the joint (or metres of a slide) for a radian of the motor: 1/3 for a 3:1 reduction."""
    unit: Unit = "degrees"
    """What the motor counts in."""
    ticks_per_turn: int = 4096
    """Ticks in a whole turn, for the unit "ticks"."""
    low: float = -math.inf
    """Smallest number that is written to the motor."""
    high: float = math.inf
    """Largest number that is written to the motor."""

    def __post_init__(self) -> None:
        """Checks the fields."""
        what = f"motor {_check.short(self.motor)}"
        _check.text(self.joint, f"joint of {what}")
        _check.text(self.motor, "motor")
        _check.finite_number(self.offset, f"offset of {what}")
        if type(self.sign) is not int or self.sign not in (-1, 1):
            raise BadInput(f"sign of {what} must be 1 or -1, got {_check.short(self.sign)}")
        _check.positive(self.gear, f"gear of {what}")
        if self.unit not in get_args(Unit):
            raise BadInput(f"unit of {what} must be degrees or ticks, got {_check.short(self.unit)}")
        _check.whole(self.ticks_per_turn, f"ticks_per_turn of {what}", 1)
        for name in ("low", "high"):
            _check.finite_or_not(getattr(self, name), f"{name} of {what}")
        if not self.low < self.high:
            raise BadInput(f"low of {what} must be below high, got {self.low!r} and {self.high!r}")

    @property
    def scale(self) -> float:
        """Radians (or metres) of the joint for a degree or tick of the motor, with its sign."""
        return self.sign * self.gear * (math.tau / (360.0 if self.unit == "degrees" else self.ticks_per_turn))

    def to_joint(self, number: float) -> float:
        """The joint value for a number of the motor.

        >>> from supple.teleop.servo import Motor
        >>> round(Motor("elbow", "elbow", offset=90, sign=-1).to_joint(0), 6)
        1.570796
        """
        return (number - self.offset) * self.scale

    def to_motor(self, value: float) -> float:
        """The motor's number for a joint value, within its limits; whole if it counts in ticks."""
        number = min(max(self.offset + value / self.scale, self.low), self.high)
        return float(round(number)) if self.unit == "ticks" else number


@dataclass(frozen=True)
class Calibration:
    """The motors of an arm, one for each joint value. `save` and `load` store them in a JSON file."""

    motors: tuple[Motor, ...]

    def __post_init__(self) -> None:
        """Checks that no joint and no motor is named twice."""
        object.__setattr__(self, "motors", tuple(self.motors))
        if not self.motors or not all(isinstance(motor, Motor) for motor in self.motors):
            raise BadInput("a calibration has at least one motor")
        for what in ("joint", "motor"):
            names = [getattr(motor, what) for motor in self.motors]
            for name in names:
                if names.count(name) > 1:
                    raise BadInput(f"{what} {name!r} is in the calibration twice")

    @classmethod
    def of(cls, linkage: Linkage, unit: Unit = "degrees") -> Calibration:
        """One motor for each value of q, named as the joint, without offset: a calibration to begin with."""
        return cls(tuple(Motor(name, name, unit=unit) for name in linkage.names))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a JSON file; an existing file is replaced as a whole."""
        rows = [{k: v for k, v in asdict(motor).items() if v not in (math.inf, -math.inf)} for motor in self.motors]
        text = json.dumps({"format": FORMAT, "version": VERSION, "motors": rows}, indent=1) + "\n"
        with atomic.replacing(Path(path)) as new:
            new.write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Calibration:
        """Reads the file that `save` wrote; raises `BadInput`, with file and motor, for anything else."""
        file = os.fspath(path)
        with bounded.open_binary(path, MAX_FILE) as binary:
            text = binary.read(MAX_FILE + 1)
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{file}: not JSON: {str(error)[:200]}") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise BadInput(f"{file}: not a calibration: its format should be {FORMAT!r}")
        if data.get("version") != VERSION or data.keys() != {"format", "version", "motors"}:
            raise BadInput(f"{file}: not a calibration of version {VERSION}")
        rows = data["motors"]
        if not isinstance(rows, list) or not 0 < len(rows) <= MAX_MOTORS:
            raise BadInput(f"{file}: motors must be a list of 1 to {MAX_MOTORS}")
        try:
            return cls(tuple(_motor(row, k) for k, row in enumerate(rows)))
        except BadInput as error:
            raise BadInput(f"{file}: {error}") from None


def _motor(row: Any, k: int) -> Motor:
    known = Motor.__dataclass_fields__
    if not isinstance(row, dict) or not {"joint", "motor"} <= row.keys() or not row.keys() <= known.keys():
        raise BadInput(f"motors[{k}] must have the fields joint and motor, and may have {', '.join([*known][2:])}")
    try:
        return Motor(**row)
    except BadInput as error:
        raise BadInput(f"motors[{k}]: {error}") from None
