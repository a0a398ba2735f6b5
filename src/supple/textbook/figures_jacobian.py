"""Figures 5.16 to 5.19: how each joint moves the hand, and where none of them helps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from supple import method, models
from supple.analysis import constraint
from supple.frame import Array, Frame
from supple.joint import Joint
from supple.linkage import Linkage
from supple.textbook import chapter
from supple.view import _style

BENT = np.array(chapter.START)
PART = 0.35  # radians: how far each joint is thought to turn where its arrow is drawn
WANTED = np.array([3.0, 23.5])
BEND = np.array([0.2, -0.25, -0.25])


def changes(linkage: Linkage, q: ArrayLike) -> Array:
    """How the hand moves for each joint (dof, 2), in metres a radian: the columns of the Jacobian."""
    columns: Array = linkage.jacobian(q, chapter.LINK)[:2].T
    return columns


def spread() -> tuple[Array, Array]:
    """The smallest step that is wanted of each joint to bring the hand to `WANTED`, and what each adds (dof, 2)."""
    arm = models.planar3()
    step = chapter.plainly(method.pseudoinverse()).step(arm, chapter.wanted([*WANTED, 0]), BENT) - BENT
    return step, step[:, None] * changes(arm, BENT)


def straight() -> tuple[Array, Array]:
    """Joint values of a straight arm and a goal (2,) on its forearm: singular, yet well within reach."""
    q = np.array([0.4, 0.0, 0.0])
    return q, 21.0 * np.array([np.cos(0.4), np.sin(0.4)])


def _joint_arrows(axes: _style.Axes, hand: Array, columns: Array, beside: bool = False) -> None:
    """The change of the hand for each joint, with its name before the arrow's head or beside it."""
    for i, (column, colour) in enumerate(zip(columns, _style.ARROWS, strict=True), 1):
        x, y = change = PART * column
        _style.arrow(axes, hand, change, colour)
        aside = np.array([y, -x]) if beside else change
        _style.say(axes, hand + change + 1.6 * aside / np.linalg.norm(aside), f"$g_{i}$", colour)


def figure_16() -> _style.Figure:
    """A turn moves the hand across the lever, a slide moves it along itself."""
    note = "v: velocity of the hand E for a joint at P, from the columns of the Jacobian."
    limits = (-6.0, 30.0, -5.0, 23.0)
    figure, [[left, right]] = _style.sheet(
        "5.16   What one joint does to the hand", [""], 2, limits, width=9.5, note=note
    )
    arm, q = models.planar2(), [0.35, 0.55]
    points, column = chapter.places(arm, q), changes(arm, q)[0]
    hand, lever = points[-1], np.linalg.norm(points[-1])
    at = float(np.arctan2(hand[1], hand[0]))
    _style.turn(left, points[0], float(lever), at - 0.35, at + 0.32, _style.SOFT, False)
    _style.arm(left, points)
    _style.line(left, [points[0], hand], _style.INK)
    _style.turn(left, points[0], 4.0, -0.6, 2.6, _style.JOINT, True)
    _style.arrow(left, hand, PART * column, _style.GOAL)
    _style.say(left, [-3.6, 4.0], "$\\omega$", _style.JOINT, size=12)
    _style.say(left, [0, -3.2], "P")
    _style.say(left, hand + np.array([1.9, 0.3]), "E")
    _style.say(left, hand + PART * column + [0, 1.5], "$v = \\omega \\times (E - P)$", _style.GOAL)
    _style.heading(left, "a turn: across the lever", f"{np.linalg.norm(column):.1f} m a radian")

    slider = Linkage(
        "slider",
        [
            Joint.prismatic("slide", "rail", "cart", axis=[np.cos(0.35), np.sin(0.35), 0], lower=0, upper=20),
            Joint.revolute("elbow", "cart", "fore"),
            Joint.fixed("tip_mount", "fore", "tip", at=Frame.at([10, 0, 0])),
        ],
    )
    q = [13.0, 1.3]
    points, column = chapter.places(slider, q)[1:], changes(slider, q)[0]
    ends = [slider.frame([s, 0], "cart").position[:2] for s in (0, 20)]
    right.plot(*np.transpose(ends), color=_style.RIM, linewidth=3, solid_capstyle="round", zorder=2)
    _style.arm(right, points)
    speed = 6 * column
    _style.arrow(right, points[0], speed, _style.JOINT)
    _style.arrow(right, points[-1], speed, _style.GOAL)
    _style.say(right, points[0] + [0.6, -2.2], "P")
    _style.say(right, points[-1] + [-1.7, 0.6], "E")
    _style.say(right, points[-1] + speed + [1.4, 0.6], "$v$", _style.GOAL)
    _style.heading(right, "a slide: along itself", f"{np.linalg.norm(column):.1f} m a metre")
    return figure


def figure_17() -> _style.Figure:
    """Where the hand is, where it should be, and the three ways it can go at once."""
    note = f"$g_1$, $g_2$, $g_3$: how the hand moves as each joint turns, drawn for {PART} rad."
    figure, [[axes]] = _style.sheet(
        "5.17   Three joints, one hand, one goal", [""], 1, (-4.0, 24.0, -3.0, 31.0), width=6.0, note=note
    )
    arm = models.planar3()
    points = chapter.places(arm, BENT)
    _style.arm(axes, points, size=1.3)
    _style.goal(axes, WANTED)
    _style.line(axes, [points[-1], WANTED], _style.GOAL)
    _joint_arrows(axes, points[-1], changes(arm, BENT))
    for place, words, aside in zip(
        points, ("$P_0$", "$P_1$", "$P_2$", "E"), ([2, -1.6], [1.9, -1], [2, 0], [1.6, 0.4]), strict=True
    ):
        _style.say(axes, place + np.array(aside), words)
    _style.say(axes, WANTED + np.array([-2, 0.2]), "G", _style.GOAL)
    _style.heading(axes, "", f"G is {np.linalg.norm(WANTED - points[-1]):.1f} m from E")
    return figure


def figure_18() -> _style.Figure:
    """The arrow of each joint stands across its lever; the pseudo-inverse adds them up to what is wanted."""
    note = (
        f"Arrows of the first three panels are drawn for {PART} rad; those of the last for the step that the "
        "pseudo-inverse chose, one after another: together they end on the goal."
    )
    arm = models.planar3()
    points, columns = chapter.places(arm, BENT), changes(arm, BENT)
    step, parts = spread()
    figure, [row] = _style.sheet("5.18   How each joint moves the hand", [""], 4, (-4.0, 24.0, -3.0, 31.0), note=note)
    for i, axes in enumerate(row[:3]):
        colour = _style.ARROWS[i]
        _style.arm(axes, points)
        _style.line(axes, [points[i], points[-1]], colour, width=1.4)
        _style.arrow(axes, points[-1], PART * columns[i], colour)
        _style.heading(axes, f"joint {i + 1}", f"{np.linalg.norm(columns[i]):.1f} m a radian")
    _style.arm(row[3], points, faint=0.45)
    _style.goal(row[3], WANTED)
    at = points[-1]
    for part, colour in zip(parts, _style.ARROWS, strict=True):
        _style.arrow(row[3], at, part, colour, head=8)
        at = at + part
    _style.heading(row[3], "added up", ", ".join(f"{x:+.2f}" for x in step) + " rad")
    return figure


def figure_19() -> _style.Figure:
    """A straight arm has no way towards its own forearm; bent a little, it has."""
    note = (
        "The goal is within reach, 21 m of 30, but a straight arm moves its hand only across itself: all arrows stand "
        "across the wanted change\nand no mix of them begins to go there. From an arm that is bent a little, the same "
        "method arrives."
    )
    arm, (q, at) = models.planar3(), straight()
    goal, solver = chapter.wanted([*at, 0]), chapter.plainly(method.damped(), damping=25)
    figure, [[left, right]] = _style.sheet(
        "5.19   Singular here, not unreachable", [""], 2, (-4.0, 34.0, -4.0, 26.0), width=9.5, note=note
    )
    points = chapter.places(arm, q)
    _style.arm(left, points)
    _style.goal(left, at)
    _joint_arrows(left, points[-1], changes(arm, q), beside=True)
    step = solver.step(arm, goal, q) - q
    lost = constraint(arm, goal, q).lost
    _style.heading(left, "straight: singular", f"{lost} direction lost; the step is {np.linalg.norm(step):.2f} rad")
    bent = q + BEND
    found = solver.solve(arm, goal, bent)
    _style.arm(right, chapter.places(arm, bent), faint=0.35)
    _style.arm(right, chapter.places(arm, found.q))
    _style.goal(right, at)
    _joint_arrows(right, chapter.places(arm, bent)[-1], changes(arm, bent), beside=True)
    _style.heading(right, "bent a little", f"{found.outcome.name.lower()} after {found.iterations} steps")
    return figure


DRAWN: dict[str, Callable[[], _style.Figure]] = {
    "5.16": figure_16,
    "5.17": figure_17,
    "5.18": figure_18,
    "5.19": figure_19,
}
