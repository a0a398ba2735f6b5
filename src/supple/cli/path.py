"""The command `supple path`: joint values along a whole path of poses."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from supple import _check
from supple._path.planner import PREFERENCES
from supple._path.reasons import RETIME
from supple._solve import misread
from supple.cli import completion, inputs
from supple.cli.options import (
    TOLERANCE,
    Json,
    Link,
    Port,
    Search,
    check_folder,
    check_picture,
    epilog,
    errors_to_stderr,
)
from supple.cli.output import print_json, print_text, without_controls
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal
from supple.path_solution import PathSolution, solve_path
from supple.read import goal_file
from supple.solver import Solver, Tolerance

Three = tuple[float, float, float]
ENDINGS = (".npz", ".csv")
_UNTIMED = ", as no times were given; speeds are not checked"
EPILOG = epilog(
    "supple path weld.csv --robot ur5 --link tool0 --rate 30 -o weld.npz",
    "supple path weld.csv --robot ur5 --link tool0 --duration 8 --retime --plot joints.png --draw arm.png",
    "supple path circle.csv --robot fetch_arm.urdf --offset 0.9 0.25 0.46 --closed",
    "supple path points.csv --robot so101 --link gripper_frame_link --axis 0 0 1",
    "supple path episode.npz --robot panda --link panda_hand_tcp --rate 30 --show",
    exit_codes="0 every pose is reached without a jump; 1 a pose is not reached, or the motion jumps; "
    "2 wrong usage; 130 Ctrl-C",
)


def path(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Poses in time: .csv or .npz, or - for csv on stdin.")],
    robot: Annotated[
        str,
        typer.Option(
            "--robot",
            metavar="FILE|NAME",
            help="The linkage: a file or the name of a bundled model.",
            autocompletion=completion.models_and_files,
        ),
    ],
    link: Link = None,
    axis: Annotated[
        Three | None,
        typer.Option("--axis", metavar="X Y Z", help="An axis of the link that points along ax, ay, az of the file."),
    ] = None,
    offset: Annotated[Three, typer.Option("--offset", metavar="X Y Z", help="Added to all positions, in metres.")] = (
        0.0,
        0.0,
        0.0,
    ),
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate",
            metavar="HZ",
            help="Poses per second; by default the times of FILE. Without times, joint speeds are not checked.",
        ),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option("--duration", metavar="SECONDS", help="Time from the first pose to the last, in place of --rate."),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="V1,V2,...", help="First joint values. By default the planner chooses."),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--end", metavar="V1,V2,...", help="Last joint values. By default the planner chooses."),
    ] = None,
    closed: Annotated[bool, typer.Option("--closed", help="The last joint values equal the first.")] = False,
    prefer: Annotated[
        str, typer.Option("--prefer", metavar="WHAT", help=f"One of: {', '.join(PREFERENCES)}.")
    ] = "least motion",
    retime: Annotated[
        bool, typer.Option("--retime", help="Stretch the time as little as joint speeds and accelerations need.")
    ] = False,
    tolerance: Annotated[float | None, typer.Option("--tolerance", metavar="METRES", help=TOLERANCE)] = None,
    degrees: Annotated[
        bool,
        typer.Option("--degrees", help="Angles of FILE, --start and --end are in degrees; all output is in radians."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the motion: .npz or .csv.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw joint values over time: .png, .svg or .pdf.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--draw", metavar="FILE", help="Draw the arm along the path: .png, .svg or .pdf.")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Play the motion in the browser, until Ctrl-C.")] = False,
    port: Port = 8080,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Joint values along a whole path: continuous, within limits and speeds, with little joint motion.

    The first line of a .csv file names its columns: time in seconds, if it is there; x,y,z; roll,pitch,yaw or
    qw,qx,qy,qz; or ax,ay,az, directions for --axis. A .npz file holds frames (n, 4, 4), or arrays named position, rpy,
    quaternion and direction; and times (n,), if it has them. --rate and --duration replace the times of the file.
    Other columns are ignored; a column that looks like a misspelt name is an error.

    Prints a summary: how many poses are reached, the largest step of a joint, the length of the path through joint
    space, the margins to limits and singularities, and the reason for each jump and each pose that is not reached. A
    jump is a step of a joint that is longer than its speed limit allows, or longer than 0.3 rad.
    """
    with errors_to_stderr(unknown_name=2):
        linkage = inputs.find(robot, search or ())
        end_effector = inputs.end_effector(linkage, link)
        ends = [
            None if given is None else inputs.joint_values(linkage, given, (), degrees, option)
            for given, option in ((start, "--start"), (end, "--end"))
        ]
        for values, option in zip(ends, ("--start", "--end"), strict=True):
            if values is not None and not linkage.inside(values):
                _note(
                    f"{option} is outside the joint limits of {linkage.name}; angles are in radians, or with --degrees"
                )
        _check_files(out, plot, picture)
        goal, times, order = _read(file, end_effector, axis, degrees, np.array(offset))
        if rate is not None or duration is not None:
            times = None
        solver = Solver() if tolerance is None else Solver(tolerance=_tolerance(tolerance))
        begin = time.perf_counter()
        done = solve_path(
            linkage,
            goal,
            ends[0],
            times=times,
            rate=rate,
            duration=duration,
            end=ends[1],
            closed=closed,
            prefer=prefer,  # type: ignore[arg-type]
            retime=retime,
            solver=solver,
        )
        seconds = time.perf_counter() - begin
        _write(done, out, plot, picture)
        looks_like = misread.note(linkage, goal, done.solution.arrived, solver, order)
        if looks_like:
            _note(f"{file}: {looks_like}")
    if as_json:
        print_json(_data(done, seconds))
    else:
        timed = times is not None or rate is not None or duration is not None
        print_text("\n".join([*_lines(done, seconds, timed), *(f"  wrote {f}" for f in (out, plot, picture) if f)]))
    if show:
        _show(done, port)
    raise typer.Exit(0 if done else 1)


def _note(text: str) -> None:
    typer.echo(f"supple: {without_controls(text)}", err=True)


def _tolerance(metres: float) -> Tolerance:
    return Tolerance(position=_check.positive(metres, "--tolerance", "metres"))


def _check_files(out: Path | None, plot: Path | None, picture: Path | None) -> None:
    """Raise before any work if a file cannot be written."""
    if out is not None:
        _check.ending(str(out), ENDINGS, "--out takes")
        check_folder(out, "--out")
    check_picture(plot, "--plot")
    check_picture(picture, "--draw")


def _read(file: str, link: str, axis: Three | None, degrees: bool, offset: Array) -> tuple[Goal, Array | None, str]:
    """The goals and times of a file, and the order of its quaternions, empty if it has none."""
    try:
        goal, times, ignored, angle, quaternions = goal_file.read_path(file, link, axis, degrees)
    except FileNotFoundError:
        raise BadInput(f"no file {file!r}") from None
    if ignored:
        several = f"columns {', '.join(map(repr, ignored))} are" if len(ignored) > 1 else f"column {ignored[0]!r} is"
        _note(f"{file}: {several} not read")
    if not degrees and angle > 2 * np.pi:
        _note(f"{file}: angles up to {angle:.4g} are read as radians; --degrees reads them as degrees")
    if offset.any():
        if goal.position is None:
            raise BadInput("--offset moves positions, but the file has none")
        goal = Goal(
            link,
            position=goal.position + offset,
            orientation=goal.orientation,
            axis=axis,
            direction=goal.direction,
        )
    return goal, times, "wxyz" if quaternions else ""


def _write(done: PathSolution, out: Path | None, plot: Path | None, picture: Path | None) -> None:
    if out is not None:
        done.motion.save(out)
    if plot is None and picture is None:
        return
    from supple.view import image
    from supple.view import path as pictures

    if plot is not None:
        image.write(pictures.joints(done), plot)
    if picture is not None:
        image.write(pictures.arm(done), picture)


def _lines(done: PathSolution, seconds: float, timed: bool) -> list[str]:
    """The summary in words."""
    worst, motion = done.worst_step, done.motion
    unit = motion.linkage.units[motion.linkage.names.index(worst.joint)]
    lines = [f"{motion.linkage.name} {done}"]
    lines.append(
        f"  worst step: {worst.joint} moves {worst.change:.3g} {unit} to frame {worst.frame}, "
        f"{100 * worst.part:.0f} % of what it may"
    )
    units = set(motion.linkage.units)
    common = f" {units.pop()}" if len(units) == 1 else ""  # radians and metres add up to no unit
    lines.append(
        f"  joints move {done.length:.4g}{common} in all, in {motion.duration:.4g} s{'' if timed else _UNTIMED}"
    )
    margin, value = done.limit_margin.min(), done.singularity_margin.min()
    lines.append(f"  nearest limit {margin:.3g}{common} away; smallest singular value {value:.3g}")
    why = done.why.replace(RETIME, RETIME.replace("retime=True", "--retime"))
    lines += [f"  {reason}" for reason in why.split("; ") if reason]
    lines.append(f"  planned in {seconds:.3g} s, {len(motion) / max(seconds, 1e-9):,.0f} frames per second")
    return lines


def _data(done: PathSolution, seconds: float) -> dict[str, Any]:
    motion = done.motion
    return {
        "linkage": motion.linkage.name,
        "frames": len(motion),
        "arrived": done.arrived,
        "continuous": done.continuous,
        "reconfigurations": done.reconfigurations,
        "worst_step": done.worst_step._asdict(),
        "length": done.length,
        "stretch": float(done.stretch),
        "limit_margin": float(done.limit_margin.min()),
        "singularity_margin": float(done.singularity_margin.min()),
        "distance": float(done.distance.max()),
        "angle": float(done.angle.max()),
        "why": done.why,
        "names": list(motion.linkage.names),
        "units": list(motion.linkage.units),
        "times": motion.times,
        "q": motion.q,
        "seconds": seconds,
    }


def _show(done: PathSolution, port: int) -> None:
    """Play the motion in the browser until Ctrl-C."""
    with errors_to_stderr():
        from supple import view
        from supple.view import path as pictures

        with view.serve(done.linkage, port=port, open_browser=True) as viewer:
            print_text(f"{viewer.url} (Ctrl-C ends)")
            try:
                pictures.play(viewer, done.motion)
            except KeyboardInterrupt:
                return
