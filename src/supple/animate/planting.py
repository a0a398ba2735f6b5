"""Planting: feet that slide on the ground in a motion stand still instead."""

from __future__ import annotations

import numpy as np

from supple import _check
from supple.animate.body import SIDES, Body
from supple.animate.body_map import BodyMap
from supple.animate.clip_frames import evenly_timed, frame_time
from supple.animate.limbs import Limbs, Root
from supple.animate.pose_targets import Correspondence, pose_targets
from supple.animate.smoothing import within_speeds
from supple.animate.stance import Stance
from supple.errors import BadInput
from supple.joint import Kind
from supple.motion import Motion


def plant_feet(motion: Motion, parts: BodyMap | None = None) -> Motion:
    """The motion of a figure with feet that do not slide while they touch the ground z = 0.

    A heel or toe touches it where it is lower than 5 cm and slower than 0.15 m/s. The legs and the height of the root
    change; all other joints stay as they are.

    Args:
        motion: of a figure with a floating root; if its keys are not at equal times, it is sampled.
        parts: which links are which parts of the body; by default found by their names.

    >>> import numpy as np
    >>> from supple import Motion
    >>> from supple.animate import plant_feet
    >>> from supple.models import human
    >>> slide = np.tile(human().rest, (61, 1))
    >>> slide[:, 0] = np.linspace(0, 0.05, 61)  # the whole figure moves 5 cm in a second
    >>> planted = plant_feet(Motion(human(), np.arange(61) / 60, slide))
    >>> float(np.ptp(planted.frame(planted.times, "left_foot").position[:, 0]).round(4))
    0.0
    """
    if not isinstance(motion, Motion):
        raise BadInput(f"plant_feet takes a Motion, got {_check.short(motion)}")
    if parts is not None:
        _check.instance(parts, BodyMap, "parts")
    linkage = motion.linkage
    root = next((joint for joint in linkage.joints if joint.kind is Kind.FLOATING), None)
    if root is None:
        raise BadInput(f"{linkage.name!r} has no floating root, so its feet do not slide")
    motion = evenly_timed(motion)
    dt = frame_time(motion.times)
    body = Body.of(linkage, BodyMap.of(linkage) if parts is None else parts)
    pair = Correspondence.of(body, body, 1.0)
    targets = pose_targets(pair, motion.q, dt, 0.0, upright=False)
    limbs = Limbs(body)
    stance = Stance(pair, limbs, targets, dt, 0.0)
    for side in SIDES:
        stance.q[side] = np.array(motion.q[:, limbs.legs[side].columns])
    stance.solve()
    q = np.array(motion.q)
    floating = Root(linkage, root.name, body.links["pelvis"])
    q[:, floating.columns] = floating.values(stance.pelvis)
    for side in SIDES:
        q[:, limbs.legs[side].columns] = stance.q[side]
    return Motion(linkage, motion.times, within_speeds(linkage, linkage.clamp(q), dt))
