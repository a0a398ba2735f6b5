"""FootStream: one foot of a target that follows frame by frame and stands still while it touches the ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple import _core
from supple.animate.body import Body
from supple.animate.fade import SplitFade
from supple.animate.rows import joined
from supple.frame import Array, Frame

_SETTLE = 0.035  # s: least time in which a foot comes to rest at its place
_AFTER = 0.02  # s: most that it does so after a contact begins: the foot of the source still slows down then
_SLIDE, _TWIST = 1.5e-3, 0.01  # m and rad: most that it moves over ground meanwhile
_LATER = 0.06  # s: so much later it is flat and as low as the ground: that slides nothing
_FARTHEST = 0.05  # m: most that it lands away from where it is asked
_RELEASE = 0.3  # s: in which a foot that leaves its place comes back to what is asked
_WAY_AWAY, _TURN_AWAY = 0.03, 0.2  # m and rad: most that its speed leads a foot away from what is asked
_UP = np.array([0.0, 0.0, 1.0])
_KEPT = 3  # frames from which value, slope and acceleration of an offset are found


@dataclass(frozen=True, eq=False)
class FootView:
    """What is known of a foot: in this frame and in those after it, as far as the stream looks ahead."""

    rotation: Array
    """As asked (n, 3, 3)."""
    position: Array
    """As asked (n, 3), in metres."""
    touching: Any
    """Whether heel and toe touch the ground (n, 2)."""

    def later(self, frames: int) -> FootView:
        """What is known from some frames after the first on."""
        return FootView(self.rotation[frames:], self.position[frames:], self.touching[frames:])


class FootStream:
    """One foot in time.

    Its path is a target and an offset from it that fades. The target is what is asked, or in a contact the place where
    heel or toe rests; a foot that rests on both is flat. When the target changes, the offset begins where the foot is,
    with its speed and acceleration. A contact is the target as soon as it is seen. When it begins, the foot has stopped
    over ground and turned to where it points; it may still have to tilt and to sink a little.
    """

    def __init__(self, body: Body, side: str, dt: float, ahead: int) -> None:
        """The foot of one side of a body, with frames ``dt`` seconds apart, of which ``ahead`` are known."""
        self._soles = np.stack([body.heel[side], body.toe[side]])
        self._flat = body.upright.T @ body.rest[f"{side}_foot"][:3, :3]  # if forward is along x
        self._settle, self._release = (max(1, round(time / dt)) for time in (_SETTLE, _RELEASE))
        self._after = round(_AFTER / dt)
        self._kept: list[tuple[Array, Array, Array, Array]] = []  # of the last frames: as it was, and as asked
        self._later = round(_LATER / dt) if ahead else 0
        self._turn, self._way = SplitFade(_TURN_AWAY, along=True), SplitFade(_WAY_AWAY, along=False)
        self._is_flat, self._resting_turn = False, np.eye(3)
        self._pivot: int | None = None  # row of the point that rests
        self._place = np.zeros(2)  # where it does
        self._drift = np.zeros(2)  # from where it is asked to where it lands
        self._lands = False  # whether the contact is seen but has not begun

    @property
    def pivot(self) -> Array:
        """The point (3,) about which the foot rolls, in its axes: the one that rests, or the toe."""
        point: Array = self._soles[1 if self._pivot is None else self._pivot]
        return point

    def step(self, view: FootView) -> Array:
        """The frame (4, 4) of the foot in the first frame of a view."""
        if not self._kept:
            self._kept = _KEPT * [(view.rotation[0], view.position[0], view.rotation[0], view.position[0])]
        rotation = self._next_turn(view)
        position = self._next_place(view, rotation)
        position[2] = max(position[2], self.lowest(rotation))
        self._kept = [*self._kept[1:], (rotation, position, view.rotation[0], view.position[0])]
        frame: Array = joined(rotation[None], position[None])[0]
        return frame

    def plan(self, view: FootView) -> Array:
        """Frames (n, 4, 4) of the foot in the frames of a view, after its `step`: the first as it is, those in contact
        at their place, others as asked and as far off as now.
        """
        rotation, position = self._kept[-1][:2]
        frames = joined(view.rotation, view.position + (position - view.position[0]))
        for i in np.flatnonzero(view.touching.any(axis=1)):
            turn = self._resting_turn if view.touching[i].all() and self._is_flat else view.rotation[i]
            frames[i, :3, :3], frames[i, :3, 3] = turn, self._resting(turn)
        frames[0, :3, :3], frames[0, :3, 3] = rotation, position
        return frames

    def rolled(self, foot: Array, roll: Array) -> Array:
        """A foot (4, 4) turned by a rotation vector (3,) about its pivot, no lower over the ground: (4, 4)."""
        out: Array = foot.copy()
        turn = foot[:3, :3]
        out[:3, :3] = turn @ _core.exp_rotation(roll)[:3, :3]
        out[:3, 3] += (turn - out[:3, :3]) @ self.pivot
        out[2, 3] = foot[2, 3] - self.lowest(turn) + self.lowest(out[:3, :3])
        return out

    def lowest(self, rotation: Array) -> float:
        """The height of a foot with a rotation (3, 3) that touches the ground, in metres."""
        return -float((self._soles @ rotation[2]).min())

    def _next_turn(self, view: FootView) -> Array:
        """The rotation (3, 3) of this frame."""
        flat = np.flatnonzero(view.touching.all(axis=1))
        if not len(flat):
            if self._is_flat:
                self._turn.begin(self._turn_offsets([asked for _, _, asked, _ in self._kept]), self._release, _UP)
            self._is_flat = False
            return self._offset_turn(view.rotation[0])
        first = int(flat[0])
        if not self._is_flat or first > 0:
            turn = self._flat_turn(view.rotation[first])
            if self._is_flat:
                self._turn.shift(_rotvec(turn.T @ self._resting_turn), max(first + 1, self._turn.left), turn[2])
            else:
                offsets = self._turn_offsets(_KEPT * [turn])
                self._land(self._turn, offsets, first + 1, turn[2], _TWIST)
            self._is_flat, self._resting_turn = True, turn
        return self._offset_turn(self._resting_turn)

    def _flat_turn(self, asked: Array) -> Array:
        """The rotation (3, 3) of a flat foot that points where an asked one does."""
        ahead = asked @ self._flat[0]
        size = max(float(np.hypot(ahead[0], ahead[1])), 1e-9)
        c, s = ahead[0] / size, ahead[1] / size
        turn: Array = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ self._flat
        return turn

    def _offset_turn(self, target: Array) -> Array:
        turn: Array = target @ _core.exp_rotation(self._turn.next())[:3, :3]
        return turn

    def _turn_offsets(self, targets: list[Array]) -> Array:
        """Rotation vectors (3, 3) from targets to the last rotations."""
        return np.stack([_rotvec(target.T @ kept[0]) for target, kept in zip(targets, self._kept, strict=True)])

    def _next_place(self, view: FootView, rotation: Array) -> Array:
        """The position (3,) of this frame, with its rotation (3, 3)."""
        on = np.flatnonzero(view.touching.any(axis=1))
        if not len(on):
            if self._pivot is not None:
                self._way.begin(np.stack([place - asked for _, place, _, asked in self._kept]), self._release, _UP)
            self._pivot = None
            away: Array = view.position[0] + self._way.next()
            return away
        first = int(on[0])
        pivot = 1 if view.touching[first, 1] else 0
        self._lands = self._pivot is None or (self._lands and first > 0)
        if self._lands:
            self._approach(view, first, pivot)
        elif pivot != self._pivot:
            turn, place = self._kept[-1][:2]
            self._pivot, self._place = pivot, (place + turn @ self._soles[pivot])[:2]
            self._way.begin(self._way_offsets(), max(self._way.left, self._settle), _UP)
        return self._resting(rotation) + self._way.next()

    def _approach(self, view: FootView, first: int, pivot: int) -> None:
        """The place where a foot will rest that touches the ground in row ``first`` of a view."""
        if self._pivot is None:
            drift = self._way.at(first + 1)[:2]
            self._drift = drift * min(1.0, _FARTHEST / max(float(np.hypot(*drift)), 1e-9))
        turn = self._resting_turn if view.touching[first].all() else view.rotation[first]
        there = view.position[first][:2] + self._drift + (turn @ self._soles[pivot])[:2]
        before = view.position[first - 1] if first else self._kept[-1][3]
        left = max(first + 1, self._settle if self._pivot is None else self._way.left)
        stop = 0.5 * (left - first - 1) * (view.position[first] - before)[:2]  # the way until it stands
        old, self._place = self._place, there + stop
        if pivot == self._pivot:
            self._way.shift(np.array([*(old - self._place), 0.0]), left, _UP)
            return
        self._pivot = pivot
        self._land(self._way, self._way_offsets(), first + 1, _UP, _SLIDE)

    def _land(self, fade: SplitFade, offsets: Array, until: int, up: Array, most: float) -> None:
        """Begins an offset of which what slides over ground is small when the contact begins, in ``until`` frames; the
        later it ends, the less the foot is accelerated.
        """
        for after in range(self._after, -1, -1):
            fade.begin(offsets, max(until + after, self._settle), up, self._later)
            if fade.quick_at(until) < most:
                return

    def _resting(self, rotation: Array) -> Array:
        """Where the foot is (3,) with a rotation (3, 3) if its pivot rests at its place."""
        beside = self._place - (rotation @ self.pivot)[:2]
        return np.array([*beside, self.lowest(rotation)])

    def _way_offsets(self) -> Array:
        """Ways (3, 3) from where the foot would rest to its last positions."""
        return np.stack([place - self._resting(turn) for turn, place, _, _ in self._kept])


def _rotvec(rotation: Array) -> Array:
    whole = np.eye(4)
    whole[:3, :3] = rotation
    return np.asarray(Frame._trusted(whole).to_rotvec())
