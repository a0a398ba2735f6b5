"""Keys: the timeline that a page edits, and the motion that it makes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.animate.blend import limb_columns
from supple.animate.timeline import Timeline
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal
from supple.motion import Motion
from supple.view.animator.rig import Handle, Role

RATE = 60.0
"""Frames per second of the motion that is shown."""
STEP = 0.01
"""Times of keys are multiples of this, in seconds."""


class Keys:
    """Key poses and key goals that are added and removed at times. Knows nothing of pages."""

    def __init__(self, timeline: Timeline) -> None:
        """The keys of a timeline."""
        self._line = timeline
        self._motion: Motion | None = None

    @property
    def timeline(self) -> Timeline:
        """The keys as a `Timeline`."""
        return self._line

    @property
    def times(self) -> list[float]:
        """Times of all keys, ascending, in seconds."""
        poses = {key.time for key in self._line.poses}
        return sorted(poses | {key.time for track in self._line.tracks for key in track.keys})

    def names_at(self, time: float) -> list[str]:
        """What is keyed at a time: "pose", and links with key goals."""
        found = ["pose"] if any(_same(key.time, time) for key in self._line.poses) else []
        return found + [
            str(key.goal.link) for track in self._line.tracks for key in track.keys if _same(key.time, time)
        ]

    def add_pose(self, time: float, q: Array) -> None:
        """Key joint values (dof,) at a time, in place of a key pose that is there."""
        when = rounded(time)
        others = tuple(key for key in self._line.poses if not _same(key.time, when))
        self._set(replace(self._line, poses=others).pose(when, q))

    def add_goal(self, time: float, handle: Handle, goal: Goal) -> None:
        """Key the goal of a handle at a time, in place of one of its link that is there: its limb follows a path."""
        if handle.role in (Role.FRAME, Role.POINT) and goal.position is not None and handle.priority:
            goal = Goal(handle.link, position=goal.position)
        when = rounded(time)
        base = handle.base if handle.base and len(limb_columns(self._line.linkage, handle.base)) else None
        line = self._line
        for i, track in enumerate(line.tracks):
            if track.takes(goal, base):
                left = tuple(key for key in track.keys if not _same(key.time, when))
                kept = (replace(track, keys=left),) if left else ()
                line = replace(line, tracks=(*line.tracks[:i], *kept, *line.tracks[i + 1 :]))
                break
        self._set(line.goal(when, goal, base=base))

    def remove(self, time: float) -> bool:
        """Remove all keys at a time; whether there were any."""
        if not self.names_at(time):
            return False
        poses = tuple(key for key in self._line.poses if not _same(key.time, time))
        tracks = []
        for track in self._line.tracks:
            left = tuple(key for key in track.keys if not _same(key.time, time))
            tracks += [replace(track, keys=left)] if left else []
        self._set(replace(self._line, poses=poses, tracks=tuple(tracks)))
        return True

    def near(self, time: float, later: bool) -> float | None:
        """The time of the next key after a time, or of the one before; None if there is none."""
        beyond = [t for t in self.times if (t > time + STEP / 2 if later else t < time - STEP / 2)]
        return (beyond[0] if later else beyond[-1]) if beyond else None

    def at(self, time: float) -> Array | None:
        """The joint values (dof,) at a time; None without keys."""
        motion = self.motion()
        return None if motion is None else np.array(motion.at(time))

    def motion(self) -> Motion | None:
        """The motion from the first key to the last; None without keys."""
        if self._motion is None and self.times:
            try:
                self._motion = self._line.motion(RATE, progress=False)
            except BadInput as error:  # a single key goal at time 0 without poses is still a motion of one frame
                raise BadInput(f"the keys make no motion: {error}") from None
        return self._motion

    def sampled(self, rate: float) -> Motion:
        """The motion at a rate in frames per second; `BadInput` unless there are keys at two times."""
        if len(self.times) < 2:
            raise BadInput("a motion needs keys at two times: move the time, pose the figure, and press `key pose`")
        return self._line.motion(rate, progress=False)

    def _set(self, line: Timeline) -> None:
        self._line, self._motion = line, None


def rounded(time: float) -> float:
    """A time as keys have it, in seconds."""
    return round(round(time / STEP) * STEP, 6)


def _same(one: float, other: float) -> bool:
    return abs(one - other) < STEP / 2
