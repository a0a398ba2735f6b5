"""Figures 5.16 to 5.19: how each joint moves the end effector, and a singular configuration."""

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
PART = 0.35  # radians: the arrow of a joint is drawn for this rotation
WANTED = np.array([3.0, 23.5])
BEND = np.array([0.2, -0.25, -0.25])


def jacobian_columns(linkage: Linkage, q: ArrayLike) -> Array:
    """The columns of the Jacobian (dof, 2), in metres per radian."""
    columns: Array = linkage.jacobian(q, chapter.LINK)[:2].T
    return columns


def step_of_each_joint() -> tuple[Array, Array]:
    """The smallest step of the joints (dof,) towards `WANTED`, and the motion of the end effector by each (dof, 2)."""
    arm = models.planar3()
    step = chapter.textbook_solver(method.pseudoinverse()).step(arm, chapter.planar_goal([*WANTED, 0]), BENT) - BENT
    return step, step[:, None] * jacobian_columns(arm, BENT)


def straight() -> tuple[Array, Array]:
    """Joint values of a straight arm and a goal (2,) on its forearm: singular, but within reach."""
    q = np.array([0.4, 0.0, 0.0])
    return q, 21.0 * np.array([np.cos(0.4), np.sin(0.4)])


def _joint_arrows(axes: _style.Axes, end_effector: Array, columns: Array, beside: bool = False) -> None:
    """An arrow for the motion by each joint, with its name at the head or beside it."""
    for i, (column, colour) in enumerate(zip(columns, _style.ARROWS, strict=True), 1):
        x, y = change = PART * column
        _style.arrow(axes, end_effector, change, colour)
        aside = np.array([y, -x]) if beside else change
        _style.label(axes, end_effector + change + 1.6 * aside / np.linalg.norm(aside), f"$g_{i}$", colour)


def figure_16() -> _style.Figure:
    """A revolute joint moves the end effector at right angles to the lever, a prismatic joint along its axis."""
    note = "v: velocity of the end effector E for a joint at P, from the columns of the Jacobian."
    limits = (-6.0, 30.0, -5.0, 23.0)
    figure, [[left, right]] = _style.sheet(
        "5.16   How one joint moves the end effector", [""], 2, limits, width=9.5, note=note
    )
    arm, q = models.planar2(), [0.35, 0.55]
    points, column = chapter.places(arm, q), jacobian_columns(arm, q)[0]
    hand, lever = points[-1], np.linalg.norm(points[-1])
    at = float(np.arctan2(hand[1], hand[0]))
    _style.arc(left, points[0], float(lever), at - 0.35, at + 0.32, _style.SOFT, False)
    _style.arm(left, points)
    _style.line(left, [points[0], hand], _style.INK)
    _style.arc(left, points[0], 4.0, -0.6, 2.6, _style.JOINT, True)
    _style.arrow(left, hand, PART * column, _style.GOAL)
    _style.label(left, [-3.6, 4.0], "$\\omega$", _style.JOINT, size=12)
    _style.label(left, [0, -3.2], "P")
    _style.label(left, hand + np.array([1.9, 0.3]), "E")
    _style.label(left, hand + PART * column + [0, 1.5], "$v = \\omega \\times (E - P)$", _style.GOAL)
    _style.heading(left, "revolute: across the lever", f"{np.linalg.norm(column):.1f} m per radian")

    slider = Linkage(
        "slider",
        [
            Joint.prismatic("slide", "rail", "cart", axis=[np.cos(0.35), np.sin(0.35), 0], lower=0, upper=20),
            Joint.revolute("elbow", "cart", "fore"),
            Joint.fixed("tip_mount", "fore", "tip", at=Frame.at([10, 0, 0])),
        ],
    )
    q = [13.0, 1.3]
    points, column = chapter.places(slider, q)[1:], jacobian_columns(slider, q)[0]
    ends = [slider.frame([s, 0], "cart").position[:2] for s in (0, 20)]
    right.plot(*np.transpose(ends), color=_style.RIM, linewidth=3, solid_capstyle="round", zorder=2)
    _style.arm(right, points)
    speed = 6 * column
    _style.arrow(right, points[0], speed, _style.JOINT)
    _style.arrow(right, points[-1], speed, _style.GOAL)
    _style.label(right, points[0] + [0.6, -2.2], "P")
    _style.label(right, points[-1] + [-1.7, 0.6], "E")
    _style.label(right, points[-1] + speed + [1.4, 0.6], "$v$", _style.GOAL)
    _style.heading(right, "prismatic: along its axis", f"{np.linalg.norm(column):.1f} m per metre")
    return figure


def figure_17() -> _style.Figure:
    """The end effector, the goal, and the motions by the three joints."""
    note = f"$g_1$, $g_2$, $g_3$: motion of the end effector by each joint, drawn for {PART} rad."
    figure, [[axes]] = _style.sheet(
        "5.17   Three joints and one goal", [""], 1, (-4.0, 24.0, -3.0, 31.0), width=6.0, note=note
    )
    arm = models.planar3()
    points = chapter.places(arm, BENT)
    _style.arm(axes, points, size=1.3)
    _style.goal(axes, WANTED)
    _style.line(axes, [points[-1], WANTED], _style.GOAL)
    _joint_arrows(axes, points[-1], jacobian_columns(arm, BENT))
    for place, words, aside in zip(
        points, ("$P_0$", "$P_1$", "$P_2$", "E"), ([2, -1.6], [1.9, -1], [2, 0], [1.6, 0.4]), strict=True
    ):
        _style.label(axes, place + np.array(aside), words)
    _style.label(axes, WANTED + np.array([-2, 0.2]), "G", _style.GOAL)
    _style.heading(axes, "", f"G is {np.linalg.norm(WANTED - points[-1]):.1f} m from E")
    return figure


def figure_18() -> _style.Figure:
    """The motion by each joint is at right angles to its lever; the pseudo-inverse combines them."""
    note = (
        f"The arrows of the first three panels are drawn for {PART} rad, those of the last for the step of the "
        "pseudo-inverse; their sum ends at the goal."
    )
    arm = models.planar3()
    points, columns = chapter.places(arm, BENT), jacobian_columns(arm, BENT)
    step, parts = step_of_each_joint()
    figure, [row] = _style.sheet(
        "5.18   How each joint moves the end effector", [""], 4, (-4.0, 24.0, -3.0, 31.0), note=note
    )
    for i, axes in enumerate(row[:3]):
        colour = _style.ARROWS[i]
        _style.arm(axes, points)
        _style.line(axes, [points[i], points[-1]], colour, width=1.4)
        _style.arrow(axes, points[-1], PART * columns[i], colour)
        _style.heading(axes, f"joint {i + 1}", f"{np.linalg.norm(columns[i]):.1f} m per radian")
    _style.arm(row[3], points, faint=0.45)
    _style.goal(row[3], WANTED)
    at = points[-1]
    for part, colour in zip(parts, _style.ARROWS, strict=True):
        _style.arrow(row[3], at, part, colour, head=8)
        at = at + part
    _style.heading(row[3], "sum", ", ".join(f"{x:+.2f}" for x in step) + " rad")
    return figure


def figure_19() -> _style.Figure:
    """A straight arm cannot move towards its own forearm; an arm that is slightly bent can."""
    note = (
        "The goal is within reach, 21 m of 30. But a straight arm moves its end effector only at right angles to "
        "itself, so no combination of\nthe joints moves it towards the goal. From an arm that is slightly bent, the "
        "same method arrives."
    )
    arm, (q, at) = models.planar3(), straight()
    goal, solver = chapter.planar_goal([*at, 0]), chapter.textbook_solver(method.damped(), damping=25)
    figure, [[left, right]] = _style.sheet(
        "5.19   Singular, but not unreachable", [""], 2, (-4.0, 34.0, -4.0, 26.0), width=9.5, note=note
    )
    points = chapter.places(arm, q)
    _style.arm(left, points)
    _style.goal(left, at)
    _joint_arrows(left, points[-1], jacobian_columns(arm, q), beside=True)
    step = solver.step(arm, goal, q) - q
    lost = constraint(arm, goal, q).lost
    _style.heading(left, "straight: singular", f"{lost} direction lost; the step is {np.linalg.norm(step):.2f} rad")
    bent = q + BEND
    found = solver.solve(arm, goal, bent)
    _style.arm(right, chapter.places(arm, bent), faint=0.35)
    _style.arm(right, chapter.places(arm, found.q))
    _style.goal(right, at)
    _joint_arrows(right, chapter.places(arm, bent)[-1], jacobian_columns(arm, bent), beside=True)
    _style.heading(right, "slightly bent", f"{found.outcome.name.lower()} after {found.iterations} steps")
    return figure


DRAWN: dict[str, Callable[[], _style.Figure]] = {
    "5.16": figure_16,
    "5.17": figure_17,
    "5.18": figure_18,
    "5.19": figure_19,
}
