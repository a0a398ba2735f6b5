"""Local frames: each link relative to its parent, as animation files hold it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from supple.frame import Array, Frame
from supple.joint import Joint, Kind
from supple.linkage import Linkage

_SLIDING = (Kind.PRISMATIC, Kind.PLANAR, Kind.FLOATING)
_BLOCK = 100_000  # frames of links that are computed at once


def slides(joint: Joint) -> bool:
    """Whether the position of a joint's child in its parent can change."""
    return joint.kind in _SLIDING


def parents(linkage: Linkage) -> list[int]:
    """The index of each link's parent, in the order of the links; -1 for the root."""
    index = {link.name: i for i, link in enumerate(linkage.links)}
    return [-1, *(index[joint.parent] for joint in linkage.joints)]


def blocks(linkage: Linkage, q: Array, world: Frame) -> Iterator[tuple[slice, Frame]]:
    """Frames (rows, links) of each link in its parent, and of the root in ``world``, for some rows of q at a time."""
    above = np.array(parents(linkage)[1:], dtype=int)
    rows = max(1, _BLOCK // len(linkage.links))
    for start in range(0, len(q), rows):
        part = slice(start, min(start + rows, len(q)))
        matrix = linkage.frames(q[part]).matrix
        relative = np.empty_like(matrix)
        relative[:, 0] = world.inverse().matrix @ matrix[:, 0]
        if len(above):
            relative[:, 1:] = Frame._trusted(matrix[:, above]).inverse().matrix @ matrix[:, 1:]
        yield part, Frame._trusted(relative)
