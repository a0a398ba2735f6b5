"""Joint values in time without steps of a whole turn, where there are no limits."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from supple import _core
from supple._linkage import limits
from supple.frame import Array
from supple.joint import Kind
from supple.linkage import Linkage


def continued(linkage: Linkage, q: Array) -> Array:
    """The same poses q (n, dof): rotations without limits go on beyond a half turn, each nearest to the row before.

    Angles of revolute joints without limits, and rotation vectors of floating joints and of ball joints without limits.
    The rotation vector of one that passes close to a whole turn still swings there.
    """
    firsts, free = _unlimited(linkage)
    moved = np.abs(np.diff(q[:, [*np.flatnonzero(free), *(first + k for first in firsts for k in range(3))]], axis=0))
    if not (moved > math.pi / 2).any():
        return q
    rows = _core.continued(np.ascontiguousarray(q), firsts)
    if free.any():
        rows[:, free] = np.unwrap(rows[:, free], axis=0)
    return rows


@lru_cache(maxsize=16)
def _unlimited(linkage: Linkage) -> tuple[list[int], Any]:
    """First columns of rotation vectors without limits, and which values (dof,) are angles without limits."""
    firsts = []
    for first, joint in limits.columns(linkage):
        if joint.kind is Kind.FLOATING:
            firsts.append(first + 3)
        elif joint.kind is Kind.BALL and joint.swing >= math.pi and joint.twist == (-math.pi, math.pi):
            firsts.append(first)
    return firsts, limits.turning(linkage) & np.isneginf(linkage.lower) & np.isposinf(linkage.upper)
