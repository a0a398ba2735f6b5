"""The fields of a joint: checked, completed and converted to rows of floats."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from supple import _check
from supple._linkage.kind import Kind
from supple.errors import BadInput, BadLinkage
from supple.frame import Frame

if TYPE_CHECKING:
    from supple.joint import Joint

Row = tuple[float, ...]
LARGEST_ANGLE = 2.0**20
"""Radians: a larger joint value has too few digits left for a solve; see `docs/solving.md`."""


# -- arguments of the constructors ------------------------------------------------------------------------------------


def place(at: Frame | None) -> Frame:
    """The frame, or the identity for None; its type is checked with the other fields."""
    return Frame() if at is None else at


def row(value: ArrayLike | None, n: int, what: str) -> Row:
    """One number for all degrees of freedom or one for each, as n floats; None gives an empty row."""
    return () if value is None else tuple(_check.one_or_each(value, n, what).tolist())


def position_row(value: ArrayLike, none: float, what: str) -> Row:
    """Limits of a floating joint (6,): those of its position, then ``none`` for its rotation."""
    return (
        row(value, 6, what) if _check.numbers(value, what).shape == (6,) else (*row(value, 3, what), none, none, none)
    )


def axis_row(axis: ArrayLike) -> tuple[float, float, float]:
    """Three numbers; whether they are finite is checked with the other fields."""
    array = _check.numbers(axis, "axis", "(3,)")
    if array.shape != (3,):
        raise BadInput(f"axis must be three numbers, got {_check.short(axis)}")
    x, y, z = array.tolist()
    return x, y, z


# -- fields of a joint ------------------------------------------------------------------------------------------------


def complete(joint: Joint) -> dict[str, object]:
    """Every field of a joint that must be changed to its checked form; raises `BadLinkage` naming the joint."""
    _names(joint)
    n = joint.kind.dof
    nones = {"lower": -math.inf, "upper": math.inf, "speed": math.inf, "acceleration": math.inf}
    lower, upper, speed, acceleration = (
        _unlimited(_row(joint, field, getattr(joint, field), none, n), none) for field, none in nones.items()
    )
    _limits(joint, lower, upper)
    for field, limits in (("speed", speed), ("acceleration", acceleration)):
        if any(not value >= 0 for value in limits):
            raise bad(joint, f"{field} limit must not be negative, got {limits}")
    axis = _unit_axis(joint)
    swing, twist = _swing_and_twist(joint)
    if joint.mimic is not None and n != 1:
        raise bad(joint, f"only joints of one degree of freedom can mimic, not a {joint.kind.value} joint")
    fields = {"lower": lower, "upper": upper, "speed": speed, "acceleration": acceleration}
    return {**fields, "axis": axis, "swing": swing, "twist": twist, "rest": _rest(joint, lower, upper, axis, twist)}


def farthest(frame: Frame) -> float:
    """The largest coordinate of a single frame's position, without its sign, in metres."""
    x, y, z = frame.matrix[:3, 3].tolist()
    return float(max(abs(x), abs(y), abs(z)))


def bad(joint: Joint, reason: str) -> BadLinkage:
    """A `BadLinkage` that names the joint."""
    return BadLinkage(reason, element=f"joint {_check.short(joint.name)}")


def _names(joint: Joint) -> None:
    for what in ("name", "parent", "child"):
        value = getattr(joint, what)
        if not isinstance(value, str) or not value:
            raise bad(joint, f"{what} must be a name, got {_check.short(value)}")
    if joint.parent == joint.child:
        raise bad(joint, f"a link cannot be its own parent: {joint.parent!r}")
    if not isinstance(joint.kind, Kind):
        raise bad(joint, f"kind must be a Kind, got {_check.short(joint.kind)}")
    if not isinstance(joint.location, Frame) or joint.location.shape != ():
        raise bad(joint, "at must be a single Frame, such as Frame.at([0, 0, 0.1])")
    far = farthest(joint.location)
    if not far <= _check.LARGEST:
        raise bad(joint, f"its location must be within {_check.LARGEST:g} m, got {far:g}")


def _unlimited(limits: Row, none: float) -> Row:
    """The limits, with ``none`` for one beyond `_check.LARGEST`: files write the largest float for no limit."""
    return tuple(none if x * math.copysign(1, none) > _check.LARGEST else x for x in limits)


def _limits(joint: Joint, lower: Row, upper: Row) -> None:
    if joint.kind is Kind.CONTINUOUS and any(map(math.isfinite, lower + upper)):
        raise bad(joint, "a continuous joint has no position limits; use a revolute one")
    if joint.kind is Kind.BALL and any(map(math.isfinite, lower + upper)):
        raise bad(joint, "a ball joint is limited by swing and twist, not by lower and upper")
    if joint.kind is Kind.FLOATING and any(map(math.isfinite, lower[3:] + upper[3:])):
        raise bad(joint, "only the position of a floating joint can be limited, not its rotation")
    for low, high in zip(lower, upper, strict=True):
        if not low <= high:
            raise bad(joint, f"lower limit {low:g} is above upper limit {high:g}")
        if low == math.inf or high == -math.inf:
            raise bad(joint, f"no value lies between the limits {low:g} and {high:g}")
        if joint.kind is Kind.REVOLUTE and not (low <= LARGEST_ANGLE and high >= -LARGEST_ANGLE):
            raise bad(joint, f"limits of {low:g} to {high:g} rad leave no angle within {LARGEST_ANGLE:g} rad of 0")
        if low > _check.LARGEST or high < -_check.LARGEST:
            raise bad(joint, f"no value within {_check.LARGEST:g} lies between the limits {low:g} and {high:g}")


def _row(joint: Joint, field: str, values: Iterable[float], default: float, n: int) -> Row:
    numbers = _numbers(joint, field, values)
    if not numbers:
        return (default,) * n
    if len(numbers) != n:
        raise bad(joint, f"{field} needs {n} values for a {joint.kind.value} joint, got {len(numbers)}")
    if any(math.isnan(value) for value in numbers):
        raise bad(joint, f"{field} must be a number, got nan")
    return numbers


def _numbers(joint: Joint, field: str, values: Iterable[float]) -> Row:
    try:
        return tuple(_number(value) for value in values)
    except (TypeError, ValueError):
        raise bad(joint, f"{field} must be numbers, got {_check.short(values)}") from None


def _number(value: object) -> float:
    """One real number, also nan; `ValueError` for anything else. An array with one entry counts as that entry."""
    if type(value) is float:
        return value
    if isinstance(value, bool) or not _check.is_number(value):
        array = _check.numbers_or_none(value)  # type: ignore[arg-type]
        if array is None or array.size != 1:
            raise ValueError
        return float(array.ravel()[0])
    return _check.real(value)


def _unit_axis(joint: Joint) -> tuple[float, float, float]:
    axis = _numbers(joint, "axis", joint.axis)
    if len(axis) != 3 or not all(map(math.isfinite, axis)):
        raise bad(joint, f"axis must be three finite numbers, got {_check.short(joint.axis)}")
    # scaled first, so that neither huge nor tiny numbers over- or underflow
    largest = max(map(abs, axis))
    if largest == 0:
        if joint.kind in (Kind.FIXED, Kind.FLOATING):
            return (0.0, 0.0, 1.0)
        raise bad(joint, f"axis of a {joint.kind.value} joint must not be zero")
    x, y, z = (value / largest for value in axis)
    length = math.sqrt(x * x + y * y + z * z)
    return (x / length, y / length, z / length)


def _swing_and_twist(joint: Joint) -> tuple[float, tuple[float, float]]:
    twist = _numbers(joint, "swing and twist", joint.twist)
    if len(twist) != 2:
        raise bad(joint, f"twist must be two numbers, got {_check.short(joint.twist)}")
    (swing,), (low, high) = _numbers(joint, "swing and twist", (joint.swing,)), twist
    if not 0 <= swing <= math.pi:
        raise bad(joint, f"swing must be between 0 and pi, got {swing:g}")
    if not -math.pi <= low <= high <= math.pi:
        raise bad(joint, f"twist must be a range within -pi and pi, got {low:g} to {high:g}")
    return swing, (low, high)


def _rest(joint: Joint, lower: Row, upper: Row, axis: Row, twist: tuple[float, float]) -> Row:
    """The rest values as given; otherwise 0 where the limits allow it, and the middle of the limits where not."""
    if not _numbers(joint, "rest", joint.rest):
        low, high = twist
        if joint.kind is Kind.BALL and not low <= 0 <= high:
            return tuple(_middle(low, high) * value for value in axis)
        limits = zip(lower, upper, strict=True)
        return tuple(0.0 if low <= 0 <= high else _middle(low, high) for low, high in limits)
    rest = _row(joint, "rest", joint.rest, 0.0, joint.kind.dof)
    if not all(map(math.isfinite, rest)):
        raise bad(joint, f"rest must be finite, got {rest}")
    if not all(abs(value) <= _check.LARGEST for value in rest):
        raise bad(joint, f"rest must be within {_check.LARGEST:g}, got {_check.short(rest)}")
    return rest


def _middle(low: float, high: float) -> float:
    if math.isinf(low):
        return high
    return low if math.isinf(high) else low / 2 + high / 2
