"""Goals for an arm: at random q, and five harder families; frames (n, 4, 4), the same in every run."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, pi

import numpy as np

from supple import Frame

from .arms import Arm
from .descent import descend, nearest
from .judge import Array

EDGE = 1e-3
"""Largest distance from the outer reach, in metres."""
LIMIT = 1e-3
"""Largest distance from a limit, in radians or metres."""


def uniform(arm: Arm, count: int, seed: int = 1) -> Array:
    """q (count, dof), uniform within limits; joints without limits between -pi and pi."""
    return arm.linkage.random(count, seed=seed)


def _turns(count: int, rng: np.random.Generator) -> Array:
    """Uniform random rotations (count, 3, 3)."""
    four = rng.normal(size=(count, 4))
    return Frame.quaternion(four / np.linalg.norm(four, axis=1, keepdims=True)).rotation


def _box(arm: Arm) -> Array:
    """Corners (2, 3) of a box around most of the workspace."""
    return np.quantile(arm.linkage.frame(uniform(arm, 4096, 0), arm.link).position, [0.002, 0.998], axis=0)


def _frames(positions: Array, rotations: Array) -> Array:
    return np.array(Frame.at(positions, rotations).matrix)


def _root(arm: Arm) -> Array:
    """Position of the first movable joint (3,)."""
    first = next(joint for joint in arm.linkage.joints if joint.dof)
    return arm.linkage.frame(arm.linkage.rest, first.child).position


def _snapped(arm: Arm, frames: Array) -> Array:
    """The same frames; for axis goals only the nearly reachable ones, replaced by the nearest reachable frame.

    The axis of a five-joint arm lies in a plane through its first axis, up to rounding in its description.
    """
    if arm.kind == "frame":
        return frames
    q, error = nearest(arm, frames, 60)
    return np.array(arm.linkage.frame(q[error < 1e-3], arm.link).matrix)


def grid(arm: Arm, count: int) -> Array:
    """On a grid through the workspace, with random orientations. Not all are reachable."""
    rng, side = np.random.default_rng(11), ceil(count ** (1 / 3))
    low, high = _box(arm)
    steps = (np.arange(side) + 0.5) / side
    cells = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    places = low + (high - low) * rng.permutation(cells)[:count]
    if arm.kind == "frame":
        return _frames(places, _turns(count, rng))
    x, y, _ = (places - _root(arm)).T
    aims = np.stack([0 * x, rng.uniform(0, pi, count), np.arctan2(y, x)], axis=1)
    return _snapped(arm, _frames(places, Frame.fixed("xyz", aims).rotation))


def table(arm: Arm, count: int) -> Array:
    """In ten clusters on a table top, the tool downward, rotated about the vertical. Not all are reachable."""
    rng = np.random.default_rng(12)
    reach, height = arm.linkage.reach(arm.link), _box(arm).mean(axis=0)[2]
    away, far = rng.uniform(-0.8, 0.8, 10), rng.uniform(0.4, 0.75, 10) * reach
    spots = _root(arm)[:2] + np.stack([far * np.cos(away), far * np.sin(away)], axis=1)
    places = np.empty((count, 3))
    places[:, :2] = spots[np.arange(count) % 10] + rng.normal(0, 0.03, (count, 2))
    places[:, 2] = height - 0.3 * reach
    down = np.stack([np.full(count, pi), np.zeros(count), rng.uniform(-pi, pi, count)], axis=1)
    return _snapped(arm, _frames(places, Frame.fixed("xyz", down).rotation))


def singular(arm: Arm, count: int) -> Array:
    """Near singularities: four joints in turn minimise the manipulability, then all are perturbed by up to 0.1."""
    rng = np.random.default_rng(13)
    linkage, q = arm.linkage, uniform(arm, count, 13)
    low = np.where(np.isfinite(linkage.lower), linkage.lower, -pi)
    high = np.where(np.isfinite(linkage.upper), linkage.upper, pi)
    for joint in rng.permutation(linkage.dof)[:4]:
        span = high[joint] - low[joint]
        best, width = np.full(count, (low[joint] + high[joint]) / 2), span
        for _ in range(6):  # a scan of the whole range, then five finer ones
            tried = np.repeat(q[:, None], 33, axis=1)
            tried[:, :, joint] = np.clip(best[:, None] + width * np.linspace(-0.5, 0.5, 33), low[joint], high[joint])
            volume = linkage.manipulability(tried, arm.link)
            best = np.take_along_axis(tried[:, :, joint], volume.argmin(axis=1)[:, None], axis=1)[:, 0]
            width /= 12
        q[:, joint] = best
    stray = rng.normal(size=q.shape) * 10 ** rng.uniform(-6, -1, (count, 1))
    return np.array(linkage.frame(linkage.clamp(q + stray), arm.link).matrix)


def edge(arm: Arm, count: int) -> Array:
    """Within a millimetre of the outer reach: the farthest point in a random direction, then slightly back."""
    rng = np.random.default_rng(14)
    linkage, tries = arm.linkage, 8
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    # a goal so far away that its orientation does not matter
    away = np.repeat(_frames(_box(arm).mean(axis=0) + 1e3 * way, np.eye(3)), tries, axis=0)
    q, _ = descend(arm, uniform(arm, count * tries, 14), away, 150)
    ways = np.repeat(way, tries, axis=0)
    far = (linkage.frame(q, arm.link).position * ways).sum(axis=1).reshape(count, tries)
    q = q.reshape(count, tries, -1)[np.arange(count), far.argmax(axis=1)]
    if np.abs(linkage.jacobian(linkage.rest, arm.link)[:3, -1]).max() < 1e-9:
        q[:, -1] = uniform(arm, count, 15)[:, -1]  # a last joint that does not move the position
    most, margin = far.max(axis=1), rng.uniform(0.02, 1, count) * EDGE
    stray, low, high = rng.normal(size=q.shape), np.zeros(count), np.ones(count)
    for _ in range(40):
        scale = (low + high) / 2
        there = linkage.frame(linkage.clamp(q + scale[:, None] * stray), arm.link).position
        short = most - (there * way).sum(axis=1) < margin
        low, high = np.where(short, scale, low), np.where(short, high, scale)
    return np.array(linkage.frame(linkage.clamp(q + low[:, None] * stray), arm.link).matrix)


def limits(arm: Arm, count: int) -> Array:
    """One to three joints within a milliradian (or millimetre) of a limit, the others anywhere."""
    rng = np.random.default_rng(16)
    linkage, q = arm.linkage, uniform(arm, count, 16)
    bounded = np.flatnonzero(np.isfinite(linkage.lower))
    for row, how_many in zip(q, rng.integers(1, 4, count), strict=True):
        chosen = rng.permutation(bounded)[:how_many]
        inside = rng.uniform(0, LIMIT, len(chosen))
        upper = rng.random(len(chosen)) < 0.5
        row[chosen] = np.where(upper, linkage.upper[chosen] - inside, linkage.lower[chosen] + inside)
    return np.array(linkage.frame(q, arm.link).matrix)


def beyond(arm: Arm, count: int) -> Array:
    """Unreachable: beyond the reach, with random orientations."""
    rng = np.random.default_rng(21)
    way = rng.normal(size=(count, 3))
    way *= rng.uniform(1.1, 1.7, (count, 1)) * arm.linkage.reach(arm.link) / np.linalg.norm(way, axis=1, keepdims=True)
    return _frames(_box(arm).mean(axis=0) + way, _turns(count, rng))


def turned(arm: Arm, count: int) -> Array:
    """Position of a random q with a random orientation: many are unreachable."""
    rng = np.random.default_rng(22)
    return _frames(arm.linkage.frame(uniform(arm, count, 22), arm.link).position, _turns(count, rng))


def forbidden(arm: Arm, count: int) -> Array:
    """At random q outside the limits; for arms with full turns, in the hole around the first axis."""
    rng = np.random.default_rng(23)
    linkage = arm.linkage
    if (linkage.upper - linkage.lower).min() < 2 * pi - 1e-6:
        return np.array(linkage.frame(rng.uniform(-pi, pi, (count, linkage.dof)), arm.link).matrix)
    angle, far, reach = rng.uniform(-pi, pi, count), rng.uniform(0, 0.07, count), linkage.reach(arm.link)
    low, high = _box(arm)[:, 2]
    height = rng.uniform(low, high, count)
    places = np.stack([far * np.cos(angle), far * np.sin(angle), height], axis=1) * [reach, reach, 1.0]
    return _frames(_root(arm) * [1, 1, 0] + places, _turns(count, rng))


FAMILIES: dict[str, Callable[[Arm, int], Array]] = {
    "grid": grid,
    "table": table,
    "singular": singular,
    "edge": edge,
    "limits": limits,
}
"""The harder families of goals."""
UNSURE = ("grid", "table")
"""The families with some unreachable goals; `truth` has which."""
UNREACHABLE: dict[str, Callable[[Arm, int], Array]] = {"beyond": beyond, "turned": turned, "forbidden": forbidden}
"""The families with many unreachable goals; `truth` has which, and the smallest errors."""
