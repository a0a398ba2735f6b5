"""A picture of one solution: the linkage at the start and at the solution, and the goal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple._arrays.result import plain
from supple._solve.goal_error import goal_frame
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.joint import Kind
from supple.linkage import Linkage
from supple.solution import Solution
from supple.view import _style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = ("#c4694f", "#6f9a62", "#5a7fa8")  # x, y and z of a frame


def draw(found: Solution, start: ArrayLike | None = None) -> Figure:
    """One solution as a matplotlib Figure: from above if the linkage moves in a horizontal plane, else in 3-D.

    The start (dof,), by default rest, is drawn in the background. The title is the text of the solution.
    """
    found = plain(found)
    if found.outcomes.ndim:
        raise BadInput("only one solution can be drawn; choose one: found[i]")
    first_q = found.linkage.rest if start is None else np.asarray(start, dtype=float)
    with _style.plot_style():
        figure: Figure = (_from_above if is_horizontal(found.linkage) else _in_space)(found, first_q)
    return figure


def is_horizontal(linkage: Linkage) -> bool:
    """Whether every joint rotates about the z axis of the world or translates at right angles to it."""
    for joint in linkage.joints:
        if joint.kind is Kind.FIXED:
            continue
        z = abs((linkage.frame(linkage.rest, joint.child).rotation @ np.array(joint.axis))[2])
        turns = joint.kind in (Kind.REVOLUTE, Kind.CONTINUOUS)
        if not (turns and z > 1 - 1e-9) and not (joint.kind is Kind.PRISMATIC and z < 1e-9):
            return False
    return any(joint.kind is not Kind.FIXED for joint in linkage.joints)


def limbs(linkage: Linkage, q: ArrayLike) -> Array:
    """The ends (n, 2, 3) of all limbs in metres: from the parent to the child of each joint, if they are apart."""
    frames = linkage.frames(q)
    ends = np.array([[frames[j.parent].position, frames[j.child].position] for j in linkage.joints])
    apart = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=-1)
    apart_ends: Array = ends[apart > 1e-6 * max(float(apart.max(initial=0)), 1e-300)]
    return apart_ends


def _points_and_goals(found: Solution) -> list[tuple[Array, Array]]:
    """The point (3,) of each goal's link, and its goal position (3,); the same point if the goal has no position."""
    pairs = []
    for goal in found.goals:
        point = _goal_axes(found, goal).apply(goal_frame(found.linkage, goal, found.q).apply(goal.point))
        pairs.append((point, point if goal.position is None else _goal_axes(found, goal).apply(goal.position)))
    return pairs


def _goal_axes(found: Solution, goal: Goal) -> Frame:
    """The frame in which a goal is given: the world, or the link that it is relative to."""
    return Frame() if goal.relative_to is None else found.linkage.frame(found.q, goal.relative_to)


def _bounds(found: Solution, start: Array) -> tuple[Array, Array]:
    """The centre (3,) of everything that is drawn, and half of its size (3,) with a margin."""
    drawn = [limbs(found.linkage, q).reshape(-1, 3) for q in (start, found.q)] + [
        np.array(p) for p in _points_and_goals(found)
    ]
    points = np.concatenate(drawn)
    low, high = points.min(axis=0), points.max(axis=0)
    size = float(max((high - low).max(), 1e-9))
    return (low + high) / 2, np.maximum((high - low) / 2 + 0.12 * size, 0.3 * size)


def _sentence(found: Solution, width: int) -> str:
    return "\n".join(textwrap.wrap(f"{found.linkage.name}: {found}", width))


def _from_above(found: Solution, start: Array) -> _style.Figure:
    middle, half = _bounds(found, start)
    limits = (middle[0] - half[0], middle[0] + half[0], middle[1] - half[1], middle[1] + half[1])
    every = 10.0 ** np.floor(np.log10(half[:2].max()))
    figure, [[axes]] = _style.sheet(
        _sentence(found, 60),
        [""],
        1,
        limits,
        width=7.0,
        ticks=every,
        note="seen from above; in the background: the start",
    )
    figure.texts[0].set(size=10, weight="normal")
    moving = {joint.child for joint in found.linkage.joints if joint.kind is not Kind.FIXED}
    for q, faint in ((start, 0.3), (found.q, 1.0)):
        for ends in limbs(found.linkage, q):
            _style.limb(axes, ends[:, :2], 6.5, faint)
    frames = found.linkage.frames(found.q)
    for name in moving:
        _style.joint(axes, frames[name].position[:2], 6.5)
    for point, wanted in _points_and_goals(found):
        _style.end_effector(axes, point[:2])
        _style.goal(axes, wanted[:2])
    return figure


def _in_space(found: Solution, start: Array) -> _style.Figure:
    import mpl_toolkits.mplot3d  # noqa: F401  (registers the projection)
    from matplotlib.figure import Figure as Sheet

    middle, half = _bounds(found, start)
    figure = Sheet(figsize=(7.0, 6.6))
    caption = _sentence(found, 78)
    figure.text(0.05, 0.975, caption, size=10, va="top", linespacing=1.4)
    top = 0.97 - 0.03 * (caption.count("\n") + 1)  # the height of a line is 0.03 of the figure's
    oriented = any(goal.orientation is not None or goal.axis is not None for goal in found.goals)
    note = "ring: the goal; in the background: the start" + ("; thick lines: the goal orientation" if oriented else "")
    figure.text(0.05, 0.02, note, size=_style.SMALL, color=_style.SOFT)
    axes: _style.Axes = figure.add_axes((0.0, 0.03, 0.94, top - 0.03), projection="3d", computed_zorder=False)
    for name, pane, low, high in zip(
        "xyz", (axes.xaxis, axes.yaxis, axes.zaxis), middle - half, middle + half, strict=True
    ):
        pane.set_pane_color(_style.PAPER)
        pane.line.set_color(_style.GRID)
        pane._axinfo["grid"].update(color=_style.GRID, linewidth=0.7)
        getattr(axes, f"set_{name}lim")(low, high)
        getattr(axes, f"set_{name}label")(f"{name}, m", size=_style.SMALL, color=_style.SOFT)
        axes.locator_params(axis=name, nbins=5)
    axes.set_box_aspect(half, zoom=0.97)
    axes.tick_params(labelsize=7, pad=0, length=0)
    axes.view_init(elev=22, azim=-58)
    for q, faint in ((start, 0.3), (found.q, 1.0)):
        for ends in limbs(found.linkage, q):
            _style.limb(axes, ends, 6.0, faint)
    frames = found.linkage.frames(found.q)
    for joint in found.linkage.joints:
        if joint.kind is not Kind.FIXED:
            _style.joint(axes, frames[joint.child].position, 5.0)
    size = 0.16 * float(half.max())
    for goal, (point, wanted) in zip(found.goals, _points_and_goals(found), strict=True):
        _style.end_effector(axes, point)
        _style.goal(axes, wanted)
        turn = _goal_axes(found, goal).rotation
        if goal.orientation is not None:
            for rotation, faint in ((turn @ goal.orientation, 0.45), (frames[goal.link].rotation, 1.0)):
                for along, colour in zip(rotation.T, AXES, strict=True):
                    _style.axis_line(axes, wanted if faint < 1 else point, size * along, colour, faint)
        elif goal.direction is not None and goal.axis is not None:
            _style.axis_line(axes, wanted, 1.6 * size * (turn @ goal.direction), _style.GOAL, 0.45)
            _style.axis_line(axes, point, size * (frames[goal.link].rotation @ goal.axis), _style.JOINT, 1.0)
        elif goal.pole is not None:
            _style.axis_line(axes, point, _goal_axes(found, goal).apply(goal.pole) - point, _style.GOAL, 0.45)
        elif goal.look_at is not None and goal.axis is not None:
            seen = _goal_axes(found, goal).apply(goal.look_at)
            _style.axis_line(axes, point, seen - point, _style.GOAL, 0.45)
            _style.axis_line(axes, point, size * (frames[goal.link].rotation @ goal.axis), _style.JOINT, 1.0)
    return figure
