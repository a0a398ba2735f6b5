"""Solutions in a file, one row for each goal, as .csv or .npz."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from supple import _check
from supple.frame import Array
from supple.write import atomic

ENDINGS = (".csv", ".npz")


def write(path: str | os.PathLike[str], names: Sequence[str], columns: Mapping[str, Array], q: Array) -> None:
    """Write columns (n,) by name, such as the outcomes, then the joint values q (n, dof) by their names.

    A .npz holds the columns, ``q`` and ``names``. In a .csv every number reads back exactly.
    """
    file = _check.file_name(path)
    if _check.ending(file, ENDINGS, "solutions are written to") == ".npz":
        with (
            atomic.replacing(file) as new,
            open(new, "wb") as binary,
        ):  # given a path, numpy would add .npz to a name that ends in .NPZ
            arrays: dict[str, Any] = {**columns, "q": q, "names": np.array(names, dtype=str)}
            np.savez(binary, **arrays)
        return
    with atomic.replacing(file) as new, open(new, "w", encoding="utf-8", newline="") as text:
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([*columns, *names])
        heads = zip(*(column.tolist() for column in columns.values()), strict=True)
        # csv writes floats by repr, the shortest text that reads back as the same number
        lines.writerows([*head, *row] for head, row in zip(heads, q.tolist(), strict=True))
