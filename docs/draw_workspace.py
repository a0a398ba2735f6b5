"""Draws the picture of the page on workspaces: ``python docs/draw_workspace.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import ArrayLike

import supple
from supple.workspace import dexterous, reachable

mpl.use("Agg")
from matplotlib import pyplot  # after the choice of where to draw

IMAGE = Path(__file__).parent / "images" / "workspace.png"
INK, PAPER = "#1d1d1f", "white"


def bones(ax: Any, linkage: supple.Linkage, q: ArrayLike, tip: str, axes: tuple[int, int]) -> None:
    """The linkage as a line from joint to joint, seen along the axis that is left out."""
    above = {joint.child: joint.parent for joint in linkage.joints}
    frames, way = linkage.frames(q), [tip]
    while way[-1] in above:
        way.append(above[way[-1]])
    x, y = (np.array([frames[link].position[axis] for link in way]) for axis in axes)
    ax.plot(x, y, "-o", color=PAPER, linewidth=6, markersize=9, solid_capstyle="round", zorder=4)
    ax.plot(x, y, "-o", color=INK, linewidth=3, markersize=5.5, solid_capstyle="round", zorder=5)
    ax.plot(x[0], y[0], "o", color="#d1495b", markeredgecolor=PAPER, markersize=9, zorder=6)


def planar(ax: Any) -> None:
    """Three links in a plane: the part of all turns that is reached, and where theory puts its edges."""
    arm = supple.models.planar3()
    dexterous(arm, "tip", orientations=72, voxel=0.5, samples=400_000).draw(ax)
    angle = np.linspace(0, 2 * np.pi, 361)
    for radius, style in ((10, "--"), (20, "--")):
        ax.plot(radius * np.cos(angle), radius * np.sin(angle), style, color=INK, linewidth=1.1)
    bones(ax, arm, arm.rest, "tip", (0, 1))
    ax.set_title("three links of 15, 10 and 5 m:\nany orientation between the dashed circles")


def side(ax: Any) -> None:
    """The Panda from its side: how often random joint values bring the hand to each place."""
    arm = supple.models.panda()
    reachable(arm, "panda_hand_tcp", 12_000_000, voxel=0.03).draw(ax)
    bones(ax, arm, arm.rest, "panda_hand_tcp", (0, 2))
    ax.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    ax.set_title("Panda, section through its base:\nwhere its hand gets, at random")


def main() -> None:
    """Draw it again."""
    pyplot.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.9), layout="constrained")
    planar(left)
    side(right)
    figure.savefig(IMAGE, dpi=130)
    print(f"{IMAGE.name}: {IMAGE.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
