"""Figures 5.20 to 5.25: an arm that follows a moving goal, some of its frames side by side."""

from __future__ import annotations

import numpy as np

from supple.frame import Array
from supple.textbook import chapter
from supple.view import _style

TITLES = {
    "5.20": "5.20   A straight line, without and with damping",
    "5.21": "5.21   Towards a goal out of reach, without and with damping",
    "5.22": "5.22   What the spare joint does: a preference for straight joints",
    "5.23": "5.23   The alternative Jacobian: the goal is pulled to the hand",
    "5.24": "5.24   The transpose instead of an inverse",
    "5.25": "5.25   One joint at a time: cyclic coordinate descent",
}
NOTE = (
    "planar3: links of 15, 10 and 5 m. Ring: the goal at the end. Small dot: the goal of this frame. "
    "Line: the way of the hand so far; dashes: the way it was asked to go."
)


def draw(name: str) -> _style.Figure:
    """One of the figures with frames."""
    rows, frames = chapter.runs(name), chapter.shown(name)
    points = [chapter.places(run.linkage, run.q) for run in rows]
    seen = np.concatenate([*(p.reshape(-1, 2) for p in points), *(run.goals[:, :2] for run in rows)])
    low, high = seen.min(axis=0), seen.max(axis=0)
    limits = (low[0] - 3, high[0] + 3, min(low[1], 0) - 3, high[1] + 3)
    mark = [f"({letter})  " if len(rows) > 1 else "" for letter in "ab"[: len(rows)]]
    said = [f"{letter}{run.label}: {_ending(name, run)}" for letter, run in zip(mark, rows, strict=True)]
    figure, panels = _style.sheet(TITLES[name], said, len(frames), limits, note=NOTE)
    for run, place, row in zip(rows, points, panels, strict=True):
        for k, axes in zip(frames, row, strict=True):
            _frame(axes, run, place, k, [before for before in frames if before < k])
    return figure


def _frame(axes: _style.Axes, run: chapter.Run, place: Array, k: int, before: list[int]) -> None:
    for i, ghost in enumerate(before):
        _style.arm(axes, place[ghost], faint=0.12 + 0.1 * i / len(before))
    _style.line(axes, run.goals[[0, -1], :2])
    axes.plot(*run.hand[: k + 1, :2].T, color=_style.INK, linewidth=1.2, zorder=6)
    axes.plot(*run.hand[: k + 1, :2].T, ".", color=_style.INK, markersize=3, zorder=6)
    _style.goal(axes, run.goals[-1, :2])
    _style.arm(axes, place[k])
    axes.plot(*run.goals[k, :2], "o", color=_style.GOAL, markersize=3.5, zorder=8)
    _style.heading(axes, f"frame {k}", f"{run.away[k]:.3f} m away" if k else "")


def _ending(name: str, run: chapter.Run) -> str:
    if name == "5.22":
        second, third = run.q[-1, 1:]
        return f"ends {run.away[-1]:.3f} m from the goal, joint 2 at {second:.2f} and joint 3 at {third:.2f} rad"
    return f"ends {run.away[-1]:.3f} m from the goal; the largest change in a frame is {run.largest:.3f} rad"
