"""Retarget: clips of one figure become motions of another figure or of a robot."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._linkage.argument import checked_linkage
from supple._progress import Progress
from supple.animate.body import SIDES, Body
from supple.animate.body_map import BodyMap
from supple.animate.footsteps import Contacts
from supple.animate.limbs import Limb, Limbs, floating, root_values
from supple.animate.pose_targets import Correspondence, PoseTargets, pose_targets
from supple.animate.smoothing import smoothed, within_speeds
from supple.animate.stance import Stance
from supple.animate.stream import RetargetStream
from supple.animate.timeline import MAX_FRAMES
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage
from supple.motion import Motion

_TARGETS, _SPINE, _LEGS, _ARM = 20, 5, 55, 10  # of the work, for the progress bar
_ALL = _TARGETS + _SPINE + _LEGS + 2 * _ARM
_TOE_WIDTHS = 2.0  # the filter of toes, in widths of that of the clip
_TOE_FADE = 0.05  # m: height of the toe's point at which a toe joint no longer bends to the ground


class Retarget:
    """How clips of one figure become motions of another figure or of a robot.

    Body parts correspond by their names. The target keeps the directions of the source's limbs with its own lengths,
    its joint limits and speed limits; its feet stand where those of the source stand, and do not slide.

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
        """A correspondence of two bodies.

        Args:
            source: the figure of the clips; up is z and lengths are in metres.
            target: the figure or robot that shall move. One without a floating joint gets one.
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
        self.target, self._root = floating(target)
        self.source_map = BodyMap.of(source) if source_map is None else source_map
        self.target_map = BodyMap.of(target) if target_map is None else target_map
        self._body = Body.of(self.target, self.target_map)
        self._pair = Correspondence.of(Body.of(source, self.source_map, rest), self._body, scale)
        self._limbs = Limbs(self._body)
        self._smooth = float(smooth)

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

        A clip whose keys are not at equal times is sampled at equal ones, as far apart as most of its keys.
        ``progress``: True and False show a bar always or never; None only on a terminal.
        """
        self._check(clip)
        clip = evenly_timed(clip)
        times, dt = clip.times, frame_time(clip.times)
        with Progress("retargeting", _ALL, shown=progress is not False, anywhere=progress is True) as bar:
            targets = pose_targets(self._pair, clip.q, dt, self._smooth / dt)
            bar.step(_TARGETS)
            q = self._solve(targets, dt, bar)
        return Motion(self.target, times, q)

    def stream(self, rate: float, *, ground: float = 0.0) -> RetargetStream:
        """A target that follows frame by frame, for clips that are not known before they come.

        Args:
            rate: frames a second.
            ground: height at which the source's soles stand, in metres.
        """
        return RetargetStream(self, rate, ground)

    def contacts(self, clip: Motion) -> dict[str, Contacts]:
        """For each side, in which frames of a clip heel and toe touch the ground."""
        self._check(clip)
        clip = evenly_timed(clip)
        return pose_targets(self._pair, clip.q, frame_time(clip.times), 0.0).contacts

    def _check(self, clip: Motion) -> None:
        if not isinstance(clip, Motion) or clip.linkage.names != self.source.names:
            raise BadInput(f"a clip must be a Motion of {self.source.name!r}, got {_check.short(clip)}")

    # -- the pose of the target -----------------------------------------------------------------------------------

    def _solve(self, targets: PoseTargets, dt: float, bar: Progress) -> Array:
        """Joint values (n, dof) of the target."""
        limbs = self._limbs
        q = np.tile(self.target.rest, (len(targets.pelvis), 1))
        turn = targets.pelvis[:, :3, :3]
        self._put(q, limbs.spine, [_orientation(limbs.spine, turn, targets.chest)], chained=False)
        self._smoothed(q, limbs.spine, dt)
        bar.step(_SPINE)
        chest = turn @ limbs.spine.linkage.frame(q[:, limbs.spine.columns], limbs.spine.tip).rotation
        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(self._reach, q, side, targets, chest, dt) for side in SIDES]
            if limbs.neck is not None and targets.head is not None and limbs.neck.linkage.dof:
                self._put(q, limbs.neck, [_orientation(limbs.neck, chest, targets.head)], chained=False)
                self._smoothed(q, limbs.neck, dt)
            self._stand(q, targets, dt)
            bar.step(_LEGS)
            for job in jobs:
                job.result()
                bar.step(_ARM)
        fixed = np.zeros(q.shape, dtype=bool)
        for side in SIDES:
            contacts = targets.contacts[side]
            fixed[:, limbs.legs[side].columns] = (contacts.heel | contacts.toe)[:, None]
        return within_speeds(self.target, self.target.clamp(q), dt, fixed)

    def _reach(self, q: Array, side: str, targets: PoseTargets, chest: Array, dt: float) -> None:
        """Solves an arm for rotations of the chest (n, 3, 3)."""
        limb = self._limbs.arms[side]
        self._put(q, limb, self._limbs.arm_goals(side, targets, chest), chained=True)
        self._smoothed(q, limb, dt)

    def _stand(self, q: Array, targets: PoseTargets, dt: float) -> None:
        """Solves the legs, and sets the root and the toes."""
        stance = Stance(self._pair, self._limbs, targets, dt, 0.5 * self._smooth / dt)
        stance.solve()
        first = self.target._sources[self._root].first
        link = self._body.links["pelvis"]
        q[:, first : first + 6] = root_values(self.target, self._root, link, stance.pelvis)
        for side in SIDES:
            q[:, self._limbs.legs[side].columns] = stance.q[side]
            self._bend_toes(q, side, stance.feet[side], dt)

    def _put(self, q: Array, limb: Limb, goals: list[Goal], chained: bool) -> None:
        """Solves a limb and writes its values into its columns of q (n, dof)."""
        if limb.linkage.dof:
            q[:, limb.columns] = limb.solve(goals, q[:, limb.columns], chained)

    def _smoothed(self, q: Array, limb: Limb, dt: float) -> None:
        """Filters the values of one limb in time: where limits stop it, its speed changes at once."""
        if self._smooth == 0 or not limb.linkage.dof:
            return
        part = q[:, limb.columns]
        steps = limb.linkage.difference(part[:-1], part[1:])
        changes = np.concatenate([np.zeros((1, part.shape[1])), np.cumsum(steps, axis=0)])
        moved = smoothed(changes, 0.5 * self._smooth / dt) - changes
        q[:, limb.columns] = limb.linkage.clamp(limb.linkage.integrate(part, moved))

    def _bend_toes(self, q: Array, side: str, feet: Array, dt: float) -> None:
        """Turns a toe joint of one axis so that the toes lie on the ground while the ball of the foot is on it."""
        body = self._body
        link = body.links.get(f"{side}_toes")
        joint = next((j for j in self.target.joints if j.child == link and j.dof == 1 and j.mimic is None), None)
        if joint is None:
            return
        column = self.target._sources[joint.name].first
        back = body.rest[f"{side}_foot"][:3, :3].T
        axis, forward = back @ body.rest[f"{side}_toes"][:3, :3] @ np.array(joint.axis), back @ body.upright[:, 0]
        down, across = (feet[:, 2, :3] @ vector for vector in (forward, np.cross(axis, forward)))
        height = feet[:, 2, :3] @ body.toe[side] + feet[:, 2, 3]
        part = np.clip(1 - height / _TOE_FADE, 0.0, 1.0)
        bend = part * part * (3 - 2 * part) * np.arctan2(-down, across)
        q[:, column] += smoothed(bend[:, None], _TOE_WIDTHS * self._smooth / dt)[:, 0]


def _orientation(limb: Limb, base: Array, wanted: Array) -> Goal:
    """The goal that a limb's end has rotations (n, 3, 3) in the world, on a base with rotations (n, 3, 3)."""
    return Goal(limb.tip, orientation=np.swapaxes(base, -1, -2) @ wanted)


def evenly_timed(clip: Motion) -> Motion:
    """A clip with frames at equal times: itself, or sampled from its start to its end by the median of its steps."""
    if len(clip) < 2:
        raise BadInput("a clip needs two frames or more")
    steps, mean = np.diff(clip.times), frame_time(clip.times)
    if np.abs(steps - mean).max() <= 1e-3 * mean:
        return clip
    count = max(round(clip.duration / float(np.median(steps))), 1)
    if count > MAX_FRAMES:
        raise BadInput(f"{count} frames are too many; at most {MAX_FRAMES}: use motion.sampled(rate) first")
    times = np.linspace(clip.start, clip.end, count + 1)
    return Motion(clip.linkage, times, clip.at(times))


def frame_time(times: Array) -> float:
    """The mean time between frames (n,), in seconds."""
    return float((times[-1] - times[0]) / (len(times) - 1))
