"""A picture of runs of the gauntlet: joint speeds, accelerations, and the error with its smallest possible value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.errors import BadInput
from supple.frame import Array
from supple.gauntlet.describe import short_number
from supple.gauntlet.measures import CHATTER
from supple.gauntlet.runner import Run
from supple.view import _style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINES = ("#5f8688", "#7a6c9d", "#b08a3e", "#8fa66f", "#a5707a", "#6f87b0", "#9a8f80", "#c08457")
_LEFT, _RIGHT, _WIDE, _GAP, _TALL, _BETWEEN, _HEAD, _FOOT = 0.85, 0.25, 2.3, 0.16, 1.2, 0.12, 0.8, 0.35
_BAND = 3 * _TALL + 2 * _BETWEEN + 0.7  # height of a column of three panels in inches
_MOST = 5  # columns in a row
_NOTE = (
    "Joint speeds over their limits; marks: an acceleration above 5 rad/s² changes sign (chatter).\n"
    "Largest acceleration of all joints; dashed: its limit. Grey: the command is out of reach.\n"
    "Weighted error, and the smallest error possible within the joint limits (filled)."
)


def draw(runs: Mapping[str, Run], acceleration: float = 15.0) -> Figure:
    """A matplotlib Figure with a column for each run: several controllers in one hazard, or several hazards.

    Args:
        runs: runs of the same arm, by name.
        acceleration: the acceleration limit, drawn as a dashed line, in rad/s².
    """
    if not runs:
        raise BadInput("there is no run to draw")
    hazards = list(dict.fromkeys(run.hazard for run in runs.values()))
    if len({hazard.arm for hazard in hazards}) > 1:
        raise BadInput("runs of different arms cannot be drawn in one figure")
    with _style.plot_style():
        from matplotlib.figure import Figure

        across = min(len(runs), _MOST)
        bands = -(-len(runs) // across)
        width = max(_LEFT + across * (_WIDE + _GAP) - _GAP + _RIGHT, 8.4)
        height = _HEAD + bands * _BAND + _FOOT
        figure = Figure(figsize=(width, height))
        title = f"{hazards[0].arm.name}: {hazards[0].title if len(hazards) == 1 else 'the hazards'}"
        figure.text(_LEFT / width, 1 - 0.3 / height, title, size=13, weight="bold", va="center")
        figure.text(
            _LEFT / width, 0.1 / height, _NOTE, size=_style.SMALL, color=_style.SOFT, va="bottom", linespacing=1.4
        )
        for number, (name, run) in enumerate(runs.items()):
            band, column = divmod(number, across)
            x, top = _LEFT + column * (_WIDE + _GAP), height - _HEAD - band * _BAND
            boxes = [(x, top - (row + 1) * _TALL - row * _BETWEEN) for row in range(3)]
            panels = [
                _panel(
                    figure.add_axes((a / width, b / height, _WIDE / width, _TALL / height)), run, column == 0, row == 2
                )
                for row, (a, b) in enumerate(boxes)
            ]
            _column(panels, name, run, acceleration, column == 0)
        return figure


def _panel(axes: Any, run: Run, first: bool, last: bool) -> Any:
    axes.set_xlim(0, run.hazard.duration)
    axes.grid(True, color=_style.GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=7, labelleft=first, labelbottom=last, pad=3)
    for begin, end in run.hazard.reference.unreachable:
        axes.axvspan(begin, min(end, run.hazard.duration), color=_style.GRID, alpha=0.55, linewidth=0, zorder=0)
    return axes


def _column(panels: list[Any], name: str, run: Run, acceleration: float, first: bool) -> None:
    speeds, accelerations, errors = panels
    arm, times = run.hazard.arm, run.times
    rates = np.diff(run.q, axis=0) / run.dt
    limits = np.where(np.isfinite(arm.speed), arm.speed, np.abs(rates).max() + 1e-9)
    for joint in range(arm.dof):
        speeds.plot(times, rates[:, joint] / limits[joint], color=_LINES[joint % len(_LINES)], linewidth=0.8, zorder=3)
    changes, share = _chatter(run)
    speeds.plot(times[changes], np.full(len(changes), -1.12), "|", color=_style.GOAL, markersize=6, mew=0.6, zorder=4)
    speeds.set_ylim(-1.25, 1.25)
    speeds.set_yticks([-1, 0, 1])
    right = "no chatter" if share == 0 else f"chatter {short_number(100 * share)} %"
    _style.heading(speeds, name, right)
    most = np.abs(np.diff(run.q, n=2, axis=0)).max(axis=1) / run.dt**2
    accelerations.semilogy(times[1:], np.maximum(most, 1e-3), color=_style.JOINT, linewidth=0.8, zorder=3)
    accelerations.axhline(acceleration, color=_style.GOAL, linewidth=0.9, linestyle=(0, (4, 3)), zorder=2)
    accelerations.set_ylim(1e-2, 1e4)
    error = np.linalg.norm(run.error(run.hazard.frames(run.rate)) * arm.weights, axis=1)
    reference = run.hazard.reference
    least = np.interp(times, reference.times, reference.least)
    errors.fill_between(times, 1e-9, np.maximum(least, 1e-9), color=_style.LIMB, linewidth=0, zorder=1)
    errors.semilogy(times, np.maximum(error, 1e-9), color=_style.INK, linewidth=0.9, zorder=3)
    errors.set_ylim(1e-7, 5.0)
    errors.set_xlabel("s", size=7, color=_style.SOFT, labelpad=1)
    if first:
        for axes, words in ((speeds, "speed / limit"), (accelerations, "rad/s²"), (errors, "weighted error")):
            axes.set_ylabel(words, size=_style.SMALL, color=_style.SOFT)


def _chatter(run: Run) -> tuple[Array, float]:
    """The ticks in which a joint chatters, and their share."""
    acceleration = np.diff(run.q, n=2, axis=0) / run.dt**2
    a, b = acceleration[1:], acceleration[:-1]
    chatter = ((a * b < 0) & (np.minimum(np.abs(a), np.abs(b)) > CHATTER)).any(axis=1)
    return np.asarray(np.flatnonzero(chatter) + 1), float(chatter.mean())
