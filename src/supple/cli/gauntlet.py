"""The command `supple gauntlet`: tests supple's tracker with difficult commands on any arm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from supple import _check
from supple._table import text_table
from supple.cli import inputs, output
from supple.cli.options import Json, Link, Search, Source, check_picture, epilog, errors_to_stderr
from supple.errors import BadInput

if TYPE_CHECKING:
    from supple.gauntlet import Arm, Hazard, Run

BOUNDARY = ("s4_reach", "s5_limit", "s8_orient")  # the hazards in the picture of --plot
EPILOG = epilog(
    "supple gauntlet ur5",
    "supple gauntlet robot.urdf --link tool0 --rate 1000",
    "supple gauntlet so101 --plot boundary.png",
    "supple gauntlet panda --only s4,s5 --json",
)


def gauntlet(
    source: Source,
    link: Link = None,
    rate: Annotated[float, typer.Option("--rate", metavar="HZ", help="Ticks per second.")] = 300.0,
    acceleration: Annotated[
        float,
        typer.Option("--acceleration", metavar="A", help="Limit of each joint, in rad/s2 (m/s2 for prismatic joints)."),
    ] = 15.0,
    only: Annotated[
        str,
        typer.Option("--only", metavar="S4,S5", help="Only hazards whose keys begin so, with commas; all by default."),
    ] = "",
    picture: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Also draw speeds, accelerations and errors out of reach: .png, .svg, .pdf."
        ),
    ] = None,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Test the tracker with difficult commands: out of reach, past limits, through singularities, with jumps.

    The commands (hazards) are computed from the linkage; those of panda, ur5, puma560, so101, iiwa14 and kraft are
    stored. Prints a line for each: how closely the command was followed, how near the error came to the smallest
    possible one while the command was out of reach, and how soon the arm recovered.
    """
    with errors_to_stderr():
        if not (np.isfinite(rate) and 10 <= rate <= 1e5):
            raise BadInput(f"--rate must be between 10 and 100000 ticks per second, got {rate!r}")
        _check.positive(acceleration, "--acceleration", "rad/s2")
        check_picture(picture, "--plot")
        arm = _arm(source, link, search or [])
        hazards = _hazards(arm, only)
        runs, rows = _run(hazards, rate, acceleration)
        if picture is not None:
            _draw(runs, picture, acceleration)
    if as_json:
        output.print_json({"name": arm.name, "link": arm.link, "rate": rate, "hazards": rows})
    else:
        output.print_text(_text(arm, hazards, rows, acceleration))


def _arm(source: str, link: str | None, search: list[Path]) -> Arm:
    """The arm with stored hazards if a name is given without a link, else the arm of a linkage."""
    from supple.gauntlet import arm_from_linkage, known_arm, names

    if source in names() and link is None and not Path(source).is_file():
        return known_arm(source)
    linkage = inputs.find(source, search)
    return arm_from_linkage(linkage, inputs.end_effector(linkage, link))


def _hazards(arm: Arm, only: str) -> list[Hazard]:
    from supple.gauntlet import hazards

    return hazards(arm, [part.strip().lower() for part in only.split(",") if part.strip()])


def _run(hazards: list[Hazard], rate: float, acceleration: float) -> tuple[dict[str, Run], list[dict[str, Any]]]:
    from supple._progress import Progress
    from supple.gauntlet import make_row, measure, run, tracked

    runs, rows = {}, []
    with Progress("gauntlet", len(hazards)) as progress:
        for hazard in hazards:
            runs[hazard.key] = result = run(hazard, tracked(acceleration=acceleration), rate)
            rows.append(make_row(result, "supple", measure(result)))
            progress.step()
    return runs, rows


def _draw(runs: dict[str, Run], picture: Path, acceleration: float) -> None:
    from supple.view import gauntlet as drawing
    from supple.view import image

    shown = {key: run for key, run in runs.items() if key in BOUNDARY} or runs
    image.write(drawing.draw(shown, acceleration), picture)


def _text(arm: Arm, hazards: list[Hazard], rows: list[dict[str, Any]], acceleration: float) -> str:
    """A line for each hazard, and a line on all of them."""
    from supple.gauntlet.describe import describe, short_number
    from supple.gauntlet.rows import worst

    cells = [[hazard.key[:2], hazard.title, describe(row)] for hazard, row in zip(hazards, rows, strict=True)]
    last = (
        f"{_speeds(arm, rows)} acceleration up to {short_number(worst(rows, 'acc_max'))} of "
        f"{short_number(acceleration)} rad/s2; joint limits exceeded by "
        f"{short_number(worst(rows, 'limit_viol_worst_rad'))}; "
        f"chatter in at most {short_number(100 * worst(rows, 'chatter_frac'))} % of ticks; "
        f"joints at most {short_number(worst(rows, 'rest_joint_speed_max'))} rad/s while the command rests"
    )
    return "\n".join([f"{arm.name}, {arm.link}: {arm.dof} joints, reach {arm.reach:.3g} m", *text_table(cells), last])


def _speeds(arm: Arm, rows: list[dict[str, Any]]) -> str:
    from supple.gauntlet.rows import worst

    if not np.isfinite(arm.speed).any():
        return "no speed limits;"
    return f"speed up to {100 * worst(rows, 'raw_ratio_max'):.3g} % of its limit;"
