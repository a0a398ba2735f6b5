"""Pictures of a motion: a contact sheet, an animated picture, and an animation for a notebook."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple import _check
from supple._figure.skin import drawn
from supple._progress import Progress
from supple.errors import BadInput, missing_extra
from supple.frame import Array
from supple.link import Box, Capsule, Cylinder, Shape, Sphere
from supple.view import _style
from supple.write import atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from supple.linkage import Linkage
    from supple.motion import Motion

__all__ = ["animated_picture", "contact_sheet"]

_LIMB = (0.89, 0.85, 0.78)  # off-white
_EDGE = 0.62  # of its colour: the outline of a capsule
_TILT = 0.22  # rad: how far a camera looks down
_SHEET = 8  # poses of a contact sheet
_NOTEBOOK_FRAMES = 240
_NOTEBOOK_BYTES = 3_000_000
_PAGE = Path(__file__).with_name("motion.html")


@dataclass(frozen=True, eq=False)
class Capsules:
    """Round limbs that stand for a linkage: m capsules in n poses."""

    ends: Array
    """Both ends of each (n, m, 2, 3), in metres."""
    radii: Array
    """(m,), in metres."""
    colours: Array
    """Red, green and blue of each (m, 3), from 0 to 1."""

    @classmethod
    def of(cls, linkage: Linkage, q: Array) -> Capsules:
        """The shapes of a linkage as capsules, for joint values (n, dof); along its links if it has none."""
        pieces = drawn(linkage, linkage.rest)
        frames = linkage.frames(q).matrix
        ends, radii, colours = [], [], []
        for i, piece in pieces:
            half, radius = _capsule(piece.shape)
            both = piece.frame.apply(np.stack([-half, half]))
            ends.append(np.einsum("nij,kj->nki", frames[:, i, :3, :3], both) + frames[:, i, None, :3, 3])
            radii.append(radius)
            colours.append((piece.colour or _LIMB)[:3])
        return cls(np.stack(ends, axis=1), np.array(radii), np.array(colours))


def _capsule(shape: Shape) -> tuple[Array, float]:
    """Half of the way between both ends of a capsule like a shape (3,), in its axes, and its radius."""
    if isinstance(shape, Sphere):
        return np.zeros(3), shape.radius
    if isinstance(shape, Capsule | Cylinder):
        end = shape.length / 2 if isinstance(shape, Capsule) else max(shape.length / 2 - shape.radius, 0.0)
        return np.array([0.0, 0.0, end]), shape.radius
    assert isinstance(shape, Box)
    size = np.array(shape.size)
    longest = int(np.argmax(size))
    radius = float(np.sort(size)[1]) / 2
    return np.eye(3)[longest] * max(float(size[longest]) / 2 - radius, 0.0), radius


def _views(turn: float) -> Array:
    """Rows (3, 3): right, up and towards the camera, which stands at an angle from x, in radians, and looks down."""
    c, s = np.cos(turn), np.sin(turn)
    away = np.array([c * np.cos(_TILT), s * np.cos(_TILT), np.sin(_TILT)])
    right = np.array([-s, c, 0.0])
    return np.stack([right, np.cross(away, right), away])


def _draw(axes: Any, capsules: Capsules, pose: int, view: Array, middle: Array, scale: float) -> None:
    """One pose on matplotlib axes, the farthest first; ``scale`` in points a metre."""
    from matplotlib.collections import LineCollection

    seen = (capsules.ends[pose] - middle) @ view.T
    depth = seen[:, :, 2].mean(axis=1)
    order = np.argsort(depth)
    near = (depth - depth.min()) / max(float(np.ptp(depth)), 1e-9)
    shade = (0.86 + 0.14 * near)[:, None] * capsules.colours
    lines, colours, widths = [], [], []
    for i in order:
        ends = seen[i, :, :2] + [[0.0, 0.0], [1e-6, 0.0]]
        width = 2 * capsules.radii[i] * scale
        lines += [ends, ends]
        colours += [_EDGE * shade[i], shade[i]]
        widths += [width, max(width - 1.1, 0.3 * width)]
    axes.add_collection(LineCollection(lines, colors=colours, linewidths=widths, capstyle="round"))


class _Stage:
    """Where a motion takes place, as a camera sees it."""

    def __init__(self, motion: Motion, times: Array, turn: float | None, follow: bool) -> None:
        self.capsules = Capsules.of(motion.linkage, motion.at(times))
        points = self.capsules.ends
        centre = points.mean(axis=(1, 2))
        centre[:, 2] = 0.0
        self.middles = centre if follow else np.tile((points.min(axis=(0, 1, 2)) + points.max(axis=(0, 1, 2))) / 2
                                                     * [1, 1, 0], (len(times), 1))  # fmt: skip
        self.view = _views(-0.9 if turn is None else turn)
        seen = (points - self.middles[:, None, None]) @ self.view.T
        rim = float(self.capsules.radii.max())
        self.low, self.high = seen[..., :2].min(axis=(0, 1, 2)) - rim, seen[..., :2].max(axis=(0, 1, 2)) + rim
        spots = (points.mean(axis=(1, 2)) - self.middles) @ self.view[0]
        self._radius = (0.45 if follow else 0.3) * float((self.high - self.low).min())
        self.low[0] = min(float(self.low[0]), float(spots.min()) - 1.05 * self._radius)
        self.high[0] = max(float(self.high[0]), float(spots.max()) + 1.05 * self._radius)
        self.ground = min(float((points[..., 2] - self.capsules.radii[None, :, None]).min()), 0.0)
        front = (self.ground * self.view[1, 2]) - self._radius * np.sin(_TILT)
        self.low[1] = min(float(self.low[1]), float(front) - 0.02 * float(self.high[1] - self.low[1]))

    def show(self, axes: Any, pose: int, height: float) -> None:
        """One pose on axes that are ``height`` inches high."""
        tall = float(self.high[1] - self.low[1])
        ring = np.linspace(0, 2 * np.pi, 72)
        flat = self._radius * np.stack([np.cos(ring), np.sin(ring)], axis=-1)
        disc = np.concatenate([flat, np.full((len(ring), 1), self.ground)], axis=-1)
        spot = self.capsules.ends[pose].mean(axis=(0, 1)) * [1, 1, 0] - self.middles[pose] * [1, 1, 0]
        floor = (disc + spot) @ self.view.T
        axes.fill(floor[:, 0], floor[:, 1], color="#e9edf0", zorder=0, linewidth=0)
        _draw(axes, self.capsules, pose, self.view, self.middles[pose], 72 * height / tall)
        axes.set_xlim(self.low[0], self.high[0])
        axes.set_ylim(self.low[1], self.high[1])
        axes.set_aspect("equal")
        axes.axis("off")


def contact_sheet(
    motion: Motion, times: Sequence[float] | None = None, *, columns: int = 8, turn: float | None = None
) -> Figure:
    """Poses of a motion side by side as a matplotlib Figure, with their times.

    Args:
        motion: the motion.
        times: in seconds; by default eight at equal distances from the start to the end.
        columns: pictures in a row.
        turn: angle from the x axis at which the camera stands, in radians.

    >>> from supple import Motion, models
    >>> from supple.view.motion import contact_sheet
    >>> nod = Motion(models.puppet(), [0, 1], [models.puppet().rest, models.puppet().rest + 0.5])
    >>> len(contact_sheet(nod, [0, 0.5, 1]).axes)
    3
    """
    if columns < 1:
        raise BadInput(f"columns must be 1 or more, got {columns}")
    when = np.linspace(motion.start, motion.end, _SHEET) if times is None else _check.numbers(times, "times")
    when = np.atleast_1d(np.array(when, dtype=float))
    if not len(when) or not np.isfinite(when).all():
        raise BadInput("times must be finite numbers of seconds, at least one")
    stage = _Stage(motion, when, turn, follow=True)
    wide, tall = stage.high - stage.low
    height = 2.3
    side = max(height * float(wide / tall), 0.9)
    columns = min(columns, len(when))
    rows = -(-len(when) // columns)
    with _style.plot_style():
        from matplotlib.figure import Figure as Sheet

        figure = Sheet(figsize=(side * columns, (height + 0.3) * rows))
        for i, time in enumerate(when):
            column, row = i % columns, i // columns
            box = (column / columns, 1 - (row + 1) / rows + 0.3 / (height + 0.3) / rows,
                   1 / columns, height / (height + 0.3) / rows)  # fmt: skip
            axes = figure.add_axes(box)
            stage.show(axes, i, height)
            figure.text(box[0] + box[2] / 2, box[1] - 0.14 / figure.get_figheight(), f"{time:.2f} s", size=8,
                        color=_style.SOFT, ha="center", va="center")  # fmt: skip
    return figure


def animated_picture(
    motion: Motion,
    path: str | Path,
    *,
    rate: float = 25.0,
    height: int = 320,
    turn: float | None = None,
    progress: bool | None = None,
) -> None:
    """Write a motion as an animated picture: .gif, .png or .webp.

    Args:
        motion: the motion.
        path: the file.
        rate: pictures per second.
        height: of the picture in pixels.
        turn: angle from the x axis at which the camera stands, in radians.
        progress: True and False show a bar always or never; None only on a terminal.

    >>> from pathlib import Path
    >>> from supple import Motion, models
    >>> from supple.view.motion import animated_picture
    >>> nod = Motion(models.puppet(), [0, 1], [models.puppet().rest, models.puppet().rest + 0.5])
    >>> animated_picture(nod, "nod.gif", rate=5, height=80)
    >>> Path("nod.gif").stat().st_size > 1000
    True
    """
    file = Path(path)
    if file.suffix.lower() not in (".gif", ".png", ".webp"):
        raise BadInput(f"an animated picture is written as .gif, .png or .webp, not as {file}")
    if not 0 < rate <= 100:
        raise BadInput(f"rate must be from 0 to 100 pictures per second, got {rate:g}")
    if not 16 <= height <= 4000:
        raise BadInput(f"height must be from 16 to 4000 pixels, got {height}")
    if motion.duration * rate > 5000:
        raise BadInput(f"{motion.duration * rate:.0f} pictures are too many, at most 5000; write a part of the motion")
    try:
        from PIL import Image
    except ImportError as error:
        raise missing_extra("plot", "an animated picture") from error
    times = np.linspace(motion.start, motion.end, max(round(motion.duration * rate), 1) + 1)
    stage = _Stage(motion, times, turn, follow=False)
    pictures: list[Any] = []
    with Progress("drawing", len(times), shown=progress is not False, anywhere=progress is True) as bar:
        for i in range(len(times)):
            pixels = _pixels(stage, i, height)
            pictures.append(Image.fromarray(pixels).quantize(96) if file.suffix.lower() == ".gif"
                            else Image.fromarray(pixels))  # fmt: skip
            bar.step()
    with atomic.replacing(file) as new:
        pictures[0].save(
            new, format={".gif": "GIF", ".png": "PNG", ".webp": "WEBP"}[file.suffix.lower()], save_all=True,
            append_images=pictures[1:], duration=max(round(1000 / rate), 10), loop=0,
        )  # fmt: skip


def _pixels(stage: _Stage, pose: int, height: int) -> Any:
    """One pose as pixels (height, width, 3)."""
    with _style.plot_style():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Sheet

        wide, tall = stage.high - stage.low
        inches = height / 100
        figure = Sheet(figsize=(max(2, 2 * round(height * float(wide / tall) / 2)) / 100, inches), dpi=100)
        canvas = FigureCanvasAgg(figure)
        stage.show(figure.add_axes((0, 0, 1, 1)), pose, inches)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def notebook_page(motion: Motion) -> str:
    """A motion as HTML for a notebook: it plays, can be scrubbed and turned, and needs no other file."""
    frames = min(max(int(motion.duration * 30) + 1, 2), _NOTEBOOK_FRAMES)
    capsules = Capsules.of(motion.linkage, motion.at(np.linspace(motion.start, motion.end, frames)))
    fewest = capsules.radii.size * 6 * 7
    if fewest * frames > _NOTEBOOK_BYTES:
        frames = max(_NOTEBOOK_BYTES // fewest, 2)
        capsules = Capsules.of(motion.linkage, motion.at(np.linspace(motion.start, motion.end, frames)))
    data = {
        "ends": np.round(capsules.ends, 3).reshape(frames, -1).tolist(),
        "radii": np.round(capsules.radii, 4).tolist(),
        "colours": np.round(255 * capsules.colours).astype(int).tolist(),
        "seconds": motion.duration,
        "start": motion.start,
    }
    page = _PAGE.read_text(encoding="utf-8").replace("DATA", json.dumps(data, separators=(",", ":")))
    text = escape(str(motion))
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" width="520" height="400" '
        f'style="border:1px solid #ddd" title="{text}"></iframe><br>{text}'
    )
