"""The `supple` command: look at linkages, move them forward and backward, show them and drive them in a browser."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from supple import __version__
from supple.cli import figures, gauntlet, inputs, output, replay, solve, teleop
from supple.cli.options import Json, Search, Source, complaints

app = typer.Typer(
    name="supple",
    help="Kinematic linkages: robots and animated figures. FILE|NAME is a file (URDF, xacro, MJCF) or a stock name.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain text: it reads the same on every console and in every log
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"supple {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command()
def show(source: Source, search: Search = None, as_json: Json = False) -> None:
    """Print a linkage as a tree: links, joints, kinds, axes, limits.

    \b
    Examples:
      supple show panda
      supple show robot.urdf --search ~/ros/src
      supple show panda --json
    """
    with complaints():
        linkage = inputs.find(source, search or ())
    if as_json:
        output.say_json(output.linkage_data(linkage))
    else:
        output.say(str(linkage))


@app.command()
def fk(
    source: Source,
    link: Annotated[
        list[str] | None,
        typer.Option("--link", metavar="LINK", help="Link to ask for; may be repeated. All tips if not given."),
    ] = None,
    q: Annotated[
        str | None,
        typer.Option("--q", metavar="V1,V2,...", help="All joint values, in the order `show --json` lists as q."),
    ] = None,
    joint: Annotated[
        list[str] | None,
        typer.Option(
            "--joint", metavar="NAME=VALUE", help="Value of one joint; may be repeated. The others are at rest."
        ),
    ] = None,
    degrees: Annotated[
        bool, typer.Option("--degrees", help="Angles are given and printed in degrees, not radians.")
    ] = False,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Forward kinematics: where links are in the world, for joint values or at rest.

    Prints position (metres), quaternion (w first) and roll, pitch, yaw (radians); JSON has the 4x4 matrix too.

    \b
    Examples:
      supple fk panda
      supple fk planar3 --q 0.1,0.2,0.3
      supple fk ur5 --link tool0 --joint elbow_joint=90 --degrees
      supple fk panda --link panda_hand --json
    """
    with complaints():
        linkage = inputs.find(source, search or ())
        values = inputs.joint_values(linkage, q, joint or (), degrees)
        frames = {name: linkage.frame(values, linkage.link(name).name) for name in link or linkage.tips}
    if as_json:
        shown = inputs.shown_values(linkage, values, degrees)
        data = {name: output.frame_data(frame, degrees) for name, frame in frames.items()}
        output.say_json(
            {
                "name": linkage.name,
                "angles": "deg" if degrees else "rad",
                "q": shown,
                "names": linkage.names,
                "frames": data,
            }
        )
    else:
        for name, frame in frames.items():
            output.say(output.frame_text(name, frame, degrees))


@app.command()
def view(
    source: Source,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to serve on, or the next free one; 0 for any.")
    ] = 8080,
    host: Annotated[str, typer.Option(help="Address to serve on; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
    frames: Annotated[bool, typer.Option("--frames/--no-frames", help="Draw the axes of every link.")] = False,
    search: Search = None,
) -> None:
    """Show a linkage in the browser, with a slider for each joint, until Ctrl-C.

    \b
    Examples:
      supple view panda
      supple view robot.urdf --frames
      supple view g1 --port 9000 --no-open
    """
    with complaints():
        linkage = inputs.find(source, search or ())
        from supple.view import serve  # here: no other command waits for the browser's libraries

        viewer = serve(linkage, host=host, port=port, frames=frames, open_browser=open_browser)
    if port not in (0, viewer.port):
        output.say(f"port {port} is taken; using {viewer.port}")
    output.say(f"{linkage.name}: {viewer.url} (Ctrl-C ends)")
    viewer.wait()


@app.command()
def models(as_json: Json = False) -> None:
    """List the linkages in the box, with their degrees of freedom, sources and licences.

    \b
    Examples:
      supple models
      supple models --json
    """
    from supple import models as box

    with complaints():
        rows = [{"name": name, "dof": box.get(name).dof, "about": box.about(name)} for name in box.names()]
    if as_json:
        output.say_json(rows)
    else:
        width = max(len(str(row["name"])) for row in rows)
        output.say("\n".join(f"{row['name']:<{width}}  {row['dof']:>2}  {row['about']}" for row in rows))


app.command()(solve.solve)
app.command()(figures.figures)
app.command()(gauntlet.gauntlet)
app.command()(teleop.teleop)
app.command()(replay.replay)


def main() -> None:
    """Run the command with the arguments of the process."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console that lacks a sign prints another, and goes on
    app(prog_name="supple")
