"""Reads arguments of the command line: a file or a name becomes a linkage, words become joint values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import typer
from numpy.typing import ArrayLike

from supple import _find
from supple.animate import load_clip
from supple.errors import BadInput, SuppleError
from supple.frame import Array
from supple.linkage import Linkage
from supple.motion import Motion


def find(source: str, search: Sequence[Path] = ()) -> Linkage:
    """The linkage in a file, or the bundled model of that name; an existing file takes precedence.

    A file that does not exist is wrong usage, as it is for every other argument: `BadInput`.
    """
    try:
        return _find.find(source, search)
    except FileNotFoundError as missing:
        raise BadInput(str(missing)) from None


def motion_of(source: str) -> Motion | None:
    """The motion in an animation file, in metres with z up; None for other files, and for a figure without motion."""
    path = Path(source)
    if path.suffix.lower() not in (".bvh", ".gltf", ".glb") or not path.is_file():
        return None
    try:
        motion = load_clip(path, up=None)
    except BadInput:  # not the figure of a person, without motion, or it may lie
        try:
            motion = load_clip(path, up="y")
        except BadInput:
            try:
                motion = Motion.load(path, up="y")
            except SuppleError:
                return None
    return motion if len(motion) > 1 else None


def end_effector(linkage: Linkage, link: str | None) -> str:
    """The name of a link, by default of the only tip; raises `BadInput` if there are several tips."""
    if link is not None:
        return linkage.link(link).name
    if len(linkage.tips) > 1:
        tips = ", ".join(linkage.tips)
        raise BadInput(f"{linkage.name} has {len(linkage.tips)} tips; choose one with --link: {tips}")
    return linkage.tips[0]


def joint_values(linkage: Linkage, q: str | None, joints: Sequence[str], degrees: bool, option: str = "--q") -> Array:
    """Joint values (dof,) from all values ``q``, from words NAME=VALUE, or at rest; raises `BadInput`."""
    if q is not None and joints:
        raise BadInput(f"give {option} for all joints or --joint for some, not both")
    if q is None:
        given: dict[str, list[float]] = {}
        for word in joints:
            name, values = _named_values(linkage, word, degrees)
            if name in given:
                raise BadInput(f"--joint {name} is given twice")
            given[name] = values
        named = linkage.q(given)
        note_large_angles(named[_angular(linkage)], "--joint", degrees)
        return named
    values = _numbers(q, option)
    if len(values) != linkage.dof:
        names = ", ".join(linkage.names)
        raise BadInput(f"{option} needs {linkage.dof} values for {linkage.name} ({names}), got {len(values)}")
    if degrees:
        return np.where(_angular(linkage), np.radians(values), values)
    note_large_angles(np.array(values)[_angular(linkage)], option, degrees)
    return np.array(values)


def note_large_angles(angles: ArrayLike, option: str, degrees: bool) -> None:
    """Say on stderr that angles beyond a whole turn are read as radians; they are probably meant as degrees."""
    largest = float(np.abs(angles).max(initial=0.0))
    if not degrees and largest > 2 * math.pi:
        typer.echo(
            f"supple: note: {option}: angles up to {largest:.4g} are read as radians; --degrees reads them as degrees",
            err=True,
        )


def _named_values(linkage: Linkage, word: str, degrees: bool) -> tuple[str, list[float]]:
    """The name and the values of one word NAME=VALUE, or NAME=V1,V2,... for a joint with several values."""
    name, equals, value = word.rpartition("=")
    if not equals:
        raise BadInput(f"--joint takes NAME=VALUE, got {word!r}")
    joint = linkage.joint(name)
    values = _numbers(value, f"--joint {name}")
    if joint.dof and len(values) != joint.dof:
        raise BadInput(f"joint {name!r} takes {joint.dof} value{'s' if joint.dof > 1 else ''}, got {len(values)}")
    units = joint.units if joint.dof else ("",) * len(values)
    return name, [math.radians(x) if degrees and unit == "rad" else x for x, unit in zip(values, units, strict=True)]


def in_shown_units(linkage: Linkage, q: Array, degrees: bool) -> Array:
    """Joint values (..., dof) for output: angles in degrees if requested."""
    return np.where(_angular(linkage), np.degrees(q), q) if degrees else q


def shown_units(linkage: Linkage, degrees: bool) -> list[str]:
    """Unit of each joint value in the output: rad, deg or m."""
    return ["deg" if degrees and unit == "rad" else unit for unit in linkage.units]


def _angular(linkage: Linkage) -> Array:
    return np.array([unit == "rad" for unit in linkage.units], dtype=bool)


def _numbers(text: str, option: str) -> list[float]:
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != len(words) or "_" in text or not text.isascii():  # 1_0 and letters of other scripts
        raise BadInput(f"{option} takes numbers with commas between them, got {text!r}")
    if not all(map(math.isfinite, values)):
        raise BadInput(f"{option} takes finite numbers, got {text!r}")
    return values
