"""Figures 5.20 to 5.25: an arm follows a moving goal; some of the frames in a row."""

from __future__ import annotations

import numpy as np

from supple.frame import Array
from supple.textbook import chapter
from supple.view import _style

TITLES = {
    "5.20": "5.20   A straight line, without and with damping",
    "5.21": "5.21   A goal out of reach, without and with damping",
    "5.22": "5.22   The null space: a preference for straight joints",
    "5.23": "5.23   The alternative Jacobian",
    "5.24": "5.24   The transpose of the Jacobian",
    "5.25": "5.25   Cyclic coordinate descent",
}
NOTE = (
    "planar3: links of 15, 10 and 5 m. Ring: the last goal. Small dot: the goal of this frame. "
    "Line: path of the end effector so far; dashes: path of the goal."
)


def draw(name: str) -> _style.Figure:
    """One of these figures."""
    rows, frames = chapter.runs(name), chapter.shown(name)
    points = [chapter.places(run.linkage, run.q) for run in rows]
    drawn = np.concatenate([*(p.reshape(-1, 2) for p in points), *(run.goals[:, :2] for run in rows)])
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    limits = (low[0] - 3, high[0] + 3, min(low[1], 0) - 3, high[1] + 3)
    mark = [f"({letter})  " if len(rows) > 1 else "" for letter in "ab"[: len(rows)]]
    headings = [f"{letter}{run.label}: {_ending(name, run)}" for letter, run in zip(mark, rows, strict=True)]
    figure, panels = _style.sheet(TITLES[name], headings, len(frames), limits, note=NOTE)
    for run, place, row in zip(rows, points, panels, strict=True):
        for k, axes in zip(frames, row, strict=True):
            _frame(axes, run, place, k, [before for before in frames if before < k])
    return figure


def _frame(axes: _style.Axes, run: chapter.Run, place: Array, k: int, before: list[int]) -> None:
    for i, ghost in enumerate(before):
        _style.arm(axes, place[ghost], faint=0.12 + 0.1 * i / len(before))
    _style.line(axes, run.goals[[0, -1], :2])
    axes.plot(*run.end_effector[: k + 1, :2].T, color=_style.INK, linewidth=1.2, zorder=6)
    axes.plot(*run.end_effector[: k + 1, :2].T, ".", color=_style.INK, markersize=3, zorder=6)
    _style.goal(axes, run.goals[-1, :2])
    _style.arm(axes, place[k])
    axes.plot(*run.goals[k, :2], "o", color=_style.GOAL, markersize=3.5, zorder=8)
    _style.heading(axes, f"frame {k}", f"{run.distance[k]:.3f} m from the goal" if k else "")


def _ending(name: str, run: chapter.Run) -> str:
    if name == "5.22":
        second, third = run.q[-1, 1:]
        return f"ends {run.distance[-1]:.3f} m from the goal, joint 2 at {second:.2f} and joint 3 at {third:.2f} rad"
    return f"ends {run.distance[-1]:.3f} m from the goal; largest change in a frame {run.largest_change:.3f} rad"
