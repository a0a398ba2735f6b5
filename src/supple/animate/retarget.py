"""Retarget: clips of one figure become motions of another figure or of a robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _core
from supple._linkage.argument import checked_linkage
from supple._motion.continued import continued
from supple._progress import Progress
from supple.animate.body import SIDES, Body
from supple.animate.body_map import BodyMap
from supple.animate.clip_frames import frame_time, retargeted_frames
from supple.animate.footsteps import Contacts, ground_height
from supple.animate.limbs import Limb, Limbs, Root, floating
from supple.animate.pose_targets import Correspondence, PoseTargets, heights, pose_targets, sole_points
from supple.animate.smoothing import least_above, raised, smoothed, within_speeds
from supple.animate.stance import Stance
from supple.animate.stream import RetargetStream
from supple.errors import BadInput
from supple.frame import Array
from supple.linkage import Linkage
from supple.motion import Motion

_TARGETS, _SPINE, _LEGS, _ARM = 20, 5, 55, 10  # of the work, for the progress bar
_ALL = _TARGETS + _SPINE + _LEGS + 2 * _ARM
_TOE_WIDTHS = 8.0  # the filter of toes, in widths of that of the clip
_LIMB_SMOOTH = 0.7  # the filter of limbs, in widths of that of the clip
_FOOT_SHIFT, _LOW_SHIFT = 4.5e-3, 9e-3  # m: most that it moves a foot on the ground, and one near the ground
_LIFTED = 0.03  # m: the ankle of a foot that is not near the ground is so much higher than at rest
_DEEPEST, _LIFT = 1e-3, 0.05  # m and s: feet that are lower lift the root, in this time
_TOE_FADE = 0.05  # m: height of the toe's point at which a toe joint no longer bends to the ground


class Retarget:
    """How clips of one figure become motions of another figure or of a robot.

    Body parts are matched by their names. The target's limbs have the directions of the source's limbs and their own
    lengths. Its joint limits and speed limits are kept. Its feet stand where those of the source stand, and do not
    slide.

    >>> from supple import Motion
    >>> from supple.animate import Retarget
    >>> from supple.models import g1, human
    >>> wait = Motion(human(), [0, 1], [human().rest, human().rest])
    >>> Retarget(human(), g1()).motion(wait).linkage.name
    'g1'
    """

    source: Linkage
    """The figure of the clips."""
    target: Linkage
    """The figure or robot that moves, with a floating root."""

    def __init__(
        self,
        source: Linkage,
        target: Linkage,
        *,
        source_map: BodyMap | None = None,
        target_map: BodyMap | None = None,
        source_rest: ArrayLike | None = None,
        scale: float | None = None,
        smooth: float = 0.02,
    ) -> None:
        """The retargeting from one body to another.

        Args:
            source: the figure of the clips; up is z and lengths are in metres.
            target: the figure or robot that should move. One without a floating joint gets one.
            source_map: which links of the source are which parts of the body; by default found by their names.
            target_map: the same for the target.
            source_rest: joint values (dof,) with which the source stands upright, if not those at rest.
            scale: factor on the source's steps and heights; by default the ratio of the legs.
            smooth: standard deviation of the filter in time, in seconds; 0 for none.
        """
        checked_linkage(source)
        checked_linkage(target)
        if scale is not None and not 1e-3 <= _check.real(scale) <= 1e3:
            raise BadInput(f"scale must be from 0.001 to 1000, got {_check.short(scale)}")
        if not 0 <= _check.real(smooth) <= 10:
            raise BadInput(f"smooth must be from 0 to 10 s, got {_check.short(smooth)}")
        for name, given in (("source_map", source_map), ("target_map", target_map)):
            if given is not None and not isinstance(given, BodyMap):
                raise BadInput(f"{name} must be a BodyMap, got {_check.short(given)}")
        rest = None if source_rest is None else source.clamp(_check.vector(source_rest, source.dof, "source_rest"))
        self.source = source
        self.target, root = floating(target)
        self.source_map = BodyMap.of(source) if source_map is None else source_map
        self.target_map = BodyMap.of(target) if target_map is None else target_map
        self._body = Body.of(self.target, self.target_map)
        self._pair = Correspondence.of(Body.of(source, self.source_map, rest), self._body, scale)
        self._limbs = Limbs(self._body)
        self._root = Root(self.target, root, self._body.links["pelvis"])
        self._toes = {side: self._toe_joint(side) for side in SIDES}
        self._smooth = float(smooth)

    def __repr__(self) -> str:
        return (
            f"<Retarget from {self.source.name!r} to {self.target.name!r}: scale {self.scale:.3g}, "
            f"smooth {self._smooth:g} s; .motion(clip) or .stream(rate)>"
        )

    @property
    def scale(self) -> float:
        """Factor on the source's steps and heights.

        >>> from supple.animate import Retarget
        >>> from supple.models import human
        >>> round(Retarget(human(1.6), human(1.8)).scale, 3)
        1.125
        """
        return self._pair.scale

    def motion(self, clip: Motion, *, progress: bool | None = None) -> Motion:
        """The clip as a motion of the target, with the times of the clip's keys.

        A clip whose keys are not at equal times is sampled at equal ones, as far apart as most of its keys. If the
        figure jumps from the first frame to the second, the first is taken for a reference pose and replaced by the
        second. Values of joints without limits go on beyond half a turn: they do not jump by a whole turn.
        ``progress``: True and False show a bar always or never; None only on a terminal.
        """
        self._check(clip)
        clip = retargeted_frames(clip)
        times, dt = clip.times, frame_time(clip.times)
        with Progress("retargeting", _ALL, shown=progress is not False, anywhere=progress is True) as bar:
            targets = pose_targets(self._pair, clip.q, dt, self._smooth / dt)
            bar.step(_TARGETS)
            q, steps = self._solve(targets, dt, bar)
        steps /= np.diff(times)[:, None]  # speeds
        return Motion._of(self.target, times, q, steps, steps)

    def stream(self, rate: float, *, ground: float = 0.0, delay: float = 0.05) -> RetargetStream:
        """A target that follows frame by frame, for poses that arrive one after another.

        Args:
            rate: frames per second.
            ground: height at which the source's soles stand, in metres; for a recorded clip, `ground` finds it.
            delay: how far the stream looks ahead, and so how late its poses come, in seconds; rounded to frames. With
                a shorter delay, feet slide and joints shake more.
        """
        return RetargetStream(self, rate, ground, delay)

    def ground(self, clip: Motion) -> float:
        """The height at which the source's soles stand in a clip, in metres; some seconds of it are enough.

        >>> from supple import Motion
        >>> from supple.animate import Retarget
        >>> from supple.models import g1, human
        >>> figure = human()
        >>> still = Motion(figure, [0, 1], [figure.rest, figure.rest])
        >>> abs(round(Retarget(figure, g1()).ground(still), 3))
        0.0
        """
        self._check(clip)
        on_sole = sole_points(self._pair.source, self.source.frames(retargeted_frames(clip).q))
        return ground_height(heights(on_sole))

    def contacts(self, clip: Motion) -> dict[str, Contacts]:
        """For each side, in which frames of a clip heel and toe touch the ground."""
        self._check(clip)
        clip = retargeted_frames(clip)
        return pose_targets(self._pair, clip.q, frame_time(clip.times), 0.0).contacts

    def _check(self, clip: Motion) -> None:
        if not isinstance(clip, Motion) or clip.linkage.names != self.source.names:
            hint = "" if isinstance(clip, Motion) else "; read a file with supple.animate.load_clip(path)"
            raise BadInput(f"a clip must be a Motion of {self.source.name!r}, got {_check.short(clip)}{hint}")

    # -- the pose of the target -----------------------------------------------------------------------------------

    def _solve(self, targets: PoseTargets, dt: float, bar: Progress) -> tuple[Array, Array]:
        """Joint values (n, dof) of the target, and their differences from frame to frame (n - 1, dof)."""
        limbs = self._limbs
        q = np.tile(self.target.rest, (len(targets.pelvis), 1))
        turn = targets.pelvis[:, :3, :3]
        self._turn(q, limbs.spine, turn, targets.chest, dt)
        bar.step(_SPINE)
        spine = limbs.spine.linkage
        chest = turn @ spine.frame(spine.clamp(q[:, limbs.spine.columns]), limbs.spine.tip).rotation
        if limbs.neck is not None and targets.head is not None:
            self._turn(q, limbs.neck, chest, targets.head, dt)
        for side in SIDES:
            self._reach(q, side, targets, chest, dt)
            bar.step(_ARM)
        self._stand(q, targets, dt)
        bar.step(_LEGS)
        fixed = np.zeros(q.shape, dtype=bool)
        for side in SIDES:
            contacts = targets.contacts[side]
            fixed[:, limbs.legs[side].columns] = (contacts.heel | contacts.toe)[:, None]
        q = continued(self.target, self.target.clamp(q))
        steps = self.target.difference(q[:-1], q[1:])
        slow = within_speeds(self.target, q, dt, fixed, steps=steps)
        if slow is q:
            return q, steps
        slow = continued(self.target, self._above_ground(slow, dt))
        return slow, self.target.difference(slow[:-1], slow[1:])

    def _above_ground(self, q: Array, dt: float) -> Array:
        """Joint values (n, dof) with the root lifted where feet that were slowed are below the ground, no
        faster than it may.
        """
        body, below = self._body, np.zeros(len(q))
        for side in SIDES:
            foot = self.target.frame(q, body.links[f"{side}_foot"])
            for point in (body.heel[side], body.toe[side]):
                below = np.maximum(below, -foot.apply(point)[:, 2])
        if below.max() < _DEEPEST:
            return q
        first, up = self._root.columns.start, self._root.up
        place = q[:, first : first + 3]
        height = place @ up
        lifted = height + raised(np.maximum(below - _DEEPEST, 0.0), max(1, int(_LIFT / dt)))
        place += (least_above(lifted, self._root.rise * dt * (1 - 1e-9)) - height)[:, None] * up
        return q

    def _turn(self, q: Array, limb: Limb, base: Array, wanted: Array, dt: float) -> None:
        """Solves a limb whose end should have rotations (n, 3, 3), on a base with rotations (n, 3, 3) in the world."""
        if limb.linkage.dof:
            goals = _core.turn_goals(base, wanted)
            q[:, limb.columns] = limb.solve(goals, q[:, limb.columns], chained=False)
            self._smoothed(q, limb, _LIMB_SMOOTH * self._smooth / dt)

    def _reach(self, q: Array, side: str, targets: PoseTargets, chest: Array, dt: float) -> None:
        """Solves an arm for rotations of the chest (n, 3, 3)."""
        limb = self._limbs.arms[side]
        goals = self._limbs.arm_goals(side, targets.arms[side], targets.hands[side], chest, dt, self._smooth / dt)
        q[:, limb.columns] = limb.solve(goals, q[:, limb.columns], chained=True)
        self._smoothed(q, limb, _LIMB_SMOOTH * self._smooth / dt)

    def _stand(self, q: Array, targets: PoseTargets, dt: float) -> None:
        """Solves the legs, and sets the root and the toes."""
        stance = Stance(self._pair, self._limbs, targets, dt, 0.5 * self._smooth / dt)
        stance.solve()
        q[:, self._root.columns] = self._root.values(stance.pelvis)
        for side in SIDES:
            leg = self._limbs.legs[side]
            q[:, leg.columns] = stance.q[side]
            low = stance.feet[side][:, 2, 3] < self._body.position(f"{side}_foot")[2] + _LIFTED
            touches = targets.contacts[side].heel | targets.contacts[side].toe
            shift = np.where(touches, _FOOT_SHIFT, np.where(low, _LOW_SHIFT, np.inf))
            most = shift / self._body.leg
            self._smoothed(q, leg, _LIMB_SMOOTH * self._smooth / dt, most)
            self._bend_toes(q, side, stance.feet[side], dt)

    def _smoothed(self, q: Array, limb: Limb, width: float, most: Array | None = None) -> None:
        """Filters the values of one limb in time: where limits stop it, its speed changes at once.

        They may leave their limits. Rotation vectors that are near each other are filtered as numbers.

        ``width`` is the standard deviation of the filter, in frames; ``most`` (n,): how far it may move all joints.
        """
        if width == 0 or not limb.linkage.dof:
            return
        part = limb.continued(q[:, limb.columns])
        moved = smoothed(part, width) - part
        if most is not None:
            share = np.minimum(1.0, most / np.maximum(np.abs(moved).sum(axis=1), 1e-12))
            moved *= (1 - raised(1 - share, int(np.ceil(6 * width))))[:, None]
        q[:, limb.columns] = part + moved

    def _bend_toes(self, q: Array, side: str, feet: Array, dt: float) -> None:
        """Turns a toe joint of one axis so that the toes lie on the ground while the ball of the foot is on it."""
        toes = self._toes[side]
        if toes is None:
            return
        column, ways = toes
        down, across, toe = (feet[:, 2, :3] @ ways).T
        height = toe + feet[:, 2, 3]
        part = np.clip(1 - height / _TOE_FADE, 0.0, 1.0)
        bend = part * part * (3 - 2 * part) * np.arctan2(-down, across)
        q[:, column] += smoothed(bend[:, None], _TOE_WIDTHS * self._smooth / dt)[:, 0]

    def _toe_joint(self, side: str) -> tuple[int, Array] | None:
        """The column of a toe joint of one axis, and as columns (3, 3), in the axes of the foot: forward, the way in
        which its toes turn, and the toe's point.
        """
        body = self._body
        link = body.links.get(f"{side}_toes")
        joint = next((j for j in self.target.joints if j.child == link and j.dof == 1 and j.mimic is None), None)
        if joint is None:
            return None
        back = body.rest[f"{side}_foot"][:3, :3].T
        axis, forward = back @ body.rest[f"{side}_toes"][:3, :3] @ np.array(joint.axis), back @ body.upright[:, 0]
        ways = np.stack([forward, np.cross(axis, forward), body.toe[side]], axis=-1)
        return self.target._sources[joint.name].first, ways
