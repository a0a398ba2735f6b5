"""Writes a matplotlib figure to a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from supple.errors import BadInput
from supple.view import _style
from supple.write import atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")


def checked(formats: Iterable[str]) -> list[str]:
    """The formats, each once; raises `BadInput` if one is not known, or if there are none."""
    endings = list(dict.fromkeys(formats))
    for ending in endings or [""]:
        if ending not in FORMATS:
            raise BadInput(f"a figure can be written as {', '.join(FORMATS)}, not as {ending!r}")
    return endings


def write(figure: Figure, path: Path, dpi: int = 110) -> None:
    """Write a figure in the format of the file ending. The same figure always gives the same file."""
    undated = {"png": None, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with _style.plot_style(), atomic.replacing(path) as new:
        figure.savefig(new, dpi=dpi, metadata=undated.get(path.suffix[1:].lower()))
