"""ReachableTurns: the orientation nearest to a goal's that an arm with few joints can have where it is."""

from __future__ import annotations

import numpy as np

from supple._solve import encoding
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage
from supple.tracker import Tracker

_SAMPLES = 8  # random joint values at which ranks are found


def turning_freedom(linkage: Linkage, link: str) -> int:
    """In how many directions a link can be turned while its position stays: 3 for six joints, 2 for an SO-101."""
    samples = [linkage.jacobian(q, link) for q in linkage.random(_SAMPLES, seed=0)]
    position = max(encoding.rank_of(sample[:3]) for sample in samples)
    return max(encoding.rank_of(sample) for sample in samples) - position


class ReachableTurns:
    """Takes out of a goal's orientation what an arm cannot do at its present joint values.

    An arm with five joints can turn its end effector in two directions only while it stays in place. The third is left
    as it is. A twist that no joint velocities give is n with n' J = 0; of the twists that keep the position, those
    along the rotation part u of n are left over. The rotation from the end effector to its goal loses its part along u.
    """

    def __init__(self, tracker: Tracker) -> None:
        """For the whole frames among the goals of a tracker."""
        self._linkage = tracker.linkage
        left = [(goal.link, _left_over(tracker.linkage, goal)) for goal in tracker.goals]
        self._missing = {k: (link, missing) for k, (link, missing) in enumerate(left) if missing > 0}

    def nearest(self, frames: Array, q: Array) -> Array:
        """Goals (links, 4, 4) for an arm at joint values q (dof,): the same array if nothing has to be taken out."""
        if not self._missing:
            return frames
        out: Array = np.array(frames)
        for k, (link, missing) in self._missing.items():
            out[k, :3, :3] = self._turn(frames[k, :3, :3], link, missing, q)
        out.flags.writeable = False
        return out

    def _turn(self, wanted: Array, link: str, missing: int, q: Array) -> Array:
        frame, jacobian = self._linkage.frame_and_jacobian(q, link)
        never = np.linalg.eigh(jacobian @ jacobian.T)[1][3:, :missing]
        left_over = np.linalg.qr(never)[0]
        now = frame.rotation
        turn = Frame.at(np.zeros(3), wanted @ now.T).to_rotvec()
        reached: Array = np.array(Frame.rotvec(turn - left_over @ (left_over.T @ turn)).rotation @ now)
        return reached


def _left_over(linkage: Linkage, goal: Goal) -> int:
    """How many of the three rotations of a whole frame an arm cannot do; 0 for any other goal."""
    if goal.position is None or goal.orientation is None or goal.relative_to is not None:
        return 0
    if goal.distance is not None or not all(goal.turn_weight):
        return 0
    freedom = turning_freedom(linkage, goal.link)
    return 3 - freedom if freedom else 0
