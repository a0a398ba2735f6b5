"""The files of a job: which tables are read, and where each result goes."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from supple import _check
from supple.errors import BadInput
from supple.jobs import tables

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
JOB_FOLDER = ".supple-job"
"""Folder beside the results with the job's options, its receipts, and files that are being written."""
_FOLDER_ENDINGS = tuple(ending for ending, kind in tables.ENDINGS.items() if kind != "csv")
_WILD = "*?["


@dataclass(frozen=True)
class Entry:
    """One table and its result."""

    source: Path
    target: Path
    name: str
    """The name in reports and receipts: the path below the folder of all tables."""


@dataclass(frozen=True)
class Files:
    """All tables of a job, in a fixed order."""

    entries: tuple[Entry, ...]
    folder: Path
    """The job's own folder."""


def find(source: Source, target: str | os.PathLike[str], format: str | None, dataset: bool = False) -> Files:
    """The tables of a file, a folder, a pattern such as ``data/*.parquet``, or a list of files; and their results.

    Raises `BadInput` where a result would replace a table, or two results would be the same file.
    """
    goal = Path(_check.file_name(target, "target"))
    single = isinstance(source, str | os.PathLike) and os.path.isfile(source)
    if single and goal.suffix.lower() in tables.ENDINGS and not goal.is_dir():
        only = Path(os.fspath(source))  # type: ignore[arg-type]
        _check_ending(goal, only, format)
        entries: tuple[Entry, ...] = (Entry(only, goal, goal.name),)
        folder = goal.parent / f"{JOB_FOLDER}-{goal.name}"
    else:
        if goal.exists() and not goal.is_dir():
            raise BadInput(f"target must be a folder, and {goal} is a file")
        pairs = list(_pairs(source, goal, dataset))
        if not single and goal.suffix.lower() in tables.ENDINGS and not goal.exists():
            raise BadInput(
                f"{goal} is the name of a file, and the source may have several tables; give a folder, such as "
                f"{goal.with_suffix('')}"
            )
        entries = tuple(Entry(path, goal / renamed(name, format), name) for path, name in pairs)
        folder = goal / JOB_FOLDER
    _check_distinct(entries)
    return Files(entries, folder)


def renamed(name: str, format: str | None) -> str:
    """The name of the result of a table."""
    if format is None or tables.format_of(name) == format:
        return name
    return os.path.splitext(name)[0] + tables.FORMATS[format]


def _check_ending(goal: Path, source: Path, format: str | None) -> None:
    wanted = format or tables.format_of(source)
    if tables.format_of(goal) != wanted:
        raise BadInput(f"{goal} does not end as {wanted} does; give format={tables.format_of(goal)!r} to convert")


def _pairs(source: Source, target: Path, dataset: bool) -> Iterator[tuple[Path, str]]:
    """Tables, with their names below their common folder."""
    if not isinstance(source, str | os.PathLike):
        paths = [Path(_check.file_name(path, "source")) for path in source]
        if not paths:
            raise BadInput("source has no files")
        common = Path(os.path.commonpath([os.path.abspath(path.parent) for path in paths]))
        for path in paths:
            yield _existing(path), os.path.relpath(os.path.abspath(path), common)
        return
    text = _check.file_name(source, "source")
    if os.path.isdir(text):
        root = os.path.join(text, "data") if dataset else text
        found = sorted(_walk(Path(root), target))
        if not found:
            raise BadInput(
                f"{text} has no tables: files that end in {', '.join(_FOLDER_ENDINGS)}; csv when asked: "
                f"{os.path.join(text, '*.csv')}"
            )
        for path in found:
            yield _existing(path), os.path.relpath(path, text)
    elif any(c in text for c in _WILD) and not os.path.exists(text):
        parts = Path(text).parts
        fixed = next(i for i, part in enumerate(parts) if any(c in part for c in _WILD))
        root = os.path.join(*parts[:fixed]) if fixed else "."
        inside = os.path.realpath(target)
        matches = sorted(p for p in glob.glob(text, recursive=True) if os.path.isfile(p) or os.path.islink(p))
        matches = [p for p in matches if not _within(os.path.realpath(p), inside) or inside == os.path.realpath(root)]
        if not matches:
            raise BadInput(f"no file matches {text}")
        for match in matches:
            yield _existing(Path(match)), os.path.relpath(match, root)
    else:
        yield _existing(Path(text)), os.path.basename(text)


def check_link(path: Path) -> None:
    """Raises `BadInput` for a link to a file that does not exist."""
    if path.is_symlink() and not path.exists():
        raise BadInput(f"{path} is a link to {os.readlink(path)}, which does not exist")


def _existing(path: Path) -> Path:
    check_link(path)
    if not path.is_file():
        raise BadInput(f"no file {os.fspath(path)!r}" if not path.exists() else f"{path} is no file")
    return path


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _walk(root: Path, target: Path) -> Iterator[Path]:
    """The tables below a folder, without hidden ones and those of the target; links are followed, each folder once."""
    own = os.path.realpath(target)
    if os.path.realpath(root) == own:
        raise BadInput(f"source and target are the same folder, {root}; the tables would be replaced")
    seen = set()
    for folder, folders, names in os.walk(root, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen or real == own:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            if name.lower().endswith(_FOLDER_ENDINGS) and not name.startswith("."):
                yield Path(folder, name)


def _check_distinct(entries: Sequence[Entry]) -> None:
    """Refuse a result that is a table of the same job, or the result of another table."""
    sources = {os.path.realpath(entry.source): entry for entry in entries}
    targets: dict[str, Entry] = {}
    for entry in entries:
        place = os.path.normcase(os.path.realpath(entry.target))
        if place in sources:
            raise BadInput(f"{entry.target} is also a table that is read: choose another target")
        if place in targets:
            raise BadInput(f"{entry.source} and {targets[place].source} have the same result, {entry.target}")
        targets[place] = entry
