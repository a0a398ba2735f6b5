"""Draws the picture of the page on the search: ``python docs/draw_search.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from supple import Frame, Goal, Joint, Linkage, Solver, method, models, solve
from supple.frame import Array
from supple.view import _style, image

IMAGE = Path(__file__).parent / "images" / "search.png"
EDGES = np.linspace(0, 30, 7)  # of the rings that samples are sorted into, in metres
SPREAD = np.array([0.7548776662, 0.5698402910])  # powers of the root of x^3 = x + 1: they fill a square evenly
SHADES = LinearSegmentedColormap.from_list("paper", ["#d9c9b0", "#efe8dc", "#f8f5ef"])


def points(linkage: Linkage, q: Array, tip: str) -> Array:
    """Positions of the links of a chain (links, 3), from the root to the tip."""
    above = {joint.child: joint.parent for joint in linkage.joints}
    frames, way = linkage.frames(q), [tip]
    while way[-1] in above:
        way.append(above[way[-1]])
    return np.array([frames[link].position for link in reversed(way)])


def begin(axes: Any) -> None:
    """Samples of three links by the distance of their tip; the best in the ring of the goal, rotated to the goal."""
    arm, goal = models.planar3(), np.array([8.0, 17.0])
    samples = arm.random(500, seed=4)
    samples[:, 0] = 0
    hands = arm.frame(samples, "tip").position[:, :2]
    far = np.linalg.norm(hands, axis=1)
    ring = int(np.searchsorted(EDGES, np.linalg.norm(goal)))
    inside = (far > EDGES[ring - 1]) & (far < EDGES[ring])
    turn = np.linspace(0, 2 * np.pi, 181)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    for edge in EDGES[1:]:
        axes.plot(*edge * circle, color=_style.GRID, linewidth=0.9, zorder=1)
    band = np.concatenate([EDGES[ring - 1] * circle, EDGES[ring] * circle[:, ::-1]], axis=1)
    axes.fill(*band, color=_style.GOAL, alpha=0.1, linewidth=0, zorder=1)
    axes.plot(*hands[~inside].T, ".", color=_style.RIM, markersize=2.5, alpha=0.7, zorder=2)
    axes.plot(*hands[inside].T, ".", color=_style.GOAL, markersize=3.5, alpha=0.8, zorder=2)
    best = np.flatnonzero(inside)[np.argsort(abs(far[inside] - np.linalg.norm(goal)))[:4]]
    for row in best[::-1]:
        q = samples[row].copy()
        q[0] = np.arctan2(goal[1], goal[0]) - np.arctan2(hands[row, 1], hands[row, 0])
        _style.arm(axes, points(arm, q, "tip")[:, :2], faint=1.0 if row == best[0] else 0.4, size=0.75)
    _style.goal(axes, goal)
    axes.set(xlim=(-25, 31), ylim=(-28, 28), xticks=[], yticks=[])


def descent(arm: Linkage, place: Array, q: Array) -> tuple[Array, bool]:
    """The path of one seed through joint space (steps, dof), and whether it converges or is abandoned."""
    way, weight = [q], np.pi / arm.reach("tip")
    errors: list[float] = []
    while True:
        distance = float(np.linalg.norm(place - arm.frame(way[-1], "tip").position))
        errors.append((weight * distance) ** 2)
        stalls = len(errors) > 4 and errors[-1] > 0.5 * errors[-5]
        if distance < 1e-6 or stalls or len(way) > 30:
            return np.array(way), distance < 1e-6
        solver = Solver(method=method.damped(), damping=0.02 * errors[-1] + 1e-12)
        way.append(solver.step(arm, Goal("tip", position=place), way[-1]))


def downhill(axes: Any) -> None:
    """The joint space of two links, the error in it, and the paths of some seeds."""
    joints = [
        Joint.revolute("one", "base", "upper", lower=-2.8, upper=2.8),
        Joint.revolute("two", "upper", "fore", at=Frame.at([15, 0, 0]), lower=-2.6, upper=2.6),
        Joint.fixed("hand", "fore", "tip", at=Frame.at([10, 0, 0])),
    ]
    arm, place = Linkage("two", joints), np.array([-2.0, 17.0, 0])
    x, y = (np.linspace(a, b, 141) for a, b in zip(arm.lower, arm.upper, strict=True))
    away = np.linalg.norm(arm.frame(np.stack(np.meshgrid(x, y), axis=-1), "tip").position - place, axis=-1)
    axes.contourf(x, y, away, levels=16, cmap=SHADES, zorder=0)
    axes.contour(x, y, away, levels=16, colors=[_style.PAPER], linewidths=0.5, zorder=1)
    for k in range(1, 17):
        part = (0.5 + k * SPREAD) % 1
        way, arrives = descent(arm, place, arm.lower + part * (arm.upper - arm.lower))
        colour = _style.JOINT if arrives else _style.SOFT
        axes.plot(*way.T, "-o", color=colour, linewidth=1.3, markersize=2.2, zorder=3)
        axes.plot(*way[0], "o", color=_style.PAPER, markersize=4.5, mec=colour, mew=1.2, zorder=4)
        if not arrives:
            axes.plot(*way[-1], "x", color=_style.INK, markersize=7, mew=1.8, zorder=5)
    for answer in solve(arm, Goal("tip", position=place), solutions=4).q:
        _style.goal(axes, answer)
    axes.set(xlim=(-3, 3), ylim=(-2.8, 2.8), xticks=[], yticks=[])


def answers(axes: Any) -> None:
    """All solutions of a UR5 for one frame, the nearest to the start in front, and the start as a dashed line."""
    arm, seen = models.ur5(), Frame.turn([0, 0, 1], 0.3).rotation
    start = np.array([-0.3, -1.7, 1.5, -2.4, -1.2, 1.5])
    frame = Frame.at([0.55, 0.1, 0.45], Frame.turn([0, 1, 0], 2.2))
    found = solve(arm, Goal("tool0", frame), start, solutions=16)
    for k in reversed(range(len(found))):
        flat = points(arm, found.q[k], "tool0") @ seen.T
        _style.arm(axes, flat[:, [0, 2]], faint=1.0 if k == 0 else 0.35, size=0.75)
    _style.line(axes, (points(arm, start, "tool0") @ seen.T)[:, [0, 2]], _style.INK, width=1.3)
    _style.goal(axes, (frame.position @ seen.T)[[0, 2]])
    axes.set(xticks=[], yticks=[])
    axes.set_aspect("equal", adjustable="datalim")


def main() -> None:
    """Draw the picture."""
    shown = (
        (
            begin,
            "1. seeds",
            "a table holds joint values that lead near the goal",
            "samples of three links; the first joint follows from the goal",
        ),
        (
            downhill,
            "2. iterations, several seeds in parallel",
            "some converge; those that stall are abandoned",
            "horizontal: joint 1, vertical: joint 2, from limit to limit",
        ),
        (
            answers,
            "3. solutions",
            "the first, the nearest to a start, or all",
            "eight solutions of a UR5 for one frame; dashed: the start",
        ),
    )
    with _style.plot_style():
        figure = Figure(figsize=(12, 4.7), layout="constrained")
        layout: Any = figure.get_layout_engine()
        layout.set(wspace=0.04, w_pad=0.1, h_pad=0.08)
        for axes, (draw, title, words, below) in zip(figure.subplots(1, 3), shown, strict=True):
            draw(axes)
            axes.set_box_aspect(1)
            axes.set_title(title, loc="left", size=11, pad=20)
            axes.text(0, 1.025, words, transform=axes.transAxes, size=8.5, color=_style.SOFT)
            axes.set_xlabel(below, size=8.5, color=_style.SOFT)
    image.write(figure, IMAGE, 130)


if __name__ == "__main__":
    main()
