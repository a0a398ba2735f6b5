"""Forward kinematics on a GPU: frames and Jacobians of one link, frames of several links."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_int, c_longlong
from typing import Any

import numpy as np

from supple import _core
from supple._cuda import driver
from supple._cuda.blocks import by_value, placed
from supple._cuda.driver import DeviceArray

SHARED_BYTES = 48 * 1024
"""Shared memory that every block may have."""


def block_size(row_numbers: int, itemsize: int) -> int:
    """Threads of a block that each need so many numbers of shared memory: 128 or fewer, a power of two."""
    size = 128
    while size > 1 and size * (row_numbers | 1) * itemsize > SHARED_BYTES // 2:
        size //= 2
    return size


class DeviceChain:
    """One link of a tree and the joints that move it, on a GPU."""

    def __init__(self, tree: _core.Tree, link: str, dof: int, ordinal: int) -> None:
        block, single, double, self._axes = _core.chain_block(tree, link)
        self._block, self._dof, self._ordinal = placed(block, ordinal), dof, ordinal
        self._arms = {np.dtype(np.float32): single, np.dtype(np.float64): double}

    def frame_and_jacobian(
        self,
        q: DeviceArray,
        stream: int,
        *,
        frame: bool = True,
        jacobian: bool = True,
        point: DeviceArray | None = None,
        in_link_axes: bool = False,
    ) -> tuple[DeviceArray | None, DeviceArray | None]:
        """Frames (rows, 4, 4) and Jacobians (rows, 6, dof) for q (rows, dof), of the dtype of q; those wanted.

        ``point`` (3,) or (rows, 3), of the same dtype, is in the link's axes.
        """
        rows, kind = q.shape[0], q.dtype
        frames = driver.empty((rows, 4, 4), kind, self._ordinal, stream) if frame else None
        jacobians = driver.empty((rows, 6, self._dof), kind, self._ordinal, stream) if jacobian else None
        self.evaluate(q, frames, jacobians, stream, point=point, in_link_axes=in_link_axes)
        return frames, jacobians

    def evaluate(
        self,
        q: DeviceArray,
        frames: DeviceArray | None,
        jacobians: DeviceArray | None,
        stream: int,
        *,
        point: DeviceArray | None = None,
        in_link_axes: bool = False,
    ) -> None:
        """The same into arrays of the caller."""
        rows, dof, kind = q.shape[0], self._dof, q.dtype
        threads = block_size(max(6 * dof, 16), kind.itemsize)
        arm = self._arms[kind] if self._axes <= _MOST_ARM_JOINTS else None
        defines = {
            "SUPPLE_REAL": "float" if kind.itemsize == 4 else "double",
            "SUPPLE_BLOCK": threads,
            "SUPPLE_JOINTS": self._axes if arm else 0,
            "SUPPLE_DOF": dof,
            "SUPPLE_AXES": self._axes,
        }
        module = driver.module(self._ordinal, "forward.cu", defines)
        stride = 0 if point is None or len(point.shape) == 1 else 3
        args: list[Any] = [self._block, by_value(arm or bytes(_ARM_BYTES)), q]
        args += [point or 0, c_longlong(stride), c_int(in_link_axes), frames or 0, jacobians or 0, c_longlong(rows)]
        module.launch("frame_and_jacobian", -(-rows // threads), threads, args, stream)


class DeviceTree:
    """Some links of a tree, on a GPU."""

    def __init__(self, tree: _core.Tree, links: Sequence[str], dof: int, ordinal: int) -> None:
        block, self._nodes = _core.tree_block(tree, list(links))
        self._block, self._dof, self._ordinal, self._links = placed(block, ordinal), dof, ordinal, len(links)

    def frames(self, q: DeviceArray, stream: int) -> DeviceArray:
        """Frames (rows, links, 4, 4) for q (rows, dof), of the dtype of q."""
        rows, kind = q.shape[0], q.dtype
        made = driver.empty((rows, self._links, 4, 4), kind, self._ordinal, stream)
        threads = block_size(max(self._dof, 16), kind.itemsize)
        defines = {
            "SUPPLE_REAL": "float" if kind.itemsize == 4 else "double",
            "SUPPLE_BLOCK": threads,
            "SUPPLE_DOF": self._dof,
            "SUPPLE_NODES": self._nodes,
        }
        module = driver.module(self._ordinal, "forward.cu", defines)
        args = [self._block, q, made, c_longlong(rows)]
        module.launch("tree_frames", -(-rows // threads), threads, args, stream)
        return made


_MOST_ARM_JOINTS = 16
_ARM_BYTES = 1024  # of an arm that is not used: its kernel takes one of a single joint
