"""Random commands for random linkages: bounds on every joint, and all that an operator may send, good and bad."""

import math
from dataclasses import replace

import numpy as np

from oracle import exp_rotation
from random_trees import random_tree
from supple import Goal, Linkage
from supple.joint import Kind

LONGEST = 0.25  # a tick that takes longer counts as one of this length, in seconds
NO_TIME = (0.0, -1.0, math.nan, math.inf, -math.inf)
FREE = (math.pi, -math.pi, math.pi)  # swing and twist of a ball without limits


# -- what moves -----------------------------------------------------------------------------------------------------


def paced(tree, rng):
    """The same linkage with limits of position, speed and acceleration on most of its joints, wide, narrow or none."""

    def limits(n):
        low, high = np.sort(rng.uniform(-2.5, 2.5, (2, n)), axis=0)
        high = np.where(rng.random(n) < 0.1, low + rng.choice([0, 1e-9, 1e-3], n), high)
        low, high = np.where(rng.random(n) < 0.1, -np.inf, low), np.where(rng.random(n) < 0.1, np.inf, high)
        return low.tolist(), high.tolist()

    def pace(joint):
        n, more = joint.dof, {}
        if n and rng.random() < 0.8:
            more["speed"] = tuple((10 ** rng.uniform(-1.5, 1.5, n)).tolist())
        if n and rng.random() < 0.5:
            more["acceleration"] = tuple((10 ** rng.uniform(-1, 2.5, n)).tolist())
        if n and joint.kind in (Kind.REVOLUTE, Kind.PRISMATIC, Kind.PLANAR, Kind.FLOATING) and rng.random() < 0.8:
            low, high = limits(min(n, 3))
            free = [math.inf] * (n - len(low))  # the turn of a floating joint has no limits
            more |= {"lower": (*low, *(-x for x in free)), "upper": (*high, *free), "rest": ()}
        if joint.kind is Kind.BALL and rng.random() < 0.5:
            twist = np.sort(rng.uniform(-3, 3, 2)).tolist()
            more |= {"swing": rng.uniform(0.2, 3), "twist": tuple(twist), "rest": ()}
        return replace(joint, **more)

    return Linkage(tree.name, [pace(joint) for joint in tree.joints], tree.links, tree.base)


def columns(linkage, wanted):
    """Which values of q (dof,) belong to joints that a function chooses; for a mimic, those of its source."""
    chosen = np.zeros(linkage.dof, bool)
    for joint in linkage.joints:
        if joint.kind is not Kind.FIXED and wanted(joint):
            first = linkage._sources[joint.name].first
            chosen[first : first + joint.kind.dof] = True
    return chosen


def turning(linkage):
    """Which values of q are rotation vectors, that do not just add up."""
    chosen = columns(linkage, lambda joint: joint.kind in (Kind.BALL, Kind.FLOATING))
    for joint in linkage.joints:
        if joint.kind is Kind.FLOATING:
            first = linkage._sources[joint.name].first
            chosen[first : first + 3] = False
    return chosen


def coned(linkage):
    """Which values of q belong to balls with a limit."""
    return columns(linkage, lambda joint: joint.kind is Kind.BALL and (joint.swing, *joint.twist) != FREE)


def moving_tree(seed, count, most=30):
    """A linkage of so many joints, of which some move, but not in more than so many ways."""
    while not 0 < (tree := random_tree(seed, count)).dof <= most:
        seed += 1
    return tree


# -- what is commanded ----------------------------------------------------------------------------------------------


def ticks_of(rng, count):
    """Lengths of ticks: as in a steady loop, jumping between 0.1 ms and 100 ms, and now and then none at all."""
    dts = np.where(rng.random(count) < 0.5, 1 / 300, 10 ** rng.uniform(-4, -1, count))
    odd = rng.random(count) < 0.02
    return np.where(odd, rng.choice([*NO_TIME, 0.3, 100.0], count), dts)


def passed(dts):
    """The time that each tick counts for."""
    return np.where((dts > 0) & (dts < 1e9), np.minimum(dts, LONGEST), 0.0)


def piece(dts, values):
    """The length of the pieces into which each tick is divided, where so many joint values move."""
    time, longest = passed(dts), 1e-3 if values <= 10 else 2e-3
    return np.where(time > 4.000001e-3, time / np.maximum(np.ceil(time / longest - 1e-6), 1), time)


def held_for(rng, rows, ticks, arms):
    """Rows (ticks, arms, 3) that stay for some 50 ticks before they change."""
    which = np.cumsum(rng.random((ticks, arms)) < 0.02, axis=0)
    return rows[which % len(rows), np.arange(arms)]


def wander(rng, start, reach, dts, arms):
    """Frames (ticks, arms, 4, 4) from a start (arms, 4, 4) on: they move, rest, jump, and are no frames at times."""
    ticks = len(dts)
    time = passed(dts)[:, None, None]
    pace = 10 ** rng.uniform(-2, 1, (arms, 1)) * (rng.random((ticks, arms, 1)) < 0.9)
    jumps = rng.random((ticks, arms, 1)) < 0.02
    far = 10 ** rng.choice([-2.0, -1, 0, 0, 0, 1, 3], (ticks, arms, 1))
    ways, turns = (held_for(rng, rng.normal(size=(9, arms, 3)), ticks, arms) for _ in range(2))
    position = start[:, :3, 3] + np.cumsum(reach * np.where(jumps, far * ways, pace * time * ways), axis=0)
    turned = exp_rotation(np.cumsum(np.where(jumps, 3.0, pace * time) * turns, axis=0)) @ start[:, :3, :3]
    frames = np.zeros((ticks, arms, 4, 4))
    frames[..., :3, :3], frames[..., :3, 3], frames[..., 3, 3] = turned, position, 1
    bad = np.argwhere(rng.random((ticks, arms)) < 0.01)
    for (tick, arm), kind in zip(bad, rng.integers(0, 6, len(bad)), strict=True):
        spoil(frames[tick, arm], kind, rng)
    return frames


def spoil(frame, kind, rng):
    """Makes a frame into what no frame should be."""
    if kind == 0:
        frame[rng.integers(0, 3), 3] = math.nan
    elif kind == 1:
        frame[rng.integers(0, 3), rng.integers(0, 3)] = rng.choice([math.nan, math.inf])
    elif kind == 2:
        frame[rng.integers(0, 3), 3] = rng.choice([-math.inf, math.inf])
    elif kind == 3:
        frame[:3, 3] = rng.normal(size=3) * 10.0 ** rng.integers(4, 307)
    elif kind == 4:
        frame[:3, :3] *= rng.choice([0.0, -1.0, 2.0])
    else:
        frame[:] = math.nan


def command(goal, frames):
    """What a step takes for a goal, from frames (arms, 4, 4)."""
    if goal.axis is None:
        return frames
    along = np.where(frames[:, :3, 0].any(axis=1, keepdims=True), frames[:, :3, 0], math.nan)
    place = {} if goal.position is None else {"position": frames[:, :3, 3], "point": goal.point, "weight": goal.weight}
    kept = {"axis": goal.axis, "turn_weight": goal.turn_weight, "relative_to": goal.relative_to}
    return Goal(goal.link, direction=along, **kept, **place)
