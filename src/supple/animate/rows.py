"""Products of many rows: matrices of three rows and vectors, as one product of large arrays each."""

from __future__ import annotations

import numpy as np

from supple.frame import Array


def turned(rotations: Array, vector: Array) -> Array:
    """One vector (3,) turned by rotations (n, 3, 3): (n, 3).

    NumPy would compute n small products, one after another.
    """
    out: Array = (np.ascontiguousarray(rotations).reshape(-1, 3) @ vector).reshape(-1, 3)
    return out


def turned_by(frames: Array, vector: Array) -> Array:
    """One vector (3,) turned by frames (n, 4, 4): (n, 3), as `turned` without a copy of their rotations."""
    whole: Array = (np.ascontiguousarray(frames).reshape(-1, 4)[:, :3] @ vector).reshape(-1, 4)
    return whole[:, :3]


def lengths(vectors: Array) -> Array:
    """Lengths (n,) of vectors (n, 3)."""
    out: Array = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return out


def joined(rotations: Array, positions: Array) -> Array:
    """Frames (n, 4, 4) with rotations (n, 3, 3) and positions (n, 3)."""
    out = np.zeros((len(rotations), 4, 4))
    out[:, :3, :3], out[:, :3, 3], out[:, 3, 3] = rotations, positions, 1.0
    return out
