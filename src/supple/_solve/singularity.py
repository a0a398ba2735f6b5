"""Singularity: where a linkage loses a direction, named by hand, with a measure and the joints to spare [D22]."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadInput
from supple.frame import Array

BEND, SINE, OFF_AXIS, FUNCTION = range(4)
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class ConditionBound:
    """A damping given as the condition number it keeps at a singularity [D10]."""

    kappa: float

    def __post_init__(self) -> None:
        if not _number(self.kappa) or not 1 < self.kappa < math.inf:
            raise BadInput(f"a condition number must be above 1, got {self.kappa!r}")
        object.__setattr__(self, "kappa", float(self.kappa))

    def __repr__(self) -> str:
        return f"condition_bound({self.kappa!r})"


@dataclass(frozen=True)
class Singularity:
    """A singularity of a linkage: a measure of the distance from it, the region where it is felt, the joints to spare.

    Made by `bend`, `sine`, `off_axis` and `function`. A frozen value; names are looked up when it meets a linkage.
    """

    kind: int
    region: float
    """Where it begins to be felt, in the units of its measure [d_0]."""
    joints: tuple[str, ...]
    """The joints whose weight it lowers; with none it only damps."""
    weight: float
    """Their weight at the singularity, between 0 and 1."""
    joint: str = ""
    """The joint that is measured, or whose axis it is."""
    values: tuple[float, ...] = ()
    """Values of that joint where it is singular."""
    link: str = ""
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    radius: float = 0.0
    measure: Callable[[Array], float] | None = None

    @staticmethod
    def bend(
        joint: str,
        at: float | Sequence[float] = 0.0,
        *,
        region: float = 0.3,
        joints: Sequence[str] = (),
        weight: float = 0.1,
    ) -> Singularity:
        """By how far a joint is from values ``at``, in radians (the shorter way round) or metres."""
        return Singularity(BEND, *_common(region, joints, weight), _name(joint, "joint"), _values(at))

    @staticmethod
    def sine(
        joint: str, at: float = 0.0, *, region: float = 0.3, joints: Sequence[str] = (), weight: float = 0.1
    ) -> Singularity:
        """By the sine of a joint's angle from ``at``: as singular when stretched as when folded back."""
        return Singularity(SINE, *_common(region, joints, weight), _name(joint, "joint"), _values(at))

    @staticmethod
    def off_axis(
        joint: str,
        link: str,
        point: ArrayLike = (0, 0, 0),
        radius: float = 0.0,
        *,
        region: float,
        joints: Sequence[str] = (),
        weight: float = 0.1,
    ) -> Singularity:
        """By how far a ``point`` (3,) of a link, in its axes, is beyond a cylinder about a joint's axis, in metres.

        With r the distance from the axis it is sqrt(r^2 - radius^2): an arm whose shoulder has an offset cannot bring
        its wrist nearer than that, and this is the way that is left in the arm's own plane.
        """
        return Singularity(
            OFF_AXIS,
            *_common(region, joints, weight),
            _name(joint, "joint"),
            (),
            _name(link, "link"),
            _point(point),
            positive(radius, "radius", zero=True),
        )

    @staticmethod
    def function(
        measure: Callable[[Array], float], *, region: float, joints: Sequence[str] = (), weight: float = 0.1
    ) -> Singularity:
        """By any Python function from q (dof,) to a distance."""
        return Singularity(
            FUNCTION, *_common(region, joints, weight), measure=callable_(measure, "a singularity by function")
        )

    def __repr__(self) -> str:
        said: list[str] = []
        if self.kind == FUNCTION:
            said.append(getattr(self.measure, "__name__", "..."))
        else:
            said.append(repr(self.joint))
        if self.kind in (BEND, SINE) and self.values != (0.0,):
            said.append(repr(self.values[0] if len(self.values) == 1 else self.values))
        if self.kind == OFF_AXIS:
            said += [repr(self.link), repr(self.point), repr(self.radius)]
        if self.region != 0.3 or self.kind in (OFF_AXIS, FUNCTION):
            said.append(f"region={self.region!r}")
        if self.joints:
            said.append(f"joints={self.joints!r}")
        if self.weight != 0.1:
            said.append(f"weight={self.weight!r}")
        name = {BEND: "bend", SINE: "sine", OFF_AXIS: "off_axis", FUNCTION: "function"}[self.kind]
        return f"Singularity.{name}({', '.join(said)})"


# -- what every scheme checks ------------------------------------------------------------------------------------


def alpha(value: float | ConditionBound) -> float | ConditionBound:
    """A damping: a number, not negative, or a `ConditionBound`."""
    if isinstance(value, ConditionBound):
        return value
    if not _number(value) or not 0 <= value < math.inf:
        raise BadInput(f"alpha0 must be a number, not negative, or damping.condition_bound(...); got {value!r}")
    return float(value)


def positive(value: float, what: str, zero: bool = False) -> float:
    """A positive number, or with ``zero`` one that is not negative."""
    if not _number(value) or not (0 < value < math.inf or (zero and value == 0)):
        raise BadInput(f"{what} must be a {'number, not negative' if zero else 'positive number'}, got {value!r}")
    return float(value)


def fraction(value: float, what: str, zero: bool = False) -> float:
    """A number above 0, or with ``zero`` not below it, and at most 1."""
    if not _number(value) or not (0 < value <= 1 or (zero and value == 0)):
        raise BadInput(f"{what} must {'lie between 0 and 1' if zero else 'be above 0 and at most 1'}, got {value!r}")
    return float(value)


def flag(value: bool) -> bool:
    """Whether as printed: True or False."""
    if not isinstance(value, bool):
        raise BadInput(f"as_printed must be True or False, got {value!r}")
    return value


def callable_(value: F, what: str) -> F:
    """Something to call."""
    if not callable(value):
        raise BadInput(f"{what} needs a function, got {value!r}")
    return value


def _number(value: object) -> bool:
    return isinstance(value, int | float | np.floating) and not isinstance(value, bool)


def _common(region: float, joints: Sequence[str], weight: float) -> tuple[float, tuple[str, ...], float]:
    names = (joints,) if isinstance(joints, str) else tuple(joints)
    return (
        positive(region, "region"),
        tuple(_name(name, "joint") for name in names),
        fraction(weight, "weight", zero=True),
    )


def _name(value: str, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise BadInput(f"a singularity needs the name of a {what}, got {value!r}")
    return value


def _values(at: float | Sequence[float]) -> tuple[float, ...]:
    try:
        values = tuple(float(value) for value in np.atleast_1d(np.asarray(at, dtype=float)))
    except (TypeError, ValueError):
        values = ()
    if not values or not all(map(math.isfinite, values)):
        raise BadInput(f"a singularity is at one value of a joint, or several; got {at!r}")
    return values


def _point(point: ArrayLike) -> tuple[float, float, float]:
    try:
        array = np.asarray(point, dtype=float)
    except (TypeError, ValueError):
        array = np.full(3, np.nan)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise BadInput(f"point must be three finite numbers, got {point!r}")
    return float(array[0]), float(array[1]), float(array[2])
