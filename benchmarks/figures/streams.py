"""A clip that is retargeted frame by frame."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from supple import Motion
from supple.animate import Retarget
from supple.animate.footsteps import ground_height
from supple.animate.pose_targets import SIDES, soles
from supple.frame import Array


def streamed(retarget: Retarget, clip: Motion, **options: Any) -> tuple[Array, float]:
    """Joint values (n, dof) of the target, row by row for the frames of a clip; and frames a second of process time."""
    stream = retarget.stream((len(clip) - 1) / clip.duration, **options)
    begin = time.process_time()
    steps = [stream.step(row) for row in clip.q] + stream.finish()
    taken = time.process_time() - begin
    return np.stack([step.q for step in steps[stream.delay_frames :]]), len(steps) / taken


def ground_of(retarget: Retarget, clip: Motion) -> float:
    """The height of the ground under a clip, in metres."""
    source = retarget._pair.source
    frames = clip.linkage.frames(clip.q)
    heights = [points[:, 2] for side in SIDES for _, points in soles(source, frames, side)]
    return ground_height(np.stack(heights, axis=-1))
