"""Motions of the commands as files: joint values, animations and pictures."""

from __future__ import annotations

from pathlib import Path

from supple.errors import BadInput
from supple.motion import Motion

TABLES = (".npz", ".csv")
FIGURES = (".bvh", ".gltf", ".glb")
PICTURES = (".gif", ".webp", ".png", ".svg", ".pdf")
ENDINGS = (*FIGURES, *TABLES, *PICTURES)
_SHEETS = (".png", ".svg", ".pdf")
_PICTURE_RATE = 25.0  # per second, of an animated picture


def save(motion: Motion, path: Path) -> None:
    """Write a motion in the format of the ending: animation files in metres with y up, pictures with 25 per second."""
    ending = path.suffix.lower()
    if ending in PICTURES:
        draw(motion, path)
    elif ending in TABLES:
        motion.save(path)
    else:
        motion.save(path, up="y")


def draw(motion: Motion, path: Path, rate: float | None = None) -> None:
    """Write a picture: animated, with ``rate`` pictures per second (25), or a contact sheet."""
    from supple.view import image  # slow to import
    from supple.view.motion import animated_picture, contact_sheet

    if path.suffix.lower() not in _SHEETS:
        animated_picture(motion, path, rate=_PICTURE_RATE if rate is None else rate)
    elif rate is not None:
        raise BadInput("--rate is not for a sheet of poses; .gif and .webp are animated")
    else:
        image.write(contact_sheet(motion), path)
