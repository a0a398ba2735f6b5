"""UpperStream: spine, neck and arms of a target that follow frame by frame."""

from __future__ import annotations

import numpy as np

from supple import _core
from supple.animate.body import SIDES
from supple.animate.limbs import PULL, Limb, Limbs
from supple.animate.smoothing import kernel, smoothed
from supple.frame import Array

_SMOOTH = 0.7  # the filter of joint values, in widths of that of the clip


class UpperStream:
    """Spine, neck and arms in time: solved some frames ahead, then filtered, since limits stop joints at once."""

    def __init__(self, limbs: Limbs, dt: float, width: float, ahead: int) -> None:
        """The limbs of a body, with frames ``dt`` seconds apart.

        ``width`` is the standard deviation of the filter of the clip, in frames; ``ahead``: how many frames after the
        one that is asked for the limbs are solved.
        """
        self._limbs, self._dt, self._width = limbs, dt, width
        self._rest = np.array(limbs.body.linkage.rest)
        self._past = len(kernel(_SMOOTH * width, 10**6)) - 1
        self._ahead = ahead
        self._solved: Array | None = None

    def step(self, turns: dict[str, Array], arms: dict[str, tuple[Array, Array]], row: int, q: Array) -> None:
        """Sets the joint values of these limbs in q (dof,).

        Args:
            turns: rotations (n, 3, 3) of parts of the body.
            arms: for each side, ways (n, 3) along the upper arm and the forearm.
            row: the one of the n frames for which the limbs are solved: so many after the one that is asked for.
            q: joint values (dof,) of the target.
        """
        limbs = self._limbs
        before = None if self._solved is None else self._solved[-1]
        found = (self._rest if before is None else before).copy()
        base, wanted = turns["pelvis"][row], turns["chest"][row]
        self._turn(found, limbs.spine, base, wanted)
        spine = limbs.spine.linkage
        chest = base @ spine.frame(spine.clamp(found[limbs.spine.columns]), limbs.spine.tip).rotation
        if limbs.neck is not None and "head" in turns:
            self._turn(found, limbs.neck, chest, turns["head"][row])
        chests = turns["chest"] @ (wanted.T @ chest)
        for side in SIDES:
            limb = limbs.arms[side]
            hands = turns[f"{side}_hand"]
            goals = limbs.arm_goals(side, arms[side], hands, chests, self._dt, self._width)[row]
            start = found[limb.columns]
            start = start + PULL * (self._rest[limb.columns] - start)
            found[limb.columns] = limb.solve(goals[None], start[None], False)[0]
        if self._solved is None:
            self._solved = np.tile(found, (self._past + 1 + self._ahead, 1))
        self._solved[:-1] = self._solved[1:]
        self._solved[-1] = found
        for part in (limbs.spine, limbs.neck, *limbs.arms.values()):
            if part is not None and part.linkage.dof:
                rows = part.continued(self._solved[:, part.columns])
                q[part.columns] = smoothed(rows, _SMOOTH * self._width)[self._past]

    def _turn(self, q: Array, limb: Limb, base: Array, wanted: Array) -> None:
        """Solves a limb in q (dof,) whose end should have a rotation (3, 3), on a base with a rotation (3, 3)."""
        if limb.linkage.dof:
            goals = _core.turn_goals(base[None], wanted[None])
            q[limb.columns] = limb.solve(goals, self._rest[None, limb.columns], chained=False)[0]
