"""The `supple` command: inspect, solve, show, drive and test linkages from a shell."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from supple import __version__
from supple.cli import (
    animate,
    calibrate,
    convert,
    figures,
    gauntlet,
    linkages,
    path,
    replay,
    retarget,
    solve,
    table,
    teleop,
)

app = typer.Typer(
    name="supple",
    help="Forward and inverse kinematics of linkages: robots and animated figures.\n\n"
    "FILE|NAME is a file (.urdf, .xacro, MJCF as .xml or .mjcf, .bvh, .gltf, .glb) or the name of a bundled model "
    "(`supple models`). "
    "`supple COMMAND --help` shows options and examples.",
    epilog="""\b
Examples:
  supple models                            the bundled models
  supple show panda                        links, joints, limits
  supple fk panda                          poses of the tips at rest
  supple solve planar3 --position -20 5 0  joint values that reach a position
  supple path weld.csv --robot puma560     joint values along a path of poses
  supple view panda                        the linkage in the browser
  supple teleop                            drive an arm in the browser
  supple convert walk.bvh walk.glb         a motion in another file format
  supple retarget walk.bvh --to g1         a robot moves as a person does
  supple --install-completion              complete commands, models and links

\b
Exit codes:
  0    success; solve: every goal was reached; replay: identical joint values
  1    a file, a linkage or a name in it is bad, or an extra is not installed;
       solve, path: a goal was not reached; replay: joint values differ
  2    wrong usage: unknown command or option, invalid value, no such file
  130  interrupted by Ctrl-C
  129, 143  teleop: ended by SIGHUP or SIGTERM, after the recording was finished""",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain text: it reads the same on every console and in every log
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"supple {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


app.command(epilog=linkages.MODELS_EPILOG, short_help="List the bundled models.")(linkages.models)
app.command(epilog=linkages.SHOW_EPILOG, short_help="Print a linkage as a tree of links and joints.")(linkages.show)
app.command(epilog=linkages.FK_EPILOG, short_help="Forward kinematics: poses of links.")(linkages.fk)
app.command(epilog=solve.EPILOG, short_help="Inverse kinematics: joint values for a goal.")(solve.solve)
app.command(epilog=table.EPILOG, short_help="Kinematics over tables of any size.")(table.table)
app.command(epilog=path.EPILOG, short_help="Joint values along a whole path of poses.")(path.path)
app.command(epilog=linkages.VIEW_EPILOG, short_help="Show a linkage in the browser.")(linkages.view)
app.command(epilog=teleop.EPILOG, short_help="Drive an arm in the browser.")(teleop.teleop)
app.command(epilog=convert.EPILOG, short_help="Convert a motion to another file format.")(convert.convert)
app.command(epilog=calibrate.EPILOG, short_help="Calibrate the servo motors of an arm.")(calibrate.calibrate)
app.command(epilog=replay.EPILOG, short_help="Replay a recording and print the differences.")(replay.replay)
app.command(epilog=gauntlet.EPILOG, short_help="Test the tracker with difficult commands.")(gauntlet.gauntlet)
app.command(epilog=retarget.EPILOG, short_help="Make a figure or a robot move as a clip does.")(retarget.retarget)
app.command(epilog=animate.EPILOG, short_help="Make a motion from key poses and key goals.")(animate.animate)
app.command(epilog=figures.EPILOG, short_help="Draw the figures of the textbook chapter.")(figures.figures)


def main() -> None:
    """Run the command with the arguments of the process."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a character that the console lacks must not end the command
    app(prog_name="supple")
