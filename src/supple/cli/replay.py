"""`supple replay`: a recorded drive through a solver once more, and what differs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli import inputs, output
from supple.cli.options import Json, Search, complaints, drawable
from supple.errors import BadInput

if TYPE_CHECKING:
    from supple.solver import Solver
    from supple.teleop.recording.replay import Comparison, Side


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
            help="supple, paper, damped or pseudoinverse; by default the one it was recorded with.",
        ),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Let that solver break all bounds, as textbooks do; supple never does.")
    ] = False,
    robot: Annotated[
        str | None,
        typer.Option(
            "--robot",
            metavar="FILE|NAME",
            help="Another linkage, with the same joints; by default the one in the recording.",
            autocompletion=inputs.complete,
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--draw", metavar="FILE", help="Also draw the joint speeds side by side: a .png, .svg or .pdf."),
    ] = None,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Give the goals of a recorded drive to a solver once more, and print what differs.

    With the solver it was recorded with, joint values come out the same, bit for bit. Exit code: 0 if they are, 1 if
    they differ, 2 if it could not be replayed.

    \b
    Examples:
      supple replay drive.parquet
      supple replay drive.parquet --solver paper
      supple replay drive.csv --solver pseudoinverse --raw --draw speeds.png
      supple replay drive.parquet --robot my_ur5.urdf --json
    """
    with _trouble(), complaints():
        found = _replayed(file, _solver(solver, raw), robot, search or [], picture)
    if as_json:
        output.say_json(found.data())
    else:
        output.say(f"{_table(found)}\n{found}")
    raise typer.Exit(0 if found.identical else 1)


@contextmanager
def _trouble() -> Iterator[None]:
    """Every complaint ends with code 2: 1 says that joint values differ."""
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


def _replayed(
    file: Path, solver: Solver | None, robot: str | None, search: list[Path], picture: Path | None
) -> Comparison:
    from supple.teleop.recording import Recording
    from supple.teleop.recording.replay import replay as again

    if picture is None:
        return again(Recording(file), solver, linkage=inputs.find(robot, search) if robot else None)
    from supple.view import image
    from supple.view.replay import Speeds

    drawable(picture, "--draw")
    recording = Recording(file)
    linkage = inputs.find(robot, search) if robot else recording.linkage
    speeds = Speeds(linkage)
    found = again(recording, solver, linkage=linkage, watch=speeds.add)
    image.write(speeds.draw(found), picture)
    return found


def _table(found: Comparison) -> str:
    """What differs: a line for each joint value, and for each measure of the two sides."""
    joints = [f"{name}, {unit}" for name, unit in zip(found.names, found.units, strict=True)]
    wide = max(len(name) for name in ("ticks outside limits", *joints))
    lines = [f"{'joint values':<{wide}}  largest difference  mean difference"]
    lines += [
        f"{name:<{wide}}  {_short(largest):>18}  {_short(mean):>15}"
        for name, largest, mean in zip(joints, found.largest, found.mean, strict=True)
    ]
    for name, largest, mean in zip(
        ("position error, m", "angle error, rad"), found.error_largest, found.error_mean, strict=True
    ):
        lines.append(f"{name:<{wide}}  {_short(largest):>18}  {_short(mean):>15}")
    lines.append("")
    lines.append(f"{'':<{wide}}  {'recorded':>18}  {'replayed':>15}")
    rows = zip(_measures(found, found.recorded), _measures(found, found.replayed), strict=True)
    lines += [f"{what:<{wide}}  {old:>18}  {new:>15}" for (what, old), (_, new) in rows]
    lines += ["", f"recorded: {found.recorded.solver}", f"replayed: {found.replayed.solver}"]
    return "\n".join(lines)


def _measures(found: Comparison, side: Side) -> Iterator[tuple[str, str]]:
    for name, ticks in side.statuses.items():
        yield name, f"{100 * ticks / found.ticks:.1f} %"
    yield "distance, m, mean", _short(side.distance[0])
    yield "distance, m, most", _short(side.distance[1])
    yield "angle, rad, mean", _short(side.angle[0])
    yield "angle, rad, most", _short(side.angle[1])
    yield "ticks outside limits", f"{side.outside:,}"
    yield "ticks over speed", f"{side.too_fast:,}"
    yield "joint speed, most", _short(max(side.speed))
    yield "acceleration, most", _short(max(side.acceleration))


def _short(value: float) -> str:
    return "0" if value == 0 else f"{value:.3g}"
