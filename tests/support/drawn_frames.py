"""Where a browser draws nodes of a scene that lie within each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supple import Frame


def drawn_frames(nodes: Sequence[Any]) -> list[Frame]:
    """The frame of each node of viser in the world, by the paths of the nodes."""
    known = {node.name: node for node in nodes}

    def place(path: str) -> Frame:
        local = Frame.at(known[path].position, Frame.quaternion(known[path].wxyz))
        above = path.rpartition("/")[0]
        return place(above) @ local if above in known else local

    return [place(node.name) for node in nodes]
