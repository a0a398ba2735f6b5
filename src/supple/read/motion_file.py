"""Reader of motions: times and joint values from a .npz or .csv file, or from an animation file."""

from __future__ import annotations

import csv
import math
import os
import re
from array import array
from collections.abc import Sequence

import numpy as np

from supple import _check
from supple._figure.convention import convention
from supple.errors import BadInput
from supple.frame import Array
from supple.linkage import Linkage
from supple.read import arrays, bounded
from supple.read.bounded import MAX_NUMBER, MOST_BLANK

_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")  # in linear time
ENDINGS = (".npz", ".csv")
FIGURES = (".bvh", ".gltf", ".glb")
"""Endings of animation files, which hold the linkage too."""
_ARRAYS = ("times", "q", "leaving", "arriving")
MOST = 10_000_000  # lines of a .csv
_MOST_NUMBERS = 2**27  # in a .csv
_MAX_LINE, _MAX_NAME = 1000, 1000  # characters in a line of a .csv: this many, and as many for each name


def read(path: str | os.PathLike[str], names: Sequence[str]) -> list[Array]:
    """Times (n,) and q (n, dof); from a .npz also the velocities after and before each key, (n - 1, dof) each.

    Raises `BadInput`, with file and line, unless the names match, counts fit, numbers are finite and times increase.
    """
    file = _check.file_name(path)
    ending = _check.ending(file, (*ENDINGS, *FIGURES), "a motion is read from")
    return _read_npz(file, names) if ending == ".npz" else _read_csv(file, names)


def is_figure(path: str | os.PathLike[str]) -> bool:
    """Whether a file is an animation file, by its ending."""
    return os.path.splitext(_check.file_name(path))[1].lower() in FIGURES


def read_figure(
    path: str | os.PathLike[str], up: str | None, unit: float | str | None, animation: int | str
) -> tuple[Linkage, Array, Array]:
    """The linkage of an animation file, times (n,) and q (n, dof); between its keys values are linear."""
    file = _check.file_name(path)
    if os.path.splitext(file)[1].lower() == ".bvh":
        from supple.read import bvh

        if animation != 0:
            raise BadInput(f"{file}: a .bvh file has one animation, number 0; got {_check.short(animation)}")
        return bvh.read_motion(file, convention(up, unit))
    from supple.read import gltf

    return gltf.read_motion(file, convention(up, unit, "y"), animation)


def _read_npz(file: str, names: Sequence[str]) -> list[Array]:
    arrays_read, _ = arrays.read(file, dict.fromkeys(("names", *_ARRAYS), arrays.MAX_BYTES // 8))
    missing = [name for name in ("names", *_ARRAYS) if name not in arrays_read]
    if missing:
        raise BadInput(f"{file}: not a motion: there is no array {missing[0]!r}")
    _match(f"{file}:", [str(name) for name in np.ravel(arrays_read["names"])[: len(names) + 1]], names)
    for name in _ARRAYS:
        if arrays_read[name].dtype.kind not in "fiu" or not np.isfinite(arrays_read[name]).all():
            raise BadInput(f"{file}: {name} must be finite numbers")
    n, dof = arrays_read["times"].size, len(names)
    if not n or [arrays_read[name].shape for name in _ARRAYS] != [(n,), (n, dof), (n - 1, dof), (n - 1, dof)]:
        got = ", ".join(f"{name} {arrays_read[name].shape}" for name in _ARRAYS)
        raise BadInput(f"{file}: the shapes of the arrays do not match each other and {dof} values of q: {got}")
    late = np.flatnonzero(np.diff(arrays_read["times"]) <= 0)
    if len(late):
        raise BadInput(f"{file}: times must increase, but number {int(late[0]) + 2} does not")
    return [np.asarray(arrays_read[name], dtype=float) for name in _ARRAYS]


def _read_csv(file: str, names: Sequence[str]) -> list[Array]:
    numbers, count, before = array("d"), 1 + len(names), -math.inf
    line = blank = 0
    most = _MAX_LINE + (MAX_NUMBER + _MAX_NAME) * (1 + len(names))
    with bounded.open_text(file, arrays.MAX_BYTES) as text:
        lines = csv.reader(bounded.lines(text, file, most), strict=True)
        try:
            _match(f"{file}:1:", next(lines, []), ["time", *names])
            for words in lines:
                line = lines.line_num
                if not words:
                    blank += 1
                    if blank > MOST_BLANK:
                        raise BadInput(f"{file}:{line}: more than {MOST_BLANK:,} blank lines")
                    continue
                row = _numbers(f"{file}:{line}:", words, count)
                if not row[0] > before:
                    raise BadInput(f"{file}:{line}: times must increase: {before!r} is followed by {words[0]}")
                before = row[0]
                numbers.extend(row)
                if len(numbers) > min(MOST * count, _MOST_NUMBERS):
                    raise BadInput(f"{file}:{line}: more than {MOST:,} lines or {_MOST_NUMBERS:,} numbers")
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadInput(f"{file}:{line + 1}: not a table of numbers between commas: {error}") from None
    if not numbers:
        raise BadInput(f"{file}: there is no line of numbers under the names")
    table = np.frombuffer(numbers).reshape(-1, count)
    return [table[:, 0], table[:, 1:]]


def _numbers(place: str, words: list[str], count: int) -> list[float]:
    if len(words) != count:
        raise BadInput(f"{place} expected {count} numbers, a time and {count - 1} values of q; got {len(words)}")
    for word in words:
        if len(word) > MAX_NUMBER or not _NUMBER.fullmatch(word.strip()) or not math.isfinite(float(word)):
            raise BadInput(f"{place} expected a finite number written like 0.5, got {word[:40]!r}")
    return [float(word) for word in words]


def _match(place: str, found: Sequence[str], wanted: Sequence[str]) -> None:
    for i, (name, expected) in enumerate(zip(found, wanted, strict=False)):
        if name != expected:
            raise BadInput(f"{place} name {i + 1} is {name[:80]!r}; this linkage has {expected!r} there")
    if len(found) != len(wanted):
        shown = ", ".join(map(repr, wanted[:8])) + ("..." if len(wanted) > 8 else "")
        raise BadInput(f"{place} expected {len(wanted)} names, {shown}; got {len(found)}")
