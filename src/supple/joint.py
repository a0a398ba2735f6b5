"""Joint: what lets a child link move on its parent."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from supple import _renamed
from supple._linkage import angles
from supple.errors import BadInput, BadLinkage
from supple.frame import Frame

Row = tuple[float, ...]


class Kind(Enum):
    """How a joint moves."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    PLANAR = "planar"
    BALL = "ball"
    FLOATING = "floating"

    @property
    def dof(self) -> int:
        """How many values of q such a joint has."""
        return _DOF[self]


_DOF = {
    Kind.FIXED: 0,
    Kind.REVOLUTE: 1,
    Kind.CONTINUOUS: 1,
    Kind.PRISMATIC: 1,
    Kind.PLANAR: 3,
    Kind.BALL: 3,
    Kind.FLOATING: 6,
}
_UNITS = {
    Kind.FIXED: (),
    Kind.REVOLUTE: ("rad",),
    Kind.CONTINUOUS: ("rad",),
    Kind.PRISMATIC: ("m",),
    Kind.PLANAR: ("m", "m", "rad"),
    Kind.BALL: ("rad",) * 3,
    Kind.FLOATING: ("m",) * 3 + ("rad",) * 3,
}


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: its value is ``gain * source + offset``."""

    joint: str
    """Name of the joint it follows, which may itself be a mimic."""
    gain: float = 1.0
    offset: float = 0.0


@_renamed.answers_old_names
@dataclass(frozen=True)
class Joint:
    """An arc of the tree: the constant location of a child link on its parent, and how the child moves from there.

    Made by `Joint.revolute`, `Joint.prismatic` and so on, which say what each kind takes. Angles in radians, lengths
    in metres, per second and per second squared.
    """

    name: str
    kind: Kind
    parent: str
    child: str
    location: Frame = Frame()
    """Where the child sits on its parent while the joint's values are zero."""
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Unit vector, as seen from the child: axis of a turn, direction of a slide, normal of a plane, twist of a ball."""
    lower: Row = ()
    """Lowest value of each degree of freedom; -inf for none."""
    upper: Row = ()
    """Highest value of each degree of freedom; inf for none."""
    speed: Row = ()
    """Greatest speed of each degree of freedom; inf for none."""
    acceleration: Row = ()
    """Greatest acceleration of each degree of freedom; inf for none."""
    rest: Row = ()
    """Value of each degree of freedom when nothing else is asked."""
    mimic: Mimic | None = None
    swing: float = math.pi
    """Ball joints: how far the axis may lean from its direction at rest, in radians (pi: any way)."""
    twist: tuple[float, float] = (-math.pi, math.pi)
    """Ball joints: the range of turning about the axis, in radians."""

    def __post_init__(self) -> None:
        _check_names(self)
        n = self.kind.dof
        _set = object.__setattr__
        for field in ("lower", "upper", "speed", "acceleration"):
            none = -math.inf if field == "lower" else math.inf
            _set(self, field, self._row(field, getattr(self, field), none, n))
        if self.kind is Kind.CONTINUOUS and any(map(math.isfinite, self.lower + self.upper)):
            raise self._bad("a continuous joint has no position limits; use a revolute one")
        if self.kind is Kind.BALL and any(map(math.isfinite, self.lower + self.upper)):
            raise self._bad("a ball joint is limited by swing and twist, not by lower and upper")
        if self.kind is Kind.FLOATING and any(map(math.isfinite, self.lower[3:] + self.upper[3:])):
            raise self._bad("only the position of a floating joint can be limited, not its turn")
        for low, high in zip(self.lower, self.upper, strict=True):
            if not low <= high:
                raise self._bad(f"lower limit {low:g} is above upper limit {high:g}")
            if low == math.inf or high == -math.inf:
                raise self._bad(f"limits {low:g} to {high:g} leave no room")
        for field in ("speed", "acceleration"):
            if any(not value >= 0 for value in getattr(self, field)):
                raise self._bad(f"{field} limit must not be negative, got {getattr(self, field)}")
        _set(self, "axis", self._unit_axis())
        self._check_ball()
        if self.mimic is not None:
            if n != 1:
                raise self._bad(f"only joints of one degree of freedom can mimic, not a {self.kind.value} joint")
            gain, offset = self._numbers("gain and offset", (self.mimic.gain, self.mimic.offset))
            if not (math.isfinite(gain) and math.isfinite(offset)):
                raise self._bad(f"gain and offset of a mimic must be finite, got {gain}, {offset}")
        _set(self, "rest", self._rest_row(n))

    # -- the kinds ----------------------------------------------------------------------------------------------

    @classmethod
    def fixed(cls, name: str, parent: str, child: str, *, at: Frame | None = None) -> Joint:
        """A joint that does not move: the child sits ``at`` a frame on its parent."""
        return cls(name, Kind.FIXED, parent, child, _place(at))

    @classmethod
    def revolute(
        cls,
        name: str,
        parent: str,
        child: str,
        *,
        at: Frame | None = None,
        axis: ArrayLike = (0, 0, 1),
        lower: float = -math.inf,
        upper: float = math.inf,
        speed: float = math.inf,
        acceleration: float = math.inf,
        rest: float | None = None,
        mimic: Mimic | None = None,
    ) -> Joint:
        """A turn about an axis, between limits in radians."""
        return cls._simple(Kind.REVOLUTE, name, parent, child, at, axis, lower, upper, speed, acceleration, rest, mimic)

    @classmethod
    def continuous(
        cls,
        name: str,
        parent: str,
        child: str,
        *,
        at: Frame | None = None,
        axis: ArrayLike = (0, 0, 1),
        speed: float = math.inf,
        acceleration: float = math.inf,
        rest: float | None = None,
        mimic: Mimic | None = None,
    ) -> Joint:
        """A turn about an axis without end."""
        return cls._simple(
            Kind.CONTINUOUS, name, parent, child, at, axis, -math.inf, math.inf, speed, acceleration, rest, mimic
        )

    @classmethod
    def prismatic(
        cls,
        name: str,
        parent: str,
        child: str,
        *,
        at: Frame | None = None,
        axis: ArrayLike = (0, 0, 1),
        lower: float = -math.inf,
        upper: float = math.inf,
        speed: float = math.inf,
        acceleration: float = math.inf,
        rest: float | None = None,
        mimic: Mimic | None = None,
    ) -> Joint:
        """A slide along an axis, between limits in metres."""
        return cls._simple(
            Kind.PRISMATIC, name, parent, child, at, axis, lower, upper, speed, acceleration, rest, mimic
        )

    @classmethod
    def planar(
        cls,
        name: str,
        parent: str,
        child: str,
        *,
        at: Frame | None = None,
        axis: ArrayLike = (0, 0, 1),
        lower: ArrayLike = -math.inf,
        upper: ArrayLike = math.inf,
        speed: ArrayLike = math.inf,
        acceleration: ArrayLike = math.inf,
        rest: ArrayLike | None = None,
    ) -> Joint:
        """A slide in the plane across an axis and a turn about it: values x, y, angle."""
        return cls(
            name,
            Kind.PLANAR,
            parent,
            child,
            _place(at),
            _axis_row(axis),
            lower=_as_row(lower, 3),
            upper=_as_row(upper, 3),
            speed=_as_row(speed, 3),
            acceleration=_as_row(acceleration, 3),
            rest=_as_row(rest, 3),
        )

    @classmethod
    def ball(
        cls,
        name: str,
        parent: str,
        child: str,
        *,
        at: Frame | None = None,
        axis: ArrayLike = (0, 0, 1),
        swing: float = math.pi,
        twist: tuple[float, float] = (-math.pi, math.pi),
        speed: ArrayLike = math.inf,
        acceleration: ArrayLike = math.inf,
        rest: ArrayLike | None = None,
    ) -> Joint:
        """A ball in a socket: values are a rotation vector; ``axis`` swings within a cone and twists within a range."""
        return cls(
            name,
            Kind.BALL,
            parent,
            child,
            _place(at),
            _axis_row(axis),
            speed=_as_row(speed, 3),
            acceleration=_as_row(acceleration, 3),
            rest=_as_row(rest, 3),
            swing=swing,
            twist=twist,
        )

    @classmethod
    def floating(
        cls,
        name: str,
        parent: str,
        child: str,
        *,
        at: Frame | None = None,
        lower: ArrayLike = -math.inf,
        upper: ArrayLike = math.inf,
        speed: ArrayLike = math.inf,
        acceleration: ArrayLike = math.inf,
        rest: ArrayLike | None = None,
    ) -> Joint:
        """A joint that holds nothing: values are a position and a rotation vector; only the position can be limited.

        ``lower`` and ``upper`` are one number for all three directions, or three, or six with the last three infinite.
        """
        return cls(
            name,
            Kind.FLOATING,
            parent,
            child,
            _place(at),
            lower=_position_row(lower, -math.inf),
            upper=_position_row(upper, math.inf),
            speed=_as_row(speed, 6),
            acceleration=_as_row(acceleration, 6),
            rest=_as_row(rest, 6),
        )

    @classmethod
    def ball_from_revolutes(
        cls,
        name: str,
        parent: str,
        child: str,
        *,
        order: str = "xyz",
        at: Frame | None = None,
        lower: ArrayLike = -math.inf,
        upper: ArrayLike = math.inf,
        speed: ArrayLike = math.inf,
        acceleration: ArrayLike = math.inf,
    ) -> tuple[Joint, Joint, Joint]:
        """A ball joint as three revolutes with links of no length between them: its values are Euler angles.

        The joints are called ``name_x`` and so on, by the axes in ``order``; they lock up where Euler angles do.
        """
        angles.check(order)
        low, high, fast, hard = (_as_row(x, 3) for x in (lower, upper, speed, acceleration))
        names = [f"{name}_{axis}" if order.count(axis) == 1 else f"{name}_{axis}{i}" for i, axis in enumerate(order)]
        links = [parent, names[0], names[1], child]
        made = [
            cls.revolute(
                names[i],
                links[i],
                links[i + 1],
                at=at if i == 0 else None,
                axis=np.eye(3)["xyz".index(order[i])],
                lower=low[i],
                upper=high[i],
                speed=fast[i],
                acceleration=hard[i],
            )
            for i in range(3)
        ]
        return made[0], made[1], made[2]

    # -- asking it ----------------------------------------------------------------------------------------------

    @property
    def dof(self) -> int:
        """How many values of q this joint has of its own: 0 for a fixed joint and for a mimic."""
        return 0 if self.mimic else self.kind.dof

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each value: 'rad' or 'm'."""
        return _UNITS[self.kind]

    # -- inside -------------------------------------------------------------------------------------------------

    @classmethod
    def _simple(
        cls,
        kind: Kind,
        name: str,
        parent: str,
        child: str,
        at: Frame | None,
        axis: ArrayLike,
        lower: float,
        upper: float,
        speed: float,
        acceleration: float,
        rest: float | None,
        mimic: Mimic | None,
    ) -> Joint:
        own: Row = () if rest is None else (rest,)
        limits = ((lower,), (upper,), (speed,), (acceleration,))
        return cls(name, kind, parent, child, _place(at), _axis_row(axis), *limits, own, mimic)

    def _bad(self, reason: str) -> BadLinkage:
        return BadLinkage(reason, element=f"joint {self.name!r}")

    def _row(self, field: str, values: Iterable[float], default: float, n: int) -> Row:
        row = self._numbers(field, values)
        if not row:
            return (default,) * n
        if len(row) != n:
            raise self._bad(f"{field} needs {n} values for a {self.kind.value} joint, got {len(row)}")
        if any(math.isnan(value) for value in row):
            raise self._bad(f"{field} must be a number, got nan")
        return row

    def _numbers(self, field: str, values: Iterable[float]) -> Row:
        try:
            return tuple(float(value) for value in values)
        except (TypeError, ValueError):
            raise self._bad(f"{field} must be numbers, got {values!r}") from None

    def _unit_axis(self) -> tuple[float, float, float]:
        axis = self._numbers("axis", self.axis)
        if len(axis) != 3 or not all(map(math.isfinite, axis)):
            raise self._bad(f"axis must be three finite numbers, got {self.axis}")
        # scaled first, so that neither huge nor tiny numbers over- or underflow
        largest = max(map(abs, axis))
        if largest == 0:
            if self.kind in (Kind.FIXED, Kind.FLOATING):
                return (0.0, 0.0, 1.0)
            raise self._bad(f"axis of a {self.kind.value} joint must not be zero")
        x, y, z = (value / largest for value in axis)
        length = math.sqrt(x * x + y * y + z * z)
        return (x / length, y / length, z / length)

    def _check_ball(self) -> None:
        row = self._numbers("swing and twist", (self.swing, *self.twist))
        if len(row) != 3:
            raise self._bad(f"twist must be two numbers, got {self.twist}")
        swing, low, high = row
        if not 0 <= swing <= math.pi:
            raise self._bad(f"swing must be between 0 and pi, got {swing:g}")
        if not -math.pi <= low <= high <= math.pi:
            raise self._bad(f"twist must be a range within -pi and pi, got {low:g} to {high:g}")
        object.__setattr__(self, "swing", swing)
        object.__setattr__(self, "twist", (low, high))

    def _rest_row(self, n: int) -> Row:
        if not self._numbers("rest", self.rest):  # zero if the limits allow it, else the middle of what they allow
            low, high = self.twist
            if self.kind is Kind.BALL and not low <= 0 <= high:
                return tuple(_middle(low, high) * value for value in self.axis)
            limits = zip(self.lower, self.upper, strict=True)
            return tuple(0.0 if low <= 0 <= high else _middle(low, high) for low, high in limits)
        row = self._row("rest", self.rest, 0.0, n)
        if not all(map(math.isfinite, row)):
            raise self._bad(f"rest must be finite, got {row}")
        return row


def _middle(low: float, high: float) -> float:
    if math.isinf(low):
        return high
    return low if math.isinf(high) else low / 2 + high / 2


def _check_names(joint: Joint) -> None:
    for what in ("name", "parent", "child"):
        value = getattr(joint, what)
        if not isinstance(value, str) or not value:
            raise BadLinkage(f"{what} must be a name, got {value!r}", element=f"joint {joint.name!r}")
    if joint.parent == joint.child:
        raise joint._bad(f"a link cannot be its own parent: {joint.parent!r}")
    if not isinstance(joint.kind, Kind):
        raise joint._bad(f"kind must be a Kind, got {joint.kind!r}")
    if not isinstance(joint.location, Frame) or joint.location.shape != ():
        raise joint._bad("location must be a single Frame")


def _place(at: Frame | None) -> Frame:
    return Frame() if at is None else at


def _as_row(value: ArrayLike | None, n: int) -> Row:
    if value is None:
        return ()
    try:
        return tuple(float(x) for x in np.broadcast_to(np.asarray(value, dtype=float), (n,)))
    except (TypeError, ValueError):
        raise BadInput(f"expected one number or {n}, got {value!r}") from None


def _position_row(value: ArrayLike, none: float) -> Row:
    """Limits of a floating joint: those of its position, then none for its turn."""
    return _as_row(value, 6) if np.shape(value) == (6,) else (*_as_row(value, 3), none, none, none)


def _axis_row(axis: ArrayLike) -> tuple[float, float, float]:
    array = np.asarray(axis, dtype=float)
    if array.shape != (3,):
        raise BadInput(f"axis must be three numbers, got {axis!r}")
    return float(array[0]), float(array[1]), float(array[2])
