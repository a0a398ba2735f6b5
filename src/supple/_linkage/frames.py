"""The frames of all links at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from supple.errors import unknown
from supple.frame import Array, Frame

if TYPE_CHECKING:
    from supple.linkage import Linkage


class Frames(Mapping[str, Frame]):
    """The frame of every link by its name, for one q or many; made by `Linkage.frames`.

    >>> from supple import models
    >>> frames = models.planar2().frames([0, 0])
    >>> frames["tip"]
    Frame at (25, 0, 0)
    >>> list(frames)
    ['base', 'link1', 'link2', 'tip']
    """

    __slots__ = ("_index", "matrix")
    matrix: Array
    """All frames (..., links, 4, 4), in the order of the linkage's links; metres."""

    def __init__(self, linkage: Linkage, matrix: Array) -> None:
        self._index = {link.name: i for i, link in enumerate(linkage.links)}
        self.matrix = matrix

    def __getitem__(self, link: str) -> Frame:
        if not isinstance(link, str) or link not in self._index:
            raise unknown("link", link, self._index)
        part = self.matrix[..., self._index[link], :, :]
        return Frame._trusted(part) if isinstance(part, np.ndarray) else part

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __reduce__(self) -> tuple[object, ...]:
        return _frames_of, (self._index, self.matrix)

    def __repr__(self) -> str:
        return f"<Frames of {len(self)} links, shape {self.matrix.shape[:-3]}>"


def _frames_of(index: dict[str, int], matrix: Array) -> Frames:
    frames = object.__new__(Frames)
    frames._index, frames.matrix = index, matrix
    return frames
