"""Draws the picture of the page on paths: ``python docs/draw_paths.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from supple import Frame, Goal, Linkage, Solver, models, solve_path
from supple.view import _style

IMAGE = Path(__file__).parent / "images" / "paths.png"
LINES = ("#5f8688", "#7a6c9d", "#b08a3e", "#8fa66f", "#a5707a", "#6f87b0", "#9a8f80")
FRAMES, RATE, SEED = 300, 30.0, 14


def motion(arm: Linkage, seed: int) -> np.ndarray:
    """A random smooth motion (frames, dof) of which only the poses of the end effector are used."""
    random, s = np.random.default_rng(seed), np.linspace(0, 1, FRAMES)[:, None]
    wave = np.sin(2 * np.pi * random.uniform(0.5, 1.2, (1, arm.dof)) * s + random.uniform(0, 6, (1, arm.dof)))
    return np.asarray((arm.lower + arm.upper) / 2 + 0.42 * (arm.upper - arm.lower) * wave)


def main() -> None:
    """Draw the picture."""
    arm, link = models.panda(), "panda_hand_tcp"
    poses = arm.frame(motion(arm, SEED), link)
    alone, q = [], None
    for pose in poses.matrix:
        q = Solver().solve(arm, Goal(link, pose), q).q
        alone.append(q)
    planned = solve_path(arm, Goal(link, Frame(poses.matrix)), rate=RATE)
    times = np.arange(FRAMES) / RATE
    with _style.plot_style():
        figure = Figure(figsize=(11, 4.0), layout="constrained")
        axes = figure.subplots(1, 2, sharey=True)
        for ax, rows, title in (
            (axes[0], np.array(alone), "frame by frame"),
            (axes[1], planned.q, "planned as a whole"),
        ):
            for joint, colour in enumerate(LINES):
                ax.plot(times, rows[:, joint], color=colour, linewidth=1.4)
            step = np.abs(np.diff(rows[:, :7], axis=0))
            jumps = (step > np.minimum(arm.speed[:7] / RATE, 0.3)).any(axis=1)
            for frame in np.flatnonzero(jumps):
                ax.axvline(times[frame + 1], color=_style.GOAL, linewidth=0.8, alpha=0.3, zorder=1)
            count, way = int(jumps.sum()), float(np.linalg.norm(step, axis=1).sum())
            said = f"{count} jump{'' if count == 1 else 's'}, joints move {way:.1f} rad"
            ax.set_title(title, loc="left", size=12, weight="bold")
            ax.set_title(said, loc="right", size=10, color=_style.GOAL)
            ax.set_xlabel("s", size=8)
            ax.grid(True, color=_style.GRID, linewidth=0.7)
            ax.set_axisbelow(True)
            ax.tick_params(length=0, labelsize=8)
        axes[0].set_ylabel("joint values, rad", size=8)
        figure.savefig(IMAGE, dpi=130, metadata=None)


if __name__ == "__main__":
    main()
