"""Clips from a seed: walks with random steps, turns and reaches, to judge what was chosen with other clips."""

from __future__ import annotations

import numpy as np

from figures.clips import RATE, _moved, _step, _yawed
from supple import Goal, Motion
from supple.animate import Timeline
from supple.models import human

_STEPS = 8


def random_walk(seed: int) -> Motion:
    """Eight steps of random lengths, directions and speeds, with hands that reach for random points meanwhile."""
    rng = np.random.default_rng(seed)
    figure = human(rng.uniform(1.55, 1.95), legs=rng.uniform(0.96, 1.06), arms=rng.uniform(0.97, 1.05))
    rest = figure.frames(figure.rest)
    feet = {side: rest[f"{side}_foot"].position for side in ("left", "right")}
    pelvis, low = rest["pelvis"].position, rng.uniform(0.04, 0.09)
    line = Timeline(figure).pose(0, figure.rest)
    at = {side: _yawed(feet[side], 0.0) for side in feet}
    for side in feet:
        line = line.goal(0.0, Goal(f"{side}_foot", at[side]), blend=0)
    line = line.goal(0.0, Goal("pelvis", _yawed(_moved(pelvis, 0.0, -0.03), 0.0)), blend=0)
    place, yaw, time = np.zeros(3), 0.0, 0.4
    for i in range(_STEPS):
        side = ("left", "right")[i % 2]
        taken = rng.uniform(0.45, 0.85)
        yaw += rng.uniform(-0.35, 0.35)
        forward = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        place = place + rng.uniform(0.05, 0.3) * forward
        to = _yawed(place + _yawed(np.zeros(3), yaw).apply(feet[side] * [1, 1, 0]) + feet[side] * [0, 0, 1], yaw)
        line, at[side] = _step(line, f"{side}_foot", time, time + 0.75 * taken, at[side], to), to
        time += taken
        middle = 0.5 * (at["left"].position + at["right"].position) * [1, 1, 0] - feet["left"] * [1, 0, 0]
        over = _yawed(middle + pelvis - [0, 0, low], yaw)
        line = line.goal(time, Goal("pelvis", over), blend=0, ease=i == _STEPS - 1)
    for side, sign in (("left", 1), ("right", -1)):
        shoulder = rest[f"{side}_upper_arm"].position - pelvis
        for moment in np.arange(0.5, time, rng.uniform(0.5, 1.0)):
            way = np.array([rng.uniform(0.05, 0.4), sign * rng.uniform(-0.05, 0.3), rng.uniform(-0.4, 0.2)])
            goal = Goal(f"{side}_hand", position=shoulder + way, relative_to="pelvis")
            line = line.goal(float(moment), goal, blend=0.3, ease=False)
    for side in feet:
        line = line.goal(time + 0.3, Goal(f"{side}_foot", at[side]), blend=0)
    return line.motion(RATE, progress=False)


def at_speed(clip: Motion, speed: float) -> Motion:
    """A clip that is played faster or slower, at its own rate."""
    times = np.arange(int((clip.end - clip.start) / speed * RATE) + 1) / RATE
    return Motion(clip.linkage, times, clip.at(np.minimum(clip.start + speed * times, clip.end)))
