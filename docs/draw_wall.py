"""Draws the picture of the page on tracking, an arm pushed past its reach: ``python docs/draw_wall.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from supple import Solver, gauntlet, method
from supple.frame import Array
from supple.view import _style, image

IMAGE = Path(__file__).parent / "images" / "wall.png"
LINES = ("#5f8688", "#7a6c9d", "#b08a3e", "#8fa66f", "#a5707a", "#6f87b0")  # one for each joint


class Textbook:
    """The whole error at once, by the pseudo-inverse; what it asks for is clipped as hardware would."""

    def __init__(self, arm: gauntlet.Arm, dt: float) -> None:
        self.arm = arm

    def reset(self, q: Array) -> None:
        """Begin anew."""

    def step(self, q: Array, command: Array, dt: float, stamp: float | None = None) -> Array:
        """The next joint values (dof,)."""
        jacobian = self.arm.linkage.jacobian(q, self.arm.link)
        return np.asarray(q + np.linalg.pinv(jacobian) @ self.arm.error(q, command))


def column(speeds: Any, errors: Any, run: gauntlet.Run) -> None:
    """What the joints do, above how far the hand is from the command."""
    reference, times = run.hazard.reference, run.times
    rates = np.diff(run.q, axis=0) / run.dt / run.hazard.arm.speed
    for joint, colour in enumerate(LINES):
        speeds.plot(times, rates[:, joint], color=colour, linewidth=1.0)
    error = np.linalg.norm(run.error(run.hazard.frames(run.rate)) * run.hazard.arm.weights, axis=1)
    least = np.interp(times, reference.times, reference.least)
    errors.fill_between(times, 1e-9, np.maximum(least, 1e-9), color=_style.LIMB, linewidth=0)
    errors.semilogy(times, np.maximum(error, 1e-9), color=_style.GOAL, linewidth=1.6)
    for axes in (speeds, errors):
        axes.set(xlim=(0, 8), xticks=range(0, 9, 2))
        axes.grid(True, color=_style.GRID, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.tick_params(length=0, labelsize=8)
        for begin, end in reference.unreachable:
            axes.axvspan(begin, end, color=_style.GRID, alpha=0.6, linewidth=0, zorder=0)


def main() -> None:
    """Draw it again."""
    (hazard,) = gauntlet.hazards("ur5", ["s4"])
    shown: dict[str, tuple[Any, str]] = {
        "the pseudo-inverse": (Textbook, "asks for {raw:,.0f} times the speed limit, chatters"),
        "the same, inside bounds": (gauntlet.tracked(Solver(method=method.pseudoinverse())), "swings on and on"),
        "the tracker": (gauntlet.tracked(), "as near as can be, at rest, and back"),
    }
    with _style.plot_style():
        figure = Figure(figsize=(11, 4.6), layout="constrained")
        layout: Any = figure.get_layout_engine()
        layout.set(wspace=0.03, w_pad=0.12, h_pad=0.08)
        axes = figure.subplots(2, 3, sharex=True, sharey="row")
        for k, (name, (controller, said)) in enumerate(shown.items()):
            run = gauntlet.run(hazard, controller)
            column(axes[0, k], axes[1, k], run)
            axes[0, k].set_title(name, loc="left", size=11, pad=20)
            words = said.format(raw=float(f"{gauntlet.measure(run)['raw_ratio_max']:.1g}"))
            axes[0, k].text(0, 1.035, words, transform=axes[0, k].transAxes, size=8.5, color=_style.SOFT)
            axes[1, k].set_xlabel("seconds", size=8.5, color=_style.SOFT)
        axes[0, 0].set(ylim=(-1.15, 1.15), yticks=[-1, 0, 1])
        axes[0, 0].set_ylabel("joint speeds / their limits", color=_style.SOFT)
        axes[1, 0].set(ylim=(1e-7, 9.0), yticks=[1e-6, 1e-4, 1e-2, 1])
        axes[1, 0].set_ylabel("weighted error", color=_style.SOFT)
        axes[1, 0].text(3.55, 1e-4, "the least that\nis possible", ha="center", size=8.5, color=_style.INK)
        axes[0, 2].text(3.55, 0.8, "command out of reach", ha="center", size=8.5, color=_style.SOFT)
    image.write(figure, IMAGE, 130)


if __name__ == "__main__":
    main()
