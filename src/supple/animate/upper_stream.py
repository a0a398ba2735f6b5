"""UpperStream: spine, neck and arms of a target that follow frame by frame."""

from __future__ import annotations

import numpy as np

from supple import _core
from supple.animate.body import SIDES
from supple.animate.limbs import PULL, Limb, Limbs
from supple.frame import Array


class UpperStream:
    """Spine, neck and arms in time."""

    def __init__(self, limbs: Limbs, dt: float, width: float) -> None:
        """The limbs of a body, with frames ``dt`` seconds apart.

        ``width`` is the standard deviation of the filter of the clip, in frames.
        """
        self._limbs, self._dt, self._width = limbs, dt, width
        self._rest = np.array(limbs.body.linkage.rest)

    def step(self, turns: dict[str, Array], arms: dict[str, tuple[Array, Array]], row: int, q: Array) -> None:
        """Sets the joint values of these limbs in q (dof,).

        Args:
            turns: rotations (n, 3, 3) of parts of the body.
            arms: for each side, ways (n, 3) along the upper arm and the forearm.
            row: the one of the n frames for which the limbs are solved.
            q: joint values (dof,) of the target: those of the frame before.
        """
        limbs = self._limbs
        base, wanted = turns["pelvis"][row], turns["chest"][row]
        self._turn(q, limbs.spine, base, wanted)
        spine = limbs.spine.linkage
        chest = base @ spine.frame(spine.clamp(q[limbs.spine.columns]), limbs.spine.tip).rotation
        if limbs.neck is not None and "head" in turns:
            self._turn(q, limbs.neck, chest, turns["head"][row])
        chests = turns["chest"] @ (wanted.T @ chest)
        for side in SIDES:
            limb = limbs.arms[side]
            hands = turns[f"{side}_hand"]
            goals = limbs.arm_goals(side, arms[side], hands, chests, self._dt, self._width)[row]
            start = q[limb.columns]
            start = start + PULL * (self._rest[limb.columns] - start)
            q[limb.columns] = limb.solve(goals[None], start[None], False)[0]

    def _turn(self, q: Array, limb: Limb, base: Array, wanted: Array) -> None:
        """Solves a limb in q (dof,) whose end should have a rotation (3, 3), on a base with a rotation (3, 3)."""
        if limb.linkage.dof:
            goals = _core.turn_goals(base[None], wanted[None])
            q[limb.columns] = limb.solve(goals, self._rest[None, limb.columns], chained=False)[0]
