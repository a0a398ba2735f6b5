"""GripperJoints: which joint values of a linkage are grippers, and how far they are open."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.frame import Array
from supple.joint import Kind
from supple.linkage import Linkage


class GripperJoints:
    """The joint values that open the gripper of each driven link, such as the fingers of a hand.

    They are those beyond the rigid body that the link belongs to, if they have limits: at the lower limit the gripper
    counts as closed (0), at the upper limit as open (1).

    >>> import numpy as np
    >>> from supple import models
    >>> from supple.teleop.gripper import GripperJoints
    >>> arm = models.panda()
    >>> fingers = GripperJoints(arm, ["panda_hand_tcp"])
    >>> fingers.opening(arm.rest), fingers.put(arm.rest, np.array([1.0]))[-1]
    (array([0.5]), np.float64(0.04))
    """

    def __init__(self, linkage: Linkage, links: Sequence[str]) -> None:
        """For the driven links of a linkage."""
        self.columns = [_columns(linkage, link) for link in links]
        """Indices of the joint values for each link; empty for a link without a gripper."""
        self._lower, self._upper = linkage.lower, linkage.upper

    @property
    def every(self) -> NDArray[np.intp]:
        """Indices of the joint values of all grippers (n,)."""
        return np.unique(np.concatenate([*self.columns, np.empty(0, dtype=np.intp)]))

    def opening(self, q: Array) -> Array:
        """How far each gripper is open at joint values q (dof,): (links,), nan for a link without one."""
        open_by = np.full(len(self.columns), math.nan)
        for k, columns in enumerate(self.columns):
            if len(columns):
                way = (q[columns] - self._lower[columns]) / (self._upper[columns] - self._lower[columns])
                open_by[k] = float(np.clip(way.mean(), 0.0, 1.0))
        return open_by

    def put(self, q: Array, grippers: Array) -> Array:
        """Joint values q (dof,) with the grippers opened (links,), those that are not nan: a new array."""
        opened: Array = np.array(q)
        for columns, opening in zip(self.columns, grippers, strict=False):
            if len(columns) and not math.isnan(opening):
                low, high = self._lower[columns], self._upper[columns]
                opened[columns] = low + opening * (high - low)
        return opened


def _columns(linkage: Linkage, link: str) -> NDArray[np.intp]:
    above = {joint.child: joint for joint in linkage.joints}
    if link not in {one.name for one in linkage.links}:  # the centre of mass
        return np.empty(0, dtype=np.intp)
    body = link
    while body in above and above[body].kind is Kind.FIXED:
        body = above[body].parent
    beyond, found, place = {body}, [], 0
    places = {}
    for joint in linkage.joints:
        places[joint.name] = place
        place += joint.dof
    for joint in linkage.joints:  # parents come before children
        if joint.parent in beyond:
            beyond.add(joint.child)
            ends = zip(joint.lower, joint.upper, strict=True)
            if joint.dof == 1 and all(math.isfinite(low) and low < high < math.inf for low, high in ends):
                found.append(places[joint.name])
    return np.array(found, dtype=np.intp)
