"""JointFilter: joint values that come frame by frame, filtered in time."""

from __future__ import annotations

import numpy as np

from supple._motion.continued import continued
from supple.animate.smoothing import kernel, smoothed_to_end
from supple.frame import Array
from supple.linkage import Linkage


class JointFilter:
    """A Gaussian over joint values in time, of which some frames after the one that it gives are known."""

    def __init__(self, linkage: Linkage, width: float, after: int) -> None:
        """A standard deviation of ``width`` frames. ``after``: how many frames later values come; with 0 they stay."""
        self._linkage, self._width, self._after = linkage, width if after else 0.0, after
        self._past = len(kernel(self._width, 10**6)) - 1
        self._rows: Array | None = None

    def next(self, q: Array) -> Array:
        """Joint values (dof,) for the frame that came ``after`` frames before, with those of one more frame."""
        if self._rows is None:
            self._rows = np.tile(q, (self._past + 1 + self._after, 1))
        self._rows = continued(self._linkage, np.concatenate([self._rows[1:], q[None]]))
        row: Array = smoothed_to_end(self._rows, self._width)[self._past]
        return row
