"""Files of compiled kernels in the user's cache folder: safe with several processes, and with damaged files."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

_MARK = b"supple kernels 1\n"
_KEPT = 64
"""Most files that are kept; the oldest beyond them are deleted."""


def folder() -> Path:
    """The folder of cached files: SUPPLE_CACHE, or the user's cache folder by the custom of the system."""
    given = os.environ.get("SUPPLE_CACHE")
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "supple"


def key(*parts: bytes) -> str:
    """One name for some content: each part counts with its length, so that no two lists of parts give one name."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()[:40]


def remembered(name: str, make: Callable[[], bytes]) -> bytes:
    """The content of a file of that name, or what ``make`` returns, written for the next time.

    A file that is cut short or changed counts as missing. A folder that cannot be written to is no error: then the next
    process makes the content again.
    """
    try:
        path = folder() / name
        kept = _content(path.read_bytes())
    except (OSError, RuntimeError):  # RuntimeError: no home folder
        kept = None
    if kept is not None:
        return kept
    made = make()
    with contextlib.suppress(OSError, RuntimeError):
        _write(folder() / name, made)
    return made


def _content(stored: bytes) -> bytes | None:
    head = len(_MARK) + 32
    content = stored[head:]
    whole = stored.startswith(_MARK) and stored[len(_MARK) : head] == hashlib.sha256(content).digest()
    return content if whole else None


def _write(path: Path, content: bytes) -> None:
    """Written beside, then renamed: another process sees the old file, none, or all of the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_MARK + hashlib.sha256(content).digest() + content)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    _delete_oldest(path)


def _delete_oldest(newest: Path) -> None:
    """Deletes what is beyond the newest files. Another process may do the same."""
    dated = []
    for entry in os.scandir(newest.parent):
        with contextlib.suppress(OSError):
            if entry.name.endswith((newest.suffix, ".part")):
                dated.append((entry.stat().st_mtime, entry.path))
    for _, path in sorted(dated, reverse=True)[_KEPT:]:
        with contextlib.suppress(OSError):
            os.unlink(path)
