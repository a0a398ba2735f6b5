"""Stance: the legs of a target body on the ground, within the limits of their joints."""

from __future__ import annotations

import numpy as np

from supple.animate.body import SIDES
from supple.animate.footsteps import exponential, logarithm, placed
from supple.animate.limbs import Limbs
from supple.animate.pose_targets import Correspondence, PoseTargets, hip_position, within_reach
from supple.animate.smoothing import raised, smoothed
from supple.frame import Array, Frame

_ROUNDS = 3  # most times that the pelvis rises and the feet roll
_MISS = 5e-4  # m: a point of a foot that touches the ground may be so far from its place
_RISE = 0.1  # s: in which the pelvis rises and sinks
_STRAIGHTEST = 0.995  # of the length of a leg


class Stance:
    """The legs of a body for n frames of time.

    Where an ankle cannot bend as far as a flat foot needs, the pelvis rises, so that the shank leans less. What is
    left, as in a foot that is on its toes, makes the foot roll about the point that touches the ground.
    """

    def __init__(self, pair: Correspondence, limbs: Limbs, targets: PoseTargets, dt: float, width: float) -> None:
        """The legs for what is asked; ``width`` is the standard deviation of the filter of corrections, in frames."""
        self.pair, self.limbs, self.targets = pair, limbs, targets
        self.dt, self.width = dt, width
        self.pelvis = targets.pelvis
        """Frame of the pelvis (n, 4, 4)."""
        self.feet = dict(targets.feet)
        """Frame of each foot (n, 4, 4)."""
        self.q = {side: np.tile(limbs.legs[side].linkage.rest, (len(self.pelvis), 1)) for side in SIDES}
        """Joint values of each leg (n, dof)."""

    def solve(self) -> None:
        """Solves both legs."""
        for _ in range(_ROUNDS):
            yielding = {side: self._solve_leg(side) for side in SIDES}
            if not any(turns is not None for turns in yielding.values()):
                return
            rise = self._rise(yielding)
            if rise.max() > 1e-3:
                self.pelvis = self.pelvis.copy()
                self.pelvis[:, 2, 3] += rise
                yielding = {side: self._solve_leg(side) for side in SIDES}
            for side, turns in yielding.items():
                if turns is not None:
                    self._roll(side, turns)
            self.pelvis = within_reach(self.pair.target, self.pelvis, self.feet, self.dt)
        for side in SIDES:
            self._solve_leg(side)

    def _solve_leg(self, side: str) -> Array | None:
        """Solves a leg. Returns the turns (n, 3) by which its foot differs from what was asked, or None where the
        points that touch the ground are at their places."""
        limb, body, contacts = self.limbs.legs[side], self.pair.target, self.targets.contacts[side]
        goals = self.limbs.leg_goals(side, self.feet[side], self.targets.knees[side], self.pelvis)
        self.q[side] = limb.solve(goals, self.q[side], True)
        reached = Frame._trusted(self.pelvis) @ limb.linkage.frame(self.q[side], limb.tip)
        asked = Frame._trusted(self.feet[side])
        off = 0.0
        for point, on in ((body.heel[side], contacts.heel), (body.toe[side], contacts.toe)):
            if on.any():
                off = max(off, float(np.abs((reached.apply(point) - asked.apply(point))[on]).max()))
        if off < _MISS:
            return None
        return logarithm(np.swapaxes(asked.rotation, -1, -2) @ reached.rotation)

    def _rise(self, yielding: dict[str, Array | None]) -> Array:
        """How far the pelvis rises (n,), in metres, so that flat feet need not yield."""
        body = self.pair.target
        thigh, shank = body.length("thigh", "shank"), body.length("shank", "foot")
        needed, room = np.zeros(len(self.pelvis)), np.full(len(self.pelvis), np.inf)
        for side in SIDES:
            contacts = self.targets.contacts[side]
            way = hip_position(body, self.pelvis, side) - self.feet[side][:, :3, 3]
            beside = np.hypot(way[:, 0], way[:, 1])
            highest = np.sqrt(np.maximum((_STRAIGHTEST * (thigh + shank)) ** 2 - beside**2, 0.0))
            standing = contacts.heel | contacts.toe
            room = np.where(standing, np.minimum(room, np.maximum(highest - way[:, 2], 0.0)), room)
            turns = yielding[side]
            if turns is None:
                continue
            flat = contacts.heel & contacts.toe
            excess = np.where(flat, np.linalg.norm(turns, axis=-1), 0.0)
            distance = np.maximum(np.linalg.norm(way, axis=-1), 1e-6)
            lean = np.arccos(np.clip((distance**2 + shank**2 - thigh**2) / (2 * distance * shank), -1.0, 1.0))
            angle = np.maximum(lean - 1.05 * excess, 0.0)
            longer = shank * np.cos(angle) + np.sqrt(np.maximum(thigh**2 - (shank * np.sin(angle)) ** 2, 0.0))
            higher = np.sqrt(np.maximum(longer**2 - beside**2, 0.0)) - way[:, 2]
            needed = np.maximum(needed, np.where(excess > 1e-3, higher, 0.0))
        return np.minimum(raised(np.minimum(np.maximum(needed, 0.0), room), max(1, int(_RISE / self.dt))), room)

    def _roll(self, side: str, turns: Array) -> None:
        """The foot turned from what was asked, rolling about the point that touches the ground."""
        body = self.pair.target
        rotations = self.feet[side][:, :3, :3] @ exponential(smoothed(turns, self.width))
        whole = np.zeros((len(rotations), 4, 4))
        whole[:, 3, 3] = 1.0
        whole[:, :3, :3], whole[:, :3, 3] = placed(
            rotations, self.targets.ankles[side], self.targets.contacts[side], body.heel[side], body.toe[side], None, self.dt
        )
        self.feet[side] = whole
