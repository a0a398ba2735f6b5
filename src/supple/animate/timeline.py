"""Timeline: key poses and key goals in time, which make a motion at any frame rate."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, method
from supple._linkage.argument import checked_linkage
from supple._motion.interpolation import Interpolation, velocities
from supple._progress import Progress
from supple._solve import batch, compilation, search
from supple.animate.blend import limb_columns, link_depth
from supple.animate.frame_count import check_memory
from supple.animate.goal_track import GoalKey, GoalTrack, MissedGoal, relative_goal
from supple.animate.pose_limits import check_pose
from supple.animate.smoothing import within_speeds
from supple.errors import BadInput, unknown
from supple.frame import Array
from supple.goal import Goal, take_rows
from supple.linkage import Linkage
from supple.motion import Motion
from supple.solver import Solver

_STEPS = 20  # most of a frame
_DAMPING = 1e-4
_FASTEST = 20.0  # rad/s: of joints without a speed limit that follow key goals
_PULL = 0.1  # part of the way to the keyed pose that each frame begins with, from the frame before
_MISSED = 0.02  # m: a key position that is farther away than this is named
_ARRAYS = 8  # of joint values that a motion needs at most while it is made


@dataclass(frozen=True, eq=False)
class PoseKey:
    """Joint values at a time."""

    time: float
    q: Array
    joints: frozenset[str] | None
    """Names of the joints that the key is for; None: all."""
    ease: bool
    """Whether the joints stop at the key."""


@dataclass(frozen=True, eq=False)
class Timeline:
    """Key poses and key goals of a figure or a robot in time [K 5.2, 5.3]. A frozen value: its methods return others.

    Joints go from key pose to key pose. If a link has key goals, its limb follows the path between them instead.
    Inverse kinematics starts from the interpolated pose, so joints that the goals leave free stay as they are keyed.

    >>> from supple import Goal
    >>> from supple.animate import Timeline
    >>> from supple.models import puppet
    >>> wave = Timeline(puppet()).pose(0, puppet().rest).pose(1, puppet().rest + 0.5)
    >>> len(wave.motion(rate=30))
    31
    """

    linkage: Linkage
    """The linkage that moves."""
    poses: tuple[PoseKey, ...] = ()
    """Key poses, in any order."""
    tracks: tuple[GoalTrack, ...] = ()
    """Key goals, those of each link in a track of their own."""

    def __post_init__(self) -> None:
        """Check the linkage."""
        checked_linkage(self.linkage)
        for what, kind, keys in (("poses", PoseKey, self.poses), ("tracks", GoalTrack, self.tracks)):
            if not isinstance(keys, tuple) or not all(isinstance(key, kind) for key in keys):
                raise BadInput(f"{what} must be a tuple of {kind.__name__}, got {_check.short(keys)}")

    def __repr__(self) -> str:
        keys = sum(len(track.keys) for track in self.tracks)
        counts = f"{len(self.poses)} key pose{'s' * (len(self.poses) != 1)}, {keys} key goal{'s' * (keys != 1)}"
        span = f" from {self.start:.4g} to {self.end:.4g} s" if self.poses or self.tracks else ""
        return f"<Timeline of {self.linkage.name!r}: {counts}{span}>"

    def pose(self, time: float, q: ArrayLike, *, joints: Iterable[str] | None = None, ease: bool = True) -> Timeline:
        """The timeline with one more key pose.

        Args:
            time: in seconds.
            q: joint values (dof,), in radians or metres, within the position limits of the joints that the key is for.
            joints: names of the joints that the key is for; all by default. Others go on between their own keys.
            ease: whether joints start and end slowly at the key; if not, they pass it without a stop.

        >>> from supple.animate import Timeline
        >>> from supple.models import planar2
        >>> nod = Timeline(planar2()).pose(0, [0, 0]).pose(2, [1, 0.5], joints=["joint2"])
        >>> nod.motion(rate=1).q[-1]
        array([0. , 0.5])
        """
        when = _moment(time)
        values = np.array(_check.numbers(q, "q"), dtype=float)
        if values.shape != (self.linkage.dof,) or not np.isfinite(values).all():
            raise BadInput(f"q must be {self.linkage.dof} finite numbers, got {_check.short(q)}")
        try:
            names = None if joints is None else frozenset(joints)
        except TypeError:
            raise BadInput(f"joints must be names of joints, got {_check.short(joints)}") from None
        for name in names or ():
            if name not in self.linkage._joint_named:
                raise unknown("joint", name, self.linkage._joint_named)
        check_pose(self.linkage, values, names)
        return replace(self, poses=(*self.poses, PoseKey(when, values, names, _check.flag(ease, "ease"))))

    def goal(
        self, time: float, goal: Goal, *, base: str | None = None, ease: bool = True, blend: float = 0.25
    ) -> Timeline:
        """The timeline with one more key goal. Goals of one link that differ only in their numbers make one path.

        Args:
            time: in seconds.
            goal: what the link should reach: one goal, of any kind.
            base: the link that carries the limb, which only moves below it; by default all joints may move.
            ease: whether the path stops at the key.
            blend: time in seconds in which the limb goes from its keyed pose to the path before the first key of the
                path, and back after the last.

        >>> from supple import Goal
        >>> from supple.animate import Timeline
        >>> from supple.models import planar3
        >>> reach = Timeline(planar3()).goal(0, Goal("tip", position=[10, 10, 0]), blend=0)
        >>> reach = reach.goal(1, Goal("tip", position=[-10, 12, 0]))
        >>> reach.motion(rate=60).frame(1.0, "tip").position.round(3)
        array([-10.,  12.,   0.])
        """
        if not isinstance(goal, Goal) or goal.shape != ():
            raise BadInput(f"a key goal is one Goal without leading axes, got {_check.short(goal)}")
        if not goal.is_center_of_mass and goal.link not in self.linkage._link_named:
            raise unknown("link", goal.link, self.linkage._link_named)
        if base is not None and (not isinstance(base, str) or base not in self.linkage._link_named):
            raise unknown("link", base, self.linkage._link_named)
        if base is not None and (goal.relative_to is not None or goal.is_center_of_mass):
            raise BadInput(
                "base is for goals in the world of one link; this one is relative, or for the centre of mass"
            )
        if base is not None and base not in _above(self.linkage, goal.link):
            raise BadInput(f"base must be a link that carries {goal.link!r}; {base!r} does not")
        if not 0 <= _check.real(blend) <= 1e6:
            raise BadInput(f"blend must be a time in seconds, not negative; got {_check.short(blend)}")
        key = GoalKey(_moment(time), goal, _check.flag(ease, "ease"))
        for i, track in enumerate(self.tracks):
            if track.takes(goal, base):
                return replace(self, tracks=(*self.tracks[:i], track.with_key(key, blend), *self.tracks[i + 1 :]))
        return replace(self, tracks=(*self.tracks, GoalTrack((key,), base, float(blend))))

    @property
    def start(self) -> float:
        """Time of the first key, in seconds."""
        return min(self._times())

    @property
    def end(self) -> float:
        """Time of the last key, in seconds."""
        return max(self._times())

    def motion(self, rate: float = 60.0, *, progress: bool | None = None) -> Motion:
        """The motion from the first key to the last at ``rate`` frames per second.

        With key goals, no joint is faster than its speed limit, or than 20 rad/s if it rotates and has no limit. If
        goals cannot be met, each frame goes on from the one before to the nearest pose, without a jump, and a warning
        names the key; see `missed`. Key poses alone are met at any speed. All frames are within position limits.

        ``progress``: True and False show a bar always or never; None only on a terminal.
        """
        if not 0 < _check.real(rate) < math.inf:
            raise BadInput(f"rate must be a positive number of frames per second, got {_check.short(rate)}")
        length = (self.end - self.start) * rate
        size = 8 * _ARRAYS * self.linkage.dof
        check_memory(length, size, f"the keys are from {self.start:g} to {self.end:g} s; take a lower rate")
        times = self.start + np.arange(math.floor(length + 1e-9) + 1) / rate
        q = self.at(times, progress=progress)
        if self.tracks:
            q = within_speeds(self.linkage, q, 1.0 / rate, speed=self._speeds)
        motion = Motion(self.linkage, times, q)
        missed = self.missed(motion)
        if missed:
            more = f", and {len(missed) - 1} more: timeline.missed(motion)" if len(missed) > 1 else ""
            warnings.warn(f"{missed[0]}{more}", stacklevel=2)
        return motion

    def missed(self, motion: Motion) -> list[MissedGoal]:
        """The key goals whose positions a motion of this timeline does not reach within 2 cm.

        >>> from supple import Goal
        >>> from supple.animate import Timeline
        >>> from supple.models import planar3
        >>> line = Timeline(planar3()).pose(0, [0, 0, 0]).pose(2, [0, 0, 0])
        >>> line = line.goal(1, Goal("tip", position=[10, 10, 0]))
        >>> line.missed(line.motion())
        []
        """
        if not isinstance(motion, Motion) or motion.linkage.names != self.linkage.names:
            raise BadInput(f"missed takes a Motion of {self.linkage.name!r}, got {_check.short(motion)}")
        found = []
        for track in self.tracks:
            for key in track.keys:
                goal = key.goal
                if goal.position is None or goal.relative_to or goal.distance is not None or goal.is_center_of_mass:
                    continue
                there = motion.linkage.frame(motion.at(min(max(key.time, motion.start), motion.end)), goal.link)
                distance = float(np.linalg.norm(there.apply(goal.point) - goal.position))
                if distance > _MISSED:
                    found.append(MissedGoal(key.time, goal.link, distance))
        return sorted(found, key=lambda one: one.time)

    def at(self, times: ArrayLike, *, progress: bool | None = None) -> Array:
        """Joint values (n, dof) at times (n,) in seconds."""
        when = np.atleast_1d(np.array(_check.finite(_check.numbers(times, "times"), "times")))
        if when.ndim > 1:
            raise BadInput(f"times must have shape (n,), not {when.shape}")
        q = self.linkage.clamp(self._pose_values(when))  # between two rotations a ball joint may leave its cone
        if not self.tracks or not len(when):
            return q
        weights = np.stack([track.weight(when) for track in self.tracks], axis=-1)
        states = np.where(weights > 0, np.where(weights < 1, 1, 2), 0)  # of each track: off, blended, on
        edges = [0, *(np.flatnonzero((states[1:] != states[:-1]).any(axis=-1)) + 1).tolist(), len(when)]
        with Progress("solving", len(when), shown=progress is not False, anywhere=progress is True) as bar:
            for begin, end in pairwise(edges):
                rows, on = slice(begin, end), states[begin] > 0
                if on.any():
                    chosen = [track for track, used in zip(self.tracks, on, strict=True) if used]
                    before = q[begin - 1].copy() if begin and states[begin - 1].any() else None
                    q[rows] = self._solved(when[rows], q[rows], chosen, weights[rows][:, on], before)
                bar.step(end - begin)
        return q

    @property
    def _speeds(self) -> Array:
        """The most that joint values (dof,) change in a second, with key goals."""
        speed = self.linkage.speed
        turning = np.array([unit == "rad" for unit in self.linkage.units], dtype=bool)
        return np.where(turning & ~np.isfinite(speed), _FASTEST, speed)

    # -- private ------------------------------------------------------------------------------------------------

    def _times(self) -> list[float]:
        times = [key.time for key in self.poses] + [key.time for track in self.tracks for key in track.keys]
        if not times:
            raise BadInput("a timeline needs a key: write timeline.pose(time, q)")
        return times

    def _pose_values(self, when: Array) -> Array:
        """Joint values (n, dof) from the key poses alone."""
        q = np.tile(self.linkage.rest, (len(when), 1))
        keys = sorted(self.poses, key=lambda key: key.time)
        members: dict[tuple[int, ...], list[int]] = {}
        for joint in self.linkage.joints:
            if joint.dof and joint.mimic is None:
                first = self.linkage._sources[joint.name].first
                mine = tuple(i for i, key in enumerate(keys) if key.joints is None or joint.name in key.joints)
                members.setdefault(mine, []).extend(range(first, first + joint.dof))
        for mine, columns in members.items():
            if mine:
                q[:, columns] = _interpolated(self.linkage, [keys[i] for i in mine], when)[:, columns]
        return q

    def _solved(self, when: Array, q: Array, tracks: list[GoalTrack], weights: Array, before: Array | None) -> Array:
        """Joint values (n, dof) that follow the paths of some tracks, which count by ``weights`` (n, tracks).

        Tracks that count in part are blended with what the others, or the poses q (n, dof), give: limb by limb. Then
        the others are met again.
        """
        whole = (weights == 1).all(axis=0)
        full = [track for track, on in zip(tracks, whole, strict=True) if on]
        alone = self._followed(when, q, full, before, _PULL) if full else q
        if whole.all():
            return alone
        together = self._followed(when, alone, tracks, alone[0] if before is None else before, _PULL)
        share = np.zeros_like(q)
        for track, weight in zip(tracks, weights.T, strict=True):
            if not (weight == 1).all():
                columns = slice(None) if track.base is None else limb_columns(self.linkage, track.base)
                share[:, columns] = np.maximum(share[:, columns], weight[:, None])
        mixed = self.linkage.clamp(self.linkage.integrate(alone, share * self.linkage.difference(alone, together)))
        return self._followed(when, mixed, full, mixed[0], 1.0) if full else mixed

    def _followed(self, when: Array, q: Array, tracks: list[GoalTrack], before: Array | None, pull: float) -> Array:
        """Joint values (n, dof) that follow the paths of tracks: first of those for all joints, then limb by limb."""
        depth: dict[str | None, int] = {None: -1}
        depth |= {track.base: link_depth(self.linkage, track.base) for track in tracks if track.base is not None}
        for base in sorted({track.base for track in tracks}, key=lambda name: depth[name]):
            goals = [track.at(when) for track in tracks if track.base == base]
            if base is not None:
                frames = self.linkage.frame(q, base)
                goals = [relative_goal(goal, base, frames) for goal in goals]
            q = self._solved_in_turn(when, goals, q, before, pull)
        return q

    def _solved_in_turn(self, when: Array, goals: list[Goal], q: Array, before: Array | None, pull: float) -> Array:
        """Joint values (n, dof) for n goals each, at times (n,).

        Each frame starts from the one before, drawn to its row of q (n, dof) by ``pull``, a part of the way; the first
        from ``before`` (dof,), or else where a search finds the goals met.
        """
        damped = Solver(method=method.damped(), damping=_DAMPING, max_iterations=_STEPS, limit_escapes=0)
        local_solver, solver = compilation.compiled(self.linkage, goals, damped), Solver()
        columns = list(local_solver.columns)
        start = np.array(q)
        if before is not None:
            start[0, columns] = before[columns]
        else:
            begin = [take_rows(goal, (len(q),), [0]) for goal in goals]
            found = solver.solve(self.linkage, begin, q[:1], progress=False)
            start[0] = found.q[0] if found.arrived[0] else q[0]
        numbers = batch.goal_numbers(goals, (len(q),))
        solved: Array = local_solver.solve(numbers, start, None, None, pull)[0]
        if within_speeds(self.linkage, solved, 1.0, speed=self._speeds * np.diff(when).min(initial=1.0)) is solved:
            return solved
        # at the edge of reach steps of damped least squares overshoot and jump; descents never raise the error
        nearest: Array = search.compiled(self.linkage, goals, solver).descend(numbers, start, pull, _STEPS)[0]
        return nearest


def _interpolated(linkage: Linkage, keys: list[PoseKey], when: Array) -> Array:
    """Joint values (n, dof) between key poses, which are in the order of their times; outside of them the nearest."""
    times, q = np.array([key.time for key in keys]), np.stack([key.q for key in keys])
    same = np.flatnonzero(np.diff(times) <= 0)
    if len(same):
        raise BadInput(f"two key poses of one joint are at the same time, {times[same[0]]:g} s")
    if len(keys) == 1:
        return np.tile(q, (len(when), 1))
    leaving, arriving = (np.array(v) for v in velocities(linkage, times, q, Interpolation.SMOOTH))
    for i, key in enumerate(keys):
        if key.ease and i < len(keys) - 1:
            leaving[i] = 0.0
        if key.ease and i > 0:
            arriving[i - 1] = 0.0
    return Motion._of(linkage, times, q, leaving, arriving).at(np.clip(when, times[0], times[-1]))


def _above(linkage: Linkage, link: str) -> set[str]:
    """The links that carry a link."""
    parents = {joint.child: joint.parent for joint in linkage.joints}
    found = set()
    while link in parents:
        link = parents[link]
        found.add(link)
    return found


def _moment(time: float) -> float:
    value = _check.real(time)
    if not abs(value) <= 1e9:
        raise BadInput(f"time must be a finite number of seconds, got {_check.short(time)}")
    return value
