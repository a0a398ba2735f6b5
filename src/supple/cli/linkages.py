"""The commands `supple show`, `supple fk`, `supple models` and `supple view`."""

from __future__ import annotations

from typing import Annotated

import typer

from supple._table import text_table
from supple.cli import completion, inputs, output
from supple.cli.options import Degrees, Json, Port, Search, Source, epilog, errors_to_stderr

SHOW_EPILOG = epilog(
    "supple show panda",
    "supple show robot.urdf --search ~/ros/src",
    "supple show panda --json",
)
FK_EPILOG = epilog(
    "supple fk panda",
    "supple fk planar3 --q 0.1,0.2,0.3",
    "supple fk ur5 --link tool0 --joint elbow_joint=90 --degrees",
    "supple fk panda --link panda_hand --json",
)
VIEW_EPILOG = epilog(
    "supple view panda",
    "supple view robot.urdf --frames",
    "supple view walk.bvh                          a clip plays",
    "supple view g1 --port 9000 --no-open",
)
MODELS_EPILOG = epilog("supple models", "supple models --json")


def show(source: Source, search: Search = None, as_json: Json = False) -> None:
    """Print a linkage as a tree of links and joints, with axes, limits and speeds.

    With --json, the key "linkage" holds all of it; in Python, Linkage.from_dict reads it. Lengths are in metres, angles
    in radians; null is a missing limit.
    """
    with errors_to_stderr():
        linkage = inputs.find(source, search or ())
    if not as_json:
        output.print_text(str(linkage))
        return
    summary = {"name": linkage.name, "dof": linkage.dof, "names": linkage.names, "units": linkage.units}
    output.print_json({**summary, "root": linkage.root, "tips": linkage.tips, "linkage": linkage.to_dict()})


def fk(
    source: Source,
    link: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="LINK",
            help="A link. May be repeated. By default all tips.",
            autocompletion=completion.links,
        ),
    ] = None,
    q: Annotated[
        str | None,
        typer.Option(
            "--q",
            metavar="V1,V2,...",
            help="All joint values, in radians or metres, in the order of `names` in --json; at rest by default.",
        ),
    ] = None,
    joint: Annotated[
        list[str] | None,
        typer.Option(
            "--joint",
            metavar="NAME=VALUE",
            help="The value of one joint, in radians or metres. May be repeated. The other joints are at rest.",
            autocompletion=completion.joints,
        ),
    ] = None,
    degrees: Degrees = False,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Forward kinematics: the poses of links for given joint values, or at rest.

    Prints position (metres), quaternion (wxyz) and roll, pitch, yaw (radians). JSON has the 4x4 matrix too.
    """
    with errors_to_stderr():
        linkage = inputs.find(source, search or ())
        values = inputs.joint_values(linkage, q, joint or (), degrees)
        frames = {name: linkage.frame(values, linkage.link(name).name) for name in link or linkage.tips}
    if not as_json:
        output.print_text("\n".join(output.frame_text(name, frame, degrees) for name, frame in frames.items()))
        return
    output.print_json(
        {
            "name": linkage.name,
            "angles": "deg" if degrees else "rad",
            "q": inputs.in_shown_units(linkage, values, degrees),
            "names": linkage.names,
            "frames": {name: output.frame_data(frame, degrees) for name, frame in frames.items()},
        }
    )


def models(as_json: Json = False) -> None:
    """List the bundled models: name, degrees of freedom, end effectors, source and licence."""
    from supple import models as bundled

    with errors_to_stderr():
        rows = [{"name": name, "dof": bundled.dof_of(name), "about": bundled.about(name)} for name in bundled.names()]
    if as_json:
        output.print_json(rows)
    else:
        cells = [[str(value) for value in row.values()] for row in rows]
        output.print_text("\n".join(text_table(cells, "<><")))


def view(
    source: Source,
    port: Port = 8080,
    host: Annotated[str, typer.Option(help="Address of the page; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
    frames: Annotated[bool, typer.Option("--frames/--no-frames", help="Draw the axes of every link.")] = False,
    search: Search = None,
) -> None:
    """Show a linkage in the browser, with a slider for each joint, until Ctrl-C.

    The motion of an animation file (.bvh, .gltf, .glb) plays; its unit and up axis are found as by `supple retarget`.
    To pose a figure, see `supple animate`. Needs the extra "view": pip install 'supple[view]'.
    """
    with errors_to_stderr():
        motion = inputs.motion_of(source)
        linkage = inputs.find(source, search or ()) if motion is None else motion.linkage
        from supple.view import serve  # slow to import

        if motion is None:
            viewer = serve(linkage, host=host, port=port, frames=frames, open_browser=open_browser)
        else:
            from supple.view.player import play

            viewer = play(motion, host=host, port=port, frames=frames, open_browser=open_browser).viewer
    try:
        print_address(linkage.name, viewer.url, port, viewer.port)
        viewer.wait()
    except KeyboardInterrupt:  # before the wait began
        viewer.close()


def print_address(name: str, url: str, requested_port: int, port: int) -> None:
    """Print where a page is served, and whether the requested port was taken."""
    if requested_port not in (0, port):
        output.print_text(f"port {requested_port} is taken; using {port}")
    output.print_text(f"{name}: {url} (Ctrl-C ends)")
