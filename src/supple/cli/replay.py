"""The command `supple replay`: gives a recording to a solver again and prints the differences."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from supple._table import text_table
from supple.cli import completion, inputs, output
from supple.cli.options import Json, Search, check_picture, epilog, errors_to_stderr
from supple.errors import BadInput

if TYPE_CHECKING:
    from supple.solver import Solver
    from supple.teleop.recording.replay import Comparison, Side

EPILOG = epilog(
    "supple replay drive.parquet",
    "supple replay drive.parquet --solver paper",
    "supple replay drive.csv --solver pseudoinverse --raw --draw speeds.png",
    "supple replay drive.parquet --robot my_ur5.urdf --json",
    exit_codes="0 identical joint values; 1 they differ; 2 the file cannot be replayed",
)


def replay(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A recording: .parquet, .csv, or the .parquet.part that a crash left."),
    ],
    solver: Annotated[
        str | None,
        typer.Option(
            "--solver",
            metavar="NAME",
            help="supple, paper, damped or pseudoinverse; by default the solver of the recording.",
            autocompletion=completion.tracking_methods,
        ),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Apply no joint, speed or acceleration limits to the solver of --solver.")
    ] = False,
    robot: Annotated[
        str | None,
        typer.Option(
            "--robot",
            metavar="FILE|NAME",
            help="Another linkage with the same joints; by default the linkage in the recording.",
            autocompletion=completion.models_and_files,
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--draw", metavar="FILE", help="Also draw the joint speeds of both: .png, .svg or .pdf."),
    ] = None,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Give the commands of a recording to a solver again, and print the differences.

    With the solver of the recording the joint values are identical, bit for bit.
    """
    with _exit_code_two(), errors_to_stderr():
        found = _replay(file, _solver(solver, raw), robot, search or [], picture)
    if as_json:
        output.print_json(found.data())
    else:
        output.print_text(f"{_tables(found)}\n{found}")
    raise typer.Exit(0 if found.identical else 1)


@contextmanager
def _exit_code_two() -> Iterator[None]:
    """Every error ends with exit code 2; 1 means that joint values differ."""
    try:
        yield
    except typer.Exit:
        raise typer.Exit(2) from None


def _solver(name: str | None, raw: bool) -> Solver | None:
    from supple.teleop.methods import named

    if name is None:
        if raw:
            raise BadInput("--raw needs --solver")
        return None
    chosen = named(name)
    return dataclasses.replace(chosen, keep_limits=False) if raw else chosen


def _replay(
    file: Path, solver: Solver | None, robot: str | None, search: list[Path], picture: Path | None
) -> Comparison:
    from supple.teleop.recording import Recording
    from supple.teleop.recording.replay import replay as replay_recording

    check_picture(picture, "--draw")
    recording = Recording(file)
    linkage = inputs.find(robot, search) if robot else None
    if picture is None:
        return replay_recording(recording, solver, linkage=linkage)
    from supple.view import image
    from supple.view.replay import Speeds

    speeds = Speeds(linkage or recording.linkage)
    found = replay_recording(recording, solver, linkage=linkage, watch=speeds.add)
    image.write(speeds.draw(found), picture)
    return found


def _tables(found: Comparison) -> str:
    """The differences of joint values and errors, and the measures of both sides."""
    names = [f"{name}, {unit}" for name, unit in zip(found.names, found.units, strict=True)]
    names += ["position error, m", "angle error, rad"]
    largest, mean = (*found.largest, *found.error_largest), (*found.mean, *found.error_mean)
    rows = [["joint values", "largest difference", "mean difference"]]
    rows += [[name, _short(a), _short(b)] for name, a, b in zip(names, largest, mean, strict=True)]
    rows += [["", "", ""], ["", "recorded", "replayed"]]
    both = zip(_measures(found, found.recorded), _measures(found, found.replayed), strict=True)
    rows += [[name, recorded, replayed] for (name, recorded), (_, replayed) in both]
    solvers = [f"recorded: {found.recorded.solver}", f"replayed: {found.replayed.solver}"]
    return "\n".join([*text_table(rows, "<>"), "", *solvers])


def _measures(found: Comparison, side: Side) -> Iterator[tuple[str, str]]:
    for name, ticks in side.statuses.items():
        yield name, f"{100 * ticks / found.ticks:.1f} %"
    yield "distance, m, mean", _short(side.distance[0])
    yield "distance, m, largest", _short(side.distance[1])
    yield "angle, rad, mean", _short(side.angle[0])
    yield "angle, rad, largest", _short(side.angle[1])
    yield "ticks outside limits", f"{side.outside:,}"
    yield "ticks above speed limit", f"{side.too_fast:,}"
    yield "joint speed, largest", _short(max(side.speed))
    yield "acceleration, largest", _short(max(side.acceleration))


def _short(value: float) -> str:
    return "0" if value == 0 else f"{value:.3g}"
