"""RetargetStream: a clip that arrives frame by frame becomes joint values of a target, a little later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._motion.continued import continued
from supple._solve.tolerance import Tolerance
from supple.animate.body import SIDES
from supple.animate.fade import SlowMean
from supple.animate.foot_hold import FootHold
from supple.animate.foot_stream import FootView
from supple.animate.footsteps import Mask, in_contact
from supple.animate.joint_filter import JointFilter
from supple.animate.limbs import Limbs
from supple.animate.pose_targets import (
    ahead_of_foot,
    arm_ways,
    filtered,
    forward_over_ground,
    hip_is_high,
    hip_position,
    knee_points,
    pelvis_frames,
    soles,
)
from supple.animate.rows import joined, turned
from supple.animate.smoothing import kernel, smoothed, smoothed_to_end, within_speeds
from supple.animate.stance_stream import StanceStream, StanceView
from supple.animate.upper_stream import UpperStream
from supple.errors import BadInput
from supple.frame import Array

if TYPE_CHECKING:
    from supple._linkage.frames import Frames
    from supple.animate.retarget import Retarget

_PAST, _LONGEST_PAST = 0.15, 64  # s, and frames: how much of the past the filters of arms and knees see
_MOST_DELAY = 1.0  # s
_SMOOTH = 0.85  # the filter of joint values, in widths of that of the clip
_LEARN_LEAN = 1.0  # s: in which the stream learns how a figure leans
_TOLERANCE = Tolerance(position=1e-8, angle=1e-8)  # what is left of an error would shake the joints
_STEADY = 0.7  # the filter of soles by which contacts are found, in widths of that of the clip
_WARM = 20  # times that the first frame is solved: each begins where the one before ended
_DEEPEST = 1e-3  # m: feet that are lower lift the root


@dataclass(frozen=True, eq=False)
class StreamStep:
    """One frame of a `RetargetStream`.

    >>> from supple.animate import Retarget
    >>> from supple.models import human
    >>> Retarget(human(1.7), human()).stream(rate=60).step(human(1.7).rest).touching["left"]
    (True, True)
    """

    q: Array
    """Joint values of the target (dof,)."""
    touching: dict[str, tuple[bool, bool]]
    """For each side, whether heel and toe rest on the ground."""


class RetargetStream:
    """The target of a `Retarget`, frame by frame: within limits and speeds, on feet that do not slide.

    It looks ahead: a step returns the pose for the frame that came `delay_frames` steps before. So feet slow down
    before they land, and poses are filtered in time as for whole clips. Without delay, feet stop after they have
    landed, and the target moves as roughly as the source.

    >>> from supple.animate import Retarget
    >>> from supple.models import human
    >>> stream = Retarget(human(1.7), human()).stream(rate=60)
    >>> stream.step(human(1.7).rest).q.shape
    (56,)
    """

    delay_frames: int
    """How many frames a step is behind the source."""

    def __init__(self, retarget: Retarget, rate: float, ground: float, delay: float) -> None:
        """See `Retarget.stream`."""
        if not 1 <= _check.real(rate) <= 10_000:
            raise BadInput(f"rate must be from 1 to 10000 frames per second, got {_check.short(rate)}")
        if not abs(_check.real(ground)) <= 1e6:
            raise BadInput(f"ground must be a finite number of metres, got {_check.short(ground)}")
        if not 0 <= _check.real(delay) <= _MOST_DELAY:
            raise BadInput(f"delay must be from 0 to {_MOST_DELAY:g} s, got {_check.short(delay)}")
        self._retarget, self._dt, self._ground = retarget, 1.0 / float(rate), float(ground)
        self.delay_frames = round(float(delay) * float(rate))
        self._width = retarget._smooth / self._dt
        self._smooth = smoothed_to_end if self.delay_frames else smoothed
        filter_reach = len(kernel(self._width, 10**6)) - 1
        self._after = min(self.delay_frames // 2, filter_reach)  # frames ahead that the filter of joint values sees
        self._ahead = self.delay_frames - self._after
        self._past = max(filter_reach, min(round(_PAST / self._dt), _LONGEST_PAST)) + 1 + self._after
        self._rows: Array | None = None  # joint values of the source: of the past, of this frame, and of those after it
        self._lean = SlowMean()
        self._has_stood = False  # on both feet
        self._limbs = Limbs(retarget._body, _TOLERANCE)
        self._stance = StanceStream(self._limbs, self._dt, self._ahead)
        self._upper = UpperStream(self._limbs, self._dt, self._width)
        self._q = np.array(retarget.target.rest)
        self._solved = self._q
        self._filter = JointFilter(retarget.target, _SMOOTH * self._width, self._after)
        self._hold = FootHold(self._limbs, self._dt, self.delay_frames, self._after)

    def __repr__(self) -> str:
        return (
            f"<RetargetStream of {self._retarget.target.name!r}: {1 / self._dt:g} frames per second, "
            f"{self.delay_frames} behind; .step(q), .finish()>"
        )

    def step(self, q: ArrayLike) -> StreamStep:
        """The next frame: joint values (dof,) of the source.

        Returns the pose for the frame that came `delay_frames` steps before. The source stands still before the first.
        """
        values = np.array(_check.numbers(q, "q"), dtype=float)
        source = self._retarget.source
        if values.shape != (source.dof,) or not np.isfinite(values).all():
            raise BadInput(f"q must be {source.dof} finite numbers, got {_check.short(q)}")
        if self._rows is None:
            self._rows = np.tile(values, (self._past + 1 + self._ahead, 1))
            for _ in range(_WARM):
                self._solved = self._follow(self._rows)[0]
            self._q = self._solved
        self._rows[:-1] = self._rows[1:]
        self._rows[-1] = values
        self._solved, feet = self._follow(self._rows)
        found = np.array(self._retarget.target.clamp(self._filter.next(self._solved)))
        if self._after:
            self._hold.step(found, feet, dict(self._stance.rolls))
        self._q = self._above_ground(self._slowed(found))
        on = {side: (bool(foot.touching[0, 0]), bool(foot.touching[0, 1])) for side, foot in feet.items()}
        return StreamStep(self._q.copy(), on)

    def finish(self) -> list[StreamStep]:
        """The frames that are still to come when the source has stopped: `delay_frames` of them."""
        if self._rows is None:
            return []
        last = self._rows[-1].copy()
        return [self.step(last) for _ in range(self.delay_frames)]

    def _follow(self, rows: Array) -> tuple[Array, dict[str, FootView]]:
        """Joint values (dof,) for the frame that is solved, within limits; and what is asked of both feet, from the
        frame on that a step returns.
        """
        retarget, pair, now = self._retarget, self._retarget._pair, self._past
        frames = pair.source.linkage.frames(rows)
        touching = {side: self._contacts(frames, side) for side in SIDES}
        points, turns = filtered(pair, frames, self._ground, self._width, self._smooth)
        q = self._solved.copy()
        arms = {side: arm_ways(pair.target, points, side) for side in SIDES}
        self._upper.step(turns, arms, now, q)
        legs = {side: q[None, self._limbs.legs[side].columns] for side in SIDES}
        view, feet = self._stance_view(points, turns, touching)
        pelvis = self._stance.step(view, legs)
        for side in SIDES:
            q[self._limbs.legs[side].columns] = legs[side][0]
        q[retarget._root.columns] = retarget._root.values(pelvis[None])[0]
        return np.array(retarget.target.clamp(q)), feet

    def _contacts(self, frames: Frames, side: str) -> Array:
        """Whether heel and toe of a side touch the ground (n, 2), from the frame on that a step returns."""
        points = soles(self._retarget._pair.source, frames, side)
        on: Array = np.stack([self._touches(at) for _, at in points], axis=-1)
        return on[self._past - self._after :]

    def _touches(self, point: Array) -> Mask:
        """Whether a point of the source (n, 3) touches the ground in each frame, or does so without noise.

        A source that trembles as it stands would else lose and find contacts again and again.
        """
        on = in_contact(point, self._ground, self._dt)
        if self._ahead:
            on |= in_contact(self._smooth(point, _STEADY * self._width), self._ground, self._dt)
        return on

    def _stance_view(
        self, points: dict[str, Array], turns: dict[str, Array], touching: dict[str, Array]
    ) -> tuple[StanceView, dict[str, FootView]]:
        """What is asked of pelvis and legs, from the frame on that is solved; and of the feet, from the one on that a
        step returns.
        """
        pair, now = self._retarget._pair, self._past
        pelvis = pelvis_frames(pair, points, turns["pelvis"])
        forward = forward_over_ground(pair.target, pelvis)
        ahead = {side: float(ahead_of_foot(pair, points, forward, side)[now]) for side in SIDES}
        flat = [side for side in SIDES if touching[side][self._after].all()]
        found = [ahead[side] for side in flat if hip_is_high(pair, points, side)[now]]
        self._has_stood |= len(found) == len(SIDES)
        counts = len(found) == len(SIDES) or (found and not self._has_stood)
        lean = self._lean.next(float(np.mean(found)) if counts else None, min(1.0, self._dt / _LEARN_LEAN)) * forward
        pelvis[:, :3, 3] -= lean
        feet, knees, first = {}, {}, now - self._after
        for side in SIDES:
            turn = turns[f"{side}_foot"]
            place = self._ankle(side, points, turn, pelvis, lean)
            foot = joined(turn, place)
            knees[side] = knee_points(pair, points, pelvis, foot, side, self._width, self._smooth)[now:]
            feet[side] = FootView(turn[first:], place[first:], touching[side])
        later = {side: foot.later(self._after) for side, foot in feet.items()}
        return StanceView(pelvis[now:], forward[now:], later, knees), feet

    def _ankle(self, side: str, points: dict[str, Array], turn: Array, pelvis: Array, lean: Array) -> Array:
        """Positions (n, 3) of a foot: over ground as far from the hip as the source's, scaled; the middle of its sole
        as high as the source's, scaled.
        """
        pair = self._retarget._pair
        source, target = pair.source, pair.target
        ankle = points[f"{side}_foot"]
        place = hip_position(target, pelvis, side) + lean + pair.scale * (ankle - points[f"{side}_thigh"])
        back = pair.rest_offsets[f"{side}_foot"].T  # from the rotation of the target to that of the source
        soles_below = (
            back @ (0.5 * (source.heel[side] + source.toe[side])),
            0.5 * (target.heel[side] + target.toe[side]),
        )
        theirs, ours = (turned(turn, below)[:, 2] for below in soles_below)
        place[:, 2] = pair.scale * (ankle[:, 2] + theirs) - ours
        return place

    def _slowed(self, q: Array) -> Array:
        """Joint values (dof,) no farther from those before than the speed limits allow."""
        target = self._retarget.target
        both = continued(target, np.stack([self._q, q]))
        fixed = np.zeros(both.shape, dtype=bool)
        fixed[0] = True
        slowed: Array = within_speeds(target, both, self._dt, fixed)[1]
        return slowed

    def _above_ground(self, q: Array) -> Array:
        """Joint values (dof,) with the root lifted where feet that were slowed are below the ground, no faster
        than it may.
        """
        body, target, root = self._retarget._body, self._retarget.target, self._retarget._root
        lowest = 0.0
        for side in SIDES:
            foot = target.frame(q, body.links[f"{side}_foot"])
            lowest = min(lowest, float(foot.apply(np.stack([body.heel[side], body.toe[side]]))[:, 2].min()))
        if lowest < -_DEEPEST:
            place = slice(root.columns.start, root.columns.start + 3)
            left = root.rise * self._dt - float((q[place] - self._q[place]) @ root.up)
            q[place] += min(-lowest - _DEEPEST, left * (1 - 1e-9)) * root.up
        return q
