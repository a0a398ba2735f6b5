"""What the command line is given: a file or stock name becomes a linkage, words become joint values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from supple import models, read
from supple.errors import BadInput, unknown
from supple.frame import Array
from supple.linkage import Linkage


def find(source: str, search: Sequence[Path] = ()) -> Linkage:
    """The linkage in a file, or the stock linkage of that name; a file that exists wins."""
    path = Path(source)
    if path.is_file() or (path.exists() and source not in models.names()):
        return read.load(path, search=list(search))
    if source in models.names():
        return models.get(source)
    raise unknown("file or stock linkage", source, (*models.names(), *beside(path)))


def beside(path: Path) -> list[str]:
    """Readable files in the folder of a path that does not exist: what may have been meant."""
    try:
        return sorted(str(other) for other in path.parent.iterdir() if other.suffix.lower() in read.ENDINGS)
    except OSError:
        return []


def complete(incomplete: str) -> list[str]:
    """Stock names, and the files and folders beside, that begin like this."""
    found = [name for name in models.names() if name.startswith(incomplete)]
    folder = Path(incomplete + "_").parent
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return found
    for other in inside:
        shown = other.as_posix() + ("/" if other.is_dir() else "")
        if shown.startswith(incomplete) and (other.is_dir() or other.suffix.lower() in read.ENDINGS):
            found.append(shown)
    return found


def joint_values(linkage: Linkage, q: str | None, joints: Sequence[str], degrees: bool) -> Array:
    """Joint values (dof,) from ``--q``, from ``--joint`` words, or at rest; raises `BadInput` on what is no value."""
    if q is not None and joints:
        raise BadInput("give --q for all joints or --joint for some, not both")
    if q is not None:
        row = _numbers(q, "--q")
        if len(row) != linkage.dof:
            named = ", ".join(linkage.names)
            raise BadInput(f"--q needs {linkage.dof} values for {linkage.name} ({named}), got {len(row)}")
        turns = _turns(linkage)
        return np.where(turns, np.radians(row), row) if degrees else np.array(row)
    values: dict[str, list[float]] = {}
    for word in joints:
        name, equals, value = word.rpartition("=")
        if not equals:
            raise BadInput(f"--joint takes name=value, got {word!r}")
        joint = linkage.joint(name)
        row = _numbers(value, f"--joint {name}")
        if joint.dof and len(row) != joint.dof:
            raise BadInput(f"joint {name!r} takes {joint.dof} value(s), got {len(row)}")
        units = joint.units if joint.dof else ("",) * len(row)
        values[name] = [math.radians(x) if degrees and unit == "rad" else x for x, unit in zip(row, units, strict=True)]
    return linkage.q(values)


def shown_values(linkage: Linkage, q: Array, degrees: bool) -> Array:
    """Joint values (dof,) as they are to be shown: turns in degrees if asked for."""
    return np.where(_turns(linkage), np.degrees(q), q) if degrees else q


def _turns(linkage: Linkage) -> Array:
    return np.array([unit == "rad" for joint in linkage.joints if joint.dof for unit in joint.units], dtype=bool)


def _numbers(text: str, what: str) -> list[float]:
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    try:
        row = [float(word) for word in words]
    except ValueError:
        raise BadInput(f"{what} takes numbers with commas between them, got {text!r}") from None
    if not all(map(math.isfinite, row)):
        raise BadInput(f"{what} takes finite numbers, got {text!r}")
    return row
