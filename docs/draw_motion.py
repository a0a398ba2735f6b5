"""Draws the picture of the page on motion: ``python docs/draw_motion.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from supple import GoalPath, Interpolation, Motion, models, solve_path
from supple.view import _style

IMAGE = Path(__file__).parent / "images" / "motion.png"
SHOWN = 9  # arms in each panel


def panel(ax: Any, motion: Motion, title: str, said: str) -> None:
    """A motion: the arm at equal times, faint between its ends, and the way of its hand."""
    times = np.linspace(motion.start, motion.end, SHOWN)
    hand = motion.frame(np.linspace(motion.start, motion.end, 401), "tip").position[:, :2]
    frames = motion.frames(times).matrix[..., :2, 3]  # (times, links, 2)
    for points in frames[1:-1]:
        _style.arm(ax, points, faint=0.28, size=0.8)
    for points in frames[[0, -1]]:
        _style.arm(ax, points)
    _style.line(ax, hand[[0, -1]])
    ax.plot(*hand.T, color=_style.GOAL, linewidth=2.4, solid_capstyle="round", zorder=7)
    ax.plot(*frames[:, -1].T, "o", color=_style.GOAL, markersize=5.5, mec=_style.PAPER, zorder=8)
    for end, name, shift, side in ((0, "start", (8, 7), "left"), (-1, "goal", (-8, -14), "right")):
        ax.annotate(name, hand[end], shift, textcoords="offset points", ha=side, zorder=9)
    ax.set_title(title, loc="left", size=12, weight="bold")
    ax.set_title(said, loc="right", size=10, color=_style.GOAL)


def astray(motion: Motion) -> float:
    """How far the hand gets from the straight line between its ends, in metres."""
    hand = motion.frame(np.linspace(motion.start, motion.end, 2001), "tip").position
    along = (hand[-1] - hand[0]) / np.linalg.norm(hand[-1] - hand[0])
    return float(np.linalg.norm(np.cross(hand - hand[0], along), axis=-1).max())


def main() -> None:
    """Draw it again."""
    arm = models.planar3()
    along = solve_path(arm, GoalPath.line(arm.frame(arm.rest, "tip").position, [-20, 5, 0]).goal("tip", 201)).motion
    direct = Motion(arm, [0, 1], along.q[[0, -1]], Interpolation.LINEAR)
    with _style.plot_style():
        figure = Figure(figsize=(11, 4.0), layout="constrained")
        figure.get_layout_engine().set(wspace=0.03, w_pad=0.12, h_pad=0.08)
        axes = figure.subplots(1, 2, sharey=True)
        panel(axes[0], direct, "interpolating q", f"up to {astray(direct):.1f} m off the straight line")
        panel(axes[1], along, "following a path", f"at most {1000 * astray(along):.1g} mm off")
        for ax in axes:
            ax.set(aspect="equal", xlim=(-25, 22), ylim=(-3, 26.5), xticks=range(-20, 21, 10), yticks=range(0, 21, 10))
            ax.grid(True, color=_style.GRID, linewidth=0.7)
            ax.set_axisbelow(True)
            ax.tick_params(length=0, labelsize=8)
        figure.savefig(IMAGE, dpi=130, metadata=None)


if __name__ == "__main__":
    main()
