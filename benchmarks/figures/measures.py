"""What a retargeted clip is judged by: sliding feet, the floor, limits, speeds and jerk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple import Motion
from supple.animate import Retarget
from supple.animate.body import SIDES
from supple.animate.footsteps import ground_height
from supple.animate.smoothing import runs
from supple.frame import Array

HEIGHT, SPEED = 0.05, 0.15  # m and m/s: the source's toe or heel is in contact below both


@dataclass(frozen=True)
class Measures:
    """Numbers of one retargeted clip."""

    contacts: int
    slide: float
    """Farthest way of a toe or heel over ground during a contact, in metres."""
    sliding: float
    """Part of the contacts in which it is more than 3 mm."""
    depth: float
    """Deepest that a toe or heel is below the floor, in metres."""
    past_limits: float
    """Largest excess of a joint limit, in radians or metres."""
    speed: float
    """Largest speed of a joint, as a part of its limit."""
    jerk: float
    """Mean size of the third differences of the joints without the root, in rad/s^3."""


def measured(retarget: Retarget, clip: Motion, q: Array) -> Measures:
    """The measures of joint values (n, dof) of the target for the first n frames of a clip."""
    source, body, linkage = retarget._pair.source, retarget._body, retarget.target
    dt = float(clip.times[1] - clip.times[0])
    frames, moved = clip.linkage.frames(clip.q), linkage.frames(q)
    names = ("heel", "toe")
    points = {
        (side, name): frames[source.links[f"{side}_foot"]].apply(getattr(source, name)[side])
        for side in SIDES
        for name in names
    }
    ground = ground_height(np.stack([p[:, 2] for p in points.values()], axis=-1))
    slides, depth = [], 0.0
    for (side, name), point in points.items():
        speed = np.linalg.norm(np.gradient(point, dt, axis=0), axis=-1)
        touching = ((point[:, 2] - ground < HEIGHT) & (speed < SPEED))[: len(q)]
        place = moved[body.links[f"{side}_foot"]].apply(getattr(body, name)[side])
        depth = max(depth, -float(place[:, 2].min()))
        for begin, end in runs(touching):
            way = place[begin:end, :2] - place[begin, :2]
            slides.append(float(np.linalg.norm(way, axis=-1).max()))
    changes = linkage.difference(q[:-1], q[1:])
    jerk = np.abs(np.diff(changes, n=2, axis=0)[:, 6:]) / dt**3
    return Measures(
        len(slides),
        max(slides, default=0.0),
        float(np.mean([slide > 3e-3 for slide in slides])) if slides else 0.0,
        depth,
        float(np.abs(linkage.clamp(q) - q).max()),
        float((np.abs(changes) / dt / linkage.speed).max()),
        float(jerk.mean()),
    )
