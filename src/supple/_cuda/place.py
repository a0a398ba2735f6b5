"""Where arrays lie, as DLPack counts it; and the handle of a stream. Nothing of CUDA is loaded for these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

CPU, CUDA, CUDA_HOST = 1, 2, 3
"""Kinds of devices: the memory of the CPU, of a GPU, pinned memory of the CPU."""


class Stream(int):
    """The handle of a stream. Arrays asked for on it come from ``allocate``, if that is set: see `memory.empty`."""

    allocate: Callable[[tuple[int, ...], np.dtype[Any]], tuple[int, Any]] | None = None
    """Returns the address and the owner of new memory, such as a torch tensor."""
