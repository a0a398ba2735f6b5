"""The command `supple retarget`: a clip of one figure becomes a motion of another figure or of a robot."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from supple.animate import Retarget, load_clip, load_maps, save_maps
from supple.animate.body_map import found_parts, save_incomplete_maps
from supple.animate.body_names import NEEDED
from supple.cli import completion, inputs, motion_output, output
from supple.cli.options import Json, Search, check_folder, epilog, errors_to_stderr
from supple.errors import BadInput
from supple.linkage import Linkage
from supple.motion import Motion

EPILOG = epilog(
    "supple retarget walk.bvh --to g1                    the robot walks: walk-g1.npz",
    "supple retarget walk.bvh --to human --out walk.glb  a person of other proportions, for any viewer",
    "supple retarget dance.glb --to robot.urdf           a robot from a file",
    "supple retarget walk.bvh --to g1 --write-map m.json which link is which part of the body: edit it ...",
    "supple retarget walk.bvh --to g1 --map m.json       ... and use it",
    "supple retarget cmu.bvh --to g1 --unit 0.056444     a clip whose unit is not found by itself",
)
_ODD = 4.0  # a scale that is more than this, or less than its inverse, is noted
_CLIPS = (".bvh", ".gltf", ".glb")


def retarget(
    clip: Annotated[
        Path, typer.Argument(metavar="CLIP", help="A clip with its figure: .bvh, .gltf or .glb.", show_default=False)
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FILE|NAME",
            help="The figure or robot that should move: a file or a bundled model, such as g1 or human.",
            autocompletion=completion.models_and_files,
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="What is written: .npz or .csv (joint values), .bvh, .gltf, .glb, a picture; else CLIP-NAME.npz.",
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit",
            metavar="U",
            help="Unit of the clip: m, cm, in ... or a number of metres; by default found from the legs.",
        ),
    ] = None,
    up: Annotated[
        str | None,
        typer.Option(
            "--up", metavar="AXIS", help="The clip's axis that points up: x, y or z; by default found from the legs."
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", metavar="HZ", help="Frames per second; by default those of the clip.")
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option("--scale", metavar="X", help="Factor on steps and heights; by default the ratio of the legs."),
    ] = None,
    smooth: Annotated[
        float, typer.Option("--smooth", metavar="S", help="Width of the filter in time, in seconds; 0 for none.")
    ] = 0.02,
    maps: Annotated[
        Path | None,
        typer.Option(
            "--map", metavar="JSON", help="Which links are which parts of the bodies; by default found from names."
        ),
    ] = None,
    write_map: Annotated[
        Path | None,
        typer.Option("--write-map", metavar="JSON", help="Write the map that was found, to be edited, and stop."),
    ] = None,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Make a figure or a robot move as the figure of a clip does.

    Parts of the bodies correspond by the names of their links; --write-map shows how, --map changes it. The target
    keeps the directions of the clip's limbs, with its own lengths. Its feet stand where those of the clip stand and do
    not slide; joint limits and speed limits are kept. A robot without a floating joint gets one: the first six values
    of each pose are where its root is.
    """
    with errors_to_stderr():
        target = inputs.find(to, search or [])
        path = out if out is not None else Path(f"{clip.stem}-{target.name}.npz")
        if path.suffix.lower() not in motion_output.ENDINGS:
            raise BadInput(f"--out must end in {', '.join(motion_output.ENDINGS)}; got {path}")
        check_folder(path, "--out")
        if clip.suffix.lower() not in _CLIPS:
            raise BadInput(f"CLIP must be a file with a figure and its motion, {', '.join(_CLIPS)}; got {clip}")
        source = load_clip(clip, up=up, unit=_length(unit))
        if rate is not None:
            source = _resampled(source, rate)
        if write_map is not None and maps is None and _wrote_incomplete(write_map, source, target):
            output.print_text(f"then: supple retarget {clip} --to {to} --map {write_map}")
            return
        pair = (None, None) if maps is None else load_maps(maps, source.linkage, target)
        made = Retarget(source.linkage, target, source_map=pair[0], target_map=pair[1], scale=scale, smooth=smooth)
        if write_map is not None:
            save_maps(write_map, made.source_map, made.target_map)
            output.print_text(f"{write_map}: edit it, then: supple retarget {clip} --to {to} --map {write_map}")
            return
        begin = time.perf_counter()
        if unit is not None and scale is None and not 1 / _ODD < made.scale < _ODD:
            typer.echo(f"supple: a scale of {made.scale:.3g} is odd; check --unit, or leave it out", err=True)
        motion = made.motion(source)
        seconds = time.perf_counter() - begin
        motion_output.save(motion, path)
    _report(clip, path, made, motion, seconds, as_json)


def _wrote_incomplete(path: Path, clip: Motion, target: Linkage) -> bool:
    """Writes a map that is to be filled in, if a body has parts that are not found by their names; whether it did."""
    bodies = {"source": clip.linkage, "target": target}
    if all(set(NEEDED) <= set(found_parts(linkage)) for linkage in bodies.values()):
        return False
    missing = save_incomplete_maps(path, clip.linkage, target)
    for key, parts in missing.items():
        if parts:
            links = ", ".join(link.name for link in bodies[key].links)
            output.print_text(f"{path}: fill in {', '.join(parts)} of the {key}; its links are {links}")
    return True


def _resampled(clip: Motion, rate: float) -> Motion:
    """The clip with so many frames per second, from its start as far as they go."""
    if not 0 < rate < 1e6:
        raise BadInput(f"--rate must be a positive number of frames per second, got {rate}")
    times = clip.start + np.arange(int(clip.duration * rate + 1e-9) + 1) / rate
    return Motion(clip.linkage, times, clip.at(times))


def _length(unit: str | None) -> float | str | None:
    try:
        return None if unit is None else float(unit)
    except ValueError:
        return unit


def _report(clip: Path, path: Path, made: Retarget, motion: Motion, seconds: float, as_json: bool) -> None:
    rate = len(motion) / max(seconds, 1e-9)
    if as_json:
        output.print_json(
            {
                "from": str(clip),
                "to": str(path),
                "target": made.target.name,
                "frames": len(motion),
                "scale": made.scale,
                "frames_per_second": rate,
                "within_limits": bool(motion.linkage.inside(motion.q).all()),
                "within_speeds": motion.within_speeds(1e-6),
            }
        )
        return
    output.print_text(
        f"{clip} -> {path}: {len(motion):,} frames of {made.target.name}, scale {made.scale:.3g}, "
        f"{rate:,.0f} frames per second"
    )
