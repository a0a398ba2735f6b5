"""The command `supple solve`: inverse kinematics from the shell."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from supple import _check, method
from supple._solve.text import angle_text, length_text
from supple.cli import inputs
from supple.cli.options import Json, Search, Source, complaints, drawable
from supple.cli.output import say, say_json
from supple.errors import BadInput, Interrupted, UnknownName
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage
from supple.read import goal_file
from supple.solution import Outcome, Solution, in_words
from supple.solver import Solver, Tolerance
from supple.write import solution_file

Three = tuple[float, float, float]
Four = tuple[float, float, float, float]
_REASONS = 100  # of many goals that are not arrived at, so many are told why


def _methods(incomplete: str) -> list[str]:
    return [name for name in method.names() if name.startswith(incomplete)]


def solve(
    source: Source,
    link: Annotated[
        str | None, typer.Option("--link", metavar="LINK", help="The end effector; the tip, if there is only one.")
    ] = None,
    position: Annotated[Three | None, typer.Option("--position", metavar="X Y Z", help="Where, in metres.")] = None,
    rpy: Annotated[
        Three | None, typer.Option("--rpy", metavar="R P Y", help="How turned: about the fixed axes x, y, z, radians.")
    ] = None,
    quaternion: Annotated[
        Four | None, typer.Option("--quaternion", metavar="W X Y Z", help="How turned, as a quaternion, w first.")
    ] = None,
    axis: Annotated[
        Three | None, typer.Option("--axis", metavar="X Y Z", help="An axis of the link, to point along --direction.")
    ] = None,
    direction: Annotated[
        Three | None, typer.Option("--direction", metavar="X Y Z", help="A direction in the world, for --axis.")
    ] = None,
    goals: Annotated[
        str | None,
        typer.Option("--goals", metavar="FILE", help="Many goals, from a .csv or .npz; - is a .csv on standard input."),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start", metavar="V1,V2,...", help="Joint values to begin from: of several answers the nearest."
        ),
    ] = None,
    solutions: Annotated[
        int | None, typer.Option("--solutions", metavar="K", help="Up to K different answers for each goal.")
    ] = None,
    way: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help=f"One of {', '.join(method.names())}; the search, unless --damping is given.",
            autocompletion=_methods,
        ),
    ] = None,
    damping: Annotated[
        float | None, typer.Option("--damping", metavar="A", help="alpha in J J' + alpha I, for damped methods.")
    ] = None,
    max_iterations: Annotated[
        int | None, typer.Option("--max-iterations", metavar="N", help="Most steps to take.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", help="Most time for each goal.")
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", metavar="METRES", help="How near is near enough.")
    ] = None,
    degrees: Annotated[
        bool, typer.Option("--degrees", help="Angles are given and printed in degrees, not radians.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Also write the answers: a .csv or .npz.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--draw", metavar="FILE", help="Also draw it: a .png, .svg or .pdf.")
    ] = None,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Inverse kinematics: joint values that bring a link where you want it.

    Prints a sentence and the joint values. The exit code is 0 if it arrived and 1 if not; the sentence then says why.

    With --goals, prints a line for each goal (or, with --out, writes them) and a summary; the exit code is 0 if all
    arrived. The first line of a .csv names its columns: x,y,z; roll,pitch,yaw or qw,qx,qy,qz; or ax,ay,az, directions
    for --axis. A .npz holds frames (n, 4, 4), or position, rpy, quaternion and direction by those names.

    \b
    Examples:
      supple solve planar3 --position -20 5 0
      supple solve panda --link panda_hand_tcp --position 0.4 -0.2 0.5 --rpy 3.1416 0 0
      supple solve ur5 --link tool0 --position 0.4 0.2 0.4 --axis 0 0 1 --direction 0 0 -1 --method coordinate_descent
      supple solve panda --link panda_hand_tcp --quaternion 0 1 0 0 --json
      supple solve ur5 --link tool0 --position 0.4 0.2 0.4 --rpy 0 0 0 --solutions 8
      supple solve panda --link panda_hand_tcp --goals goals.csv
      supple solve panda --link panda_hand_tcp --goals goals.csv --degrees --out answers.csv
    """
    with complaints():
        solver = _solver(way, damping, max_iterations, timeout, tolerance)
        linkage = inputs.find(source, search or ())
        hand = _hand(linkage, link)
        begin = _start(linkage, start, degrees)
        _writable(out)
        drawable(picture, "--draw")
        if goals is None:
            goal = _goal(hand, position, rpy, quaternion, axis, direction, degrees)
        else:
            if any(given is not None for given in (position, rpy, quaternion, direction, picture)):
                raise BadInput(
                    "with --goals the goals are in the file: of a single goal give only --axis, and no --draw"
                )
            goal = goal_file.read(goals, hand, axis, degrees)
        found, seconds, whole = _solved(solver, linkage, goal, begin, solutions)
        answers = _Answers(found, math.prod(goal.shape), solutions is not None, degrees)
        if out is not None:
            solution_file.write(out, linkage.names, answers.columns, answers.q)
        if picture is not None:
            from supple.view import answer, image

            image.write(answer.draw(found[0] if found.outcomes.ndim else found, begin), picture)
    if as_json:
        say_json(_data(found, answers, solver, seconds))
    elif found.outcomes.ndim == 0:
        say("\n".join([str(found), *_values(found, degrees)]))
    else:
        rows = [] if out is not None else _table(answers)
        say("\n".join([*rows, _summed_up(answers, seconds)]))
    raise typer.Exit((0 if answers.first.all() else 1) if whole else 130)


def _solver(
    way: str | None,
    damping: float | None,
    max_iterations: int | None,
    timeout: float | None,
    tolerance: float | None,
) -> Solver:
    chosen: dict[str, Any] = {"damping": damping, "max_iterations": max_iterations, "timeout": timeout}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if way is not None:
        try:
            chosen["method"] = method.get(way)
        except UnknownName as error:
            raise BadInput(f"--method: {error}") from None
    elif damping is not None:
        chosen["method"] = method.damped()
    if tolerance is not None:
        if not np.isfinite(tolerance):
            raise BadInput(f"--tolerance must be finite, got {tolerance!r}")
        chosen["tolerance"] = Tolerance(position=tolerance)
    return Solver(**chosen)


def _hand(linkage: Linkage, link: str | None) -> str:
    if link is not None:
        return linkage.link(link).name
    if len(linkage.tips) > 1:
        raise BadInput(f"{linkage.name} has {len(linkage.tips)} tips; say which with --link: {', '.join(linkage.tips)}")
    return linkage.tips[0]


def _start(linkage: Linkage, start: str | None, degrees: bool) -> Array | None:
    if start is None:
        return None
    try:
        return inputs.joint_values(linkage, start, (), degrees)
    except BadInput as error:
        raise BadInput(str(error).replace("--q", "--start")) from None


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
        raise BadInput("--axis (of the link) and --direction (in the world) go together")
    if axis is not None and (rpy is not None or quaternion is not None):
        raise BadInput("give an orientation or an --axis to point along, not both")
    if position is None and rpy is None and quaternion is None and axis is None:
        raise BadInput("nothing is wanted: give --position, --rpy, --quaternion, --axis with --direction, or --goals")
    turned = None
    if rpy is not None:
        turned = Frame.fixed("xyz", np.radians(rpy) if degrees else rpy)
    elif quaternion is not None:
        turned = Frame.quaternion(quaternion)
    return Goal(link, position=position, orientation=turned, axis=axis, direction=direction)


def _writable(out: Path | None) -> None:
    """Raise before any work if answers cannot be written."""
    if out is not None:
        _check.ending(str(out), solution_file.ENDINGS, "--out takes")
        if not out.parent.is_dir():
            raise BadInput(f"--out: there is no folder {out.parent}")


def _solved(
    solver: Solver, linkage: Linkage, goal: Goal, begin: Array | None, solutions: int | None
) -> tuple[Solution, float, bool]:
    """What was found, in how many seconds, and whether it was not interrupted."""
    clock = time.perf_counter()
    try:
        found, whole = solver.solve(linkage, goal, begin, solutions=solutions), True
    except Interrupted as stop:
        found, whole = stop.found, False
    return found, time.perf_counter() - clock, whole


class _Answers:
    """The answers to many goals, or several to one, row by row: those that arrived, and of each goal the nearest."""

    def __init__(self, found: Solution, goals: int, several: bool, degrees: bool) -> None:
        table = found.outcomes.reshape(goals, -1)
        kept = table == Outcome.ARRIVED.value
        self.first = kept[:, 0].copy()  # whether each goal was arrived at
        kept[:, 0] = True
        goal, solution = np.nonzero(kept)
        self.found, self.outcomes, self.degrees = found, table[:, 0], degrees
        self.rows = np.flatnonzero(kept)
        asked = found.goals[0]
        outcomes = np.array([outcome.name.lower() for outcome in Outcome])
        columns = {"goal": goal + 1, "solution": solution + 1, "outcome": outcomes[table[goal, solution]]}
        if not several:
            del columns["solution"]
        if asked.position is not None:
            columns["distance"] = found.distance.reshape(-1)[self.rows]
        if asked.orientation is not None or asked.axis is not None:
            angle = found.angle.reshape(-1)[self.rows]
            columns["angle"] = np.degrees(angle) if degrees else angle
        self.columns: dict[str, Any] = columns
        q = found.q.reshape(-1, found.linkage.dof)[self.rows]
        self.q = inputs.shown_values(found.linkage, q, degrees)

    def why(self) -> dict[int, str]:
        """The reasons of the first that were not arrived at, by their place among the rows."""
        lost = np.flatnonzero(self.columns["outcome"] != "arrived")[:_REASONS]
        places = (np.unravel_index(int(self.rows[i]), self.found.outcomes.shape) for i in lost)
        return {int(i): self.found[place].why for i, place in zip(lost, places, strict=True)}

    def summary(self, seconds: float) -> dict[str, Any]:
        """How many goals there were, how many ended how, and how long it took."""
        count = np.bincount(self.outcomes, minlength=len(Outcome)).tolist()
        ended = {outcome.name.lower(): count[outcome.value] for outcome in Outcome}
        goals = len(self.outcomes)
        return {"goals": goals, **ended, "answers": len(self.rows), "seconds": seconds, "rate": goals / seconds}


def _table(answers: _Answers) -> list[str]:
    """A line for each answer under a line of names; under one that did not arrive, why."""
    shown = dict(answers.columns)
    if "distance" in shown:
        shown["distance"] = [length_text(x) for x in shown["distance"]]
    if "angle" in shown:
        shown["angle"] = [f"{x:.3g} deg" if answers.degrees else angle_text(x) for x in shown["angle"]]
    columns = [[name, *map(str, column)] for name, column in shown.items()]
    names, rounded = answers.found.linkage.names, np.round(answers.q, 6) + 0.0
    columns += [[name, *(f"{x:.6f}" for x in column)] for name, column in zip(names, rounded.T, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    lines = ["  ".join(map(str.rjust, row, widths)) for row in zip(*columns, strict=True)]
    why = answers.why()
    return [line for i, row in enumerate(lines) for line in ([row, f"  {why[i - 1]}"] if i - 1 in why else [row])]


def _summed_up(answers: _Answers, seconds: float) -> str:
    """The summary in a line."""
    said = answers.summary(seconds)
    ended = [f"{said[outcome.name.lower()]:,} {in_words(outcome)}" for outcome in Outcome]
    ended = [words for words in ended if not words.startswith("0 ")]
    several = f"; {said['answers']:,} answers" if "solution" in answers.columns else ""
    goals = f"{said['goals']:,} goal{'s' if said['goals'] != 1 else ''}"
    return f"{goals}: {', '.join(ended)}{several}; {seconds:.3g} s, {said['rate']:,.0f} goals a second"


def _values(found: Solution, degrees: bool) -> list[str]:
    """The joint values, one a line, with their names and units."""
    linkage = found.linkage
    units = [unit for joint in linkage.joints if joint.dof for unit in joint.units]
    shown = inputs.shown_values(linkage, found.q, degrees)
    width = max(map(len, linkage.names))
    return [
        f"  {name:<{width}} {round(float(value), 6) + 0.0:12.6f} {'deg' if degrees and unit == 'rad' else unit}"
        for name, value, unit in zip(linkage.names, shown, units, strict=True)
    ]


def _data(found: Solution, answers: _Answers, solver: Solver, seconds: float) -> dict[str, Any]:
    """The solution as plain data, or many: a row for each, and a summary. What was not asked for is None."""
    columns = {name: column.tolist() for name, column in answers.columns.items()}
    nothing = [None] * len(answers.rows)
    columns |= {name: columns.get(name, nothing) for name in ("distance", "angle")}
    columns |= {"iterations": found.iterations.reshape(-1)[answers.rows].tolist(), "q": answers.q.tolist()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    head = {
        "name": found.linkage.name,
        "link": found.goals[0].link,
        "method": solver.method.name,
        "angles": "deg" if answers.degrees else "rad",
        "names": found.linkage.names,
    }
    if found.outcomes.ndim == 0:
        del rows[0]["goal"]
        return {**head, **rows[0], "error": found.error[0], "why": found.why}
    why = answers.why()
    for i, row in enumerate(rows):
        row["why"] = why.get(i)
    return {**head, "rows": rows, "summary": answers.summary(seconds)}
