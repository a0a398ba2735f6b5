"""The command `supple solve`: inverse kinematics."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from supple import _check, method
from supple._solve.compilation import DAMPING, ITERATIONS
from supple._solve.options import TAKE_DAMPING
from supple._solve.search import ITERATIONS as SEARCH_ITERATIONS
from supple.cli import completion, inputs
from supple.cli.options import (
    TOLERANCE,
    Degrees,
    Json,
    Link,
    Search,
    Source,
    check_folder,
    check_picture,
    epilog,
    errors_to_stderr,
)
from supple.cli.output import print_json, print_text
from supple.cli.solve_output import Results, joint_lines, json_data, result_lines, summary_line
from supple.errors import BadInput, Interrupted, UnknownName
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage
from supple.read import goal_file
from supple.solution import Solution
from supple.solver import Solver, Tolerance
from supple.write import solution_file

Three = tuple[float, float, float]
Four = tuple[float, float, float, float]
EPILOG = epilog(
    "supple solve planar3 --position -20 5 0",
    "supple solve panda --link panda_hand_tcp --position 0.4 -0.2 0.5 --rpy 3.1416 0 0",
    "supple solve ur5 --link tool0 --position 0.4 0.2 0.4 --axis 0 0 1 --direction 0 0 -1 --method coordinate_descent",
    "supple solve panda --link panda_hand_tcp --quaternion 0 1 0 0 --json",
    "supple solve ur5 --link tool0 --position 0.4 0.2 0.4 --rpy 0 0 0 --solutions 8",
    "supple solve panda --link panda_hand_tcp --goals goals.csv",
    "supple solve panda --link panda_hand_tcp --goals goals.csv --degrees --out solutions.csv",
    exit_codes="0 every goal was reached; 1 a goal was not reached; 2 wrong usage; 130 Ctrl-C",
)


def solve(
    source: Source,
    link: Link = None,
    position: Annotated[
        Three | None, typer.Option("--position", metavar="X Y Z", help="Goal position in metres.")
    ] = None,
    rpy: Annotated[
        Three | None,
        typer.Option(
            "--rpy",
            metavar="R P Y",
            help="Goal orientation: roll, pitch, yaw about the fixed axes x, y, z; in radians.",
        ),
    ] = None,
    quaternion: Annotated[
        Four | None, typer.Option("--quaternion", metavar="W X Y Z", help="Goal orientation as a quaternion, wxyz.")
    ] = None,
    axis: Annotated[
        Three | None,
        typer.Option(
            "--axis", metavar="X Y Z", help="An axis of the link, of any length, that must point in --direction."
        ),
    ] = None,
    direction: Annotated[
        Three | None,
        typer.Option("--direction", metavar="X Y Z", help="Direction of --axis in the world, of any length."),
    ] = None,
    goals: Annotated[
        str | None,
        typer.Option(
            "--goals", metavar="FILE", help="Many goals: a .csv or .npz file, or - for csv on standard input."
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            metavar="V1,V2,...",
            help="All joint values to start from, in radians or metres; prefer solutions near them. By default none: "
            "the first solution found, and for methods other than search the rest position.",
        ),
    ] = None,
    solutions: Annotated[
        int | None,
        typer.Option("--solutions", metavar="K", help="Up to K different solutions for each goal; 1 by default."),
    ] = None,
    method_name: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help=f"One of {', '.join(method.names())}. By default search; damped if --damping is given.",
            autocompletion=completion.methods,
        ),
    ] = None,
    damping: Annotated[
        float | None,
        typer.Option(
            "--damping", metavar="A", help=f"alpha in J J' + alpha I, for damped methods; {DAMPING:g} by default."
        ),
    ] = None,
    max_iterations: Annotated[
        int | None,
        typer.Option(
            "--max-iterations",
            metavar="N",
            help=f"Largest number of iterations; by default {SEARCH_ITERATIONS} over all seeds of search, "
            f"{ITERATIONS} for the other methods.",
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", help="Time limit for each goal, for search; none by default."),
    ] = None,
    tolerance: Annotated[float | None, typer.Option("--tolerance", metavar="METRES", help=TOLERANCE)] = None,
    degrees: Degrees = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Also write the solutions: .csv or .npz.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--draw", metavar="FILE", help="Also draw the solution: .png, .svg or .pdf.")
    ] = None,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Inverse kinematics: joint values that bring a link to a goal.

    Prints a sentence and the joint values. If the goal is not reached, the sentence gives the remaining error and the
    reason, and the joint values are the nearest found.

    With --goals, prints a line for each goal (or, with --out, writes them) and a summary. The first line of a .csv
    file names its columns: x,y,z; roll,pitch,yaw or qw,qx,qy,qz; or ax,ay,az, directions for --axis. A .npz file holds
    frames (n, 4, 4), or arrays named position, rpy, quaternion and direction.
    """
    with errors_to_stderr():
        solver = _solver(method_name, damping, max_iterations, timeout, tolerance)
        linkage = inputs.find(source, search or ())
        end_effector = inputs.end_effector(linkage, link)
        first_q = None if start is None else inputs.joint_values(linkage, start, (), degrees, "--start")
        _check_files(out, picture)
        if goals is None:
            goal = _goal(end_effector, position, rpy, quaternion, axis, direction, degrees)
        elif any(given is not None for given in (position, rpy, quaternion, direction, picture)):
            raise BadInput("with --goals the goals are in the file; only --axis may be given too, and no --draw")
        else:
            try:
                goal = goal_file.read(goals, end_effector, axis, degrees)
            except FileNotFoundError:
                raise BadInput(f"--goals: no file {goals!r}") from None
        found, seconds, complete = _solve(solver, linkage, goal, first_q, solutions)
        results = Results(found, math.prod(goal.shape), solutions is not None, degrees)
        if out is not None:
            solution_file.write(out, linkage.names, results.columns, results.q)
        if picture is not None:
            _draw(found, first_q, picture)
    if as_json:
        print_json(json_data(found, results, solver, seconds))
    elif found.outcomes.ndim == 0:
        print_text("\n".join([str(found), *joint_lines(found, degrees)]))
    else:
        print_text("\n".join([*([] if out else result_lines(results)), summary_line(results, seconds)]))
    raise typer.Exit((0 if results.reached.all() else 1) if complete else 130)


def _solver(
    method_name: str | None,
    damping: float | None,
    max_iterations: int | None,
    timeout: float | None,
    tolerance: float | None,
) -> Solver:
    options: dict[str, Any] = {"damping": damping, "max_iterations": max_iterations, "timeout": timeout}
    options = {name: value for name, value in options.items() if value is not None}
    if method_name is not None:
        try:
            options["method"] = method.get(method_name)
        except UnknownName as error:
            raise BadInput(f"--method: {error}") from None
    elif damping is not None:
        options["method"] = method.damped()
    if tolerance is not None:
        options["tolerance"] = Tolerance(position=_check.positive(tolerance, "--tolerance", "metres"))
    chosen = options.get("method", method.search())
    if damping is not None and chosen.name not in TAKE_DAMPING:
        raise BadInput(f"--method {chosen.name} takes no damping; write --method damped --damping {damping:g}")
    return Solver(**options)


def _goal(
    link: str,
    position: Three | None,
    rpy: Three | None,
    quaternion: Four | None,
    axis: Three | None,
    direction: Three | None,
    degrees: bool,
) -> Goal:
    if rpy is not None and quaternion is not None:
        raise BadInput("give --rpy or --quaternion, not both")
    if (axis is None) != (direction is None):
        raise BadInput("give --axis (of the link) and --direction (in the world) together")
    if axis is not None and (rpy is not None or quaternion is not None):
        raise BadInput("give an orientation or an --axis with its --direction, not both")
    if position is None and rpy is None and quaternion is None and axis is None:
        raise BadInput("no goal: give --position, --rpy, --quaternion, --axis with --direction, or --goals")
    orientation = None
    if rpy is not None:
        inputs.note_large_angles(rpy, "--rpy", degrees)
        orientation = Frame.rpy(*(np.radians(rpy) if degrees else rpy))
    elif quaternion is not None:
        orientation = Frame.quaternion(quaternion)
    return Goal(link, position=position, orientation=orientation, axis=axis, direction=direction)


def _check_files(out: Path | None, picture: Path | None) -> None:
    """Raise before any work if a file cannot be written."""
    if out is not None:
        _check.ending(str(out), solution_file.ENDINGS, "--out takes")
        check_folder(out, "--out")
    check_picture(picture, "--draw")


def _solve(
    solver: Solver, linkage: Linkage, goal: Goal, start: Array | None, solutions: int | None
) -> tuple[Solution, float, bool]:
    """The solution, the seconds it took, and whether it is complete (not interrupted by Ctrl-C)."""
    begin = time.perf_counter()
    try:
        found, complete = solver.solve(linkage, goal, start, solutions=solutions), True
    except Interrupted as interrupt:
        found, complete = interrupt.found, False
    return found, time.perf_counter() - begin, complete


def _draw(found: Solution, start: Array | None, picture: Path) -> None:
    from supple.view import image, solution

    image.write(solution.draw(found[0] if found.outcomes.ndim else found, start), picture)
