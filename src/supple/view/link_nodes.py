"""LinkNodes: a node of the scene for each link, moved by as few messages as possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.frame import Array, Frame
from supple.linkage import Linkage

_DEEPEST = 40  # nodes within each other; browsers draw them by recursion, and names get longer
_ROUNDING = 1e-13  # metres, and parts of a quaternion: smaller changes are not sent


class LinkNodes:
    """Nodes of a viser server for the links of a linkage, each within that of its parent.

    So the motion of a joint is one message, however many links it carries.
    """

    def __init__(self, server: Any, root: str, linkage: Linkage, **options: Any) -> None:
        """Adds the nodes below the path ``root``, all at the origin; ``options`` are those of viser's `add_frame`."""
        self._server = server
        place = {link.name: i for i, link in enumerate(linkage.links)}
        count, depth = len(place), {place[linkage.root]: 0}
        self._parents = np.full(count, -1)
        # nodes are numbered, since a slash in the name of a link would nest them
        self.names = [f"{root}/{i}" for i in range(count)]
        """The path of the node of each link."""
        for joint in linkage.joints:  # parents come before children
            i, parent = place[joint.child], place[joint.parent]
            nested = depth[parent] < _DEEPEST
            depth[i] = depth[parent] + 1 if nested else 0
            if nested:
                self._parents[i], self.names[i] = parent, f"{self.names[parent]}/{i}"
        self._inner = np.flatnonzero(self._parents >= 0)
        made = {
            i: server.scene.add_frame(self.names[i], **options) for i in sorted(range(count), key=depth.__getitem__)
        }
        self.nodes = [made[i] for i in range(count)]
        """The node of each link, in the order of the links."""
        self._positions, self._quaternions = np.full((count, 3), np.nan), np.full((count, 4), np.nan)

    def show(self, frames: Array) -> None:
        """Moves the links to frames (links, 4, 4)."""
        from viser import _messages

        inner, parents = self._inner, self._parents[self._inner]
        turned = frames[parents, :3, :3].swapaxes(-1, -2)
        local = np.array(frames)
        local[inner, :3, :3] = turned @ frames[inner, :3, :3]
        local[inner, :3, 3] = (turned @ (frames[inner, :3, 3] - frames[parents, :3, 3])[..., None])[..., 0]
        positions, quaternions = local[:, :3, 3], Frame(local).to_quaternion()
        moved = ~(np.abs(positions - self._positions).max(axis=1) <= _ROUNDING)
        rotated = ~(np.abs(quaternions - self._quaternions).max(axis=1) <= _ROUNDING)
        with self._server.atomic():  # browsers receive all links at once
            # viser's own setters compare each vector by numpy's allclose, which takes longer than all the rest
            for i in np.flatnonzero(moved):
                node, values = self.nodes[i]._impl, tuple(positions[i].tolist())
                node.position[:] = self._positions[i] = values
                node.api._queue_scene_message(_messages.SetPositionMessage(self.names[i], values))
            for i in np.flatnonzero(rotated):
                node, values = self.nodes[i]._impl, tuple(quaternions[i].tolist())
                node.wxyz[:] = self._quaternions[i] = values
                node.api._queue_scene_message(_messages.SetOrientationMessage(self.names[i], values))
