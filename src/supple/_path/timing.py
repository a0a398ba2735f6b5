"""Times of the frames of a path, and the least stretch of time that joint speeds and accelerations allow."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _core
from supple.errors import BadInput
from supple.frame import Array
from supple.linkage import Linkage


def frame_times(frames: int, times: ArrayLike | None, rate: float | None, duration: float | None) -> tuple[Array, bool]:
    """Times of the frames (frames,) in seconds, and whether the caller gave them; a second in all if not."""
    given = [name for name, value in (("times", times), ("rate", rate), ("duration", duration)) if value is not None]
    if len(given) > 1:
        raise BadInput(f"give times, rate or duration, not {' and '.join(given)}")
    if times is not None:
        when = _check.finite(np.array(_check.numbers(times, "times")), "times", ", in seconds")
        if when.shape != (frames,):
            raise BadInput(f"{frames} frames need times of shape ({frames},), not {when.shape}")
        late = np.flatnonzero(np.diff(when) <= 0)
        if len(late):
            i = int(late[0])
            raise BadInput(f"times must increase: {float(when[i])!r} s is followed by {float(when[i + 1])!r} s")
        return when, True
    if rate is not None:
        return np.arange(frames) / _check.positive(rate, "rate", "frames a second"), True
    whole = 1.0 if duration is None else _check.positive(duration, "duration", "seconds")
    return np.linspace(0, whole, frames), duration is not None


def retimed(linkage: Linkage, times: Array, q: Array) -> Array:
    """Later times (frames,) at which joint speeds and accelerations keep to their limits, as early as possible.

    No part becomes faster than it was. Where the linkage has no limits, times stay.
    """
    steps = np.ascontiguousarray(linkage.difference(q[:-1], q[1:]))
    bounds = [np.minimum(limit, 1e300) for limit in (linkage.speed, linkage.acceleration)]
    stretched: Array = _core.stretch_times(np.ascontiguousarray(times)[:, None], steps, *bounds)
    return stretched
