"""Interpolation of joint values between the keys of a motion."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple._linkage import limits
from supple.frame import Array, Frame
from supple.joint import Kind
from supple.linkage import Linkage

_GRID = 32  # samples of each piece of a ball joint, where there is no formula


class Interpolation(Enum):
    """How joint values go from one key of a motion to the next.

    >>> from supple import Interpolation
    >>> Interpolation("smooth")
    <Interpolation.SMOOTH: 'smooth'>
    """

    LINEAR = "linear"
    """At constant speed; a ball joint rotates at constant speed about one axis (slerp)."""
    SMOOTH = "smooth"
    """Cubic, with continuous velocity, no overshoot, and zero velocity at both ends of the motion."""


def velocities(linkage: Linkage, times: Array, q: Array, interpolation: Interpolation) -> tuple[Array, Array]:
    """Velocity just after and just before each key, (n - 1, dof) both, for keys q (n, dof) at times (n,)."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        span = np.diff(times)[:, None]
        mean = linkage.difference(q[:-1], q[1:]) / span
    if interpolation is Interpolation.LINEAR or not np.isfinite(mean).all():
        return mean, mean
    through = np.zeros_like(q)  # 0 at both ends
    balls = ball_columns(linkage)
    for columns in (_plain(linkage, balls)[:, None], balls):
        through[1:-1, columns] = _harmonic(mean[:-1, columns], mean[1:, columns], span[:-1, None], span[1:, None])
    return through[:-1], through[1:]


class Pieces:
    """The cubics of a motion, one from each key to the next.

    A value goes from 0 to its step, relative to the first key. A rotation goes from minus half its step to plus half,
    as a rotation vector relative to the frame halfway: this is symmetric in time, and the vectors stay away from
    length pi. Along the axis of the step both are the same monotone cubic.
    """

    def __init__(self, linkage: Linkage, times: Array, q: Array, leaving: Array, arriving: Array) -> None:
        self.linkage, self.q = linkage, q
        self.balls = ball_columns(linkage)
        self.plain = _plain(linkage, self.balls)
        self.span = np.diff(times)[:, None]
        self.step = linkage.difference(q[:-1], q[1:])
        self.half = np.zeros_like(self.step)
        self.half[:, self.balls] = self.step[:, self.balls] / 2
        self.base = linkage.integrate(q[:-1], self.half)
        slope = np.stack([leaving, arriving]) * self.span
        for ball in self.balls:
            turn = np.stack([-self.half[:, ball], self.half[:, ball]])
            # the derivative of the rotation vector, from the angular velocity
            slope[..., ball] = Frame.at(slope[..., ball], Frame.rotvec(-turn)).log()[..., :3]
        self.bend = slope - self.step

    def at(self, i: Any, s: Array) -> Array:
        """Joint values (..., dof) in pieces i (...), at fractions s (..., 1) of each."""
        q = self.linkage.integrate(self.base[i], self._far(i, s))
        first, last, plain = self.q[i], self.q[i + 1], self.plain
        low, high = np.minimum(first, last)[..., plain], np.maximum(first, last)[..., plain]
        q[..., plain] = np.clip(q[..., plain], low, high)  # rounding must not exceed a limit
        return np.asarray(np.where(s <= 0, first, np.where(s >= 1, last, q)))

    def velocity(self, i: Any, s: Array) -> Array:
        """Velocities (..., dof) in pieces i (...), at fractions s (..., 1) of each.

        s may be (..., dof), one for each value, if it is the same for the three values of a rotation.
        """
        rate = self.step[i] + (1 - s) * (1 - 3 * s) * self.bend[0, i] - s * (2 - 3 * s) * self.bend[1, i]
        far = self._far(i, s)
        for ball in self.balls:
            rate[..., ball] = Frame.exp(np.concatenate([rate[..., ball], -far[..., ball]], axis=-1)).position
        velocity: Array = rate / self.span[i]
        return velocity

    def speed(self) -> Array:
        """The greatest speed of each value of q (dof,); of rotations, the greatest of 33 samples in each piece."""
        every = np.arange(len(self.step))
        a, b = self.bend
        with np.errstate(all="ignore"):  # a value is fastest at an end, or at the vertex of its velocity, a parabola
            turn = np.nan_to_num(np.clip((2 * a + b) / (3 * (a + b)), 0, 1))
        turn[:, self.balls] = 0.0
        grid = [turn, *(np.full((len(every), 1), s) for s in np.linspace(0, 1, _GRID + 1 if len(self.balls) else 2))]
        fast: Array = np.max([np.abs(self.velocity(every, s)).max(axis=0) for s in grid], axis=0)
        return fast

    def inside(self, tolerance: float) -> bool:
        """Whether position limits hold between keys that are within them; of rotations at 31 samples of each piece."""
        every = np.arange(len(self.step))
        grid = [np.full((len(every), 1), s) for s in np.linspace(0, 1, _GRID + 1)[1:-1]] if len(self.balls) else []
        return all(np.all(self.linkage.inside(self.at(every, s), tolerance)) for s in grid)

    def _far(self, i: Any, s: Array) -> Array:
        """Displacement from the base: s step + s (1 - s) ((1 - s) bend_0 - s bend_1) - half."""
        bent = (1 - s) * self.bend[0, i] - s * self.bend[1, i]
        far: Array = s * (self.step[i] + (1 - s) * bent) - self.half[i]
        return far


def ball_columns(linkage: Linkage) -> NDArray[np.intp]:
    """The columns (balls, 3) of q that are rotation vectors."""
    shift = {Kind.BALL: 0, Kind.FLOATING: 3}
    first = [at + shift[joint.kind] for at, joint in limits.columns(linkage) if joint.kind in shift]
    return np.array(first, dtype=np.intp).reshape(-1, 1) + np.arange(3)


def _plain(linkage: Linkage, balls: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.setdiff1d(np.arange(linkage.dof), balls)


def _harmonic(before: Array, after: Array, early: Array, late: Array) -> Array:
    """Velocity at a key, from the mean velocities before and after it (..., 1 or 3): 0 where the sign changes.

    The weighted harmonic mean of Fritsch and Butland (1984): at most three times the slower of the two, as monotone
    cubics need. For rotations about two axes it is along the bisector, times the cosine of the angle between them.
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
    """Lengths (..., 1) of vectors, scaled so that huge and tiny ones do not over- or underflow."""
    top = np.abs(vectors).max(axis=-1, keepdims=True, initial=0)
    top = np.where(top > 0, top, 1.0)
    length: Array = top * np.linalg.norm(vectors / top, axis=-1, keepdims=True)
    return length
