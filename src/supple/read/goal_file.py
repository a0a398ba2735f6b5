"""Goals and answers on disk, as .csv or .npz."""

from __future__ import annotations

import csv
import os
import sys
import zipfile
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, BinaryIO, TextIO

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadInput, unknown
from supple.frame import Array, Frame
from supple.goal import Goal

MOST = 10_000_000  # goals in a file
_LONGEST = 10_000  # characters in a line of a .csv
_PARTS = {
    "position": ("x", "y", "z"),
    "rpy": ("roll", "pitch", "yaw"),
    "quaternion": ("qw", "qx", "qy", "qz"),
    "direction": ("ax", "ay", "az"),
}
_TURNS = ("rpy", "quaternion", "direction")
_SHAPES = {"frames": (4, 4), "position": (3,), "rpy": (3,), "quaternion": (4,), "direction": (3,)}


def read(path: str | os.PathLike[str], link: str, axis: ArrayLike | None = None, degrees: bool = False) -> Goal:
    """Goals for a link, with one leading axis, from a .csv, a .npz or, for ``-``, a .csv on the standard input.

    A .csv names its columns in its first line: x, y, z in metres; roll, pitch, yaw (about the fixed axes x, y, z) or
    qw, qx, qy, qz; or ax, ay, az, a direction in the world that ``axis`` (3,) of the link shall point along. A .npz
    holds ``frames`` (n, 4, 4), or ``position`` (n, 3) and one of ``rpy`` (n, 3), ``quaternion`` (n, 4), ``direction``
    (n, 3), or one of these alone. Angles are in radians, or in degrees if so told. A row that is not finite is kept:
    its solve ends `INVALID`.

    Raises `BadInput` with the file, the line or row, and the column.
    """
    file = os.fspath(path)
    ending = ".csv" if file == "-" else named(file, "goals are read from")
    if ending == ".npz":
        parts, place = _read_npz(file)
    else:
        parts, place = _read_csv(file)
    if sum(name in parts for name in _TURNS) > 1:
        raise BadInput(f"{place(None)} a goal is turned in one way, but this has several: {', '.join(parts)}")
    if axis is None and "direction" in parts:
        raise BadInput(f"{place(None)} directions need an axis of the link that shall point along them")
    if axis is not None and "direction" not in parts:
        raise BadInput(f"{place(None)} an axis needs directions to point along: ax, ay, az, or direction in a .npz")
    try:
        return _goals(link, parts, axis, degrees)
    except BadInput:
        if axis is not None:
            Goal(link, axis=axis, direction=(0, 0, 1))  # where the axis is at fault, no row is
        row = _first_bad(lambda rows: _goals(link, _rows(parts, rows), axis, degrees), len(next(iter(parts.values()))))
        try:
            return _goals(link, _rows(parts, slice(row, row + 1)), axis, degrees)
        except BadInput as error:
            raise BadInput(f"{place(row)} {error}") from None


def _rows(parts: Mapping[str, Array], rows: slice) -> dict[str, Array]:
    return {name: part[rows] for name, part in parts.items()}


def _first_bad(make: Callable[[slice], Goal], count: int) -> int:
    """Which of many rows is the first that makes no goal, where one does."""
    good, bad = 0, count  # those before `good` do, and one of those from there to `bad` does not
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            make(slice(good, middle))
            good = middle
        except BadInput:
            bad = middle
    return good


def named(file: str, what: str) -> str:
    """The ending of a file's name, .csv or .npz; `BadInput` for any other."""
    ending = os.path.splitext(file)[1].lower()
    if ending not in (".csv", ".npz"):
        raise BadInput(f"{what} a file that ends in .csv or .npz, not {file!r}")
    return ending


def write(path: str | os.PathLike[str], names: Sequence[str], columns: Mapping[str, Array], q: Array) -> None:
    """Write answers: columns (n,) by name, such as the outcomes, then joint values q (n, dof) by their names.

    A .npz holds the columns, ``q`` and ``names``.
    """
    file = os.fspath(path)
    if named(file, "answers are written to") == ".npz":
        with open(file, "wb") as binary:  # given a name, numpy would add an ending to one in capitals
            arrays: dict[str, Any] = {**columns, "q": q, "names": np.array(names, dtype=str)}
            np.savez(binary, **arrays)
        return
    with open(file, "w", encoding="utf-8", newline="") as text:
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([*columns, *names])
        heads = zip(*(column.tolist() for column in columns.values()), strict=True)
        # repr, which csv uses, is the shortest text that reads back as the same number
        lines.writerows([*head, *row] for head, row in zip(heads, q.tolist(), strict=True))


def _goals(link: str, parts: Mapping[str, Array], axis: ArrayLike | None, degrees: bool) -> Goal:
    if "frames" in parts:
        return Goal(link, parts["frames"])
    turned = None
    for name in ("rpy", "quaternion"):
        if name in parts:
            turned = _turned(name, parts[name], degrees)
    return Goal(link, position=parts.get("position"), orientation=turned, axis=axis, direction=parts.get("direction"))


def _turned(name: str, rows: Array, degrees: bool) -> Frame:
    """Frames (n,) of angles or quaternions; those of rows that are not finite are not either."""
    bad = np.logical_not(np.isfinite(rows).all(axis=1))
    whole = np.where(bad[:, None], 1.0, rows)
    turns = np.radians(whole) if degrees else whole
    frames = Frame.fixed("xyz", turns) if name == "rpy" else Frame.quaternion(whole)
    if not bad.any():
        return frames
    matrix = np.array(frames.matrix)
    matrix[bad] = np.nan
    return Frame._trusted(matrix)


_Place = Callable[[int | None], str]


def _read_csv(file: str) -> tuple[dict[str, Array], _Place]:
    shown = "standard input" if file == "-" else file
    numbers, lines_of = array("d"), array("q")
    line = 0
    with nullcontext(sys.stdin) if file == "-" else open(file, encoding="utf-8-sig", newline="") as text:
        lines = csv.reader(_bounded(text, shown), strict=True)
        try:
            columns = _columns(shown, next(lines, []))
            line = lines.line_num
            for words in lines:
                line = lines.line_num
                if words:
                    numbers.extend(_numbers(f"{shown}:{line}:", words, columns))
                    lines_of.append(line)
                if len(lines_of) > MOST:
                    raise BadInput(f"{shown}:{line}: more than {MOST:,} goals")
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadInput(f"{shown}:{line + 1}: not a table of numbers between commas: {error}") from None
    if not lines_of:
        raise BadInput(f"{shown}: there is no line of numbers under the names")
    table = np.frombuffer(numbers).reshape(-1, len(columns))
    parts = {
        part: table[:, [columns.index(name) for name in names]] for part, names in _PARTS.items() if names[0] in columns
    }
    return parts, lambda row: f"{shown}:" if row is None else f"{shown}:{lines_of[row]}:"


def _bounded(text: TextIO, shown: str) -> Iterator[str]:
    """The lines of a file, none of them too long to be one."""
    number = 0
    while line := text.readline(_LONGEST):
        number += 1
        if len(line) == _LONGEST:
            raise BadInput(f"{shown}:{number}: a line of more than {_LONGEST:,} characters")
        yield line.lstrip("\ufeff") if number == 1 else line


def _columns(shown: str, words: Sequence[str]) -> list[str]:
    """The names in the first line, checked: all of a part or none of it, and each once."""
    columns = [word.strip().lower() for word in words]
    known = [name for names in _PARTS.values() for name in names]
    for i, name in enumerate(columns):
        if name not in known:
            hint = str(unknown("column", name[:40], known))
            raise BadInput(f"{shown}:1: column {i + 1}: {hint}; the first line names the columns")
        if name in columns[:i]:
            raise BadInput(f"{shown}:1: column {i + 1}: {name!r} is there twice")
    for names in _PARTS.values():
        missing = [name for name in names if name not in columns]
        if 0 < len(missing) < len(names):
            raise BadInput(f"{shown}:1: column {missing[0]!r} is missing: {', '.join(names)} go together")
    if not columns:
        raise BadInput(f"{shown}:1: the first line names the columns: {', '.join(known)}")
    return columns


def _numbers(place: str, words: list[str], columns: list[str]) -> list[float]:
    if len(words) != len(columns):
        raise BadInput(f"{place} expected {len(columns)} numbers, {', '.join(columns)}; got {len(words)}")
    try:
        return [_number(word) for word in words]
    except ValueError:
        i = next(i for i, word in enumerate(words) if not _is_number(word))
        what = f"column {i + 1}, {columns[i]}: expected a number written like 0.5, got {words[i][:40]!r}"
        raise BadInput(f"{place} {what}") from None


def _number(word: str) -> float:
    if "_" in word:  # Python's own numbers may have it, nobody else's
        raise ValueError
    return float(word)


def _is_number(word: str) -> bool:
    try:
        _number(word)
    except ValueError:
        return False
    return True


def _read_npz(file: str) -> tuple[dict[str, Array], _Place]:
    with open(file, "rb") as binary:
        _check_size(file, binary)
        try:
            with np.load(binary, allow_pickle=False) as arrays:  # a pickle could run anything
                names = list(arrays)
                held = {name: arrays[name] for name in _SHAPES if name in names}
        except Exception as error:  # a damaged archive breaks in a dozen ways
            raise BadInput(f"{file}: not an archive of plain arrays: {error}") from None
    wanted = ", ".join(f"{name} (n, {', '.join(map(str, shape))})" for name, shape in _SHAPES.items())
    if not held:
        raise BadInput(f"{file}: there are no goals in it; it should hold {wanted}, and holds {', '.join(names)}")
    if "frames" in held and len(held) > 1:
        raise BadInput(f"{file}: frames say all, and there is also {', '.join(n for n in held if n != 'frames')}")
    counts = {len(part) for part in held.values() if part.ndim}
    for name, part in held.items():
        if part.dtype.kind not in "fiu":
            raise BadInput(f"{file}: {name} must be numbers, not {part.dtype}")
        if part.shape[1:] != _SHAPES[name] or not part.ndim or len(counts) > 1 or not part.size:
            got = ", ".join(f"{name} {part.shape}" for name, part in held.items())
            raise BadInput(f"{file}: expected {wanted}, as many of each and at least one; got {got}")
    parts = {name: np.asarray(part, dtype=float) for name, part in held.items()}
    return parts, lambda row: f"{file}:" if row is None else f"{file}: goal {row + 1}:"


def _check_size(file: str, binary: BinaryIO) -> None:
    """Raise before anything is unpacked that would be too large."""
    try:
        with zipfile.ZipFile(binary) as archive:
            sizes = {info.filename.removesuffix(".npy"): info.file_size for info in archive.infolist()}
    except (zipfile.BadZipFile, OSError) as error:
        raise BadInput(f"{file}: not an archive of plain arrays: {error}") from None
    for name, shape in _SHAPES.items():
        if sizes.get(name, 0) > MOST * int(np.prod(shape)) * 8 + 4096:
            raise BadInput(f"{file}: {name} holds more than {MOST:,} goals")
    binary.seek(0)
