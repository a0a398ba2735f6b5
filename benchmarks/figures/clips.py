"""Clips of a human figure, made from key goals: a reach with steps, and a turn on the spot."""

from __future__ import annotations

import numpy as np

from supple import Frame, Goal, Motion
from supple.animate import Timeline
from supple.frame import Array
from supple.models import human

RATE = 120.0
_STEP_HEIGHT = 0.09  # m


def _yawed(position: object, yaw: float) -> Frame:
    return Frame.at(position, Frame.turn([0, 0, 1], yaw).rotation)  # type: ignore[arg-type]


def _moved(position: Array, x: float, z: float) -> Array:
    return position + np.array([x, 0.0, z])


def _step(line: Timeline, link: str, begin: float, end: float, start: Frame, stop: Frame) -> Timeline:
    """A foot that stands at a frame until ``begin`` and at another from ``end`` on, and is lifted between."""
    middle = _moved(0.5 * (start.position + stop.position), 0.0, _STEP_HEIGHT)
    yaw = 0.5 * (start.to_rpy()[2] + stop.to_rpy()[2])
    line = line.goal(begin, Goal(link, start), blend=0).goal(end, Goal(link, stop), blend=0)
    return line.goal(0.5 * (begin + end), Goal(link, _yawed(middle, yaw)), ease=False, blend=0)


def reach_with_steps() -> Motion:
    """Three steps forward, then the right hand reaches for a point in front and the head looks at it; then back up."""
    figure = human(1.85, arms=1.05)
    rest = figure.frames(figure.rest)
    feet = {side: rest[f"{side}_foot"].position for side in ("left", "right")}
    pelvis, line = rest["pelvis"].position, Timeline(figure).pose(0, figure.rest)
    at = {side: _yawed(feet[side], 0.0) for side in feet}
    for side in feet:
        line = line.goal(0.0, Goal(f"{side}_foot", at[side]), blend=0)
    for i, (side, x) in enumerate((("right", 0.3), ("left", 0.6), ("right", 0.6))):
        to = _yawed(_moved(feet[side], x, 0.0), 0.0)
        line, at[side] = _step(line, f"{side}_foot", 0.4 + 0.8 * i, 1.0 + 0.8 * i, at[side], to), to
    for time, x, z in (
        (0.0, 0.0, -0.03),
        (0.4, 0.0, -0.05),
        (2.6, 0.6, -0.05),
        (3.6, 0.7, -0.15),
        (4.4, 0.7, -0.15),
        (5.6, 0.6, -0.03),
    ):
        line = line.goal(time, Goal("pelvis", Frame.at(_moved(pelvis, x, z))), blend=0, ease=time != 0.4)
    reach = rest["right_hand"].position
    for time, point in (
        (2.6, _moved(reach, 0.6, 0.0)),
        (3.6, np.array([1.25, -0.15, 1.0])),
        (4.4, np.array([1.25, -0.15, 1.0])),
        (5.6, _moved(reach, 0.6, 0.0)),
    ):
        line = line.goal(time, Goal("right_hand", position=point), base="pelvis", blend=0.3)
    for side in feet:
        line = line.goal(5.6, Goal(f"{side}_foot", at[side]), blend=0)
    return line.motion(RATE, progress=False)


def turn_on_the_spot() -> Motion:
    """Half a turn in six small steps, with the arms a little raised."""
    figure = human(1.7)
    rest = figure.frames(figure.rest)
    feet = {side: rest[f"{side}_foot"].position for side in ("left", "right")}
    line = Timeline(figure).pose(0, figure.rest)
    at = {side: _yawed(feet[side], 0.0) for side in feet}
    for side in feet:
        line = line.goal(0.0, Goal(f"{side}_foot", at[side]), blend=0)
    for i in range(6):
        side, yaw = ("left", "right")[i % 2], np.pi / 6 * (i + 1)
        to = _yawed(Frame.turn([0, 0, 1], yaw).apply(feet[side]), yaw)
        line, at[side] = _step(line, f"{side}_foot", 0.3 + 0.6 * i, 0.8 + 0.6 * i, at[side], to), to
    pelvis = rest["pelvis"].position
    for i in range(8):
        frame = _yawed(_moved(pelvis, 0.0, -0.04), np.pi / 6 * min(max(i - 0.5, 0.0), 6.0))
        line = line.goal(0.6 * i, Goal("pelvis", frame), blend=0, ease=i in (0, 7))
    for side in feet:
        line = line.goal(4.2, Goal(f"{side}_foot", at[side]), blend=0)
    return line.motion(RATE, progress=False)
