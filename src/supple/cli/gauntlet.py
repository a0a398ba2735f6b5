"""The command `supple gauntlet`: supple's tracker through the hazards of one's own robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from supple.cli import inputs, output
from supple.cli.options import Json, Search, Source, complaints, drawable
from supple.errors import BadInput

if TYPE_CHECKING:
    from supple.gauntlet import Arm, Hazard, Run

WALLS = ("s4_reach", "s5_limit", "s8_orient")  # what --plot shows


def gauntlet(
    source: Source,
    link: Annotated[
        str | None, typer.Option("--link", metavar="LINK", help="The end effector; the tip, if there is only one.")
    ] = None,
    rate: Annotated[float, typer.Option("--rate", metavar="HZ", help="Ticks a second.")] = 300.0,
    acceleration: Annotated[
        float, typer.Option("--acceleration", metavar="A", help="Most for each joint, in rad/s2 (m/s2 for slides).")
    ] = 15.0,
    only: Annotated[
        str, typer.Option("--only", metavar="S4,S5", help="Hazards to run, by how they begin; all if not given.")
    ] = "",
    picture: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Also draw what happens at the wall: a .png, .svg or .pdf."),
    ] = None,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Run the tracker through hazards made for a robot: out of reach, into limits, through singularities.

    The hazards are found from the linkage alone. Prints a line for each: how closely the command was followed, how near
    the best that can be done it stood while held out of reach, and how soon it was back.

    \b
    Examples:
      supple gauntlet ur5
      supple gauntlet robot.urdf --link tool0 --rate 1000
      supple gauntlet so101 --plot wall.png
      supple gauntlet panda --only s4,s5 --json
    """
    with complaints():
        if not (np.isfinite(rate) and 10 <= rate <= 1e5):
            raise BadInput(f"--rate must be between 10 and 100000 ticks a second, got {rate!r}")
        if not (np.isfinite(acceleration) and acceleration > 0):
            raise BadInput(f"--acceleration must be positive, got {acceleration!r}")
        drawable(picture, "--plot")
        arm = _arm(source, link, search or [])
        hazards = _hazards(arm, only)
        runs, rows = _run(hazards, rate, acceleration)
        if picture is not None:
            _draw(runs, picture, acceleration)
    if as_json:
        output.say_json({"name": arm.name, "link": arm.link, "rate": rate, "hazards": rows})
    else:
        output.say(_text(arm, hazards, rows, acceleration))


def _arm(source: str, link: str | None, search: list[Path]) -> Arm:
    """The arm of a known name if no link is chosen, whose hazards are kept ready; else one made from the linkage."""
    from supple.gauntlet import arm_from_linkage, known_arm, names

    if source in names() and link is None and not Path(source).is_file():
        return known_arm(source)
    try:
        return arm_from_linkage(inputs.find(source, search), link)
    except BadInput as error:
        raise BadInput(str(error).replace("choose a link:", "choose one with --link:")) from None


def _hazards(arm: Arm, only: str) -> list[Hazard]:
    from supple.gauntlet import hazards

    return hazards(arm, [part.strip().lower() for part in only.split(",") if part.strip()])


def _run(hazards: list[Hazard], rate: float, acceleration: float) -> tuple[dict[str, Run], list[dict[str, Any]]]:
    from supple._progress import Progress
    from supple.gauntlet import measure, run, tracked
    from supple.gauntlet.rows import make_row

    runs, rows = {}, []
    with Progress("gauntlet", len(hazards)) as progress:
        for hazard in hazards:
            runs[hazard.key] = made = run(hazard, tracked(acceleration=acceleration), rate)
            rows.append(make_row(made, "supple", measure(made)))
            progress.step()
    return runs, rows


def _draw(runs: dict[str, Run], picture: Path, acceleration: float) -> None:
    from supple.view import gauntlet as wall
    from supple.view import image

    shown = {key: run for key, run in runs.items() if key in WALLS} or runs
    image.write(wall.draw(shown, acceleration), picture)


def _text(arm: Arm, hazards: list[Hazard], rows: list[dict[str, Any]], acceleration: float) -> str:
    from supple.gauntlet.describe import describe, short_number
    from supple.gauntlet.rows import worst

    wide = max(len(hazard.title) for hazard in hazards)
    lines = [f"{arm.name}, {arm.link}: {arm.dof} joints, reach {arm.reach:.3g} m"]
    lines += [f"{h.key[:2]}  {h.title:<{wide}}  {describe(row)}" for h, row in zip(hazards, rows, strict=True)]
    lines.append(
        f"{_speeds(arm, rows)} {short_number(worst(rows, 'acc_max'))} of {short_number(acceleration)} rad/s2; "
        f"limits broken by {short_number(worst(rows, 'limit_viol_worst_rad'))}; "
        f"chatter in {short_number(100 * worst(rows, 'chatter_frac'))} % of ticks at worst"
    )
    return "\n".join(lines)


def _speeds(arm: Arm, rows: list[dict[str, Any]]) -> str:
    from supple.gauntlet.rows import worst

    if not np.isfinite(arm.speed).any():
        return "no speed limits are known; at most"
    return f"at most {100 * worst(rows, 'raw_ratio_max'):.3g} % of any speed limit and"
