"""Joint: how a child link moves relative to its parent."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _renamed
from supple._linkage import angles
from supple._linkage.joint_checks import Row, axis_row, bad, complete, place, position_row, row
from supple._linkage.kind import Kind as Kind
from supple.errors import BadLinkage
from supple.frame import Frame


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another joint: its value is ``gain * source + offset``.

    >>> from supple import Joint, Mimic
    >>> finger = Joint.prismatic("right_finger", "hand", "right", mimic=Mimic("left_finger", gain=-1))
    >>> finger.dof
    0
    """

    joint: str
    """Name of the joint to follow, which may itself be a mimic."""
    gain: float = 1.0
    """Factor on the source's value; without a unit, or in rad/m or m/rad."""
    offset: float = 0.0
    """Added to the product, in radians or metres."""

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str) or not self.joint:
            raise BadLinkage(f"a mimic follows a joint, by its name; got {_check.short(self.joint)}")
        given = (self.gain, self.offset)
        if all(abs(_check.real(value)) <= _check.LARGEST for value in given):
            return
        shown = ", ".join(_check.short(value if type(value) is not int else _check.real(value)) for value in given)
        reason = f"gain and offset of a mimic must be within {_check.LARGEST:g}, got {shown}"
        if not all(map(_check.is_number, given)):
            reason = f"gain and offset must be numbers, got {shown}"
        elif not all(math.isfinite(_check.real(value)) for value in given):
            reason = f"gain and offset of a mimic must be finite, got {shown}"
        raise BadLinkage(reason, element=f"mimic of joint {_check.short(self.joint)}")


@_renamed.answers_old_names
@dataclass(frozen=True)
class Joint(metaclass=_renamed.HidesOldNames):
    """The connection of a child link to its parent: the child's constant location, and how the child moves from there.

    Use `Joint.revolute`, `Joint.prismatic` and so on, which take the fields of each kind. Angles in radians, lengths
    in metres, speeds and accelerations per second and per second squared.

    >>> from supple import Joint
    >>> Joint.revolute("elbow", "upper", "fore", axis=[0, 1, 0], lower=-2, upper=2).axis
    (0.0, 1.0, 0.0)
    """

    name: str
    kind: Kind
    parent: str
    """Name of the parent link."""
    child: str
    """Name of the child link."""
    location: Frame = Frame()
    """Frame of the child in its parent while the joint's values are zero."""
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Unit vector in the child's axes: rotation axis, direction of translation, normal of a plane, or twist axis."""
    lower: Row = ()
    """Lowest value of each degree of freedom; -inf for no limit."""
    upper: Row = ()
    """Highest value of each degree of freedom; inf for no limit."""
    speed: Row = ()
    """Greatest speed of each degree of freedom; inf for no limit."""
    acceleration: Row = ()
    """Greatest acceleration of each degree of freedom; inf for no limit."""
    rest: Row = ()
    """Rest value of each degree of freedom: the default for values that are not given."""
    mimic: Mimic | None = None
    swing: float = math.pi
    """Ball joints: the largest angle between the axis and its direction at zero, in radians (pi: no limit)."""
    twist: tuple[float, float] = (-math.pi, math.pi)
    """Ball joints: the range of rotation about the axis, in radians."""

    def __post_init__(self) -> None:
        if not isinstance(self.mimic, Mimic | None):
            example = self.mimic if isinstance(self.mimic, str) and 0 < len(self.mimic) < 60 else "joint1"
            raise bad(self, f"mimic must be a Mimic, such as Mimic({example!r}), got {_check.short(self.mimic)}")
        for field, value in complete(self).items():
            object.__setattr__(self, field, value)
        object.__setattr__(self, "location", self.location._kept())

    # -- constructors -------------------------------------------------------------------------------------------

    @classmethod
    @_check.known_options()
    def fixed(cls, name: str, parent: str, child: str, *, at: Frame | None = None) -> Joint:
        """A joint that does not move: the child stays ``at`` a frame of its parent.

        >>> from supple import Frame, Joint
        >>> Joint.fixed("mount", "flange", "tool", at=Frame.at([0, 0, 0.1])).dof
        0
        """
        return cls(name, Kind.FIXED, parent, child, place(at))

    @classmethod
    @_check.known_options()
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
        """A rotation about an axis, between limits in radians.

        >>> from supple import Joint
        >>> Joint.revolute("elbow", "upper", "fore", lower=-2, upper=2).units
        ('rad',)
        """
        limits = ((lower,), (upper,), (speed,), (acceleration,))
        return cls._single(Kind.REVOLUTE, name, parent, child, at, axis, limits, rest, mimic)

    @classmethod
    @_check.known_options()
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
        """A rotation about an axis without limits; values that differ by 2 pi are different values.

        >>> from supple import Joint
        >>> Joint.continuous("wheel", "body", "rim", axis=[0, 1, 0]).upper
        (inf,)
        """
        limits = ((-math.inf,), (math.inf,), (speed,), (acceleration,))
        return cls._single(Kind.CONTINUOUS, name, parent, child, at, axis, limits, rest, mimic)

    @classmethod
    @_check.known_options()
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
        """A translation along an axis, between limits in metres.

        >>> from supple import Joint
        >>> Joint.prismatic("lift", "base", "carriage", lower=0, upper=0.5).units
        ('m',)
        """
        limits = ((lower,), (upper,), (speed,), (acceleration,))
        return cls._single(Kind.PRISMATIC, name, parent, child, at, axis, limits, rest, mimic)

    @classmethod
    @_check.known_options()
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
        """A translation in the plane normal to an axis and a rotation about the axis: values x, y in m, angle in rad.

        Limits and rest are one number for all three values, or three.

        >>> from supple import Joint
        >>> Joint.planar("drive", "world", "cart", lower=[-1, -2, -3], upper=[1, 2, 3]).units
        ('m', 'm', 'rad')
        """
        return cls(
            name,
            Kind.PLANAR,
            parent,
            child,
            place(at),
            axis_row(axis),
            lower=row(lower, 3, "lower"),
            upper=row(upper, 3, "upper"),
            speed=row(speed, 3, "speed"),
            acceleration=row(acceleration, 3, "acceleration"),
            rest=row(rest, 3, "rest"),
        )

    @classmethod
    @_check.known_options()
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
        """A ball joint: its three values are a rotation vector, in radians.

        ``swing`` is the largest angle between ``axis`` and its direction at zero. ``twist`` is the range of rotation
        about ``axis``. Speed, acceleration and rest are one number for all three values, or three.

        >>> from supple import Joint
        >>> Joint.ball("hip", "pelvis", "thigh", axis=[0, 0, -1], swing=1.2, twist=(-0.5, 0.5)).dof
        3
        """
        return cls(
            name,
            Kind.BALL,
            parent,
            child,
            place(at),
            axis_row(axis),
            speed=row(speed, 3, "speed"),
            acceleration=row(acceleration, 3, "acceleration"),
            rest=row(rest, 3, "rest"),
            swing=swing,
            twist=twist,
        )

    @classmethod
    @_check.known_options()
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
        """A free joint: its six values are a position in metres and a rotation vector in radians.

        Only the position can be limited: ``lower`` and ``upper`` are one number for all three directions, or three,
        or six with the last three infinite.

        >>> from supple import Joint
        >>> Joint.floating("root", "world", "pelvis", lower=[-1, -1, 0]).lower
        (-1.0, -1.0, 0.0, -inf, -inf, -inf)
        """
        return cls(
            name,
            Kind.FLOATING,
            parent,
            child,
            place(at),
            lower=position_row(lower, -math.inf, "lower"),
            upper=position_row(upper, math.inf, "upper"),
            speed=row(speed, 6, "speed"),
            acceleration=row(acceleration, 6, "acceleration"),
            rest=row(rest, 6, "rest"),
        )

    @classmethod
    @_check.known_options()
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
        """A ball joint as three revolute joints with links of no size between them: its values are Euler angles.

        The joints are called ``name_x`` and so on, by the axes in ``order``; for an axis that occurs twice,
        ``name_z0`` and ``name_z2``. Like Euler angles they have gimbal lock.

        >>> from supple import Joint
        >>> [joint.name for joint in Joint.ball_from_revolutes("hip", "pelvis", "thigh", order="zyx")]
        ['hip_z', 'hip_y', 'hip_x']
        """
        angles.check(order)
        _check.text(name, "name")
        low, high, fast, hard = (
            _check.one_or_each(value, 3, what).tolist()
            for value, what in ((lower, "lower"), (upper, "upper"), (speed, "speed"), (acceleration, "acceleration"))
        )
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

    @classmethod
    def _single(
        cls,
        kind: Kind,
        name: str,
        parent: str,
        child: str,
        at: Frame | None,
        axis: ArrayLike,
        limits: tuple[Row, Row, Row, Row],
        rest: float | None,
        mimic: Mimic | None,
    ) -> Joint:
        """A joint of one degree of freedom."""
        own: Row = () if rest is None else (rest,)
        return cls(name, kind, parent, child, place(at), axis_row(axis), *limits, own, mimic)

    # -- values -------------------------------------------------------------------------------------------------

    @property
    def dof(self) -> int:
        """Number of values in q that belong to this joint: 0 for a fixed joint and for a mimic."""
        return 0 if self.mimic else self.kind.dof

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each value, ``rad`` or ``m``; a mimic has units too, although it has no value in q."""
        return self.kind.units
