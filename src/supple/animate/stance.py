"""Stance: the legs of a target body on the ground, within the limits of their joints."""

from __future__ import annotations

import numpy as np

from supple.animate.body import SIDES
from supple.animate.footsteps import exponential, logarithm, placed
from supple.animate.limbs import Limbs
from supple.animate.pose_targets import Correspondence, PoseTargets, hip_position
from supple.animate.smoothing import raised, smoothed
from supple.frame import Array, Frame
from supple.goal import Goal, take_rows

_ROLLS = 3  # most times that a foot rolls
_SHIFT = 0.12  # s: in which it does
_FARTHEST = 0.2  # of the length of a leg: most that it does
_STRAIGHT = 0.97  # of the length of a leg: straighter ones do not move it
_MISS = 5e-4  # m: a point of a foot that touches the ground may be so far from its place
_MOST_SEARCHES = 50  # frames: where more are not met, their goals cannot be
_LIFTS = 2  # most times that a swinging foot is lifted
_LIFT = 0.03  # s: in which it is


class Stance:
    """The legs of a body for n frames of time.

    Where an ankle cannot bend as far as a flat foot needs, the pelvis moves back and up, so that the shank leans less.
    What is left, as in a foot that is on its toes, makes the foot roll about the point that touches the ground.
    """

    def __init__(self, pair: Correspondence, limbs: Limbs, targets: PoseTargets, dt: float, width: float) -> None:
        """The legs for what is asked; ``width`` is the standard deviation of the filter of corrections, in frames."""
        self.pair, self.limbs, self.targets = pair, limbs, targets
        self.dt, self.width = dt, width
        self.pelvis = targets.pelvis
        """Frame of the pelvis (n, 4, 4)."""
        self.feet = dict(targets.feet)
        """Frame of each foot (n, 4, 4)."""
        self.ankles = dict(targets.ankles)
        """Where the origin of each foot would be (n, 3) if it could slide."""
        self._solved: dict[str, Array] = {}  # frames of the feet in the pelvis that the legs were solved for
        self.q = {side: np.tile(limbs.legs[side].linkage.rest, (len(self.pelvis), 1)) for side in SIDES}
        """Joint values of each leg (n, dof)."""

    def solve(self) -> None:
        """Solves both legs."""
        for side in SIDES:
            self._solve_leg(side)
        if all(self.limbs.legs[side].all_arrived or self._is_placed(side) for side in SIDES):
            return
        for direction in (self._backward, self._backward, self._upward, self._upward):
            shift = direction()
            if np.abs(shift).max() < 1e-3:
                continue
            self.pelvis = self.pelvis.copy()
            self.pelvis[:, :3, 3] += shift
            for side in SIDES:
                self.ankles[side] = self.ankles[side] + shift
                self._place(side, self.feet[side][:, :3, :3])
                self._solve_leg(side)
        for side in SIDES:
            for _ in range(_ROLLS):
                self._search_leg(side)
                off, reached = self._off(side)
                if off.max() < _MISS:
                    break
                self._roll(side, self._turns(side, reached))
                self._solve_leg(side)
            self._lift(side)

    def _lift(self, side: str) -> None:
        """Lifts a foot that is below the ground, since its leg cannot turn it as asked."""
        body = self.pair.target
        for _ in range(_LIFTS):
            reached = self._off(side)[1]
            lowest = np.minimum(reached.apply(body.heel[side])[:, 2], reached.apply(body.toe[side])[:, 2])
            below = np.where(lowest < -_MISS, -lowest, 0.0)
            if not below.any():
                return
            self.feet[side] = self.feet[side].copy()
            self.feet[side][:, 2, 3] += raised(below, max(1, int(_LIFT / self.dt)))
            self._solve_leg(side)

    def _goals(self, side: str) -> list[Goal]:
        return self.limbs.leg_goals(side, self.feet[side], self.targets.knees[side], self.pelvis)

    def _solve_leg(self, side: str) -> None:
        """Solves a leg: first each frame from the one before, later those whose goals changed from where they are."""
        limb, wanted = self.limbs.legs[side], np.linalg.inv(self.pelvis) @ self.feet[side]
        before = self._solved.get(side)
        self._solved[side] = wanted
        goals = self._goals(side)
        if before is None:
            self.q[side] = limb.solve(goals, self.q[side], True)
            return
        rows = np.flatnonzero(np.abs(wanted - before).max(axis=(1, 2)) > 1e-6)
        if len(rows):
            some = [take_rows(goal, (len(before),), rows) for goal in goals]
            self.q[side][rows] = limb.solve(some, self.q[side][rows], False)

    def _search_leg(self, side: str) -> None:
        """Searches for frames of a leg in which a point that touches the ground is not at its place."""
        goals = self._goals(side)
        for some in (goals, goals[:1]):
            rows = np.flatnonzero(self._off(side)[0] > _MISS)
            if len(rows) <= _MOST_SEARCHES:
                self.limbs.legs[side].search(some, self.q[side], rows)

    def _turns(self, side: str, reached: Frame) -> Array:
        """The turns (n, 3) by which a foot differs from what was asked."""
        return logarithm(np.swapaxes(self.feet[side][:, :3, :3], -1, -2) @ reached.rotation)

    def _is_placed(self, side: str) -> bool:
        """Whether points of a foot that touch the ground are at their places, and none is below it."""
        off, reached = self._off(side)
        body = self.pair.target
        heights = [reached.apply(point[side])[:, 2].min() for point in (body.heel, body.toe)]
        return bool(off.max() < _MISS and min(heights) > -_MISS)

    def _off(self, side: str) -> tuple[Array, Frame]:
        """How far the points of a foot that touch the ground are from their places (n,), in metres; and its frames."""
        limb, body, contacts = self.limbs.legs[side], self.pair.target, self.targets.contacts[side]
        reached = Frame._trusted(self.pelvis) @ limb.linkage.frame(self.q[side], limb.tip)
        asked = Frame._trusted(self.feet[side])
        off = np.zeros(len(self.pelvis))
        for point, on in ((body.heel[side], contacts.heel), (body.toe[side], contacts.toe)):
            off = np.maximum(off, on * np.linalg.norm(reached.apply(point) - asked.apply(point), axis=-1))
        return off, reached

    def _backward(self) -> Array:
        """How far (n, 3) the pelvis moves back, in metres, so that flat feet need not yield: the shank leans less."""
        body = self.pair.target
        turns = self.pelvis[:, :3, :3] @ body.rest["pelvis"][:3, :3].T @ body.upright
        forward = turns[:, :, 0] * [1.0, 1.0, 0.0]
        forward /= np.maximum(np.linalg.norm(forward, axis=-1, keepdims=True), 0.3)
        needed, longest = np.zeros(len(self.pelvis)), self._leg_length
        for side in SIDES:
            way = hip_position(body, self.pelvis, side) - self.feet[side][:, :3, 3]
            excess = np.where(np.linalg.norm(way, axis=-1) < _STRAIGHT * longest, self._excess(side), 0.0)
            ahead = np.arctan2(np.sum(way * forward, axis=-1), way[:, 2])
            needed = np.maximum(needed, way[:, 2] * (np.tan(ahead) - np.tan(np.maximum(ahead - 1.1 * excess, -1.0))))
        gone = np.linalg.norm((self.pelvis - self.targets.pelvis)[:, :3, 3], axis=-1)
        back = self._bounded(needed, np.maximum(_FARTHEST * longest - gone, 0.0))
        way_back: Array = -back[:, None] * forward
        return way_back

    def _upward(self) -> Array:
        """How far (n, 3) the pelvis rises, in metres, for the same."""
        body, longest = self.pair.target, self._leg_length
        thigh, shank = body.length("thigh", "shank"), body.length("shank", "foot")
        needed, room = np.zeros(len(self.pelvis)), np.full(len(self.pelvis), longest)
        for side in SIDES:
            contacts = self.targets.contacts[side]
            way = hip_position(body, self.pelvis, side) - self.feet[side][:, :3, 3]
            distance = np.maximum(np.linalg.norm(way, axis=-1), 1e-6)
            beside = np.hypot(way[:, 0], way[:, 1])
            highest = np.sqrt(np.maximum((_STRAIGHT * longest) ** 2 - beside**2, 0.0)) - way[:, 2]
            room = np.where(contacts.heel | contacts.toe, np.minimum(room, np.maximum(highest, 0.0)), room)
            lean = np.arccos(np.clip((distance**2 + shank**2 - thigh**2) / (2 * distance * shank), -1.0, 1.0))
            excess = self._excess(side)
            angle = np.maximum(lean - 1.1 * excess, 0.0)
            longer = shank * np.cos(angle) + np.sqrt(np.maximum(thigh**2 - (shank * np.sin(angle)) ** 2, 0.0))
            higher = np.sqrt(np.maximum(longer**2 - beside**2, 0.0)) - way[:, 2]
            needed = np.maximum(needed, np.where(excess > 1e-3, higher, 0.0))
        return self._bounded(needed, room)[:, None] * [0.0, 0.0, 1.0]

    def _excess(self, side: str) -> Array:
        """The angle (n,) by which the toes of a flat foot point down, since its ankle cannot bend farther."""
        body, contacts = self.pair.target, self.targets.contacts[side]
        off, reached = self._off(side)
        left = body.rest[f"{side}_foot"][:3, :3].T @ body.upright[:, 1]
        flat = contacts.heel & contacts.toe & (off > _MISS)
        return np.where(flat, np.maximum(self._turns(side, reached) @ left, 0.0), 0.0)

    def _bounded(self, needed: Array, room: Array) -> Array:
        """A smooth way (n,) of at least ``needed``, where ``room`` (n,) allows it."""
        window, most = max(1, int(_SHIFT / self.dt)), float(room.max())
        way = raised(np.minimum(np.maximum(needed, 0.0), room), window)
        return np.minimum(way, most - raised(most - room, window))

    @property
    def _leg_length(self) -> float:
        body = self.pair.target
        return body.length("thigh", "shank") + body.length("shank", "foot")

    def _roll(self, side: str, turns: Array) -> None:
        """The foot turned from what was asked, rolling about the point that touches the ground."""
        self._place(side, self.feet[side][:, :3, :3] @ exponential(smoothed(turns, self.width)))

    def _place(self, side: str, rotations: Array) -> None:
        """A foot with these rotations (n, 3, 3), near its path, that does not slide."""
        body, whole = self.pair.target, np.zeros((len(rotations), 4, 4))
        whole[:, 3, 3] = 1.0
        points = body.heel[side], body.toe[side]
        whole[:, :3, :3], whole[:, :3, 3] = placed(
            rotations, self.ankles[side], self.targets.contacts[side], *points, None, self.dt
        )
        self.feet[side] = whole
