"""The command `supple animate`: key poses and key goals in a file become a motion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from supple.animate import plant_feet
from supple.animate.timeline_file import EXAMPLE, read
from supple.cli import inputs, output
from supple.cli.options import Json, Search, check_folder, epilog, errors_to_stderr
from supple.errors import BadInput

EPILOG = epilog(
    "supple animate --example > wave.json          a file to begin with",
    "supple animate wave.json                      wave.glb, which opens in any viewer",
    "supple animate wave.json --out wave.bvh --rate 30",
    "supple animate walk.json --plant              feet do not slide",
)
_ENDINGS = (".npz", ".csv", ".bvh", ".gltf", ".glb")


def animate(
    keys: Annotated[
        Path | None,
        typer.Argument(metavar="KEYS", help="A .json file with key poses and key goals.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="What is written: .glb (default), .gltf, .bvh, .npz or .csv."),
    ] = None,
    rate: Annotated[float, typer.Option("--rate", metavar="HZ", help="Frames a second.")] = 60.0,
    plant: Annotated[bool, typer.Option("--plant", help="Feet that touch the ground do not slide.")] = False,
    example: Annotated[bool, typer.Option("--example", help="Print a file of keys, and stop.")] = False,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Make a motion from key poses and key goals.

    KEYS has a "figure", which is a file or a bundled model, and lists of "poses" and "goals", each with its "time" in
    seconds. Poses give joint values by name, in degrees; goals say where a link shall be: "position", "rpy", "look_at"
    or "pole". Between key poses joints ease in and out. Between key goals of a link its limb, which begins at "base",
    follows a path. `supple animate --example` prints a file to begin with.
    """
    if example:
        typer.echo(EXAMPLE, nl=False)
        return
    with errors_to_stderr():
        if keys is None:
            raise BadInput("give a file of keys, or --example for one to begin with")
        path = out if out is not None else keys.with_suffix(".glb")
        if path.suffix.lower() not in _ENDINGS:
            raise BadInput(f"--out must end in {', '.join(_ENDINGS)}; got {path}")
        check_folder(path, "--out")
        motion = read(keys, lambda name: inputs.find(name, search or [])).motion(rate)
        if plant:
            motion = plant_feet(motion)
        if path.suffix.lower() in (".npz", ".csv"):
            motion.save(path)
        else:
            motion.save(path, up="y")
    if as_json:
        summary = {"from": str(keys), "to": str(path), "frames": len(motion), "seconds": motion.duration}
        output.print_json({**summary, "within_limits": bool(motion.linkage.inside(motion.q).all())})
    else:
        output.print_text(f"{keys} -> {path}: {len(motion):,} frames, {motion}")
