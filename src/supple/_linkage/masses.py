"""The centre of mass of a linkage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple.errors import BadInput
from supple.frame import Array

if TYPE_CHECKING:
    from supple.linkage import Linkage

_ROWS = 4096  # rows of q at once: the frames of all links take 128 bytes each


def total_mass(linkage: Linkage) -> float:
    """The mass of a linkage in kilograms; `BadInput` if it has none."""
    if linkage.mass == 0:
        raise BadInput(
            f"{linkage.name!r} has no masses, so it has no centre of mass; they are read from <inertial> in URDF, "
            "from MJCF, or given to Link(mass=, center_of_mass=)"
        )
    return linkage.mass


def parts(linkage: Linkage) -> Array:
    """For each link (links, 4): its share of the whole mass, and its centre of mass in link axes, in metres."""
    total = total_mass(linkage)
    return np.array([[link.mass / total, *link.center_of_mass] for link in linkage.links])


def center_of_mass(linkage: Linkage, q: ArrayLike) -> Array:
    """See `Linkage.center_of_mass`: the mean of the links' centres of mass, weighted by their masses."""
    total = total_mass(linkage)
    heavy = [i for i, link in enumerate(linkage.links) if link.mass]
    # homogeneous coordinates of each centre, times the link's share of the mass, so that no sum overflows
    weighted = np.array([[*link.center_of_mass, 1.0] for link in linkage.links if link.mass])
    weighted *= np.array([[link.mass / total] for link in linkage.links if link.mass])
    rows = _check.numbers(q, "q", linkage.dof)
    if rows.ndim < 2 or rows.size <= _ROWS * linkage.dof:
        return _mean(linkage, rows, heavy, weighted)
    flat = rows.reshape(-1, rows.shape[-1])
    parts = [_mean(linkage, flat[i : i + _ROWS], heavy, weighted) for i in range(0, len(flat), _ROWS)]
    return np.concatenate(parts).reshape(*rows.shape[:-1], 3)


def _mean(linkage: Linkage, q: Array, heavy: list[int], weighted: Array) -> Array:
    frames = linkage.frames(_check.own(q)).matrix[..., heavy, :3, :]
    mean: Array = np.einsum("...lij,lj->...i", frames, weighted)
    return mean
