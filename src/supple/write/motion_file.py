"""Motions in a file: times and joint values, as .npz or .csv, or with their linkage as .bvh, .gltf or .glb."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence

import numpy as np

from supple import _check
from supple._figure.convention import convention
from supple.frame import Array
from supple.linkage import Linkage
from supple.write import atomic

ENDINGS = (".npz", ".csv")
FIGURES = (".bvh", ".gltf", ".glb")
ARRAYS = ("times", "q", "leaving", "arriving")


def is_figure(path: str | os.PathLike[str]) -> bool:
    """Whether a file is an animation file, by its ending."""
    return os.path.splitext(_check.file_name(path))[1].lower() in FIGURES


def write_figure(
    path: str | os.PathLike[str], linkage: Linkage, times: Array, q: Array, up: str | None, unit: float | str | None
) -> None:
    """Write a linkage and its keys, times (n,) and q (n, dof), to an animation file."""
    file = _check.file_name(path)
    if os.path.splitext(file)[1].lower() == ".bvh":
        from supple.write import bvh

        bvh.write(file, linkage, times, q, convention(up, unit))
    else:
        from supple.write import gltf

        gltf.write(file, linkage, times, q, convention(up, unit, "y"))


def write(path: str | os.PathLike[str], names: Sequence[str], arrays: Mapping[str, Array]) -> None:
    """Write the names of the values of q and the arrays of a motion.

    A .npz holds times (n,), q (n, dof), and the velocities after and before each key, (n - 1, dof) each. A .csv holds
    times and q only, one line for each key. In both every number reads back exactly.
    """
    file = _check.file_name(path)
    if _check.ending(file, (*ENDINGS, *FIGURES), "a motion is written to") == ".npz":
        with (
            atomic.replacing(file) as new,
            open(new, "wb") as binary,
        ):  # given a path, numpy would add .npz to a name that ends in .NPZ
            times, q, leaving, arriving = (arrays[name] for name in ARRAYS)
            known = np.array(names, dtype=str)
            np.savez(binary, names=known, times=times, q=q, leaving=leaving, arriving=arriving)
        return
    with atomic.replacing(file) as new, open(new, "w", encoding="utf-8", newline="") as text:
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(["time", *names])
        # repr is the shortest text that reads back as the same number
        lines.writerows([*map(repr, row)] for row in np.column_stack([arrays["times"], arrays["q"]]).tolist())
