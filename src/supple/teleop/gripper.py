"""GripperJoints: which joint values of a linkage are grippers, and how far they are open."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.frame import Array
from supple.joint import Joint, Kind
from supple.linkage import Linkage

_FINGERS = ("finger", "jaw", "knuckle", "thumb", "claw")


class GripperJoints:
    """The joint values that open the gripper of each driven link, such as the fingers of a hand.

    They are those of the fingers on the rigid body that the link belongs to, if they have limits: at the lower limit
    the gripper counts as closed (0), at the upper limit as open (1).

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
        self.every: NDArray[np.intp] = np.unique(np.concatenate([*self.columns, np.empty(0, dtype=np.intp)]))
        """Indices of the joint values of all grippers (n,)."""
        self._lower, self._upper = linkage.lower, linkage.upper

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


def is_finger(linkage: Linkage, joint: Joint) -> bool:
    """Whether a joint moves a finger: by its name, as a mimic or its source, or as one of several that end there."""
    words = f"{joint.name} {joint.child}".lower()
    if "gripper" in joint.name.lower() or any(word in words for word in _FINGERS):
        return True
    followed = {other.mimic.joint for other in linkage.joints if other.mimic is not None}
    beside = [other for other in linkage.joints if other.parent == joint.parent and other.kind is not Kind.FIXED]
    moving = {other.parent for other in linkage.joints if other.kind is not Kind.FIXED}
    ends = [other for other in beside if other.child not in moving]
    return joint.mimic is not None or joint.name in followed or (len(ends) > 1 and len(ends) == len(beside))


def _columns(linkage: Linkage, link: str) -> NDArray[np.intp]:
    above = {joint.child: joint for joint in linkage.joints}
    body = link
    while body in above and above[body].kind is Kind.FIXED:
        body = above[body].parent
    rigid, fingers, found, place = {body}, set(), [], 0
    for joint in linkage.joints:  # parents come before children
        if joint.kind is Kind.FIXED and joint.parent in rigid:
            rigid.add(joint.child)
        elif joint.parent in fingers or (joint.parent in rigid and is_finger(linkage, joint)):
            fingers.add(joint.child)
            ends = zip(joint.lower, joint.upper, strict=True)
            if joint.dof == 1 and all(math.isfinite(low) and low < high < math.inf for low, high in ends):
                found.append(place)
        place += joint.dof
    return np.array(found, dtype=np.intp)
