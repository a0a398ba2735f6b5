"""A bound on the frames of motions that are made from few keys."""

from __future__ import annotations

from supple.errors import BadInput

_MOST = 2e9  # bytes


def check_memory(frames: float, each: int, advice: str) -> None:
    """Raises `BadInput` with ``advice`` where so many frames of ``each`` bytes need more memory than 2 GB."""
    needed = frames * each
    if not needed <= _MOST:
        raise BadInput(f"{frames:,.0f} frames need about {needed / 1e9:,.1f} GB of memory, at most 2 GB: {advice}")
