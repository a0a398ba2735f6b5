"""The command `supple calibrate`: find offset, sign and limits of the servo motors of an arm, moved by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple import _check
from supple.cli import completion, inputs, output, program
from supple.cli.options import Search, epilog, errors_to_stderr
from supple.errors import BadInput

if TYPE_CHECKING:
    from supple.teleop.servo import Motor

EPILOG = epilog(
    "supple calibrate so101 so101.json --port /dev/ttyACM0",
    "supple calibrate robot.urdf robot.json --bus my_bus.py:connect --unit degrees",
)


def calibrate(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|NAME",
            help="A file, or the name of a bundled model.",
            autocompletion=completion.models_and_files,
        ),
    ],
    file: Annotated[Path, typer.Argument(metavar="CALIBRATION", help="The JSON file to write.")],
    port: Annotated[
        str | None,
        typer.Option(
            "--port", help="Serial port of a bus that LeRobot knows. Motor 1 moves the first joint, and so on."
        ),
    ] = None,
    kind: Annotated[str, typer.Option("--kind", metavar="feetech|dynamixel", help="The kind of that bus.")] = "feetech",
    model: Annotated[str, typer.Option("--model", help="The model of its motors.")] = "sts3215",
    bus: Annotated[
        str | None,
        typer.Option(
            "--bus",
            metavar="FILE:NAME",
            help="In place of a port: a Python file and the name in it of a function that returns a bus, an object "
            "with sync_read and sync_write. The file is run.",
        ),
    ] = None,
    unit: Annotated[str, typer.Option("--unit", metavar="ticks|degrees", help="Unit of the bus.")] = "ticks",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    search: Search = None,
) -> None:
    """Calibrate the servo motors of an arm: move it by hand to its zero pose, then each joint to its limits.

    The torque of the motors is switched off first: hold the arm. The file is for `supple.teleop.servo.ServoArm`.
    """
    with errors_to_stderr():
        from supple.teleop.servo import calibrated

        linkage = inputs.find(source, search or ())
        if unit not in ("ticks", "degrees"):
            raise BadInput(f"--unit: ticks or degrees, not {unit!r}")
        if file.exists() and not overwrite:
            raise BadInput(f"{file} exists; give --overwrite to replace it")
        if (port is None) == (bus is None):
            raise BadInput("give --port or --bus: where the motors are")
        connected = _from_file(bus) if bus else _lerobot(kind, str(port), model, linkage.names, unit == "degrees")
        limp = getattr(connected, "disable_torque", None)
        if limp is not None:
            limp()
        torque = "The torque is off" if limp is not None else "This bus cannot switch its torque off: do that first"
        output.print_text(
            f"{linkage.name}: {linkage.dof} joint values. {torque}; hold the arm. Type q to end. "
            f"The sliders of `supple view {source}` show the zero pose, and which way each joint counts."
        )
        found = calibrated(connected, linkage, _ask, unit=unit)  # type: ignore[arg-type]
        found.save(file)
        for motor in found.motors:
            output.print_text(
                f"{motor.joint}: offset {motor.offset:g} {motor.unit}, sign {motor.sign:+d}, {_limits(motor)}"
            )
        output.print_text(f"written to {file}")


def _limits(motor: Motor) -> str:
    if not math.isfinite(motor.low):
        return "not checked: skipped, without limits"
    return f"limits {motor.low:g} to {motor.high:g} {motor.unit}"


def _ask(sentence: str) -> str:
    return str(typer.prompt(sentence, default="", show_default=False, prompt_suffix=" "))


def _from_file(word: str) -> Any:
    """The bus that a function in a Python file returns."""
    connect = program.defined("--bus", word, "my_bus.py:connect")
    if not callable(connect):
        raise BadInput(f"--bus: {word} must be a function that returns a bus, not {_check.short(connect)}")
    try:
        return connect()
    except Exception as error:
        raise BadInput(f"--bus: {word} failed: {type(error).__name__}: {error}") from error


def _lerobot(kind: str, port: str, model: str, names: tuple[str, ...], degrees: bool) -> Any:
    from supple.teleop.servo import lerobot_bus

    return lerobot_bus(kind, port, {name: (k + 1, model) for k, name in enumerate(names)}, degrees=degrees)
