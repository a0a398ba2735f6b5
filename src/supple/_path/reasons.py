"""A path in words: how it was followed, and why it could not be followed further or without a jump."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple._path import planner
from supple._solve import margins
from supple._solve.text import angle_text, length_text
from supple.frame import Array
from supple.linkage import Linkage
from supple.solution import Outcome, Solution

LARGEST_GAP = 1e-6
"""A path whose last joint values are farther from those wanted, in radians or metres, has not ended there."""
RETIME = "retime=True stretches the time"
"""The advice if steps are only too fast. It comes after all reasons but a gap at the end."""
_MOST = 3  # reasons and frames named, of each kind
_MOST_LATE = 100  # frames after some out of reach that are looked at one by one
_OUT_OF_REACH = "out of reach by "


@dataclass(frozen=True)
class Timing:
    """When the frames of a path are."""

    times: Array
    """Of the frames (frames,), in seconds."""
    given: Array
    """The same before the time was stretched: these say which steps are jumps."""
    is_known: bool
    """Whether the caller gave times, so that speed limits count."""

    def text(self, first: int, last: int | None = None) -> str:
        """The time of a frame, or of some, in brackets; nothing if the caller gave none."""
        if not self.is_known:
            return ""
        end = "" if last is None or last == first else f" to {self.times[last]:.4g}"
        return f" ({self.times[first]:.4g}{end} s)"


def reasons(found: Solution, timing: Timing, reconfigured: NDArray[np.bool_]) -> Iterator[str]:
    """Why frames are not reached, then why the motion jumps; the first few of each."""
    missed = [part for stretch in _stretches(~found.arrived)[:_MOST] for part in _with_one_reason(found, *stretch)]
    for first, last in missed[:_MOST]:
        span = f"frame {first}" if first == last else f"frames {first} to {last}"
        why = found[first + int(found.distance[first : last + 1].max(axis=-1).argmax())].why
        most = why if first == last else why.replace(_OUT_OF_REACH, f"{_OUT_OF_REACH}up to ", 1)
        yield f"{span}{timing.text(first, last)}: {most}"
    for frame in np.flatnonzero(reconfigured)[:_MOST]:
        yield _jump(found, timing, int(frame))
    if (reconfigured & ~_breaks(found, timing.given)).any():
        yield RETIME


def open_end(linkage: Linkage, gap: Array) -> Iterator[str]:
    """Why a path does not end at its required q: the joint with the largest gap, and its size, from gap (dof,)."""
    size = np.abs(gap)
    joint = int(size.argmax()) if len(size) else 0
    if len(size) and size[joint] > LARGEST_GAP:
        count = int((size > LARGEST_GAP).sum())
        others = f" (and {count - 1} more with less)" if count > 1 else ""
        yield (
            f"the last frame does not end where it should: {linkage.names[joint]} is {size[joint]:.3g} "
            f"{linkage.units[joint]} away{others}, and no continuous motion to it was found"
        )


def _stretches(marks: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first and last frame of each run of marks."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marks, [False]]).astype(np.int8)))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _with_one_reason(found: Solution, first: int, last: int) -> list[tuple[int, int]]:
    """A stretch of frames that are not reached, without those at its end that are reachable: the arm is late there."""
    end = last
    if _OUT_OF_REACH in found[first].why:
        while end > max(first, last - _MOST_LATE) and _OUT_OF_REACH not in found[end].why:
            end -= 1
        if end > first and end == last - _MOST_LATE:  # late for long: not looked at one by one
            end = last
    return [(first, end), (end + 1, last)] if end < last else [(first, last)]


def _breaks(found: Solution, times: Array) -> NDArray[np.bool_]:
    """Whether the step to each frame (frames,) would be a jump at any speed limit."""
    steps = np.abs(found.linkage.difference(found.q[:-1], found.q[1:]))
    free = planner.longest_steps(found.linkage, found.goals, np.diff(times), False)
    breaks: NDArray[np.bool_] = np.append(False, (steps > (1 + 1e-9) * free).any(axis=-1))
    return breaks


def _jump(found: Solution, timing: Timing, frame: int) -> str:
    """Why the step to a frame is a jump, with its joint."""
    linkage = found.linkage
    step = np.abs(linkage.difference(found.q[frame - 1], found.q[frame]))
    seconds = timing.given[frame] - timing.given[frame - 1]
    free = planner.longest_steps(linkage, found.goals, np.array([seconds]), False)[0]
    bound = planner.longest_steps(linkage, found.goals, np.array([seconds]), timing.is_known)[0]
    joint = int((step / bound).argmax())
    name, unit = linkage.names[joint], linkage.units[joint]
    if (step <= free).all():
        speed, most = step[joint] / seconds, linkage.speed[joint]
        return (
            f"frame {frame}{timing.text(frame)} comes too soon: {name} would need {speed:.3g} {unit}/s, and its "
            f"limit is {most:.3g}"
        )
    near, limit = _at_limit(found, frame - 1)
    why = f"is at {limit}" if near == name else f"changes by {step[joint]:.3g} {unit}"
    lead = f"{near} is at {limit}, " if near and near != name else ""
    return (
        f"frame {frame}{timing.text(frame)} begins another configuration: {lead}{name} {why}, and no continuous "
        "motion was found"
    )


def _at_limit(found: Solution, frame: int) -> tuple[str, str]:
    """The name of a joint that is within a hundredth of its range of a limit, and whether a margin is there.

    The name is empty if there is none.
    """
    linkage, q, margin = found.linkage, found.q[frame], found.solver.margin
    lower, upper, _ = margins.narrowed(linkage, margin)
    with np.errstate(invalid="ignore"):
        part = np.minimum(q - lower, upper - q) / (linkage.upper - linkage.lower)
    part = np.where(np.isfinite(part), part, 1.0)
    joint = int(part.argmin()) if len(part) else 0
    limit = "the margin of its limit" if len(part) and margins.sizes(linkage, margin)[joint] > 0 else "its limit"
    return linkage.names[joint] if len(part) and part[joint] < 0.01 else "", limit


def text(found: Solution, timing: Timing, reconfigured: NDArray[np.bool_], stretch: float) -> str:
    """One path in a sentence."""
    n = len(timing.times)
    away = found.distance if any(goal.position is not None for goal in found.goals) else found.angle
    ends = [f"largest change from frame to frame {_largest(found)}"]
    broken = reconfigured & _breaks(found, timing.given)
    for marks, what in ((broken, "reconfiguration"), (reconfigured & ~broken, "step")):
        frames = np.flatnonzero(marks)
        if len(frames):
            s = "s" * (len(frames) > 1)
            named = ", ".join(map(str, frames[:_MOST])) + (", ..." if len(frames) > _MOST else "")
            ends.append(f"{len(frames)} {what}{s}{' too fast' * (what == 'step')}, at frame{s} {named}")
    if stretch > 1:
        ends.append(f"time stretched by {stretch:.4g}")
    tail = "; ".join(ends)
    if found.arrived.all():
        return f"followed all {n} frames within tolerance; {tail}"
    worst, goal = (int(i) for i in np.unravel_index(int(away.argmax()), away.shape))
    wanted = found.goals[goal]
    parts = [length_text(float(found.distance[worst, goal]))] if wanted.position is not None else []
    if wanted.orientation is not None or wanted.axis is not None or wanted.pole is not None:
        parts.append(angle_text(float(found.angle[worst, goal])))
    far = f"{wanted.link} at most {' and '.join(parts)} away, at frame {worst}"
    left, count = int(np.argmin(found.arrived)), int((~found.arrived).sum())
    stuck = found.outcomes[worst] == Outcome.STUCK.value
    why = f" ({found[worst].why})" if stuck else ""
    return f"left the path at frame {left}{timing.text(left)}, {count} of {n} not arrived: {far}{why}; {tail}"


def _largest(found: Solution) -> str:
    """The largest change between adjacent frames, in words."""
    linkage = found.linkage
    change = np.abs(linkage.difference(found.q[:-1], found.q[1:])).max(axis=0)
    i = int(change.argmax())
    return f"{change[i]:.3g} {linkage.units[i]}, of {linkage.names[i]}"
