"""The command `supple solve`: inverse kinematics from the shell."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from supple import _cli_print, _cli_source, method
from supple._cli_options import Json, Search, Source, complaints
from supple.errors import BadInput, UnknownName
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solution import Solution
from supple.solver import Solver, Tolerance

Three = tuple[float, float, float]
Four = tuple[float, float, float, float]


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
        Three | None, typer.Option("--axis", metavar="X Y Z", help="An axis of the link, to point --along a direction.")
    ] = None,
    along: Annotated[
        Three | None, typer.Option("--along", metavar="X Y Z", help="A direction in the world, for --axis.")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--start", metavar="V1,V2,...", help="Joint values to begin from; rest if not given.")
    ] = None,
    way: Annotated[
        str,
        typer.Option("--method", metavar="NAME", help=f"One of {', '.join(method.names())}.", autocompletion=_methods),
    ] = "damped",
    damping: Annotated[
        float | None, typer.Option("--damping", metavar="A", help="alpha in J J' + alpha I, for damped methods.")
    ] = None,
    iterations: Annotated[int | None, typer.Option("--iterations", metavar="N", help="Most steps to take.")] = None,
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", metavar="METRES", help="How near is near enough.")
    ] = None,
    degrees: Annotated[
        bool, typer.Option("--degrees", help="Angles are given and printed in degrees, not radians.")
    ] = False,
    picture: Annotated[
        Path | None, typer.Option("--draw", metavar="FILE", help="Also draw it: a .png, .svg or .pdf.")
    ] = None,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Inverse kinematics: joint values that bring a link where you want it.

    Prints a sentence and the joint values. The exit code is 0 if it arrived and 1 if not; the sentence then says why.

    \b
    Examples:
      supple solve planar3 --position -20 5 0
      supple solve panda --link panda_hand_tcp --position 0.4 -0.2 0.5 --rpy 3.1416 0 0
      supple solve ur5 --link tool0 --position 0.4 0.2 0.4 --axis 0 0 1 --along 0 0 -1 --method descent
      supple solve panda --link panda_hand_tcp --quaternion 0 1 0 0 --json
    """
    with complaints():
        solver = _solver(way, damping, iterations, tolerance)
        linkage = _cli_source.find(source, search or ())
        hand = _hand(linkage, link)
        begin = _start(linkage, start, degrees)
        goal = _goal(hand, position, rpy, quaternion, axis, along, degrees)
        _drawable(picture)
        found = solver.solve(linkage, goal, begin)
        if picture is not None:
            from supple.view import answer, figures

            figures.write(answer.draw(found, begin), picture)
    if as_json:
        _cli_print.say_json(_data(found, way, degrees))
    else:
        _cli_print.say("\n".join([str(found), *_values(found, degrees)]))
    raise typer.Exit(0 if found.arrived else 1)


def _solver(way: str, damping: float | None, iterations: int | None, tolerance: float | None) -> Solver:
    try:
        chosen: dict[str, Any] = {"method": method.get(way)}
    except UnknownName as error:
        raise BadInput(f"--method: {error}") from None
    if damping is not None:
        chosen["damping"] = damping
    if iterations is not None:
        chosen["iterations"] = iterations
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


def _start(linkage: Linkage, start: str | None, degrees: bool) -> Array:
    if start is None:
        return linkage.rest
    try:
        return _cli_source.joint_values(linkage, start, (), degrees)
    except BadInput as error:
        raise BadInput(str(error).replace("--q", "--start")) from None


def _goal(
    link: str,
    position: Three | None,
    rpy: Three | None,
    quaternion: Four | None,
    axis: Three | None,
    along: Three | None,
    degrees: bool,
) -> Goal:
    if rpy is not None and quaternion is not None:
        raise BadInput("give --rpy or --quaternion, not both")
    if (axis is None) != (along is None):
        raise BadInput("--axis (of the link) and --along (a direction in the world) go together")
    if axis is not None and (rpy is not None or quaternion is not None):
        raise BadInput("give an orientation or an --axis to point along, not both")
    if position is None and rpy is None and quaternion is None and axis is None:
        raise BadInput("nothing is wanted: give --position, --rpy, --quaternion or --axis with --along")
    turned = None
    if rpy is not None:
        turned = Frame.fixed("xyz", np.radians(rpy) if degrees else rpy)
    elif quaternion is not None:
        turned = Frame.quaternion(quaternion)
    return Goal(link, position=position, orientation=turned, axis=axis, along=along)


def _drawable(picture: Path | None) -> None:
    """Raise before any work if a picture cannot be written."""
    if picture is None:
        return
    from supple.view import _style, figures

    if picture.suffix[1:].lower() not in figures.FORMATS:
        raise BadInput(f"--draw takes a file that ends in {', '.join('.' + e for e in figures.FORMATS)}, got {picture}")
    if not picture.parent.is_dir():
        raise BadInput(f"--draw: there is no folder {picture.parent}")
    with _style.look():
        pass


def _values(found: Solution, degrees: bool) -> list[str]:
    """The joint values, one a line, with their names and units."""
    linkage = found.linkage
    units = [unit for joint in linkage.joints if joint.dof for unit in joint.units]
    shown = _cli_source.shown_values(linkage, found.q, degrees)
    width = max(map(len, linkage.names))
    return [
        f"  {name:<{width}} {round(float(value), 6) + 0.0:12.6f} {'deg' if degrees and unit == 'rad' else unit}"
        for name, value, unit in zip(linkage.names, shown, units, strict=True)
    ]


def _data(found: Solution, way: str, degrees: bool) -> dict[str, Any]:
    """The solution as plain data; what was not asked for has no distance or angle."""
    goal = found.goals[0]
    turned = goal.orientation is not None or goal.axis is not None
    angle = float(found.angle[0])
    return {
        "name": found.linkage.name,
        "link": goal.link,
        "method": way,
        "outcome": found.outcome.name.lower(),
        "why": found.why,
        "iterations": int(found.iterations),
        "error": found.error[0],
        "distance": None if goal.position is None else float(found.distance[0]),
        "angle": (np.degrees(angle).item() if degrees else angle) if turned else None,
        "angles": "deg" if degrees else "rad",
        "q": _cli_source.shown_values(found.linkage, found.q, degrees),
        "names": found.linkage.names,
    }
