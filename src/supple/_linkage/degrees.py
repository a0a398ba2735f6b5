"""A warning for joint values that were almost certainly meant in degrees."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.frame import Array
from supple.joint import Kind

if TYPE_CHECKING:
    from supple.linkage import Linkage

_FAR = 5 * math.pi  # radians beyond a limit: two whole turns do not count
_ROUNDING = 1e-3  # radians: an angle that exceeds its limit by rounding only is within it


def largest_square(linkage: Linkage) -> float:
    """The largest sum of squares of joint values within limits; one without a limit counts with a whole turn."""
    both = np.maximum(np.abs(linkage.lower), np.abs(linkage.upper))
    return float(np.sum(np.where(np.isfinite(both), both, 2 * math.pi) ** 2))


def warn(linkage: Linkage, q: Array, what: str) -> None:
    """Warns if q (..., dof), with values outside their limits, is almost certainly in degrees."""
    said = noticed(linkage, q, what)
    if said:
        warnings.warn(said, stacklevel=4)


def noticed(linkage: Linkage, q: Array, what: str) -> str:
    """Says that q (..., dof), with values outside their limits, is almost certainly in degrees; else an empty text.

    That is the case if two angles of a row, or the only one, are more than 5 pi beyond their limits, and all angles of
    all rows are within their limits as degrees. Joints without limits do not count.
    """
    columns = _limited_angles(linkage)
    rows = q.reshape(-1, linkage.dof)[:, columns]
    rows = rows[np.isfinite(rows).all(axis=1)]
    if not rows.size:
        return ""
    lower, upper = linkage.lower[columns], linkage.upper[columns]
    beyond = np.maximum(lower - rows, rows - upper)
    turned = np.radians(rows)
    if not ((turned >= lower - _ROUNDING) & (turned <= upper + _ROUNDING)).all():
        return ""
    far = beyond > _FAR
    row = int(far.sum(axis=1).argmax())
    if far[row].sum() < min(2, len(columns)):
        return ""
    worst = int(beyond[row].argmax())
    return (
        f"{what} looks like degrees: {linkage.names[columns[worst]]} is {rows[row, worst]:g}, far outside its limits, "
        f"and as degrees all angles are within them; angles are in radians, see numpy.radians"
    )


def _limited_angles(linkage: Linkage) -> Any:
    """The indices of the values of q that are angles of revolute joints with limits on both sides."""
    kinds = np.array([joint.kind is Kind.REVOLUTE for joint in linkage.joints for _ in range(joint.dof)], dtype=bool)
    return np.flatnonzero(kinds & np.isfinite(linkage.lower) & np.isfinite(linkage.upper))
