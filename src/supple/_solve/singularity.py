"""Singularity: joint values where a linkage loses a direction of motion, with a measure of the distance [D22]."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._solve import fields
from supple.errors import BadInput
from supple.frame import Array


class Measure(IntEnum):
    """How the distance from a singularity is measured; the core knows the numbers."""

    BEND = 0
    SINE = 1
    OFF_AXIS = 2
    FUNCTION = 3


@dataclass(frozen=True)
class ConditionBound:
    """An alpha_0 given as the condition number that it keeps at a singularity [D10]; made by `condition_bound`.

    >>> from supple import damping
    >>> damping.condition_bound(300).kappa
    300.0
    """

    kappa: float

    def __post_init__(self) -> None:
        kappa = _check.real(self.kappa)
        if not 1 < kappa < math.inf:
            raise BadInput(f"a condition number must be above 1, got {_check.short(self.kappa)}")
        object.__setattr__(self, "kappa", kappa)

    def __repr__(self) -> str:
        return f"condition_bound({self.kappa!r})"


@dataclass(frozen=True)
class Singularity:
    """A singularity of a linkage: a distance measure, the region where damping acts, and joints whose weight falls.

    Made by `bend`, `sine`, `off_axis` and `function`. A frozen value; names are looked up when a linkage is solved.

    >>> from supple.damping import Singularity
    >>> Singularity.bend("elbow", joints=["elbow", "shoulder"]).region
    0.3
    """

    kind: Measure
    region: float
    """The distance d_0 where damping begins, in the units of the measure."""
    joints: tuple[str, ...]
    """The joints whose weight falls; with none, only damping acts."""
    weight: float
    """The weight of those joints at the singularity, between 0 and 1."""
    joint: str = ""
    """The joint that is measured, or whose axis is used."""
    values: tuple[float, ...] = ()
    """Values of that joint at the singularity, in radians or metres."""
    link: str = ""
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    radius: float = 0.0
    measure: Callable[[Array], float] | None = None

    def __post_init__(self) -> None:
        _check.instance(self.kind, Measure, "kind", "that of Singularity.bend")
        common = _common(self.region, self.joints, self.weight)
        for name, value in zip(("region", "joints", "weight"), common, strict=True):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "point", _point(self.point))
        object.__setattr__(self, "radius", _check.positive(self.radius, "radius", zero=True))
        if self.kind is Measure.FUNCTION:
            if not callable(self.measure):
                raise BadInput(f"a singularity by function needs a function, got {_check.short(self.measure)}")
            return
        _name(self.joint, "joint")
        if self.kind is Measure.OFF_AXIS:
            _name(self.link, "link")
        else:
            object.__setattr__(self, "values", _values(self.values))

    @staticmethod
    def bend(
        joint: str,
        at: float | Sequence[float] = 0.0,
        *,
        region: float = 0.3,
        joints: Sequence[str] = (),
        weight: float = 0.1,
    ) -> Singularity:
        """Distance of a joint from the values ``at``, in radians (the shorter way round) or metres.

        >>> from supple.damping import Singularity
        >>> Singularity.bend("elbow", region=0.2)
        Singularity.bend('elbow', region=0.2)
        """
        return Singularity(Measure.BEND, *_common(region, joints, weight), _name(joint, "joint"), _values(at))

    @staticmethod
    def sine(
        joint: str, at: float = 0.0, *, region: float = 0.3, joints: Sequence[str] = (), weight: float = 0.1
    ) -> Singularity:
        """Sine of a joint's angle from ``at``, in radians: 0 both when stretched and when folded.

        >>> from supple.damping import Singularity
        >>> Singularity.sine("elbow")
        Singularity.sine('elbow')
        """
        return Singularity(Measure.SINE, *_common(region, joints, weight), _name(joint, "joint"), _values(at))

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
        """Distance of a link's ``point`` (3,), in link axes, from a cylinder about a joint's axis, in metres.

        With r the distance from the axis it is sqrt(r^2 - radius^2). ``radius`` is the shoulder offset of an arm, which
        its wrist cannot come nearer than.

        >>> from supple.damping import Singularity
        >>> Singularity.off_axis("azimuth", "forearm", (0.57, 0, 0), region=0.4)
        Singularity.off_axis('azimuth', 'forearm', (0.57, 0.0, 0.0), 0.0, region=0.4)
        """
        return Singularity(
            Measure.OFF_AXIS,
            *_common(region, joints, weight),
            _name(joint, "joint"),
            (),
            _name(link, "link"),
            _point(point),
            _check.positive(radius, "radius", zero=True),
        )

    @staticmethod
    def function(
        measure: Callable[[Array], float], *, region: float, joints: Sequence[str] = (), weight: float = 0.1
    ) -> Singularity:
        """Any Python function from q (dof,) to a distance.

        >>> from supple.damping import Singularity
        >>> def bend(q):
        ...     return abs(q[1])
        >>> Singularity.function(bend, region=0.2)
        Singularity.function(bend, region=0.2)
        """
        if not callable(measure):
            raise BadInput(f"a singularity by function needs a function, got {_check.short(measure)}")
        return Singularity(Measure.FUNCTION, *_common(region, joints, weight), measure=measure)

    def to_dict(self) -> dict[str, Any]:
        """The singularity as plain data with explicit fields; a function is refused.

        >>> from supple.damping import Singularity
        >>> Singularity.sine("elbow").to_dict()["measure"]
        'sine'
        """
        if self.kind is Measure.FUNCTION:
            raise BadInput(f"damping.{self!r} cannot be written as data: it is a Python function")
        where: dict[str, Any] = {"joint": self.joint}
        if self.kind is Measure.OFF_AXIS:
            where |= {"link": self.link, "point": list(self.point), "radius": self.radius}
        else:
            where["at"] = list(self.values) if self.kind is Measure.BEND else self.values[0]
        common = {"region": self.region, "joints": list(self.joints), "weight": self.weight}
        return {"measure": self.kind.name.lower(), **where, **common}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Singularity:
        """The singularity that `to_dict` wrote.

        >>> from supple.damping import Singularity
        >>> Singularity.from_dict(Singularity.sine("elbow").to_dict())
        Singularity.sine('elbow')
        """
        makers: dict[str, tuple[Callable[..., Singularity], tuple[str, ...]]] = {
            "bend": (cls.bend, ("joint", "at")),
            "sine": (cls.sine, ("joint", "at")),
            "off_axis": (cls.off_axis, ("joint", "link", "point", "radius")),
        }
        name = fields.one_of(data, "a singularity", "measure", makers)
        make, where = makers[name]
        arguments = (*where, "region", "joints", "weight")
        values = fields.checked(data, f"Singularity.{name}", ("measure", *arguments))
        fields.listed(values["joints"], "joints of a singularity")
        return make(**{argument: values[argument] for argument in arguments})

    def __repr__(self) -> str:
        parts: list[str] = []
        if self.kind is Measure.FUNCTION:
            parts.append(getattr(self.measure, "__name__", "..."))
        else:
            parts.append(repr(self.joint))
        if self.kind in (Measure.BEND, Measure.SINE) and self.values != (0.0,):
            parts.append(repr(self.values[0] if len(self.values) == 1 else self.values))
        if self.kind is Measure.OFF_AXIS:
            parts += [repr(self.link), repr(self.point), repr(self.radius)]
        if self.region != 0.3 or self.kind in (Measure.OFF_AXIS, Measure.FUNCTION):
            parts.append(f"region={self.region!r}")
        if self.joints:
            parts.append(f"joints={self.joints!r}")
        if self.weight != 0.1:
            parts.append(f"weight={self.weight!r}")
        return f"Singularity.{self.kind.name.lower()}({', '.join(parts)})"


def _common(region: float, joints: Sequence[str], weight: float) -> tuple[float, tuple[str, ...], float]:
    try:
        names = (joints,) if isinstance(joints, str) else tuple(joints)
    except TypeError:
        raise BadInput(f"joints must be names of joints, got {_check.short(joints)}") from None
    return (
        _check.positive(region, "region"),
        tuple(_name(name, "joint") for name in names),
        _check.fraction(weight, "weight", zero=True),
    )


def _name(value: str, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise BadInput(f"a singularity needs the name of a {what}, got {_check.short(value)}")
    return value


def _values(at: float | Sequence[float]) -> tuple[float, ...]:
    array = _check.numbers_or_none(at)
    values = () if array is None or array.ndim > 1 else tuple(np.atleast_1d(array).tolist())
    if not values or not all(map(math.isfinite, values)):
        raise BadInput(f"a singularity is at one value of a joint, or several; got {_check.short(at)}")
    return values


def _point(point: ArrayLike) -> tuple[float, float, float]:
    array = _check.numbers_or_none(point)
    if array is None or array.shape != (3,) or not np.isfinite(array).all():
        raise BadInput(f"point must be three finite numbers, got {_check.short(point)}")
    return float(array[0]), float(array[1]), float(array[2])
