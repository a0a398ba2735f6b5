"""In-betweens: what joint values do from one key of a motion to the next."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple._linkage import limits
from supple.frame import Array, Frame
from supple.joint import Kind
from supple.linkage import Linkage

_GRID = 32  # how finely the pieces of ball joints are looked at, where there is no formula


class Interpolation(Enum):
    """How joint values come from one key to the next. Ball joints, and floating ones, always turn on the sphere."""

    LINEAR = "linear"
    """At constant speed, straight; a ball joint turns at constant speed about one axis (slerp)."""
    SMOOTH = "smooth"
    """Cubic, with no jump of velocity, no overshoot, and at rest at both ends."""


def velocities(linkage: Linkage, times: Array, q: Array, interpolation: Interpolation) -> tuple[Array, Array]:
    """Velocity just after and just before each key, (n - 1, dof) both, for keys q (n, dof) at times (n,)."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        span = np.diff(times)[:, None]
        mean = linkage.difference(q[:-1], q[1:]) / span
    if interpolation is Interpolation.LINEAR or not np.isfinite(mean).all():
        return mean, mean
    through = np.zeros_like(q)  # at rest at both ends
    balls = _balls(linkage)
    for columns in (_plain(linkage, balls)[:, None], balls):
        through[1:-1, columns] = _harmonic(mean[:-1, columns], mean[1:, columns], span[:-1, None], span[1:, None])
    return through[:-1], through[1:]


class Pieces:
    """The cubics of a motion, one from each key to the next.

    A plain value goes from 0 to its step, as seen from the first key. A turn goes from minus half its step to plus
    half, as a rotation vector seen from halfway: the same backwards, and never near the half turn where such vectors
    end. Along the axis of the step both are the same monotone cubic.
    """

    def __init__(self, linkage: Linkage, times: Array, q: Array, leaving: Array, arriving: Array) -> None:
        self.linkage, self.q = linkage, q
        self.balls = _balls(linkage)
        self.plain = _plain(linkage, self.balls)
        self.span = np.diff(times)[:, None]
        self.step = linkage.difference(q[:-1], q[1:])
        self.half = np.zeros_like(self.step)
        self.half[:, self.balls] = self.step[:, self.balls] / 2
        self.base = linkage.integrate(q[:-1], self.half)
        slope = np.stack([leaving, arriving]) * self.span
        for ball in self.balls:
            turn = np.stack([-self.half[:, ball], self.half[:, ball]])
            # how the rotation vector changes while the child turns: the core's logarithm knows
            slope[..., ball] = Frame.at(slope[..., ball], Frame.rotvec(-turn)).log()[..., :3]
        self.bend = slope - self.step

    def at(self, i: Any, s: Array) -> Array:
        """Joint values (..., dof) in pieces i (...), a part s (..., 1) of the way along."""
        q = self.linkage.integrate(self.base[i], self._far(i, s))
        first, last, plain = self.q[i], self.q[i + 1], self.plain
        low, high = np.minimum(first, last)[..., plain], np.maximum(first, last)[..., plain]
        q[..., plain] = np.clip(q[..., plain], low, high)  # a last digit of rounding must not break a limit
        return np.asarray(np.where(s <= 0, first, np.where(s >= 1, last, q)))

    def velocity(self, i: Any, s: Array) -> Array:
        """How fast joint values change (..., dof) in pieces i (...), a part s (..., 1) of the way along.

        s may be another for each value (..., dof), but must be one for the three of a turn.
        """
        rate = self.step[i] + (1 - s) * (1 - 3 * s) * self.bend[0, i] - s * (2 - 3 * s) * self.bend[1, i]
        far = self._far(i, s)
        for ball in self.balls:
            rate[..., ball] = Frame.exp(np.concatenate([rate[..., ball], -far[..., ball]], axis=-1)).position
        velocity: Array = rate / self.span[i]
        return velocity

    def speed(self) -> Array:
        """The greatest speed of each value of q (dof,); of turns, the greatest of 33 in each piece."""
        every = np.arange(len(self.step))
        a, b = self.bend
        with np.errstate(all="ignore"):  # of a plain value it is at an end, or where its velocity, a parabola, turns
            turn = np.nan_to_num(np.clip((2 * a + b) / (3 * (a + b)), 0, 1))
        turn[:, self.balls] = 0.0
        grid = [turn, *(np.full((len(every), 1), s) for s in np.linspace(0, 1, _GRID + 1 if len(self.balls) else 2))]
        fast: Array = np.max([np.abs(self.velocity(every, s)).max(axis=0) for s in grid], axis=0)
        return fast

    def inside(self, tolerance: float) -> bool:
        """Whether position limits are kept between keys that keep them; turns are looked at 31 times a piece."""
        every = np.arange(len(self.step))
        grid = [np.full((len(every), 1), s) for s in np.linspace(0, 1, _GRID + 1)[1:-1]] if len(self.balls) else []
        return all(np.all(self.linkage.inside(self.at(every, s), tolerance)) for s in grid)

    def _far(self, i: Any, s: Array) -> Array:
        """How far along, as seen from the base: straight, and bent by what the velocities at the ends add."""
        bent = (1 - s) * self.bend[0, i] - s * self.bend[1, i]
        far: Array = s * (self.step[i] + (1 - s) * bent) - self.half[i]
        return far


def _balls(linkage: Linkage) -> NDArray[np.intp]:
    """The columns (balls, 3) of q that are rotation vectors."""
    shift = {Kind.BALL: 0, Kind.FLOATING: 3}
    first = [at + shift[joint.kind] for at, joint in limits.columns(linkage) if joint.kind in shift]
    return np.array(first, dtype=np.intp).reshape(-1, 1) + np.arange(3)


def _plain(linkage: Linkage, balls: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.setdiff1d(np.arange(linkage.dof), balls)


def _harmonic(before: Array, after: Array, early: Array, late: Array) -> Array:
    """Velocity at a key, from the mean ones before and after it (..., 1 or 3): 0 where they turn back.

    The weighted harmonic mean of Fritsch and Butland: at most three times the slower of the two, as monotone cubics
    need. Of turns about two axes along the middle of both, and less the sharper the corner.
    """
    a, b = _length(before), _length(after)
    top = np.where(a + b > 0, np.maximum(a, b), 1.0)
    share = (2 * late + early) * (b / top) + (late + 2 * early) * (a / top)
    speed = 3 * (early + late) * (a / top) * b / np.where(share > 0, share, 1.0)
    along, onward = before / np.where(a > 0, a, 1.0), after / np.where(b > 0, b, 1.0)
    straight = np.maximum(0.0, (along * onward).sum(axis=-1, keepdims=True))
    middle = along + onward
    size = np.linalg.norm(middle, axis=-1, keepdims=True)
    velocity: Array = speed * straight * middle / np.where(size > 0, size, 1.0)
    return velocity


def _length(vectors: Array) -> Array:
    """Lengths (..., 1) of vectors, huge and tiny ones too."""
    top = np.abs(vectors).max(axis=-1, keepdims=True, initial=0)
    top = np.where(top > 0, top, 1.0)
    length: Array = top * np.linalg.norm(vectors / top, axis=-1, keepdims=True)
    return length
