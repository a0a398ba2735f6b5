"""Clips that retargeting was not built with: a crouch, a kick, and a dance with fast arms."""

from __future__ import annotations

import numpy as np

from supple import Frame, Goal, Motion
from supple.animate import Timeline
from supple.frame import Array
from supple.models import human

RATE = 120.0


def _feet(line: Timeline, places: dict[str, Frame], times: tuple[float, ...]) -> Timeline:
    for time in times:
        for link, frame in places.items():
            line = line.goal(time, Goal(link, frame), blend=0)
    return line


def _pelvis(line: Timeline, at: Array, keys: list[tuple[float, tuple[float, float, float], float]]) -> Timeline:
    """The pelvis moved by some metres from ``at`` (3,) and turned about z by some radians, at some times."""
    for time, way, yaw in keys:
        frame = Frame.at(at + np.array(way), Frame.turn([0, 0, 1], yaw).rotation)
        line = line.goal(time, Goal("pelvis", frame), blend=0, ease=True)
    return line


def crouch() -> Motion:
    """Down by 22 cm with both feet flat, the arms forward, and up again, twice; the second time faster."""
    figure = human(1.75, legs=1.05)
    rest = figure.frames(figure.rest)
    line = Timeline(figure).pose(0, figure.rest).pose(3.6, figure.rest)
    down = (-0.08, 0.0, -0.22)
    keys = [(0.0, (0, 0, -0.03), 0.0), (1.1, down, 0.0), (2.0, (0, 0, -0.03), 0.0), (2.6, down, 0.0)]
    line = _pelvis(line, rest["pelvis"].position, [*keys, (3.6, (0.0, 0.0, -0.03), 0.0)])
    line = _feet(line, {f"{side}_foot": rest[f"{side}_foot"] for side in ("left", "right")}, (0.0, 3.6))
    for side in ("left", "right"):
        hand = rest[f"{side}_hand"].position
        for time, way in ((0.2, [0, 0, 0]), (1.1, [0.5, 0, 0.25]), (2.0, [0.1, 0, 0.05]), (2.6, [0.5, 0, 0.25])):
            line = line.goal(time, Goal(f"{side}_hand", position=hand + np.array(way)), base="pelvis", blend=0.3)
    return line.motion(RATE, progress=False)


def kick() -> Motion:
    """The right foot goes back, then fast forward and up to the height of the hip, and back to the ground."""
    figure = human(1.8)
    rest = figure.frames(figure.rest)
    line = Timeline(figure).pose(0, figure.rest).pose(2.8, figure.rest)
    shift = (0.0, 0.08, -0.04)
    keys = [(0.0, (0.0, 0.0, -0.03), 0.0), (0.6, shift, 0.0), (1.3, shift, 0.1), (1.9, shift, 0.0)]
    line = _pelvis(line, rest["pelvis"].position, [*keys, (2.8, (0.0, 0.0, -0.03), 0.0)])
    line = _feet(line, {"left_foot": rest["left_foot"]}, (0.0, 2.8))
    foot = rest["right_foot"]
    steps = [
        (0.0, [0, 0, 0], 0.0),
        (0.6, [0, 0, 0], 0.0),
        (0.95, [-0.35, 0, 0.2], 0.6),
        (1.3, [0.65, 0.05, 0.65], -0.7),
        (1.75, [0.1, 0, 0.12], 0.0),
        (2.0, [0, 0, 0], 0.0),
        (2.8, [0, 0, 0], 0.0),
    ]
    for time, way, pitch in steps:
        turned = Frame.at(foot.position + np.array(way), foot @ Frame.turn([0, 1, 0], pitch))
        line = line.goal(time, Goal("right_foot", turned), blend=0, ease=time not in (0.95, 1.75))
    for side, sign in (("left", 1), ("right", -1)):
        hand = rest[f"{side}_hand"].position
        for time, way in ((0.3, [0, 0, 0]), (1.3, [-0.1 * sign, 0.25 * sign, 0.3]), (2.4, [0, 0, 0])):
            line = line.goal(time, Goal(f"{side}_hand", position=hand + np.array(way)), base="chest", blend=0.3)
    return line.motion(RATE, progress=False)


def dance() -> Motion:
    """Small side steps to a beat of 0.5 s, with hands on fast circles and the hips turning."""
    figure = human(1.68, arms=1.03)
    rest = figure.frames(figure.rest)
    line = Timeline(figure).pose(0, figure.rest).pose(6.0, figure.rest)
    at = {side: rest[f"{side}_foot"] for side in ("left", "right")}
    pelvis = rest["pelvis"].position
    line = _feet(line, {f"{side}_foot": at[side] for side in at}, (0.0,))
    for beat in range(10):
        side = ("left", "left", "right", "right")[beat % 4] if beat % 2 == 0 else ("right", "left")[(beat // 2) % 2]
        way = 0.14 if (beat // 2) % 2 == 0 else -0.14
        begin = 0.5 + 0.5 * beat
        start, stop = at[side], Frame.at(at[side].position + np.array([0, way, 0]), at[side].rotation)
        middle = Frame.at(0.5 * (start.position + stop.position) + np.array([0, 0, 0.07]), start.rotation)
        line = line.goal(begin + 0.05, Goal(f"{side}_foot", start), blend=0)
        line = line.goal(begin + 0.22, Goal(f"{side}_foot", middle), blend=0, ease=False)
        line = line.goal(begin + 0.4, Goal(f"{side}_foot", stop), blend=0)
        at[side] = stop
    for i in range(13):
        shift = 0.5 * float(middle_of_feet(0.5 * i))
        frame = Frame.at(pelvis + np.array([0, shift, -0.04 - 0.02 * (i % 2)]), Frame.turn([0, 0, 1], 0.2 * (-1) ** i))
        line = line.goal(0.5 * i, Goal("pelvis", frame), blend=0, ease=i in (0, 12))
    line = _feet(line, {f"{side}_foot": at[side] for side in at}, (6.0,))
    for side, sign in (("left", 1), ("right", -1)):
        shoulder = rest[f"{side}_upper_arm"].position
        for i in range(45):
            angle = 2 * np.pi * i / 8  # a circle in 1 s
            way = np.array([0.38 + 0.12 * np.cos(angle), 0.15 * sign, 0.16 * np.sin(angle) - 0.05])
            goal = Goal(f"{side}_hand", position=shoulder + way)
            line = line.goal(0.3 + 0.125 * i, goal, base="chest", blend=0.3, ease=False)
    return line.motion(RATE, progress=False)


def middle_of_feet(time: float) -> float:
    """How far to the left the feet are in the middle at a time of the dance, in metres."""
    beats = max(time - 0.5, 0.0) / 0.5
    return 0.14 * min(beats % 4, 2.0, 4.0 - beats % 4)
