"""The two-link arm in closed form [K 5.3.1]: its annulus and both solutions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import _check
from supple.errors import BadInput
from supple.frame import Array
from supple.joint import Joint, Kind
from supple.linkage import Linkage

PARALLEL = 1e-6  # radians between axes that count as parallel: the rounding of a file with six digits
TURN = 2 * math.pi


@dataclass(frozen=True, eq=False)
class Annulus:
    """The ring in a plane that a two-link arm reaches, without regard to joint limits.

    >>> from supple.analysis import TwoLink
    >>> from supple import models
    >>> TwoLink(models.planar2(), "tip").annulus.contains([10, 0, 0])
    True
    """

    inner: float
    """Nearest distance to the centre, |L1 - L2|, in metres."""
    outer: float
    """Farthest distance from the centre, L1 + L2, in metres."""
    centre: Array
    """Intersection (3,) of the first axis and the plane, in metres."""
    normal: Array
    """Unit normal (3,) of the plane: the direction of the axes."""

    @property
    def area(self) -> float:
        """Area, in square metres.

        >>> from supple.analysis import TwoLink
        >>> from supple import models
        >>> ring = TwoLink(models.planar2(), "tip").annulus
        >>> round(ring.area)
        1885
        """
        return math.pi * (self.outer - self.inner) * (self.outer + self.inner)

    def nearest(self, point: ArrayLike) -> Array:
        """The nearest point (..., 3) of the ring, in metres; of many equally near, always the same one.

        >>> from supple.analysis import TwoLink
        >>> from supple import models
        >>> ring = TwoLink(models.planar2(), "tip").annulus
        >>> ring.nearest([30, 0, 0])
        array([25.,  0.,  0.])
        """
        across = _flat(_check.rows(point, 3, "point") - self.centre, self.normal)
        far = _norm(across)[..., None]
        lost = far <= 1e-300  # at the centre all directions are equally near
        towards = np.where(lost, _any_across(self.normal), across / np.where(lost, 1.0, far))
        placed: Array = self.centre + towards * np.clip(far, self.inner, self.outer)
        return placed

    def distance(self, point: ArrayLike) -> Array:
        """Distance (...) of points (..., 3) from the ring, in metres; 0 for those in it.

        >>> from supple.analysis import TwoLink
        >>> from supple import models
        >>> ring = TwoLink(models.planar2(), "tip").annulus
        >>> print(ring.distance([30, 0, 0]))
        5.0
        """
        offset = _check.rows(point, 3, "point") - self.centre
        height = offset @ self.normal
        far = _norm(_flat(offset, self.normal))
        return np.hypot(height, np.maximum(0.0, np.maximum(self.inner - far, far - self.outer)))

    def contains(self, point: ArrayLike, tolerance: float | None = None) -> Any:
        """Whether points (..., 3) are in the ring: bool, or an array (...).

        ``tolerance`` is in metres; by default it only allows for rounding.
        """
        if tolerance is None:
            tolerance = 1e-14 * (self.outer + float(np.linalg.norm(self.centre)))
        tolerance = _check.positive(tolerance, "tolerance", "metres", zero=True)
        inside = self.distance(point) <= tolerance
        return bool(inside) if np.ndim(inside) == 0 else inside

    def __str__(self) -> str:
        return (
            f"annulus from {self.inner:g} to {self.outer:g} m about {_brief(self.centre)}, across {_brief(self.normal)}"
        )


@dataclass(frozen=True, eq=False)
class Elbows:
    """Both solutions of a two-link arm, with the leading axes of the target points; made by `TwoLink.solve`."""

    q: Array
    """Joint values (..., 2, dof) in radians: first with a positive elbow angle, then a negative one; others at rest.

    On the boundary of the annulus both are the same.
    """
    inside: NDArray[np.bool_]
    """Whether each is within the joint limits (..., 2)."""
    nearest: Array
    """The point (..., 3) of the annulus that they reach, in metres: the target, or the point nearest to it."""
    distance: Array
    """Distance (...) from the target, in metres, measured by forward kinematics."""
    free: NDArray[np.bool_]
    """Where there are infinitely many solutions (...): the target is the centre and the lengths are equal.

    The first joint may then have any value; the one given is its rest.
    """
    tolerance: float
    """Distance that counts as arrived, in metres."""

    @property
    def arrived(self) -> Any:
        """Whether both reach the target, without regard to limits: bool, or an array (...)."""
        there = self.distance <= self.tolerance
        return bool(there) if np.ndim(there) == 0 else there

    def __str__(self) -> str:
        if self.distance.ndim:
            good = self.inside.any(axis=-1) & self.arrived
            return f"{self.distance.size:,} points: {np.sum(self.arrived):,} reached, {np.sum(good):,} within limits"
        if not self.arrived:
            return f"out of reach by {self.distance:.4g} m; q goes to the nearest point, {_brief(self.nearest)}"
        if self.free:
            return "reached in infinitely many ways: the first joint may have any value"
        if np.array_equal(self.q[0], self.q[1]):
            within = "within" if self.inside[0] else "outside"
            return f"reached in one way only, on the edge of the annulus, {within} limits"
        within = ("neither", "one", "both")[int(self.inside.sum())]
        return f"reached with the elbow on either side; {within} within limits"


class TwoLink:
    """A link moved by two parallel revolute joints, in any plane, solved in closed form [K fig. 5.15].

    >>> from supple.analysis import TwoLink
    >>> from supple import models
    >>> arm = TwoLink(models.planar2(), "tip")
    >>> print(arm.annulus)
    annulus from 5 to 25 m about (0, 0, 0), across (0, 0, 1)
    >>> arm.solve([15, 10, 0]).q.round(6)
    array([[ 0.      ,  1.570796],
           [ 1.176005, -1.570796]])
    """

    linkage: Linkage
    """The linkage that moves."""
    link: str
    """The end effector."""
    joints: tuple[str, str]
    """Names of the two joints, the first one nearer to the root."""
    lengths: tuple[float, float]
    """L1 from the first axis to the second, L2 from the second to the link's origin; in metres, normal to the axes."""
    annulus: Annulus
    """What the link reaches, without regard to limits."""

    def __init__(self, linkage: Linkage, link: str) -> None:
        """The closed form for a link; `BadInput` says why a linkage has none."""
        one, two = _two_turns(linkage, link)
        zero = np.zeros(linkage.dof)
        first, second = linkage.frame(zero, one.child), linkage.frame(zero, two.child)
        normal, other = first.rotation @ one.axis, second.rotation @ two.axis
        normal /= np.linalg.norm(normal)
        apart = math.atan2(float(_norm(np.cross(normal, other))), abs(float(normal @ other)))
        if apart > PARALLEL:
            raise BadInput(
                f"a two-link arm has parallel axes; those of {one.name!r} and {two.name!r} are {apart:.3g} rad "
                f"({math.degrees(apart):.3g} degrees) apart"
            )
        tip = linkage.frame(zero, link).position
        upper, fore = _flat(second.position - first.position, normal), _flat(tip - second.position, normal)
        self.lengths = float(_norm(upper)), float(_norm(fore))
        least = 1e-12 * max(*self.lengths, 1e-300)
        if self.lengths[0] <= least:
            raise BadInput(f"joints {one.name!r} and {two.name!r} turn about the same axis: there is no upper arm")
        if self.lengths[1] <= least:
            raise BadInput(f"link {link!r} lies on the axis of {two.name!r}: there is no forearm")
        self.linkage, self.link, self.joints = linkage, link, (one.name, two.name)
        centre = first.position + normal * (normal @ (tip - first.position))
        for vector in (centre, normal):
            vector.flags.writeable = False
        inner, outer = abs(self.lengths[0] - self.lengths[1]), sum(self.lengths)
        self.annulus = Annulus(inner, outer, centre, normal)
        # angles are measured from the upper arm at q = 0, about the first axis; the second axis may be antiparallel
        self._along = upper / self.lengths[0]
        self._across = np.cross(normal, self._along)
        self._bend = math.atan2(float(fore @ self._across), float(fore @ self._along))
        self._sense = math.copysign(1.0, float(normal @ other))
        self._columns = [linkage._sources[joint.name].first for joint in (one, two)]

    def solve(self, point: ArrayLike, tolerance: float = 1e-6) -> Elbows:
        """Joint values that bring the link's origin to points (..., 3) in metres, with the elbow on either side.

        For a point outside the annulus the result is for the nearest point of the annulus, with the distance. Of angles
        that differ by whole turns the result has the smallest within limits. A distance up to ``tolerance``, in metres,
        counts as arrived.

        >>> from supple.analysis import TwoLink
        >>> from supple import models
        >>> print(TwoLink(models.planar2(), "tip").solve([10, 0, 0]))
        reached with the elbow on either side; both within limits
        """
        target = _check.rows(point, 3, "point")
        _check.positive(tolerance, "tolerance", "metres", zero=True)
        ring, (long, short) = self.annulus, self.lengths
        nearest = ring.nearest(target)
        x, y = (nearest - ring.centre) @ self._along, (nearest - ring.centre) @ self._across
        # within rounding of the boundary the distance is set to it: the elbow is straight, and both solutions are equal
        far, rounding = np.hypot(x, y), 1e-15 * ring.outer
        far = np.where(
            far <= ring.inner + rounding, ring.inner, np.where(far >= ring.outer - rounding, ring.outer, far)
        )
        # elbow = 2 atan2(sqrt(outer^2 - r^2), sqrt(r^2 - inner^2)): acos would lose half the digits near the boundary
        inner_gap, outer_gap = (far - ring.inner) * (far + ring.inner), (ring.outer - far) * (ring.outer + far)
        elbow = 2 * np.arctan2(np.sqrt(outer_gap), np.sqrt(inner_gap))
        elbow = np.stack([elbow, np.where(inner_gap > 0, -elbow, elbow)], axis=-1)
        # L1 + L2 cos(elbow) = (r^2 + L1^2 - L2^2) / (2 L1), without cancellation near the centre
        out = (far * far + (long - short) * (long + short)) / (2 * long)
        lean = np.arctan2(short * np.sin(elbow), out[..., None])
        turn = np.arctan2(y, x)[..., None] - lean
        free = (ring.inner <= 1e-14 * ring.outer) & (far <= 1e-12 * ring.outer)
        q = np.empty((*elbow.shape, self.linkage.dof))
        q[...] = self.linkage.rest
        for column, angle in zip(self._columns, (turn, self._sense * (elbow - self._bend)), strict=True):
            q[..., column] = self._turned(column, angle)
        q[free, :, self._columns[0]] = self.linkage.rest[self._columns[0]]
        reached = self.linkage.frame(q, self.link).position
        distance = _norm(reached - target[..., None, :]).max(axis=-1)
        inside = np.asarray(self.linkage.inside(q))
        return Elbows(q, inside, nearest, distance, np.asarray(free), float(tolerance))

    def _turned(self, column: int, angle: Array) -> Array:
        """Angles moved by whole turns: the smallest within the joint's limits, or else the nearest to them."""
        low, high = float(self.linkage.lower[column]), float(self.linkage.upper[column])
        first, last = np.ceil((low - angle - 1e-12) / TURN), np.floor((high - angle + 1e-12) / TURN)
        turns = np.clip(np.round(-angle / TURN), first, last)
        outside = first > last
        if np.any(outside):  # the next turn above the limits, or the next below
            above, below = angle + TURN * first - high, low - angle - TURN * last
            turns = np.where(outside, np.where(above < below, first, last), turns)
        turned: Array = angle + TURN * turns
        return turned

    def __repr__(self) -> str:
        return f"<TwoLink {self.link!r} of {self.linkage.name!r}: {self.lengths[0]:g} and {self.lengths[1]:g} m>"


def _two_turns(linkage: Linkage, link: str) -> tuple[Joint, Joint]:
    """The two joints that move a link, the one nearer to the root first; `BadInput` unless both are revolute."""
    _check.instance(linkage, Linkage, "linkage").link(link)
    above = {joint.child: joint for joint in linkage.joints}
    moving: list[Joint] = []
    while link in above:
        joint = above[link]
        if joint.kind is not Kind.FIXED:
            moving.insert(0, joint)
        link = joint.parent
    for joint in moving:
        if joint.kind not in (Kind.REVOLUTE, Kind.CONTINUOUS):
            raise BadInput(f"a two-link arm has revolute joints only; joint {joint.name!r} is {joint.kind.value}")
        if joint.mimic is not None:
            raise BadInput(f"joint {joint.name!r} mimics {joint.mimic.joint!r}: the closed form is for free joints")
    if len(moving) != 2:
        names = ": " + ", ".join(repr(joint.name) for joint in moving) if moving else ""
        raise BadInput(f"a two-link arm is moved by two joints, this link by {len(moving)}{names}")
    return moving[0], moving[1]


def _norm(vectors: Array) -> Array:
    return np.asarray(np.linalg.norm(vectors, axis=-1))


def _flat(vectors: Array, normal: Array) -> Array:
    """Vectors (..., 3) projected onto the plane with a unit normal (3,)."""
    flat: Array = vectors - (vectors @ normal)[..., None] * normal
    return flat


def _any_across(normal: Array) -> Array:
    across = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    unit: Array = across / np.linalg.norm(across)
    return unit


def _brief(vector: Array) -> str:
    return "(" + ", ".join(f"{round(float(x), 9) + 0.0:.6g}" for x in vector) + ")"
