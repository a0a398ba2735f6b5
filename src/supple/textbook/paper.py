"""The scheme of the paper on a Kraft-like arm, compared with an exact solution that is clipped [D22-D29]."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import pi
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple import damping, method, models
from supple._solve import compilation
from supple.damping import Singularity
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solver import Solver
from supple.view import _style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINK = "tool"
SINGULARITIES = (
    Singularity.bend("elbow", joints=("shoulder", "elbow", "wrist_pitch")),
    Singularity.bend("wrist_yaw", (-pi / 2, pi / 2), joints=("wrist_pitch", "wrist_roll")),
    Singularity.off_axis("azimuth", "wrist_yaw_link", region=0.3, joints=("azimuth",)),
)
"""The singularities of `models.kraft`: elbow straight, wrist at ±90°, wrist on the azimuth axis."""
EXACT = Solver(method=method.damped(), damping=damping.none, keep_limits=False)
"""The exact solution, without any limits."""
PAPER = Solver(method=method.damped(), damping=damping.schinstock(SINGULARITIES), keep_limits=False)
"""The approximate solution of the paper."""
_START = {"shoulder": 0.2, "elbow": -0.9, "wrist_pitch": 0.7}
_SHOWN = {  # links whose origins are drawn, and the joint at each
    "shoulder_link": "azimuth",
    "upper_arm": "shoulder",
    "forearm": "elbow",
    "wrist_pitch_link": "wrist_pitch",
}
_ROWS = (
    ("pulled straight back, past the limits of elbow and wrist", -0.9),
    ("pushed straight out, past the length of the arm", 0.3),
)

_NOTE = """\
A Kraft-like arm from the side. The command moves along the dashed line to the ring and stays there; the tool moves
along the orange line. Dark rings: joints at their limits. Left: the exact solution of J dq = dx, clipped to speed and
joint limits. Right: the scheme of the paper. It lowers the weights of joints near their limits, so that the other
joints take over, and the remaining error is an error of the task."""


@dataclass(frozen=True)
class Run:
    """An arm that follows goals, tick by tick."""

    linkage: Linkage
    q: Array
    """Joint values (ticks, dof)."""
    goals: Frame
    """Goals of the tool, (ticks,) frames."""
    damping: Array
    """alpha (ticks,)."""
    weights: Array
    """Weights of the joints (ticks, dof)."""
    speed_ratio: Array
    """The largest requested joint speed over its limit (ticks,)."""

    @cached_property
    def tool(self) -> Array:
        """Positions of the tool (ticks, 3), in metres."""
        return self.linkage.frame(self.q, LINK).position

    @property
    def deviation(self) -> float:
        """The largest distance of the tool from the line between the first goal and the last, in metres."""
        a, b = self.goals.position[0], self.goals.position[-1]
        along = (b - a) / np.linalg.norm(b - a)
        off = self.tool - a
        return float(np.linalg.norm(off - np.outer(off @ along, along), axis=-1).max())


def drive(solver: Solver, linkage: Linkage, goals: Frame, start: ArrayLike, dt: float = 1 / 300) -> Run:
    """In each tick, the step of a solver from q (dof,), clipped to speed limits and joint limits."""
    compiled = compilation.compiled(linkage, [Goal(LINK, goals[0])], solver)
    memory, options = compiled.memory(), solver._callbacks()
    q, rows = np.array(start, dtype=float), []
    for numbers in Goal(LINK, goals)._encoded(goals.shape):
        step, alpha, weights = compiled.tick(q, numbers[None], dt, memory, None, *options)
        most = linkage.speed * dt
        q = linkage.clamp(linkage.integrate(q, np.clip(step, -most, most)))
        rows.append((q, alpha, weights, np.abs(step / most).max()))
    return Run(linkage, np.array([row[0] for row in rows]), goals, *(np.array([r[i] for r in rows]) for i in (1, 2, 3)))


def straight_line(
    start: Frame, vector: ArrayLike, seconds: float = 3.0, hold: float = 1.0, dt: float = 1 / 300
) -> Frame:
    """Goals (ticks,) from a frame along a vector (3,) with minimum jerk, then held."""
    s = np.clip(np.arange(dt, seconds + hold + dt / 2, dt) / seconds, 0, 1)
    matrix = np.tile(start.matrix, (len(s), 1, 1))
    matrix[:, :3, 3] += (s**3 * (10 + s * (6 * s - 15)))[:, None] * np.asarray(vector, dtype=float)
    return Frame(matrix)


def runs() -> list[tuple[str, Run, Run]]:
    """The rows of the picture: a description, the exact solution clipped, and the scheme of the paper."""
    arm = models.kraft()
    q = arm.q(_START)
    found = []
    for words, x in _ROWS:
        goals = straight_line(arm.frame(q, LINK), [x, 0, 0])
        found.append((words, drive(EXACT, arm, goals, q), drive(PAPER, arm, goals, q)))
    return found


def draw() -> Figure:
    """The picture as a matplotlib Figure with ``savefig``."""
    with _style.plot_style():
        rows = runs()
        figure: Figure
        figure, panels = _style.sheet(
            "Approximation in joint space and in task space",
            [words for words, *_ in rows],
            2,
            (-0.15, 2.42, -0.36, 0.68),
            width=11.0,
            ticks=0.5,
            note=_NOTE,
        )
        for line, (_, exact, paper) in zip(panels, rows, strict=True):
            _panel(line[0], exact, "exact, then clipped")
            _panel(line[1], paper, "scheme of the paper")
        return figure


def save(path: str | Path, dpi: int = 110) -> Path:
    """Write the picture to a file in the format of its ending."""
    from supple.view import image

    image.write(draw(), Path(path), dpi)
    return Path(path)


def _panel(axes: _style.Axes, run: Run, title: str) -> None:
    places = _side(run)
    goal = run.goals.position[:, [0, 2]]
    for i in (0, *np.searchsorted(np.linspace(0, 1, len(places)), (0.25, 0.4, 0.55))):
        _style.arm(axes, places[i], faint=0.25, size=0.75)
    _style.arm(axes, places[-1], size=0.85)
    _style.line(axes, goal[[0, -1]])
    axes.plot(*run.tool[:, [0, 2]].T, color=_style.GOAL, linewidth=2.4, solid_capstyle="round", zorder=7)
    _style.goal(axes, goal[-1])
    _style.heading(axes, title, f"deviates by {100 * run.deviation:.0f} cm")
    q, arm = run.q[-1], run.linkage
    for name, place in zip(_SHOWN.values(), places[-1], strict=False):
        column = arm.names.index(name)
        if min(arm.upper[column] - q[column], q[column] - arm.lower[column]) < 1e-3:
            axes.plot(*place, "o", color="none", markersize=15, mec=_style.INK, mew=1.6, zorder=6)


def _side(run: Run) -> Array:
    """Positions of joints and tool from the side (ticks, n, 2)."""
    frames = run.linkage.frames(run.q)
    return np.stack([frames[link].position[:, [0, 2]] for link in (*_SHOWN, LINK)], axis=1)
