"""Figures 5.14 to 5.25 of the chapter, drawn from results of the solver [K 5.3]."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from supple.errors import unknown
from supple.textbook import figures_jacobian, figures_sequence, figures_two_link
from supple.view import _style
from supple.view.image import checked, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DRAWN: dict[str, Callable[[], Figure]] = {
    **figures_two_link.DRAWN,
    **figures_jacobian.DRAWN,
    **{name: partial(figures_sequence.draw, name) for name in figures_sequence.TITLES},
}


def names() -> tuple[str, ...]:
    """The figures that can be drawn."""
    return tuple(_DRAWN)


def draw(name: str) -> Figure:
    """A figure by its number in the chapter, such as "5.20", as a matplotlib Figure with ``savefig``."""
    if name not in _DRAWN:
        raise unknown("figure", name, _DRAWN)
    with _style.plot_style():
        return _DRAWN[name]()


def save(
    out: str | Path, only: Iterable[str] = (), formats: Iterable[str] = ("png", "svg"), dpi: int = 110
) -> list[Path]:
    """Write figures to a folder as ``figure-5.20.png`` and so on; returns the paths.

    Args:
        out: the folder; made if it does not exist.
        only: numbers of figures; all of them if empty.
        formats: "png", "svg" and "pdf", or some of them.
        dpi: dots per inch of a png file.
    """
    numbers, endings = chosen(only), checked(formats)
    written = []
    with _style.plot_style():
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        for name in numbers:
            figure = draw(name)
            for ending in endings:
                path = folder / f"figure-{name}.{ending}"
                write(figure, path, dpi)
                written.append(path)
    return written


def chosen(only: Iterable[str] = ()) -> list[str]:
    """The numbers of the figures, each once; all figures if empty. Raises `UnknownName`."""
    numbers = list(dict.fromkeys(only)) or list(names())
    for name in numbers:
        if name not in _DRAWN:
            raise unknown("figure", name, _DRAWN)
    return numbers
