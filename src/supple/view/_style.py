"""The style of all figures: colours, and functions that draw arms, arrows, angles and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import missing_extra

Axes = Any  # a matplotlib Axes; matplotlib is optional, so its types are not used
Figure = Any
PAPER, GRID, INK, SOFT = "#fdfcfa", "#ebe7e0", "#3a3835", "#8b857c"
LIMB, RIM, JOINT, GOAL = "#d3c9b9", "#a89d8c", "#5f8688", "#d1663a"
ARROWS = ("#5f8688", "#7a6c9d", "#b08a3e")  # one colour for each joint: teal, plum, ochre
BODY, SMALL = 9.0, 8.0
_SETTINGS = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # part of matplotlib, so a figure is the same everywhere
    "mathtext.fontset": "dejavusans",
    "font.size": BODY,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.facecolor": PAPER,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "svg.hashsalt": "supple",  # the same figure gives the same file
}


@contextmanager
def plot_style() -> Iterator[Any]:
    """Matplotlib with the settings of supple inside a with block; raises `MissingExtra` if it is not installed."""
    try:
        import matplotlib
    except ImportError as error:
        raise missing_extra("plot", "drawing figures") from error
    with matplotlib.rc_context(_SETTINGS):
        yield matplotlib


def sheet(
    title: str,
    rows: Sequence[str],
    columns: int,
    limits: tuple[float, float, float, float],
    *,
    width: float = 12.0,
    note: str = "",
    foot: float = 0.3,
    ticks: float = 10.0,
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with panels of the same scale, a title, a heading for each row, and a note below.

    Args:
        title: title of the figure.
        rows: heading of each row; an empty one takes no space.
        columns: number of panels in a row.
        limits: lower and upper x, lower and upper y of every panel, in metres.
        width: width of the figure in inches; the height follows.
        note: text below the panels, one line or several.
        foot: space below the panels in inches, without the note.
        ticks: distance of the grid lines in metres.
    """
    from matplotlib.figure import Figure

    left, right, gap, head = 0.5, 0.2, 0.18, 0.62
    foot += 0.19 * (note.count("\n") + 1 if note else 0)
    wide = (width - left - right - gap * (columns - 1)) / columns
    tall = wide * (limits[3] - limits[2]) / (limits[1] - limits[0])
    above = [
        0.52 if heading else 0.26 for heading in rows
    ]  # space for the heading of a row and the titles of its panels
    height = head + sum(above) + tall * len(rows) + 0.3 * (len(rows) - 1) + foot
    figure = Figure(figsize=(width, height))
    figure.text(left / width, 1 - 0.3 / height, title, size=13, weight="bold", va="center")
    if note:
        figure.text(left / width, 0.12 / height, note, size=SMALL, color=SOFT, va="bottom", linespacing=1.4)
    panels, y = [], height - head
    for heading, space in zip(rows, above, strict=True):
        if heading:
            figure.text(left / width, (y - 0.12) / height, heading, size=10, va="center")
        y -= space + tall
        boxes = [((left + i * (wide + gap)) / width, y / height, wide / width, tall / height) for i in range(columns)]
        panels.append([_panel(figure.add_axes(box), limits, ticks, i == 0) for i, box in enumerate(boxes)])
        y -= 0.3
    return figure, panels


def _panel(axes: Axes, limits: tuple[float, float, float, float], every: float, first: bool) -> Axes:
    x0, x1, y0, y1 = limits
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)
    axes.set_aspect("equal")
    axes.set_xticks(np.arange(np.ceil(x0 / every) * every, x1 + 1e-9, every))
    axes.set_yticks(np.arange(np.ceil(y0 / every) * every, y1 + 1e-9, every))
    axes.grid(True, color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=7, labelleft=first, pad=3)
    return axes


def heading(axes: Axes, left: str, right: str = "") -> None:
    """Titles above a panel, at its left and its right."""
    axes.set_title(left, loc="left", size=BODY, pad=5)
    if right:
        axes.set_title(right, loc="right", size=SMALL, color=SOFT, pad=5)


def arm(axes: Axes, points: ArrayLike, *, faint: float = 1.0, size: float = 1.0) -> None:
    """An arm through points (n, 2): thinner towards the end effector, with a joint at all points but the last.

    With ``faint`` below 1 only the links are drawn, in the background.
    """
    places = np.asarray(points, dtype=float)
    thick = np.linspace(8.0, 5.0, len(places) - 1) * size
    for i, width in enumerate(thick):
        limb(axes, places[i : i + 2], width, faint)
    if faint < 1:
        return
    axes.plot(*places[0], "s", color=RIM, markersize=thick[0] + 6, mec=RIM, zorder=3)
    for place, width in zip(places[:-1], thick, strict=True):
        joint(axes, place, width)
    end_effector(axes, places[-1], size)


def limb(axes: Axes, ends: ArrayLike, width: float, faint: float = 1.0) -> None:
    """A link between two points (2, 2) or (2, 3); ``width`` in points of print."""
    a, b = np.asarray(ends, dtype=float)
    line = list(zip(a, b, strict=True))
    order = 2 if faint < 1 else 4
    axes.plot(*line, color=RIM, linewidth=width + 1.6, solid_capstyle="round", alpha=faint, zorder=order - 0.1)
    axes.plot(*line, color=LIMB, linewidth=width, solid_capstyle="round", alpha=faint, zorder=order)


def joint(axes: Axes, at: ArrayLike, width: float) -> None:
    """A joint at a point (2,) or (3,), on links of a width."""
    axes.plot(*_as_lists(at), "o", color=JOINT, markersize=width + 2, mec=PAPER, mew=1.0, zorder=5)


def end_effector(axes: Axes, at: ArrayLike, size: float = 1.0) -> None:
    """An end effector at a point (2,) or (3,)."""
    axes.plot(*_as_lists(at), "o", color=PAPER, markersize=4.5 * size, mec=INK, mew=1.1, zorder=6)


def goal(axes: Axes, at: ArrayLike) -> None:
    """A goal at a point (2,) or (3,): a ring with a dot."""
    axes.plot(*_as_lists(at), "o", color="none", markersize=12, mec=GOAL, mew=1.6, zorder=7)
    axes.plot(*_as_lists(at), "o", color=GOAL, markersize=3.5, zorder=7)


def axis_line(axes: Axes, at: ArrayLike, along: ArrayLike, colour: str, faint: float) -> None:
    """A thin line from a point (3,) along a vector (3,): one axis of a frame."""
    a = np.asarray(at, dtype=float)
    line = list(zip(a, a + np.asarray(along, dtype=float), strict=True))
    axes.plot(*line, color=colour, linewidth=4.0 if faint < 1 else 1.8, alpha=faint, solid_capstyle="round", zorder=8)


def _as_lists(at: ArrayLike) -> list[list[float]]:
    """The coordinates of one point, each as a list of one."""
    return [[float(x)] for x in np.asarray(at, dtype=float)]


def arrow(
    axes: Axes, start: ArrayLike, change: ArrayLike, colour: str, *, width: float = 1.8, head: float = 11
) -> None:
    """An arrow from a point (2,) along a change (2,), both in metres."""
    tail = np.asarray(start, dtype=float)
    axes.annotate(
        "",
        xy=tail + np.asarray(change, dtype=float),
        xytext=tail,
        arrowprops={
            "arrowstyle": "-|>",
            "color": colour,
            "linewidth": width,
            "mutation_scale": head,
            "shrinkA": 0,
            "shrinkB": 0,
        },
        zorder=8,
    )


def arc(axes: Axes, centre: ArrayLike, radius: float, start: float, end: float, colour: str, arrow_head: bool) -> None:
    """An arc around a point from one angle to another, in radians, with an arrow head at its end if requested."""
    angle = np.linspace(start, end, 60)
    points = np.asarray(centre) + radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    axes.plot(*points.T, color=colour, linewidth=1.4, zorder=6)
    if arrow_head:
        arrow(axes, points[-4], points[-1] - points[-4], colour, width=1.4, head=9)


def line(axes: Axes, points: ArrayLike, colour: str = SOFT, style: Any = (0, (4, 3)), width: float = 1.0) -> None:
    """A thin line through points (n, 2)."""
    axes.plot(*np.asarray(points, dtype=float).T, color=colour, linestyle=style, linewidth=width, zorder=3)


def label(
    axes: Axes, at: ArrayLike, words: str, colour: str = INK, *, align: str = "center", size: float = BODY
) -> None:
    """Text at a point (2,), on a background that hides the lines behind it."""
    axes.text(
        *np.asarray(at, dtype=float),
        words,
        color=colour,
        ha=align,
        va="center",
        size=size,
        zorder=9,
        bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.8, "pad": 1.2},
    )
