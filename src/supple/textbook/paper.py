"""Why approximate in the task space: the paper's loop on a Kraft-like arm, beside an exact solution that is clipped."""

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
"""All there are on `models.kraft`: elbow straight, wrist turned aside, wrist over the azimuth axis."""
EXACT = Solver(method=method.damped(), damping=damping.none, keep_limits=False)
"""The exact solution, whatever it asks of the joints."""
PAPER = Solver(method=method.damped(), damping=damping.schinstock(SINGULARITIES), keep_limits=False)
"""The paper's approximation."""
_START = {"shoulder": 0.2, "elbow": -0.9, "wrist_pitch": 0.7}
_SHOWN = {  # links whose origins are drawn, and the joint at each
    "shoulder_link": "azimuth",
    "upper_arm": "shoulder",
    "forearm": "elbow",
    "wrist_pitch_link": "wrist_pitch",
}
_ROWS = (
    ("pulled straight back, past what elbow and wrist can bend", -0.9),
    ("pushed straight out, past the length of the arm", 0.3),
)

_NOTE = """\
A Kraft-like arm from the side. The operator goes straight along the dashed line to the ring and stays there; the tool
goes along the orange line. Dark rings: joints at their limits. Left, the exact solution of J dq = dx, of which each
joint does what it can. Right, the paper's: joints that cannot take part are weighted down first, so that the others
make up for them, and what remains undone is a part of the task."""


@dataclass(frozen=True)
class Run:
    """An arm that was driven along some goals, tick by tick."""

    linkage: Linkage
    q: Array
    """Joint values (ticks, dof)."""
    goals: Frame
    """Where its tool was asked to be, (ticks,) frames."""
    damping: Array
    """alpha (ticks,)."""
    weights: Array
    """Of the joints (ticks, dof)."""
    asked: Array
    """The fastest that any joint was asked to go, over its speed limit (ticks,)."""

    @cached_property
    def hand(self) -> Array:
        """Where the tool was (ticks, 3), in metres."""
        return self.linkage.frame(self.q, LINK).position

    @property
    def stray(self) -> float:
        """How far the tool strayed from the straight line between its first goal and its last, in metres."""
        a, b = self.goals.position[0], self.goals.position[-1]
        along = (b - a) / np.linalg.norm(b - a)
        off = self.hand - a
        return float(np.linalg.norm(off - np.outer(off @ along, along), axis=-1).max())


def drive(solver: Solver, linkage: Linkage, goals: Frame, start: ArrayLike, dt: float = 1 / 300) -> Run:
    """Tick after tick: the raw step of a solver from q (dof,), and of it what joints can do within speed and limits."""
    plan = compilation.compiled(linkage, [Goal(LINK, goals[0])], solver)
    memory, asked = plan.memory(), solver._callbacks()
    q, rows = np.array(start, dtype=float), []
    for numbers in Goal(LINK, goals)._encoded(goals.shape):
        step, alpha, weights = plan.tick(q, numbers[None], dt, memory, None, *asked)
        most = linkage.speed * dt
        q = linkage.clamp(linkage.integrate(q, np.clip(step, -most, most)))
        rows.append((q, alpha, weights, np.abs(step / most).max()))
    return Run(linkage, np.array([row[0] for row in rows]), goals, *(np.array([r[i] for r in rows]) for i in (1, 2, 3)))


def along(start: Frame, way: ArrayLike, seconds: float = 3.0, hold: float = 1.0, dt: float = 1 / 300) -> Frame:
    """Goals (ticks,) from a frame along a vector (3,), without a jerk at either end, and then held."""
    s = np.clip(np.arange(dt, seconds + hold + dt / 2, dt) / seconds, 0, 1)
    matrix = np.tile(start.matrix, (len(s), 1, 1))
    matrix[:, :3, 3] += (s**3 * (10 + s * (6 * s - 15)))[:, None] * np.asarray(way, dtype=float)
    return Frame(matrix)


def runs() -> list[tuple[str, Run, Run]]:
    """Each row of the picture: what is done, the exact solution clipped, and the paper's."""
    arm = models.kraft()
    q = arm.q(_START)
    found = []
    for words, way in _ROWS:
        goals = along(arm.frame(q, LINK), [way, 0, 0])
        found.append((words, drive(EXACT, arm, goals, q), drive(PAPER, arm, goals, q)))
    return found


def draw() -> Figure:
    """The picture: a matplotlib Figure, which knows ``savefig``."""
    with _style.look():
        rows = runs()
        figure: Figure
        figure, panels = _style.sheet(
            "Approximate in the joints, or in the task",
            [words for words, *_ in rows],
            2,
            (-0.15, 2.42, -0.36, 0.68),
            width=11.0,
            ticks=0.5,
            note=_NOTE,
        )
        for line, (_, exact, paper) in zip(panels, rows, strict=True):
            _panel(line[0], exact, "exact, then clipped to the joints")
            _panel(line[1], paper, "approximate in the task space")
        return figure


def save(path: str | Path, dpi: int = 110) -> Path:
    """Write the picture to a file; the ending says how."""
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
    axes.plot(*run.hand[:, [0, 2]].T, color=_style.GOAL, linewidth=2.4, solid_capstyle="round", zorder=7)
    _style.goal(axes, goal[-1])
    _style.heading(axes, title, f"strays {100 * run.stray:.0f} cm from the line")
    q, arm = run.q[-1], run.linkage
    for name, place in zip(_SHOWN.values(), places[-1], strict=False):
        column = arm.names.index(name)
        if min(arm.upper[column] - q[column], q[column] - arm.lower[column]) < 1e-3:
            axes.plot(*place, "o", color="none", markersize=15, mec=_style.INK, mew=1.6, zorder=6)


def _side(run: Run) -> Array:
    """Where the joints and the tool are from the side (ticks, n, 2)."""
    frames = run.linkage.frames(run.q)
    return np.stack([frames[link].position[:, [0, 2]] for link in (*_SHOWN, LINK)], axis=1)
