"""FootHold: feet that stay where they stand in poses that were filtered in time."""

from __future__ import annotations

import numpy as np

from supple import _core
from supple.animate.body import SIDES
from supple.animate.fade import Bound
from supple.animate.foot_stream import FootStream, FootView
from supple.animate.limbs import Limbs
from supple.frame import Array

_STEPS = 3  # of a leg
_DAMPING = 1e-4  # m^2: of these steps
_TURN = 0.15  # m: a turn of a radian counts as a way so long
_ENOUGH = 1e-6  # m
_FREE = 1e-3  # m: by so much heel and toe may be off their places


class FootHold:
    """The feet of filtered poses.

    A filter in time leads a foot past the place where it comes to rest. Near contacts the leg brings it back to its
    path by steps of damped least squares, from the filtered pose: so what else the leg does stays smooth.
    """

    def __init__(self, limbs: Limbs, dt: float, ahead: int, after: int) -> None:
        """The legs of a body, with frames ``dt`` seconds apart; ``ahead``: how many are known after the one that is
        held; ``after``: how many of them the legs were solved for before.
        """
        self._limbs = limbs
        self._feet = {side: FootStream(limbs.body, side, dt, ahead) for side in SIDES}
        self._near = {side: Bound(ahead + 1) for side in SIDES}
        self._rolls: list[dict[str, Array]] = []
        self._after = after

    def step(self, q: Array, views: dict[str, FootView], rolls: dict[str, Array]) -> None:
        """Changes the legs of joint values q (dof,) for the first frame of views of both feet.

        ``rolls``: rotation vectors (3,) by which feet roll in the last frame that was solved.
        """
        self._rolls = [*self._rolls[1:], rolls] if self._rolls else [rolls] * (self._after + 1)
        for side in SIDES:
            foot = self._feet[side].step(views[side])
            part = self._near[side].next(views[side].touching.any(axis=1).astype(float))
            if part > 0:
                self._hold(q, side, self._feet[side].rolled(foot, self._rolls[0][side]), part)

    def _hold(self, q: Array, side: str, wanted: Array, part: float) -> None:
        """Brings a foot by a part of the way to a frame (4, 4), but for what may be left."""
        limb, body = self._limbs.legs[side], self._limbs.body
        frames = body.linkage.frames(q)
        pelvis, foot = frames[limb.base].matrix, frames[limb.tip].matrix
        away = np.stack([body.heel[side], body.toe[side]]) @ (wanted - foot)[:3, :3].T + (wanted - foot)[:3, 3]
        part *= max(0.0, 1 - _FREE / max(float(np.linalg.norm(away, axis=1).max()), 1e-9))
        if part == 0:
            return
        place = foot[:3, 3] + part * (wanted[:3, 3] - foot[:3, 3])
        turn = foot[:3, :3] @ _core.exp_rotation(part * _rotvec(foot[:3, :3].T @ wanted[:3, :3]))[:3, :3]
        back = pelvis[:3, :3].T
        q[limb.columns] = self._reached(side, q[limb.columns], back @ (place - pelvis[:3, 3]), back @ turn)

    def _reached(self, side: str, q: Array, place: Array, turn: Array) -> Array:
        """Joint values (dof,) of a leg that bring its foot to a place (3,) and a rotation (3, 3) in its base."""
        limb = self._limbs.legs[side]
        for _ in range(_STEPS):
            at = limb.linkage.frame(q, limb.tip).matrix
            error = np.concatenate([place - at[:3, 3], _TURN * _rotvec(turn @ at[:3, :3].T)])
            if np.abs(error).max() < _ENOUGH:
                break
            jacobian = limb.linkage.jacobian(q, limb.tip)
            jacobian[3:] *= _TURN
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + _DAMPING * np.eye(6), error)
            q = limb.linkage.clamp(limb.linkage.integrate(q, step))
        return q


def _rotvec(rotation: Array) -> Array:
    whole = np.eye(4)
    whole[:3, :3] = rotation
    vector: Array = _core.log_rotation(whole[None])[0]
    return vector
