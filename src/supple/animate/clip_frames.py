"""The frames of a clip that is retargeted: at equal times, and without a reference pose before them."""

from __future__ import annotations

import numpy as np

from supple.animate.frame_count import check_memory
from supple.errors import BadInput
from supple.frame import Array
from supple.motion import Motion

_MORE = 4  # times as many frames as a clip has keys are made of it at any size
_ARRAYS = 8  # of joint values that each frame needs at most while it is retargeted
_NEXT = 8  # frames after the first with which its jump is compared
_JUMP, _HARDER = 20.0, 5.0  # m/s^2, and times those after it: the mean acceleration of links that no body begins with


def retargeted_frames(clip: Motion) -> Motion:
    """A clip with frames at equal times, and without a reference pose before them."""
    if len(clip) < 2:
        raise BadInput("a clip needs two frames or more")
    return evenly_timed(without_reference_pose(clip))


def without_reference_pose(clip: Motion) -> Motion:
    """A clip whose first frame is as the second one, if the first is no part of the motion.

    Converters of recorded clips put the pose in which a figure was bound before the first frame. From there to the
    second frame the figure jumps, at an acceleration far above those that come after it. Times stay as they are.
    """
    if len(clip) < 4:
        return clip
    some = slice(0, _NEXT + 3)
    places, times = clip.linkage.frames(clip.q[some]).matrix[..., :3, 3], clip.times[some]
    speed = np.diff(places, axis=0) / np.diff(times)[:, None, None]
    jumps = np.linalg.norm(np.diff(speed, axis=0), axis=-1).mean(axis=-1) / np.diff(times)[:-1]
    if not jumps[0] > max(_JUMP, _HARDER * float(jumps[1:].max())):
        return clip
    q = np.array(clip.q)
    q[0] = q[1]
    return Motion(clip.linkage, clip.times, q)


def evenly_timed(clip: Motion) -> Motion:
    """A clip with frames at equal times: itself, or sampled from its start to its end by the median of its steps."""
    if len(clip) < 2:
        raise BadInput("a clip needs two frames or more")
    steps, mean = np.diff(clip.times), frame_time(clip.times)
    if np.abs(steps - mean).max() <= 1e-3 * mean:
        return clip
    count = max(round(clip.duration / float(np.median(steps))), 1)
    if count > _MORE * len(clip):
        size = 128 * len(clip.linkage.links) + 8 * _ARRAYS * clip.linkage.dof
        advice = f"the keys of the clip are {np.median(steps):g} s apart and one {steps.max():g} s; "
        check_memory(count, size, advice + "use motion.sampled(rate) first, with a lower rate")
    times = np.linspace(clip.start, clip.end, count + 1)
    return Motion(clip.linkage, times, clip.at(times))


def frame_time(times: Array) -> float:
    """The mean time between frames (n,), in seconds."""
    return float((times[-1] - times[0]) / (len(times) - 1))
