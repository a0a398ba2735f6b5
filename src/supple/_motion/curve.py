"""Curves in space by arc length: circles, and cubics between waypoints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.errors import BadInput
from supple.frame import Array

_PARTS = 64  # entries for each cubic in the table of arc lengths
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)


@dataclass(frozen=True, eq=False)
class Arc:
    """Part of a circle: centre + cos(s angle) across + sin(s angle) up."""

    centre: Array
    across: Array
    up: Array
    angle: float

    @property
    def length(self) -> float:
        """In metres."""
        return float(np.linalg.norm(self.across)) * abs(self.angle)

    def at(self, s: Array) -> Array:
        """Positions (..., 3) at fractions s (...) of the length, in metres."""
        turn = (s * self.angle)[..., None]
        position: Array = self.centre + np.cos(turn) * self.across + np.sin(turn) * self.up
        return position

    def value(self) -> tuple[object, ...]:
        """A value that is equal for equal curves."""
        return *((row + 0.0).tobytes() for row in (self.centre, self.across, self.up)), self.angle


@dataclass(frozen=True, eq=False)
class Cubics:
    """Cubic pieces end to end: coefficients (k, 4, 3) of powers of u, which runs from 0 to 1 in each."""

    terms: Array

    @cached_property
    def _table(self) -> Array:
        """Length of the curve up to each part of each piece (k _PARTS + 1,)."""
        start = np.arange(len(self.terms) * _PARTS) / _PARTS
        table: Array = np.append(0, np.cumsum(self._measure(start, np.full_like(start, 1 / _PARTS))))
        return table

    @property
    def length(self) -> float:
        """In metres."""
        return float(self._table[-1])

    @cached_property
    def stops(self) -> Array:
        """The fractions of the length at which each piece begins, and the last ends (k + 1,)."""
        return self._table[::_PARTS] / (self.length or 1.0)

    def at(self, s: Array) -> Array:
        """Positions (..., 3) at fractions s (...) of the length, in metres."""
        wanted = np.ravel(s) * self.length
        i = np.clip(np.searchsorted(self._table, wanted, side="right") - 1, 0, len(self._table) - 2)
        rest = wanted - self._table[i]
        part = self._table[i + 1] - self._table[i]
        along = np.where(part > 0, rest / np.where(part > 0, part, 1.0), np.ravel(s)) / _PARTS
        for _ in range(5):  # Newton's method; within one entry of the table the first guess is close
            speed = np.linalg.norm(self._slope(i / _PARTS, along), axis=-1)
            off = self._measure(i / _PARTS, along) - rest
            along = np.clip(along - off / np.where(speed > 0, speed, np.inf), 0, 1 / _PARTS)
        k, u = np.divmod(i, _PARTS)
        powers = (u / _PARTS + along)[:, None] ** np.arange(4)
        return np.asarray(np.einsum("np,npx->nx", powers, self.terms[k])).reshape(*s.shape, 3)

    def value(self) -> tuple[object, ...]:
        """A value that is equal for equal curves."""
        return ((self.terms + 0.0).tobytes(),)

    def _slope(self, start: Array, more: Array) -> Array:
        """Derivatives (n, 3) at u = start + more, start counted through all pieces."""
        k = np.floor(start).astype(int)
        u = (start - k + more)[:, None]
        b, c, d = self.terms[k, 1], self.terms[k, 2], self.terms[k, 3]
        slope: Array = b + u * (2 * c + 3 * u * d)
        return slope

    def _measure(self, start: Array, more: Array) -> Array:
        """Length (n,) from u = start to start + more, within one entry of the table, by Gauss-Legendre quadrature."""
        speeds = [np.linalg.norm(self._slope(start, more * (x + 1) / 2), axis=-1) for x in _NODES]
        length: Array = more / 2 * (_WEIGHTS @ np.array(speeds))
        return length


def lines(positions: Array) -> Cubics:
    """Straight pieces through positions (n, 3)."""
    terms = np.zeros((len(positions) - 1, 4, 3))
    terms[:, 0], terms[:, 1] = positions[:-1], np.diff(positions, axis=0)
    return Cubics(terms)


def spline(positions: Array) -> Cubics:
    """The natural cubic spline through positions (n, 3), with the distances between them as the parameter."""
    n, step = len(positions), np.diff(positions, axis=0)
    span = np.linalg.norm(step, axis=1)
    mean = step / span[:, None]
    # second derivatives at the waypoints, 0 at both ends, from a tridiagonal system by the Thomas algorithm
    second, over = np.zeros((n, 3)), np.zeros(n)
    for i in range(1, n - 1):
        pivot = 2 * (span[i - 1] + span[i]) - span[i - 1] * over[i - 1]
        over[i] = span[i] / pivot
        second[i] = (6 * (mean[i] - mean[i - 1]) - span[i - 1] * second[i - 1]) / pivot
    for i in range(n - 2, 0, -1):
        second[i] -= over[i] * second[i + 1]
    first, last = (span**2)[:, None] * second[:-1], (span**2)[:, None] * second[1:]
    return Cubics(np.stack([positions[:-1], step - (2 * first + last) / 6, first / 2, (last - first) / 6], axis=1))


def circle(start: Array, centre: Array, axis: Array, angle: float) -> Arc:
    """From a start around a unit axis through a centre, by an angle."""
    middle = centre + axis * (axis @ (start - centre))
    across = start - middle
    if np.linalg.norm(across) <= 1e-12 * max(1.0, float(np.abs(start).max())):
        raise BadInput("the start of a circle must not be on its axis")
    return Arc(middle, across, np.cross(axis, across), angle)


def arc(places: Array) -> tuple[Arc, float]:
    """The arc through three positions (3, 3) in order, and the fraction of its length at the second."""
    a, b, c = places
    u, v = b - a, c - a
    n = np.cross(u, v)
    if np.linalg.norm(n) <= 1e-9 * np.linalg.norm(u) * np.linalg.norm(v):
        raise BadInput(
            "there is no arc through waypoints on one line or through two equal ones; use GoalPath.line or .circle"
        )
    centre = a + (v @ v * np.cross(n, u) + u @ u * np.cross(v, n)) / (2 * n @ n)
    whole = circle(a, centre, n / np.linalg.norm(n), 1.0)
    middle, end = (math.atan2((x - centre) @ whole.up, (x - centre) @ whole.across) % (2 * math.pi) for x in (b, c))
    return Arc(whole.centre, whole.across, whole.up, end), middle / end
