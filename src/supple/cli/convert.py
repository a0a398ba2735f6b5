"""The command `supple convert`: a motion or a linkage in one file becomes another file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from supple.animate.clip import up_axis
from supple.animate.limbs import floating
from supple.cli import completion, inputs, motion_output, output
from supple.cli.options import Json, Search, check_folder, epilog, errors_to_stderr
from supple.errors import BadInput
from supple.linkage import Linkage
from supple.motion import Motion
from supple.read import motion_file as reader

EPILOG = epilog(
    "supple convert walk.bvh walk.glb --unit cm          a clip in centimetres, for any viewer",
    "supple convert walk.bvh slow.bvh --rate 30          the same clip with 30 frames per second",
    "supple convert walk.glb walk.csv                    joint values in a table",
    "supple convert wave.npz wave.glb --linkage panda    a motion of a bundled arm",
    "supple convert robot.urdf robot.glb                 a robot at rest",
    "supple convert walk.bvh part.bvh --start 2 --end 5  from 2 s to 5 s",
    "supple convert walk.bvh walk.gif --unit cm          an animated picture",
    "supple convert walk.bvh walk.png --unit cm          eight poses side by side",
)
_SMALL, _TALL = 0.1, 6.0  # m: figures beyond are noted
_UP = dict.fromkeys(motion_output.FIGURES, "y")


def convert(
    source: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="What is read: .bvh, .gltf, .glb, .npz, .csv, a robot description, or the name of a bundled model.",
            autocompletion=completion.models_and_files,
            show_default=False,
        ),
    ],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="B", help="What is written: .bvh, .gltf, .glb, .npz, .csv or a picture.", show_default=False
        ),
    ],
    linkage: Annotated[
        str | None,
        typer.Option(
            "--linkage",
            metavar="FILE|NAME",
            help="The linkage that moves, if A is .npz or .csv: these hold joint values only.",
            autocompletion=completion.models_and_files,
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit",
            metavar="U",
            help="Unit of lengths in A: m, cm, mm, in, ft, or a number of metres; metres by default.",
        ),
    ] = None,
    up: Annotated[
        str | None,
        typer.Option("--up", metavar="AXIS", help="The axis of A that points up: x, y or z; found from legs, else y."),
    ] = None,
    to_unit: Annotated[
        str | None, typer.Option("--to-unit", metavar="U", help="Unit of lengths in B; metres by default.")
    ] = None,
    to_up: Annotated[
        str | None, typer.Option("--to-up", metavar="AXIS", help="The axis of B that points up: x, y (default) or z.")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate", metavar="HZ", help="Poses per second to write; by default the keys of A (pictures: 25)."
        ),
    ] = None,
    start: Annotated[
        float | None,
        typer.Option(
            "--start",
            metavar="S",
            help="Begin at the key of A nearest to this time, in seconds; by default at the first.",
        ),
    ] = None,
    end: Annotated[
        float | None,
        typer.Option(
            "--end", metavar="S", help="End at the key of A nearest to this time, in seconds; by default at the last."
        ),
    ] = None,
    animation: Annotated[
        str, typer.Option("--animation", metavar="N|NAME", help="Which animation of a .gltf or .glb with several.")
    ] = "0",
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Convert a motion, with the figure that moves, from one file format to another.

    .bvh, .gltf and .glb hold a figure and its motion. .npz and .csv hold joint values in time: to read them, give the
    linkage. A robot description or a bundled model has no motion: it is written at rest, with one key.

    A .bvh does not say its unit. Without --unit its numbers are taken as metres, and a person in centimetres is 170 m
    tall: give the unit. CMU's clips have a unit of 0.056444 m. A .glb is in metres with y up.

    .gif and .webp are animated pictures, with --rate pictures per second (25); .png, .svg and .pdf show eight poses
    side by side. Pictures need the extra "plot".
    """
    with errors_to_stderr():
        ending = target.suffix.lower()
        if ending not in motion_output.ENDINGS:
            raise BadInput(f"B must end in {', '.join(motion_output.ENDINGS)}; got {target}")
        check_folder(target, "B")
        motion = _read(source, linkage, search or [], unit, up, animation)
        if start is not None or end is not None:
            motion = _cut(motion, start, end)
        if ending not in _UP and (to_unit is not None or to_up is not None):
            raise BadInput(
                "--to-unit and --to-up are for .bvh, .gltf and .glb; all else is in radians and metres, z up"
            )
        if ending in motion_output.PICTURES:
            motion_output.draw(motion, target, rate)
        elif ending in motion_output.TABLES:
            motion.save(target, rate=rate)
        else:
            motion.save(target, rate=rate, up=to_up or _UP[ending], unit=_length(to_unit))
    if unit is None and reader.is_figure(source) and not as_json:
        _note_size(motion.linkage)
    _report(source, target, motion, rate, as_json)


def _note_size(linkage: Linkage) -> None:
    """Say on stderr how tall a figure is that is no person's size: its unit may not be metres."""
    size = float(np.ptp(linkage.frames(linkage.rest).matrix[1:, :3, 3], axis=0).max(initial=0.0))
    if size > _TALL or 0 < size < _SMALL:
        typer.echo(
            f"supple: note: the figure measures {size:.3g} m; if that is wrong, give --unit, such as cm", err=True
        )


def _read(
    source: str, linkage: str | None, search: list[Path], unit: str | None, up: str | None, animation: str
) -> Motion:
    ending = Path(source).suffix.lower()
    if reader.is_figure(source) and Path(source).exists():
        if linkage is not None:
            raise BadInput(f"--linkage is for .npz and .csv; {source} holds its own")
        which = int(animation) if animation.isdecimal() and len(animation) < 10 else animation
        length, usual = _length(unit), _UP[ending]
        motion = _figure(source, up or usual, length, which)
        standing = usual if up is not None else up_axis(motion, usual) or usual
        if standing == usual:
            return motion
        typer.echo(f"supple: note: in {source} {standing} is up, as its legs stand; --up {usual} is not", err=True)
        return _figure(source, standing, length, which)
    if unit is not None or up is not None:
        raise BadInput(f"--unit and --up are for {', '.join(_UP)}; {source} is in metres with z up")
    if ending in reader.ENDINGS:
        if linkage is None:
            raise BadInput(f"{source} holds joint values only: give the linkage that moves, with --linkage FILE|NAME")
        return _table(source, inputs.find(linkage, search))
    return _at_rest(inputs.find(source, search))


def _table(source: str, linkage: Linkage) -> Motion:
    """The motion of joint values of a linkage; or of the same with a floating root, as `supple retarget` writes it."""
    try:
        return Motion.load(source, linkage)
    except BadInput:
        loose = floating(linkage)[0]
        if loose is linkage:
            raise
        try:
            return Motion.load(source, loose)
        except BadInput:
            pass
        raise


def _figure(source: str, up: str, unit: float | str | None, animation: int | str) -> Motion:
    """The motion of an animation file; a file without any is at rest."""
    try:
        return Motion.load(source, up=up, unit=unit, animation=animation)
    except BadInput as error:
        if animation != 0 or "it has no animation" not in str(error):
            raise
    from supple.read import load

    return _at_rest(load(source, up=up, unit=unit))


def _cut(motion: Motion, start: float | None, end: float | None) -> Motion:
    """The part from the key nearest to one time to the key nearest to another, from time 0 on."""
    ends = [motion.start if start is None else start, motion.end if end is None else end]
    first, last = (float(motion.times[int(abs(motion.times - time).argmin())]) for time in ends)
    part = motion.part(first, last)
    return part.retimed(part.duration, 0.0)


def _at_rest(linkage: Linkage) -> Motion:
    return Motion(linkage, [0.0], linkage.rest[None])


def _length(unit: str | None) -> float | str | None:
    """A unit of the command line: a name, or a number of metres."""
    try:
        return None if unit is None else float(unit)
    except ValueError:
        return unit


def _report(source: str, target: Path, motion: Motion, rate: float | None, as_json: bool) -> None:
    keys = len(motion) if rate is None else int(motion.duration * rate + 1e-9) + 1
    moving = sum(1 for joint in motion.linkage.joints if joint.dof)
    if as_json:
        summary = {"from": source, "to": str(target), "joints": moving, "dof": motion.linkage.dof}
        output.print_json({**summary, "keys": keys, "seconds": motion.duration})
        return
    size = f"{target.stat().st_size / 1024:,.0f} kB" if target.is_file() else ""
    output.print_text(
        f"{source} -> {target}: {moving} joints, {motion.linkage.dof} degrees of freedom, "
        f"{keys:,} key{'s' * (keys > 1)}, {motion.duration:.4g} s, {size}"
    )
