"""StanceStream: pelvis and legs of a target that follow frame by frame, on feet that do not slide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple import _core
from supple.animate.body import SIDES
from supple.animate.fade import Bound
from supple.animate.foot_stream import FootStream, FootView
from supple.animate.limbs import Limbs
from supple.animate.pose_targets import too_high
from supple.animate.rows import joined
from supple.frame import Array, Frame

_LOWER, _LEAN = 0.05, 0.2  # s: in which the pelvis is lowered, and in which it moves back and up
_ROWS = 8  # most frames ahead for which legs are solved
_ROLLS = 4  # most times that a foot rolls in a frame
_UNROLL = 0.05  # s: in which a foot that need not roll any more comes back
_MISS = 2e-5  # m: a point of a foot may be so far from its place


@dataclass(frozen=True, eq=False)
class StanceView:
    """What is asked of pelvis and legs in this frame and in those after it."""

    pelvis: Array
    """Frames (n, 4, 4)."""
    forward: Array
    """The direction forward over ground (n, 3)."""
    feet: dict[str, FootView]
    knees: dict[str, Array]
    """Points (n, 3) that the knees should point to."""

    def rows(self, rows: Any, feet: dict[str, Array]) -> _Ahead:
        """Some of the frames, with frames of the feet (n, 4, 4)."""
        ones = np.ones((len(rows), 1))
        return _Ahead(
            self.pelvis[rows],
            self.forward[rows],
            {side: feet[side][rows] for side in SIDES},
            {side: self.knees[side][rows] for side in SIDES},
            {side: np.concatenate([self.feet[side].touching[rows], ones], axis=1) for side in SIDES},
        )


@dataclass(frozen=True, eq=False)
class _Ahead:
    """Some frames: pelvis, forward, feet, knees, and contacts as the core reads them."""

    pelvis: Array
    forward: Array
    feet: dict[str, Array]
    knees: dict[str, Array]
    contacts: dict[str, Array]


class StanceStream:
    """Pelvis and legs in time.

    The pelvis is lowered where a leg would be too short. Where an ankle cannot bend as far as a flat foot needs, it
    moves back and up, and the foot rolls about the point that rests.
    """

    def __init__(self, limbs: Limbs, dt: float, ahead: int) -> None:
        """The legs of a body, with frames ``dt`` seconds apart; ``ahead``: how many are known after this one."""
        self._limbs, self._body = limbs, limbs.body
        self._feet = {side: FootStream(self._body, side, dt, ahead) for side in SIDES}
        self.rolls = {side: np.zeros(3) for side in SIDES}
        """Rotation vectors (3,) by which feet roll, since ankles cannot bend farther."""
        self._unroll = float(np.exp(-dt / _UNROLL))
        self._lower, *self._moves = (Bound(max(ahead, round(time / dt)) + 1) for time in (_LOWER, _LEAN, _LEAN))
        self._rows = np.unique(np.linspace(0, ahead, min(ahead + 1, _ROWS)).round().astype(int))
        self._starts: dict[tuple[str, bool], Array] = {}

    def step(self, view: StanceView, q: dict[str, Array]) -> Array:
        """The frame of the pelvis (4, 4) in the first frame of a view. ``q``: joint values (1, dof) of each leg in the
        frame before, which become those of this one.
        """
        feet = {side: self._feet[side].step(view.feet[side]) for side in SIDES}
        planned = {side: self._feet[side].plan(view.feet[side]) for side in SIDES}
        ahead = view.rows(self._rows, planned)
        ahead.pelvis[:, 2, 3] -= self._lower.next(too_high(self._body, ahead.pelvis, ahead.feet))
        self._lean(ahead)
        for side in SIDES:
            q[side] = self._stand(side, feet[side], view.knees[side][:1], ahead.pelvis[:1], q[side])
        pelvis: Array = ahead.pelvis[0]
        return pelvis

    def _lean(self, ahead: _Ahead) -> None:
        """Moves the pelvis back and up where flat feet would yield."""
        body, asked = self._body, ahead.pelvis.copy()
        forward = body.rest["pelvis"][:3, :3].T @ body.upright[:, 0]
        sizes = body.length("thigh", "shank"), body.length("shank", "foot")
        yielding = np.ones((len(asked), 1))
        for up in (False, True):
            legs, arrived = [], True
            for side in SIDES:
                shape, feet, contacts = self._limbs.leg_shapes[side], ahead.feet[side], ahead.contacts[side]
                states = self._solve_ahead(side, up, ahead)
                arrived &= self._limbs.legs[side].all_arrived
                legs.append((feet, contacts, states, yielding, shape.points, shape.roll))
            need = np.zeros(len(asked))
            if not arrived:
                shift = _core.lean(ahead.pelvis, asked, forward, *sizes, 1, up, *legs)
                need = shift[:, 2] if up else -np.einsum("ij,ij->i", shift, ahead.forward)
            way = self._moves[up].next(need)
            ahead.pelvis[:, :3, 3] += way * np.array([0.0, 0.0, 1.0]) if up else -way * ahead.forward

    def _solve_ahead(self, side: str, up: bool, ahead: _Ahead) -> Array:
        """Solves a leg in the frames ahead: where its foot is then, see `_core.foot_states`."""
        limb = self._limbs.legs[side]
        start = self._starts.get((side, up))
        if start is None:
            start = np.tile(limb.linkage.rest, (len(ahead.pelvis), 1))
        goals = self._limbs.leg_goals(side, ahead.feet[side], ahead.knees[side], ahead.pelvis)
        q = self._starts[side, up] = limb.solve(goals, self._limbs.leg_shapes[side].bent(start), False)
        return self._states(side, q, ahead.pelvis, ahead.feet[side], ahead.contacts[side])

    def _stand(self, side: str, foot: Array, knee: Array, pelvis: Array, q: Array) -> Array:
        """Joint values (1, dof) of a leg for the frames (4, 4) of its foot and (1, 4, 4) of the pelvis.

        Where it cannot turn its foot as asked, the foot rolls: as in the frame before, a little less, and then by what
        is missing.
        """
        limb, roll, frame = self._limbs.legs[side], self._unroll * self.rolls[side], foot[None]
        for _ in range(_ROLLS):
            frame = self._feet[side].rolled(foot, roll)[None]
            goals = self._limbs.leg_goals(side, frame, knee, pelvis)
            q = limb.solve(goals, self._limbs.leg_shapes[side].bent(q), False)
            if limb.all_arrived:
                break
            state = self._states(side, q, pelvis, frame, np.ones((1, 3)))[0]
            if state[0] < _MISS:
                break
            reached = frame[0, :3, :3] @ _core.exp_rotation(state[2:])[:3, :3]
            turn = joined((foot[:3, :3].T @ reached)[None], np.zeros((1, 3)))
            roll = Frame._trusted(turn).to_rotvec()[0]
        self.rolls[side] = roll
        return q

    def _states(self, side: str, q: Array, pelvis: Array, feet: Array, contacts: Array) -> Array:
        limb, body = self._limbs.legs[side], self._body
        leg = limb.linkage.frame(q, limb.tip).matrix
        return _core.foot_states(pelvis, leg, feet, contacts, body.heel[side], body.toe[side])
