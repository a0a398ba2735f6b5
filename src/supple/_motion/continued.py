"""Joint values in time without steps of a whole turn, where there are no limits."""

from __future__ import annotations

import math

import numpy as np

from supple import _core
from supple.frame import Array
from supple.linkage import Linkage


def continued(linkage: Linkage, q: Array) -> Array:
    """The same poses q (n, dof): rotations without limits go on beyond a half turn, each nearest to the row before.

    Angles of revolute joints without limits, and rotation vectors of floating joints and of ball joints without limits.
    The rotation vector of one that passes close to a whole turn still swings there.
    """
    firsts, free = linkage._unlimited
    moved = np.abs(np.diff(q[:, [*np.flatnonzero(free), *(first + k for first in firsts for k in range(3))]], axis=0))
    if not (moved > math.pi / 2).any():
        return q
    rows = _core.continued(np.ascontiguousarray(q), firsts)
    if free.any():
        rows[:, free] = np.unwrap(rows[:, free], axis=0)
    return rows
