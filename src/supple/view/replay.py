"""A picture of a recording and its replay: joint speeds and errors of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.frame import Array
from supple.linkage import Linkage
from supple.step import TrackingStatus
from supple.view import _style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from supple.step import Step
    from supple.teleop.recording import Rows
    from supple.teleop.recording.replay import Comparison, Side

LINES = ("#5f8688", "#7a6c9d", "#b08a3e", "#8fa66f", "#a5707a", "#6f87b0", "#9a8f80", "#c08457")
_MOST = 4000  # points of a line, more than the pixels of a page
_WIDTH, _LEFT, _RIGHT, _GAP, _HEAD, _FOOT, _TALL, _BETWEEN = 10.0, 0.75, 0.25, 0.2, 0.8, 0.75, (2.1, 1.1), 0.14


class Speeds:
    """Collects what to draw while a recording is replayed, in bounded memory.

    ``replay(recording, solver, watch=speeds.add)``, then ``speeds.draw(comparison)``.
    """

    def __init__(self, linkage: Linkage) -> None:
        self._linkage = linkage
        self._times = _Envelope()
        self._sides = [(_Envelope(), _Envelope()) for _ in range(2)]

    def add(self, rows: Rows, step: Step) -> None:
        """Add a block of recorded rows, and the replayed steps for them."""
        self._times.add(rows.t[:, None])
        for (speeds, errors), velocity, error in zip(
            self._sides, (rows.velocity, step.velocity), (rows.error, step.error), strict=True
        ):
            speeds.add(velocity)
            away = np.linalg.norm(error[..., :3], axis=-1).max(axis=1)
            away[rows.status == TrackingStatus.HELD.value] = np.nan  # there was no command
            errors.add(away[:, None])

    def draw(self, found: Comparison) -> Figure:
        """The picture as a matplotlib Figure: a column for the recording, a column for the replay."""
        with _style.plot_style():
            from matplotlib.figure import Figure

            height = _HEAD + sum(_TALL) + _BETWEEN + _FOOT
            figure = Figure(figsize=(_WIDTH, height))
            title = f"{self._linkage.name}: recorded and replayed"
            figure.text(_LEFT / _WIDTH, 1 - 0.3 / height, title, size=13, weight="bold", va="center")
            limited = bool(np.isfinite(self._linkage.speed).any())
            note = f"{_note(limited)}\n{found}"
            figure.text(_LEFT / _WIDTH, 0.1 / height, note, size=7, color=_style.SOFT, va="bottom", linespacing=1.4)
            wide = (_WIDTH - _LEFT - _RIGHT - _GAP) / 2
            sides = (("recorded", found.recorded), ("replayed", found.replayed))
            for column, ((name, side), lines) in enumerate(zip(sides, self._sides, strict=True)):
                x, y = _LEFT + column * (wide + _GAP), height - _HEAD
                panels = []
                for row, tall in enumerate(_TALL):
                    y -= tall + (_BETWEEN if row else 0)
                    axes = figure.add_axes((x / _WIDTH, y / height, wide / _WIDTH, tall / height))
                    panels.append(self._panel(axes, column == 0, row == 1))
                self._column(panels, f"{name}: {_brief(side.name)}", side, lines, column == 0, limited)
            return figure

    def _panel(self, axes: Any, first: bool, last: bool) -> Any:
        low, high = self._times.ends()
        axes.set_xlim(low, max(high, low + 1e-9))
        axes.grid(True, color=_style.GRID, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.tick_params(length=0, labelsize=7, labelleft=first, labelbottom=last, pad=3)
        return axes

    def _column(
        self, panels: list[Any], name: str, side: Side, lines: tuple[_Envelope, _Envelope], first: bool, limited: bool
    ) -> None:
        speeds, errors = panels
        limit = self._linkage.speed
        unit = np.where(np.isfinite(limit) & (limit > 0), limit, 1.0) if limited else np.ones(self._linkage.dof)
        times, rates = self._times.points()[:, 0], lines[0].points() / unit
        for joint in range(self._linkage.dof):
            speeds.plot(times, rates[:, joint], color=LINES[joint % len(LINES)], linewidth=0.8, zorder=3)
        most = float((np.array(side.speed) / unit).max())
        if limited:
            speeds.set_ylim(-1.25, 1.25)
            for bound in (-1, 1):
                speeds.axhline(bound, color=_style.GOAL, linewidth=0.9, linestyle=(0, (4, 3)), zorder=2)
        else:
            both = max(float(np.abs(each[0].points()).max()) for each in self._sides)
            speeds.set_ylim(-1.1 * both - 1e-9, 1.1 * both + 1e-9)
        _style.heading(speeds, name, _most(most, limited))
        errors.semilogy(times, np.maximum(lines[1].points()[:, 0], 1e-9), color=_style.INK, linewidth=0.9, zorder=3)
        farthest = max(float(np.fmax.reduce(each[1].points(), axis=None)) for each in self._sides)
        errors.set_ylim(1e-7, max(2 * farthest, 1e-3))
        errors.set_xlabel("s", size=7, color=_style.SOFT, labelpad=1)
        if first:
            speeds.set_ylabel("speed / limit" if limited else "rad/s", size=_style.SMALL, color=_style.SOFT)
            errors.set_ylabel("error, m", size=_style.SMALL, color=_style.SOFT)


class _Envelope:
    """Minimum and maximum of each column of a growing table, over blocks of rows; their number is bounded."""

    def __init__(self) -> None:
        self._each = 1  # rows in a block
        self._rest: Array | None = None
        self._low: list[Array] = []
        self._high: list[Array] = []

    def add(self, rows: Array) -> None:
        """Add rows (n, columns)."""
        left = rows if self._rest is None else np.concatenate([self._rest, rows])
        while len(left) >= self._each:
            count = min(len(left) // self._each, 2 * _MOST - len(self._low))
            cut = left[: count * self._each].reshape(count, self._each, -1)
            left = left[count * self._each :]
            self._low.extend(np.fmin.reduce(cut, axis=1))
            self._high.extend(np.fmax.reduce(cut, axis=1))
            if len(self._low) == 2 * _MOST:  # merge pairs of blocks
                self._low = list(np.fmin(self._low[::2], self._low[1::2]))
                self._high = list(np.fmax(self._high[::2], self._high[1::2]))
                self._each *= 2
        self._rest = np.array(left)

    def ends(self) -> tuple[float, float]:
        """The first minimum and the last maximum of the first column."""
        return float(self._low[0][0]), float(self._high[-1][0])

    def points(self) -> Array:
        """Minimum and maximum in turn (2 blocks, columns); a line through them fills the range between."""
        return np.stack([self._low, self._high], axis=1).reshape(-1, len(self._low[0]))


def _note(limited: bool) -> str:
    speeds = "Joint speeds over their limits" if limited else "Joint speeds; there are no limits"
    return f"{speeds}, a line for each joint. Below: distance of the end effector from its goal."


def _most(speed: float, limited: bool) -> str:
    if not limited:
        return f"at most {speed:,.3g} rad/s"
    return f"at most {100 * speed:.0f} % of the limit" if speed < 2 else f"at most {speed:,.3g} times the limit"


def _brief(text: str) -> str:
    return text if len(text) <= 34 else text[:33] + "…"
