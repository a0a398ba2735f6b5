"""Stance: the legs of a target body on the ground, within the limits of their joints."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from supple import _core
from supple.animate.body import SIDES
from supple.animate.footsteps import Contacts, exponential, placed
from supple.animate.limbs import Limbs
from supple.animate.pose_targets import Correspondence, PoseTargets, within_reach
from supple.animate.rows import joined, lengths
from supple.animate.smoothing import raised, smoothed
from supple.frame import Array, Frame

_ROLLS = 3  # most times that a foot rolls
_SHIFT = 0.12  # s: in which the pelvis moves
_MISS = 5e-4  # m: a point of a foot that touches the ground may be so far from its place
_FEW_FRAMES = 1 / 24  # s: between the frames that are solved first
_SPREAD = 0.6  # of the time between them: standard deviation of the filter of what is between
_FEW_STEPS = 6  # of a leg while the pelvis is still to move
_STILL = 1e-6  # rad or m: a foot that rolls or shifts less stays where it is
_LIFTS = 4  # most times that a swinging foot is lifted
_LIFT = 0.03  # s: in which it is
_OFF, _LOWEST, _TURN = 0, 1, slice(2, 5)
"""Columns of `_core.foot_states`: how far points on the ground are from their places, and the height of the lower one
of heel and toe, in metres; the turn from what was asked, in radians."""


class Stance:
    """The legs of a body for n frames of time.

    Where an ankle cannot bend as far as a flat foot needs, the foot rolls a little about its toe. Where that is not
    enough, the pelvis moves back and up, so that the shank leans less. What is left, as in a foot that is on its toes,
    makes the foot roll farther about the point that touches the ground.
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
        self.has_moved = False
        """Whether pelvis or feet had to move, since legs could not reach what was asked."""
        self._solved: dict[str, Array] = {}  # numbers of the goals that the legs were solved for
        self._contacts = {side: targets.contacts[side].numbers() for side in SIDES}
        self._known: dict[str, Array] = {}  # states of feet that have not moved since

    def solve(self) -> None:
        """Solves both legs."""
        leaned = self._begin()
        if all(self.limbs.legs[side].all_arrived or self._is_placed(side) for side in SIDES):
            return
        self.has_moved = True
        if not leaned:
            self._lean(_MISS)
        for side in SIDES:
            for _ in range(_ROLLS - leaned):
                states = self._states(side)
                if states[:, _OFF].max() < _MISS:
                    break
                self._roll(side, states[:, _TURN])
                self._solve_leg(side)
            self._lift(side)

    def _begin(self) -> bool:
        """Solves the legs for the first time: few frames first, if there are many in a second, and all of them from
        where those are. Whether the pelvis has moved as far as those few need.
        """
        every = int(_FEW_FRAMES / self.dt)
        if every < 2 or len(self.pelvis) < 8 * every:
            for side in SIDES:
                self._solve_leg(side)
            return False
        few = self._of_few(every)
        few.solve()
        self._follow(few, every)
        return few.has_moved

    def _of_few(self, every: int) -> Stance:
        """The same legs for every so many of the frames."""
        rows, whole = _few_rows(len(self.pelvis), every), self.targets
        targets = replace(
            whole,
            pelvis=whole.pelvis[rows],
            feet={side: whole.feet[side][rows] for side in SIDES},
            knees={side: whole.knees[side][rows] for side in SIDES},
            contacts={side: Contacts(on.heel[rows], on.toe[rows]) for side, on in whole.contacts.items()},
        )
        few = Stance(self.pair, self.limbs, targets, every * self.dt, self.width / every)
        few.q = {side: self.q[side][rows] for side in SIDES}
        return few

    def _follow(self, few: Stance, every: int) -> None:
        """Solves the legs of all frames: pelvis and feet move as in few frames, and joints start from theirs."""
        first, share = _between_few(len(self.pelvis), every)

        def between(values: Array) -> Array:
            """Values (n, k) between those of the few frames."""
            before: Array = values.take(first, axis=0)
            way = values.take(first + 1, axis=0)
            way -= before
            way *= share
            before += way
            return before

        if few.has_moved:
            ways = [(few.pelvis - few.targets.pelvis)[:, :3, 3]]
            for side in SIDES:
                back = np.swapaxes(few.targets.feet[side][:, :3, :3], -1, -2)
                turn = joined(back @ few.feet[side][:, :3, :3], ways[0])
                ways.append(Frame._trusted(turn).to_rotvec())
            spread = smoothed(between(np.concatenate(ways, axis=1)), _SPREAD * every)
            shift = spread[:, :3]
            for i, side in enumerate(SIDES):
                turns = spread[:, 3 * i + 3 : 3 * i + 6]
                moved = self.feet[side].copy()
                moved[:, :3, :3] = moved[:, :3, :3] @ exponential(turns)
                moved[:, :3, 3] += shift
                self._place(side, moved, np.maximum(lengths(shift), lengths(turns)) < _STILL)
            pelvis = self.pelvis.copy()
            pelvis[:, :3, 3] += shift
            self.pelvis = within_reach(self.pair.target, pelvis, self.feet, self.dt)
        self._known.clear()
        for side in SIDES:
            limb = self.limbs.legs[side]
            start = between(limb.continued(few.q[side]))
            wanted = self.limbs.leg_goals(side, self.feet[side], self.targets.knees[side], self.pelvis)
            self._solved[side], self.q[side] = (
                wanted,
                limb.solve(wanted, self.limbs.leg_shapes[side].bent(start), False),
            )

    def _lean(self, miss: float) -> None:
        """Moves the pelvis where flat feet yield by more than ``miss`` metres.

        Meanwhile only the legs of those frames are solved.
        """
        states = {side: self._states(side) for side in SIDES}
        yielding = {side: states[side][:, _OFF] > miss for side in SIDES}
        if not any(yielding[side].any() for side in SIDES):
            return
        for up in (False, True):
            shift = self._shift(up, states, yielding)
            if np.abs(shift).max() < 1e-3:
                continue
            self.pelvis = self.pelvis.copy()
            self.pelvis[:, :3, 3] += shift
            self._known.clear()
            for side in SIDES:
                moved = self.feet[side].copy()
                moved[:, :3, 3] += shift
                self._place(side, moved, lengths(shift) < _STILL)
                self._solve_leg(side, yielding[side])
                states[side] = self._states(side)
        for side in SIDES:
            self._solve_leg(side)

    def _lift(self, side: str) -> None:
        """Lifts a foot that is below the ground, since its leg cannot turn it as asked."""
        for _ in range(_LIFTS):
            lowest = self._states(side)[:, _LOWEST]
            below = np.where(lowest < -_MISS, -lowest, 0.0)
            if not below.any():
                return
            self.feet[side] = self.feet[side].copy()
            self.feet[side][:, 2, 3] += raised(below, max(1, int(_LIFT / self.dt)))
            self._solve_leg(side)

    def _solve_leg(self, side: str, among: Any = None) -> None:
        """Solves a leg: first each frame from the one before, later those whose goals changed from where they are.

        ``among`` (n,): frames that are solved, with few steps: they will be solved again. By default all.
        """
        self._known.pop(side, None)
        limb = self.limbs.legs[side]
        wanted = self.limbs.leg_goals(side, self.feet[side], self.targets.knees[side], self.pelvis)
        before = self._solved.get(side)
        if before is None:
            self._solved[side] = wanted
            self.q[side] = limb.solve(wanted, self.q[side], False)
            return
        size = wanted.shape[1] * wanted.shape[2]
        changed = _core.rows_differ(wanted.reshape(-1, size), before.reshape(-1, size), 1e-6)
        rows = np.flatnonzero(changed if among is None else changed * among)
        if not len(rows):
            return
        goals, start = wanted.take(rows, axis=0), self.q[side].take(rows, axis=0)
        if among is None:
            before[rows] = goals
        steps = {} if among is None else {"max_steps": _FEW_STEPS}
        self.q[side][rows] = limb.solve(goals, self.limbs.leg_shapes[side].bent(start), False, **steps)

    def _is_placed(self, side: str) -> bool:
        """Whether points of a foot that touch the ground are at their places, and none is below it."""
        states = self._states(side)
        return bool(states[:, _OFF].max() < _MISS and states[:, _LOWEST].min() > -_MISS)

    def _states(self, side: str) -> Array:
        """Where a foot is, beside where it was asked to be (n, 5), see `_OFF`."""
        if side not in self._known:
            limb, body = self.limbs.legs[side], self.pair.target
            leg = limb.linkage.frame(self.q[side], limb.tip).matrix
            points = body.heel[side], body.toe[side]
            self._known[side] = _core.foot_states(self.pelvis, leg, self.feet[side], self._contacts[side], *points)
        return self._known[side]

    def _shift(self, up: bool, states: dict[str, Array], yielding: dict[str, Any]) -> Array:
        """How far (n, 3) the pelvis moves back, or up, so that flat feet need not yield: the shank leans less.

        ``yielding``: for each side, the frames (n,) that count.
        """
        body, base = self.pair.target, self.pair.target.rest["pelvis"]
        legs = []
        for side in SIDES:
            shape, flags = self.limbs.leg_shapes[side], yielding[side].astype(float)[:, None]
            legs.append((self.feet[side], self._contacts[side], states[side], flags, shape.points, shape.roll))
        forward = base[:3, :3].T @ body.upright[:, 0]
        sizes = body.length("thigh", "shank"), body.length("shank", "foot")
        return _core.lean(self.pelvis, self.targets.pelvis, forward, *sizes, max(1, int(_SHIFT / self.dt)), up, *legs)

    def _roll(self, side: str, turns: Array) -> None:
        """The foot turned from what was asked, rolling about the point that touches the ground.

        Steps stay where they are in the frames in which the foot does not turn.
        """
        filtered, feet = smoothed(turns, self.width), self.feet[side]
        rolled = joined(feet[:, :3, :3] @ exponential(filtered), feet[:, :3, 3])
        self._place(side, rolled, np.abs(filtered).max(axis=1) < _STILL)

    def _place(self, side: str, frames: Array, anchors: Any = True) -> None:
        """A foot near frames (n, 4, 4) that does not slide."""
        body, contacts = self.pair.target, self.targets.contacts[side].numbers(anchors)
        self._known.pop(side, None)
        self.feet[side] = placed(frames, contacts, body.heel[side], body.toe[side], self.dt)


@lru_cache(maxsize=16)
def _few_rows(count: int, every: int) -> Any:
    """The first frame, the last, and one in about every so many between."""
    return np.linspace(0, count - 1, (count - 1) // every + 1).round().astype(int)


@lru_cache(maxsize=16)
def _between_few(count: int, every: int) -> tuple[Any, Array]:
    """For each frame the last of `_few_rows` before it (n,), and the part of the way from that to the next (n, 1)."""
    rows, frames = _few_rows(count, every), np.arange(count)
    first = np.minimum(np.searchsorted(rows, frames, side="right") - 1, len(rows) - 2)
    share: Array = ((frames - rows[first]) / (rows[first + 1] - rows[first]))[:, None]
    first.flags.writeable = share.flags.writeable = False
    return first, share
