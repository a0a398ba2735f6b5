"""Reader of goals from .csv and .npz files."""

from __future__ import annotations

import csv
import math
import os
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple.errors import BadInput, near_matches, unknown
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.read import arrays, bounded

_Place = Callable[[int | None], str]

ENDINGS = (".csv", ".npz")
MOST = 10_000_000  # goals in a file
_MAX_LINE = 10_000  # characters in a line of a .csv
_PARTS = {
    "position": ("x", "y", "z"),
    "rpy": ("roll", "pitch", "yaw"),
    "quaternion": ("qw", "qx", "qy", "qz"),
    "direction": ("ax", "ay", "az"),
}
_ORIENTATIONS = ("rpy", "quaternion", "direction")
_TIMED_PARTS = {**_PARTS, "times": ("time",)}
_SHAPES = {"frames": (4, 4), "position": (3,), "rpy": (3,), "quaternion": (4,), "direction": (3,)}
_TIMED_SHAPES: dict[str, tuple[int, ...]] = {**_SHAPES, "times": ()}


def read_path(
    path: str | os.PathLike[str], link: str, axis: ArrayLike | None = None, degrees: bool = False
) -> tuple[Goal, Array | None, list[str], float, bool]:
    """The goals of a path and what else the file says.

    Returns the goals (frames,), as `read` does; their times (frames,) in seconds, or None; the names of columns that
    are not read; the largest of roll, pitch and yaw as written in the file, 0 if there are none; and whether there are
    quaternions. Times are in the column ``time`` of a .csv or in ``times`` (n,) of a .npz. A path has two rows or more,
    and all of them are finite.
    """
    ignored: list[str] = []
    parts, place = _read_parts(path, _TIMED_PARTS, _TIMED_SHAPES, ignored)
    times = parts.pop("times", None)
    if not parts:
        raise BadInput(f"{place(None)} there are times, but no poses")
    rows = len(next(iter(parts.values())))
    if rows < 2:
        raise BadInput(f"{place(None)} a path needs two poses or more, and there is one")
    finite = np.all([np.isfinite(part.reshape(rows, -1)).all(axis=1) for part in parts.values()], axis=0)
    if not finite.all():
        raise BadInput(f"{place(int(np.argmin(finite)))} the pose is not finite")
    angle = float(np.abs(parts["rpy"]).max()) if "rpy" in parts else 0.0
    goal = _checked(parts, place, link, axis, degrees)
    return goal, None if times is None else times.reshape(-1), ignored, angle, "quaternion" in parts


def read(path: str | os.PathLike[str], link: str, axis: ArrayLike | None = None, degrees: bool = False) -> Goal:
    """Goals for a link, with one leading axis, from a .csv, a .npz or, for ``-``, a .csv on the standard input.

    The first line of a .csv names its columns: x, y, z in metres; roll, pitch, yaw (about the fixed axes x, y, z) or
    qw, qx, qy, qz; or ax, ay, az, a direction in the world for the ``axis`` (3,) of the link. A .npz holds ``frames``
    (n, 4, 4), or ``position`` (n, 3) and one of ``rpy`` (n, 3), ``quaternion`` (n, 4), w first, and ``direction``
    (n, 3), or one of these alone. Angles are in radians, or with ``degrees`` in degrees. A row that is not finite
    stays: its solve ends `INVALID`.

    Raises `BadInput` with the file, the line or row, and the column.
    """
    return _checked(*_read_parts(path, _PARTS, _SHAPES), link, axis, degrees)


def _read_parts(
    path: str | os.PathLike[str],
    known: Mapping[str, Sequence[str]],
    shapes: Mapping[str, tuple[int, ...]],
    ignored: list[str] | None = None,
) -> tuple[dict[str, Array], _Place]:
    file = _check.file_name(path)
    ending = ".csv" if file == "-" else _check.ending(file, ENDINGS, "goals are read from")
    return _read_npz(file, shapes) if ending == ".npz" else _read_csv(file, known, ignored)


def _checked(parts: dict[str, Array], place: _Place, link: str, axis: ArrayLike | None, degrees: bool) -> Goal:
    """The goals; an error names the file and the line or row."""
    if sum(name in parts for name in _ORIENTATIONS) > 1:
        raise BadInput(
            f"{place(None)} a goal has one orientation, but there are several columns for it: {', '.join(parts)}"
        )
    if axis is None and "direction" in parts:
        raise BadInput(f"{place(None)} directions need an axis of the link to point along them")
    if axis is not None and "direction" not in parts:
        raise BadInput(f"{place(None)} an axis needs directions to point along: ax, ay, az, or direction in a .npz")
    try:
        return _goals(link, parts, axis, degrees)
    except BadInput:
        if axis is not None:
            Goal(link, axis=axis, direction=(0, 0, 1))  # raises if the axis itself is bad
        row = _first_bad(lambda rows: _goals(link, _rows(parts, rows), axis, degrees), len(next(iter(parts.values()))))
        try:
            return _goals(link, _rows(parts, slice(row, row + 1)), axis, degrees)
        except BadInput as error:
            raise BadInput(f"{place(row)} {error}") from None


def _rows(parts: Mapping[str, Array], rows: slice) -> dict[str, Array]:
    return {name: part[rows] for name, part in parts.items()}


def _first_bad(make: Callable[[slice], Goal], count: int) -> int:
    """Index of the first row that makes no goal; there is at least one."""
    good, bad = 0, count  # all rows before `good` make goals, and some row from `good` to `bad` does not
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            make(slice(good, middle))
            good = middle
        except BadInput:
            bad = middle
    return good


def _goals(link: str, parts: Mapping[str, Array], axis: ArrayLike | None, degrees: bool) -> Goal:
    if "frames" in parts:
        return Goal(link, parts["frames"])
    orientation = None
    for name in ("rpy", "quaternion"):
        if name in parts:
            orientation = _orientations(name, parts[name], degrees)
    return Goal(
        link, position=parts.get("position"), orientation=orientation, axis=axis, direction=parts.get("direction")
    )


def _orientations(name: str, rows: Array, degrees: bool) -> Frame:
    """Frames (n,) of angles or quaternions; nan for rows that are not finite."""
    bad = np.logical_not(np.isfinite(rows).all(axis=1))
    whole = np.where(bad[:, None], 1.0, rows)
    turns = np.radians(whole) if degrees else whole
    frames = Frame.fixed("xyz", turns) if name == "rpy" else Frame.quaternion(whole)
    if not bad.any():
        return frames
    matrix = np.array(frames.matrix)
    matrix[bad] = np.nan
    return Frame._trusted(matrix)


def _read_csv(
    file: str, known: Mapping[str, Sequence[str]], ignored: list[str] | None = None
) -> tuple[dict[str, Array], _Place]:
    """The parts of a .csv; columns that are not known are added to ``ignored``, or refused without it."""
    shown = "standard input" if file == "-" else file
    numbers, lines_of = array("d"), array("q")
    line = blank = 0
    with nullcontext(sys.stdin) if file == "-" else bounded.open_text(file, arrays.MAX_BYTES) as text:
        lines = csv.reader(_without_mark(bounded.lines(text, shown, _MAX_LINE)), strict=True)
        try:
            first = next(lines, [])
            kept = _kept(first, known, ignored)
            columns = _columns(shown, [first[i] for i in kept], known)
            line = lines.line_num
            for words in lines:
                line = lines.line_num
                if words:
                    if len(words) == len(first):
                        words = [words[i] for i in kept]
                    numbers.extend(_numbers(f"{shown}:{line}:", words, columns))
                    lines_of.append(line)
                else:
                    blank += 1
                if len(lines_of) > MOST or blank > bounded.MOST_BLANK:
                    what = f"{bounded.MOST_BLANK:,} blank lines" if blank > bounded.MOST_BLANK else f"{MOST:,} goals"
                    raise BadInput(f"{shown}:{line}: more than {what}")
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadInput(f"{shown}:{line + 1}: not a table of numbers between commas: {error}") from None
    if not lines_of:
        raise BadInput(f"{shown}: there is no line of numbers under the names")
    table = np.frombuffer(numbers).reshape(-1, len(columns))
    parts = {
        part: table[:, [columns.index(name) for name in names]] for part, names in known.items() if names[0] in columns
    }
    return parts, lambda row: f"{shown}:" if row is None else f"{shown}:{lines_of[row]}:"


def _without_mark(lines: Iterator[str]) -> Iterator[str]:
    """The lines without a byte order mark, which the standard input keeps."""
    yield next(lines, "").lstrip("\ufeff")
    yield from lines


def _kept(words: Sequence[str], parts: Mapping[str, Sequence[str]], ignored: list[str] | None) -> Sequence[int]:
    """The indices of the columns to read: those that are known, or like a known one that is not there.

    They are all if none is known, since then the first line names no columns.
    """
    columns = [word.strip().lower() for word in words]
    known = [name for names in parts.values() for name in names]
    if ignored is None or not set(known) & set(columns):
        return range(len(words))
    lost = [name for name in known if name not in columns]
    kept = [i for i, name in enumerate(columns) if name in known or near_matches(name[:40], lost)]
    ignored += [word.strip()[:40] for i, word in enumerate(words) if i not in kept]
    return kept


def _columns(shown: str, words: Sequence[str], parts: Mapping[str, Sequence[str]]) -> list[str]:
    """The names in the first line: each known and once, and those that belong together all there."""
    columns = [word.strip().lower() for word in words]
    known = [name for names in parts.values() for name in names]
    for i, name in enumerate(columns):
        if name not in known:
            hint = str(unknown("column", name[:40], known))
            raise BadInput(f"{shown}:1: column {i + 1}: {hint}; the first line names the columns")
        if name in columns[:i]:
            raise BadInput(f"{shown}:1: column {i + 1}: {name!r} is there twice")
    for names in parts.values():
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
    if "_" in word:  # float() accepts 1_000, other readers of .csv do not
        raise ValueError
    return float(word)


def _is_number(word: str) -> bool:
    try:
        _number(word)
    except ValueError:
        return False
    return True


def _read_npz(file: str, shapes: Mapping[str, tuple[int, ...]]) -> tuple[dict[str, Array], _Place]:
    arrays_read, names = arrays.read(
        file, {name: MOST * math.prod(shape) for name, shape in shapes.items()}, f"{MOST:,} goals"
    )
    wanted = ", ".join(f"{name} ({', '.join(['n', *map(str, shape)])})" for name, shape in shapes.items())
    if not arrays_read:
        raise BadInput(f"{file}: there are no goals in it; it should hold {wanted}, and holds {', '.join(names)}")
    extra = [name for name in arrays_read if name not in ("frames", "times")]
    if "frames" in arrays_read and extra:
        others = ", ".join(extra)
        raise BadInput(f"{file}: frames hold position and orientation, but there is also {others}")
    counts = {len(part) for part in arrays_read.values() if part.ndim}
    for name, part in arrays_read.items():
        if part.dtype.kind not in "fiu":
            raise BadInput(f"{file}: {name} must be numbers, not {part.dtype}")
        if part.shape[1:] != shapes[name] or not part.ndim or len(counts) > 1 or not part.size:
            got = ", ".join(f"{name} {part.shape}" for name, part in arrays_read.items())
            raise BadInput(f"{file}: expected {wanted}, as many of each and at least one; got {got}")
    parts = {name: np.asarray(part, dtype=float) for name, part in arrays_read.items()}
    return parts, lambda row: f"{file}:" if row is None else f"{file}: goal {row + 1}:"
