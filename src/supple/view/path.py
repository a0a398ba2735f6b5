"""Pictures of a path: joint values over time, and the arm along it; and its motion in the browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from supple._arrays.result import plain
from supple.frame import Array
from supple.view import Viewer, _style
from supple.view.replay import LINES
from supple.view.solution import is_horizontal, limbs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from supple.motion import Motion
    from supple.path_solution import PathSolution

_SHOWN = 9  # arms along the path
_MOST = 4000  # points of a line
_NAMED = 8  # joints that do not move
_STILL = 1e-5  # radians or metres: a joint that moves less does not move


def joints(done: PathSolution) -> Figure:
    """Joint values over time as a matplotlib Figure: a panel for each joint that moves, with its limits.

    Frames to which the arm jumps have a line, frames that are not reached a mark below. Joints that do not move are
    named at the bottom.
    """
    done = plain(done)
    motion = done.motion
    moving = np.flatnonzero(np.ptp(motion.q, axis=0) > _STILL)
    shown = moving if len(moving) else np.arange(min(1, motion.linkage.dof))
    rows = (len(shown) + 1) // 2
    with _style.plot_style():
        from matplotlib.figure import Figure as Sheet

        figure = Sheet(figsize=(10.0, 1.0 + 1.35 * rows), layout="constrained")
        figure.suptitle(f"{motion.linkage.name}: {_brief(str(done))}", size=9, x=0.01, ha="left")
        axes = figure.subplots(rows, 2, squeeze=False, sharex=True)
        for panel, joint in zip(axes.ravel(), shown, strict=False):
            _joint(panel, done, int(joint))
        for panel in axes.ravel()[len(shown) :]:
            panel.axis("off")
        unit = "s" if done._timing.is_known else "part of the path"
        for column in range(2):
            panel = axes[(len(shown) - 1 - column) // 2, column]  # the lowest of the column
            panel.tick_params(labelbottom=True)
            panel.set_xlabel(unit, size=7, color=_style.SOFT, labelpad=1)
        still = [name for joint, name in enumerate(motion.linkage.names) if joint not in shown]
        if still:
            named = ", ".join(still[:_NAMED]) + (f" and {len(still) - _NAMED} more" if len(still) > _NAMED else "")
            figure.supxlabel(f"not moving: {named}", size=7, color=_style.SOFT, x=0.01, ha="left")
    return figure


def _joint(axes: Any, done: PathSolution, joint: int) -> None:
    motion = done.motion
    every = max(1, len(motion) // _MOST)
    times, values = motion.times[::every], motion.q[::every, joint]
    axes.plot(times, values, color=LINES[joint % len(LINES)], linewidth=1.1, zorder=3)
    low, high = float(motion.q[:, joint].min()), float(motion.q[:, joint].max())
    margin = 0.12 * max(high - low, 1e-3)
    axes.set_ylim(low - margin, high + margin)
    for limit in (motion.linkage.lower[joint], motion.linkage.upper[joint]):
        if low - margin <= limit <= high + margin:
            axes.axhline(limit, color=_style.GOAL, linewidth=0.9, linestyle=(0, (4, 3)), zorder=2)
    for frame in np.flatnonzero(done.reconfigured)[:200]:
        axes.axvline(motion.times[frame], color=_style.GOAL, linewidth=0.8, zorder=1)
    missed = motion.times[~done.solution.arrived]
    axes.plot(missed, np.full(len(missed), low - 0.7 * margin), "|", color=_style.INK, markersize=4, zorder=4)
    axes.set_xlim(motion.start, motion.end)
    axes.grid(True, color=_style.GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=7, pad=3)
    axes.ticklabel_format(axis="y", useOffset=False)
    _style.heading(axes, motion.linkage.names[joint], motion.linkage.units[joint])


def arm(done: PathSolution) -> Figure:
    """The arm at some times of the path and the way of its end effectors, as a matplotlib Figure."""
    done = plain(done)
    motion = done.motion
    keys = np.unique(np.linspace(0, len(motion) - 1, _SHOWN).astype(int))
    every = max(1, len(motion) // _MOST)
    links = [goal.link for goal in done.solution.goals if not goal.is_center_of_mass]
    ways = [np.atleast_2d(motion.linkage.frame(motion.q[::every], link).position) for link in links]
    flat = is_horizontal(motion.linkage)
    with _style.plot_style():
        from matplotlib.figure import Figure as Sheet

        figure = Sheet(figsize=(7.0, 6.6))
        figure.text(0.05, 0.975, _brief(f"{motion.linkage.name}: {done}", 78), size=9, va="top", linespacing=1.4)
        axes = _plane(figure) if flat else _space(figure)
        drawn = [limbs(motion.linkage, motion.q[k]) for k in keys]
        for k, ends in zip(keys, drawn, strict=True):
            for end in ends:
                _style.limb(axes, end[:, :2] if flat else end, 4.5, 1.0 if k in (keys[0], keys[-1]) else 0.25)
        for way in ways:
            axes.plot(*way.T[: 2 if flat else 3], color=_style.GOAL, linewidth=1.6, zorder=9)
        if not flat:
            _scale(axes, np.concatenate([*(ends.reshape(-1, 3) for ends in drawn), *ways]))
    return figure


def _plane(figure: Any) -> Any:
    axes = figure.add_axes((0.08, 0.07, 0.88, 0.8))
    axes.set_aspect("equal")
    axes.grid(True, color=_style.GRID, linewidth=0.7)
    axes.tick_params(length=0, labelsize=7)
    return axes


def _space(figure: Any) -> Any:
    import mpl_toolkits.mplot3d  # noqa: F401  (registers the projection)

    axes = figure.add_axes((0.0, 0.03, 0.94, 0.88), projection="3d", computed_zorder=False)
    for pane in (axes.xaxis, axes.yaxis, axes.zaxis):
        pane.set_pane_color(_style.PAPER)
        pane.line.set_color(_style.GRID)
        pane._axinfo["grid"].update(color=_style.GRID, linewidth=0.7)
    axes.tick_params(labelsize=7, pad=0, length=0)
    axes.view_init(elev=22, azim=-58)
    return axes


def _scale(axes: Any, points: Array) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    half = np.maximum((high - low) / 2, 0.15 * float((high - low).max())) * 1.1 + 1e-9
    for name, middle, size in zip("xyz", (low + high) / 2, half, strict=True):
        getattr(axes, f"set_{name}lim")(middle - size, middle + size)
        getattr(axes, f"set_{name}label")(f"{name}, m", size=_style.SMALL, color=_style.SOFT)
    axes.set_box_aspect(half, zoom=0.95)


def play(
    viewer: Viewer,
    motion: Motion,
    *,
    rounds: int | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Show a motion in a page in real time, again and again with a pause; until Ctrl-C, or so many rounds."""
    done = 0
    while rounds is None or done < rounds:
        begin = clock()
        while (at := clock() - begin) < motion.duration:
            viewer.q = motion.at(motion.start + at)
            sleep(1 / 60)
        viewer.q = motion.q[-1]
        sleep(1.0)
        done += 1


def _brief(text: str, width: int = 150) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, width)[:3])
