"""Writes files whole: to a temporary name, then renamed, so that a full disk leaves what was there before."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file beside ``path``, with its ending, that takes its place when the context ends without exception.

    On an exception the temporary file is removed, and ``path`` stays as it was. What is not an ordinary file, such as
    a pipe, is written directly, and so is a file in a folder where no other can be made.
    """
    place = Path(os.path.realpath(path))  # a link stays a link
    mode = _mode(place)
    temporary = place.with_name(f".{place.stem[:100]}-{secrets.token_hex(4)}{place.suffix}")
    if mode is not None and not stat.S_ISREG(mode):
        yield place
        return
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except PermissionError:
        if mode is None:
            raise
        yield place
        return
    try:
        if mode is not None:
            if not os.access(place, os.W_OK):
                raise PermissionError(13, "Permission denied", os.fspath(path))
            os.chmod(temporary, stat.S_IMODE(mode))
        yield temporary
        _to_disk(temporary)
        os.replace(temporary, place)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename == os.fspath(temporary):
            error.filename = os.fspath(path)
        raise


def _mode(place: Path) -> int | None:
    try:
        return os.stat(place).st_mode
    except FileNotFoundError:
        return None


def _to_disk(file: Path) -> None:
    """Some file systems report a full disk only now."""
    number = os.open(file, os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)
