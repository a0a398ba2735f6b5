"""The command `supple animate`: key poses and key goals become a motion, from a file or on a page."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from supple.animate import plant_feet
from supple.animate.timeline import Timeline
from supple.animate.timeline_file import EXAMPLE, figure_name, read
from supple.cli import completion, inputs, motion_output, output
from supple.cli.linkages import print_address
from supple.cli.options import Json, Port, Search, check_folder, epilog, errors_to_stderr
from supple.errors import BadInput

EPILOG = epilog(
    "supple animate human                          pose a figure in the browser, set key poses, play, export",
    "supple animate --example > wave.json          a file to begin with",
    "supple animate wave.json                      wave.glb, which opens in any viewer",
    "supple animate wave.json --out wave.bvh --rate 30",
    "supple animate wave.json --out wave.gif       an animated picture",
    "supple animate walk.json --plant              feet do not slide",
    "supple animate wave.json --page               go on with its keys in the browser",
)


def animate(
    keys: Annotated[
        Path | None,
        typer.Argument(
            metavar="KEYS|FIGURE",
            help="A .json file with key poses and key goals; or a figure, a file or a bundled model, for the page.",
            autocompletion=completion.models_and_files,
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="What is written: .glb, .gltf, .bvh, .npz, .csv or a picture; by default KEYS with .glb.",
        ),
    ] = None,
    rate: Annotated[float, typer.Option("--rate", metavar="HZ", help="Frames per second.")] = 60.0,
    plant: Annotated[bool, typer.Option("--plant", help="Feet that touch the ground do not slide.")] = False,
    page: Annotated[bool, typer.Option("--page", help="Open the keys on a page; write nothing.")] = False,
    port: Port = 8080,
    host: Annotated[str, typer.Option(help="Address of the page; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
    example: Annotated[bool, typer.Option("--example", help="Print a file of keys, and stop.")] = False,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Make a motion from key poses and key goals, in a file or in the browser.

    With a figure, or with --page, a page is served until Ctrl-C: drag hands, feet, gaze, elbows and knees, set key
    poses, play them and download the motion. It needs the extra "view".

    KEYS has a "figure", which is a file or a bundled model, and lists of "poses" and "goals", each with its "time" in
    seconds. Poses give joint values by name, in degrees; goals say where a link should be: "position", "rpy", "look_at"
    or "pole". Between key poses joints start and end slowly. Between key goals of a link its limb, which begins at
    "base", follows a path. `supple animate --example` prints a file to begin with.
    """
    if example:
        typer.echo(EXAMPLE, nl=False)
        return
    with errors_to_stderr():
        if keys is None:
            raise BadInput("give a figure, such as human, or a file of keys; --example prints one to begin with")
        if page or keys.suffix.lower() != ".json":
            _serve(str(keys), search or [], host, port, open_browser)
            return
        path = out if out is not None else keys.with_suffix(".glb")
        if path.suffix.lower() not in motion_output.ENDINGS:
            raise BadInput(f"--out must end in {', '.join(motion_output.ENDINGS)}; got {path}")
        check_folder(path, "--out")
        line = read(keys, lambda name: inputs.find(name, search or []))
        if not line.poses and not line.tracks:
            raise BadInput(f'{keys}: there are no keys in it: "poses" and "goals" are empty')
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is missed is said below, when the feet are planted
            motion = line.motion(rate)
        if plant:
            motion = plant_feet(motion)
        motion_output.save(motion, path)
    for missed in line.missed(motion):
        typer.echo(f"supple: {output.without_controls(str(missed))}", err=True)
    if as_json:
        summary = {"from": str(keys), "to": str(path), "frames": len(motion), "seconds": motion.duration}
        output.print_json({**summary, "within_limits": bool(motion.linkage.inside(motion.q).all())})
    else:
        output.print_text(f"{keys} -> {path}: {len(motion):,} frames, {motion}")


def _serve(source: str, search: list[Path], host: str, port: int, open_browser: bool) -> None:
    """Serve the page for a figure or a file of keys until Ctrl-C."""
    from supple.view.animator import serve  # slow to import

    name = source
    if source.lower().endswith(".json"):
        line, name = read(source, lambda figure: inputs.find(figure, search)), figure_name(source)
    else:
        line = Timeline(inputs.find(source, search))
    served = serve(line, host=host, port=port, open_browser=open_browser, name=name)
    try:
        print_address(line.linkage.name, served.url, port, served.port)
        served.wait()
    except KeyboardInterrupt:  # before the wait began
        served.close()
