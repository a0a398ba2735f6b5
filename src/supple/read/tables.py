"""Reader of Denavit-Hartenberg tables, standard and modified."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from supple import _check
from supple.errors import BadInput, BadLinkage, SuppleError, unknown
from supple.frame import Frame
from supple.joint import Joint, Kind
from supple.linkage import Linkage

_KINDS = (Kind.REVOLUTE, Kind.CONTINUOUS, Kind.PRISMATIC, Kind.FIXED)


@dataclass(frozen=True, kw_only=True)
class DH:
    """One row of a Denavit-Hartenberg table: a joint and its child link. Radians and metres.

    >>> from supple import DH
    >>> DH(d=0.1, a=0.4, lower=-2, upper=2).kind
    <Kind.REVOLUTE: 'revolute'>
    """

    theta: float = 0.0
    """Angle about z; in a revolute row, added to the value of q."""
    d: float = 0.0
    """Distance along z; in a prismatic row, added to the value of q."""
    a: float = 0.0
    """Distance along x."""
    alpha: float = 0.0
    """Angle about x."""
    kind: Kind = Kind.REVOLUTE
    """REVOLUTE or CONTINUOUS (q is an angle about z), PRISMATIC (q is a distance along z), or FIXED."""
    lower: float = -math.inf
    """Lowest value of q; -inf for no limit."""
    upper: float = math.inf
    """Highest value of q; inf for no limit."""
    speed: float = math.inf
    """Greatest speed, per second; inf for no limit."""
    rest: float | None = None
    """Rest value of q; by default 0, or the middle of the limits if they exclude 0."""
    name: str | None = None
    """Name of the joint; without one, ``joint1`` for the first row and so on."""


Row = DH | Mapping[str, Any] | Sequence[float]


def dh(rows: Iterable[Row], *, modified: bool = False, name: str = "dh") -> Linkage:
    """A linkage from a Denavit-Hartenberg table.

    The root link is called ``base``. Frame i of the table is that of the link ``link1``, ``link2``, ..., so that
    ``arm.frame(q, "link3")`` is the product of the first three rows. A row is a `DH`, a mapping with the same names,
    or the four numbers (theta, d, a, alpha) in this order, in radians and metres.

    A standard row is Rz(theta + q) Tz(d) Tx(a) Rx(alpha). If it is revolute and ``a`` is not 0, the axis does not pass
    through the frame of the link, and a link of no size on the axis, such as ``link1_axis``, is put between. With
    ``modified`` (Craig) a row is Rx(alpha) Tx(a) Rz(theta + q) Tz(d), which never needs one.

    >>> from supple import DH, dh
    >>> planar = dh([DH(a=0.4), DH(a=0.3, lower=-2, upper=2)])
    >>> planar.frame([0, 0], "link2").position
    array([0.7, 0. , 0. ])
    """
    joints: list[Joint] = []
    taken: dict[str, int] = {}
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise BadInput(f"rows must be a list of rows, got {_check.short(rows)}")
    _check.flag(modified, "modified")
    parent, i = "base", 0
    for i, given in enumerate(rows, 1):
        try:
            row = _row(given)
            made = _modified(row, i, parent) if modified else _standard(row, i, parent)
            if made[0].name in taken:
                raise BadLinkage(f"its joint is called {made[0].name!r} like that of row {taken[made[0].name]}")
            taken[made[0].name] = i
            joints += made
        except SuppleError as error:
            reason = error.reason if isinstance(error, BadLinkage) else str(error)
            raise BadLinkage(reason, element=f"row {i}") from None
        parent = f"link{i}"
    if not i:
        raise BadLinkage("a Denavit-Hartenberg table needs at least one row")
    return Linkage(name, joints)


def _standard(row: DH, i: int, parent: str) -> list[Joint]:
    link = f"link{i}"
    before = Frame.at([0, 0, row.d], Frame.turn([0, 0, 1], row.theta))
    after = Frame.at([row.a, 0, 0], Frame.turn([1, 0, 0], row.alpha))
    if row.a and row.kind in (Kind.REVOLUTE, Kind.CONTINUOUS):
        joint = _joint(row, i, parent, f"{link}_axis", before, (0.0, 0.0, 1.0))
        return [joint, Joint.fixed(f"{joint.name}_offset", joint.child, link, at=after)]
    z = after.rotation[2]  # z of the parent frame, in the axes of the child
    return [_joint(row, i, parent, link, before @ after, (float(z[0]), float(z[1]), float(z[2])))]


def _modified(row: DH, i: int, parent: str) -> list[Joint]:
    before = Frame.turn([1, 0, 0], row.alpha) @ Frame.at([row.a, 0, row.d], Frame.turn([0, 0, 1], row.theta))
    return [_joint(row, i, parent, f"link{i}", before, (0.0, 0.0, 1.0))]


def _joint(row: DH, i: int, parent: str, child: str, at: Frame, axis: tuple[float, float, float]) -> Joint:
    name = row.name or f"joint{i}"
    if row.kind is Kind.FIXED:
        return Joint.fixed(name, parent, child, at=at)
    rest = () if row.rest is None else (row.rest,)
    return Joint(name, row.kind, parent, child, at, axis, (row.lower,), (row.upper,), (row.speed,), rest=rest)


def _row(given: Row) -> DH:
    """A checked row; the caller adds the row number to errors."""
    names = [field.name for field in fields(DH)]
    if isinstance(given, DH):
        row = given
    elif isinstance(given, Mapping):
        for key in given:
            if not isinstance(key, str) or key not in names:
                raise unknown("field", key, names)
        row = DH(**given)
    else:
        found = _check.numbers_or_none(given)
        values = [] if found is None or found.shape != (4,) else found.tolist()
        if not values:
            raise BadLinkage(
                f"expected the four numbers theta, d, a, alpha, a mapping or a DH; got {_check.short(given)}"
            )
        row = DH(theta=values[0], d=values[1], a=values[2], alpha=values[3])
    for key in ("theta", "d", "a", "alpha", "lower", "upper", "speed", "rest"):
        value = getattr(row, key)
        if value is None and key == "rest":
            continue
        number = _check.real(value)
        if math.isnan(number) or (key in names[:4] and math.isinf(number)):
            raise BadLinkage(
                f"{key} must be a {'finite ' if key in names[:4] else ''}number, got {_check.short(value)}"
            )
    if not isinstance(row.kind, Kind) or row.kind not in _KINDS:
        raise BadLinkage(f"kind must be one of {', '.join(kind.name for kind in _KINDS)}; got {_check.short(row.kind)}")
    if row.name is not None and (not isinstance(row.name, str) or not row.name):
        raise BadLinkage(f"name must be a string that is not empty, got {_check.short(row.name)}")
    return row
