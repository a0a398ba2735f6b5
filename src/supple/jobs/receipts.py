"""The files that a job writes beside its results, so that it can be resumed: options and receipts."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from supple.errors import BadInput
from supple.jobs import files, tables
from supple.jobs.files import Entry, Files
from supple.write import atomic

_JOB, _DONE, _LOCK = "job.json", "done", "lock"
PART = ".part"


@dataclass(frozen=True)
class Receipt:
    """A finished file: of which table it is the result, and how its rows ended."""

    name: str
    size: int
    """Bytes of the table that was read."""
    changed: int
    """When that table was last changed, in nanoseconds."""
    result_size: int
    """Bytes of the result."""
    rows: int
    counts: dict[str, int]
    reconfigured: int = 0
    note: str = ""
    """What its rows may have been misread as, such as positions in millimetres; empty if nothing shows it."""


def options_hash(options: dict[str, Any]) -> str:
    """A hash of the options of a job."""
    return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()


class JobFolder:
    """The folder of a job's own files."""

    def __init__(self, found: Files, options: dict[str, Any]) -> None:
        self.path, self.files, self.options = found.folder, found, options
        self.hash = options_hash(options)

    def check(self, overwrite: bool) -> None:
        """Raise `BadInput` if the results of another job, or other files, are in the way."""
        if overwrite:
            return
        there = self._read(self.path / _JOB)
        if there is not None and there.get("hash") != self.hash:
            changed = _changed(there.get("options", {}), self.options)
            raise BadInput(
                f"{self._target} has the results of another job ({changed}): choose another target, or "
                "give overwrite=True"
            )
        if there is None:
            for entry in self.files.entries:
                if os.path.lexists(entry.target):
                    raise BadInput(
                        f"{entry.target} is there, and not of this job: choose another target, or give overwrite=True"
                    )

    @property
    def _target(self) -> Path:
        """What the job makes: a folder, or the one file that its own folder is named after."""
        return self.path.parent if self.path.name == files.JOB_FOLDER else self.files.entries[0].target

    @contextmanager
    def opened(self, overwrite: bool) -> Iterator[None]:
        """Make the folder and hold its lock; parts that a killed job left are removed.

        With ``overwrite``, the receipts of another job are removed, so that nothing of it is kept.
        """
        try:
            (self.path / _DONE).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"the target cannot be made: {error.filename}: {error.strerror}") from None
        with open(self.path / _LOCK, "a+b") as lock:
            if not _locked(lock):
                raise BadInput(f"another process works on this job: {self.path / _LOCK} is locked")
            self.check(overwrite)
            there = self._read(self.path / _JOB)
            if overwrite and (there is None or there.get("hash") != self.hash):
                shutil.rmtree(self.path / _DONE, ignore_errors=True)
                (self.path / _DONE).mkdir()
            self._remove_parts()
            if there is None or there.get("hash") != self.hash:
                write_json(self.path / _JOB, {"hash": self.hash, "options": self.options})
            yield
            self._remove_parts()

    def _remove_parts(self) -> None:
        """Remove parts that killed processes left; only the process with the lock may."""
        for part in self.path.glob("*" + PART):
            with suppress(OSError):
                part.unlink()

    def moved(self, path: Path) -> JobFolder:
        """The same with another path of the folder."""
        return JobFolder(Files(self.files.entries, path), self.options)

    def kept(self, entry: Entry) -> Receipt | None:
        """The receipt of a file that is finished: its table has not changed since, and its result is there."""
        data = self._read(self._receipt(entry))
        try:
            receipt = Receipt(**data) if data is not None else None
            now = os.stat(entry.source)
            result = os.stat(entry.target)
        except (TypeError, OSError):
            return None
        if receipt is None or (receipt.size, receipt.changed) != (now.st_size, now.st_mtime_ns):
            return None
        return receipt if receipt.result_size == result.st_size else None

    def stale(self) -> tuple[str, ...]:
        """Results of earlier runs that are still there, and whose tables are not among those of the job."""
        known = {entry.name for entry in self.files.entries}
        read = (self._read(place) or {} for place in (self.path / _DONE).glob("*.json"))
        named = {str(data.get("name", "")) for data in read} - known
        gone = (files.renamed(name, self.options["format"]) for name in named if _is_table(name))
        results = {os.path.realpath(entry.target) for entry in self.files.entries}
        there = (name for name in gone if (self.path.parent / name).is_file())
        return tuple(sorted(name for name in there if os.path.realpath(self.path.parent / name) not in results))

    def write(self, entry: Entry, receipt: Receipt) -> None:
        """Note that a file is finished."""
        write_json(self._receipt(entry), asdict(receipt))

    def part(self, entry: Entry) -> Path:
        """A fresh name for a file that is being written."""
        return self.path / f"{_short(entry.name)}-{os.getpid()}-{os.urandom(4).hex()}{PART}"

    def _receipt(self, entry: Entry) -> Path:
        return self.path / _DONE / f"{_short(entry.name)}.json"

    @staticmethod
    def _read(path: Path) -> dict[str, Any] | None:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return data if isinstance(data, dict) else None


def write_json(path: Path, data: dict[str, Any], indent: int = 1) -> None:
    """Write JSON whole or not at all; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic.replacing(path) as new:
        new.write_text(json.dumps(data, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")


def _is_table(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in tables.ENDINGS


def _short(name: str) -> str:
    """A name for a file of the job folder, for the name of a table that may have folders."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in os.path.basename(name))[:60]
    return f"{plain}-{digest}"


def _changed(before: dict[str, Any], now: dict[str, Any]) -> str:
    names = [name for name in now if before.get(name) != now[name]]
    return f"{', '.join(names)} differ{'s' if len(names) == 1 else ''}" if names else "its options differ"


def _locked(file: IO[bytes]) -> bool:
    """Whether this process now has the lock of a file; a system without locks always gives it."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
