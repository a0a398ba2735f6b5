"""Opens untrusted files: ordinary files only, of bounded size, whose lines are of bounded length."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO, TextIO

from supple.errors import BadInput

MAX_NUMBER = 100
"""Characters of a number in a text file. The longest that Python writes has 24."""
MOST_BLANK = 1_000_000
"""Blank lines of a .csv."""


def open_binary(path: str | os.PathLike[str], most: int) -> BinaryIO:
    """An ordinary file of at most ``most`` bytes, for reading.

    A device or a pipe may block or never end, so both are refused with `BadInput`, as are larger files.
    """
    file = os.fspath(path)
    # a pipe that nobody writes to would block an ordinary open
    number = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    stream = None
    try:
        check_status(os.fstat(number), file, most)
        stream = os.fdopen(number, "rb")
    finally:
        if stream is None:
            os.close(number)
    return stream


def open_text(path: str | os.PathLike[str], most: int, encoding: str = "utf-8-sig") -> TextIO:
    """Like `open_binary`, for text, whose line ends are kept."""
    return io.TextIOWrapper(open_binary(path, most), encoding=encoding, newline="")


def check_status(status: os.stat_result, file: str, most: int) -> None:
    """Raises `BadInput` unless this is the status of an ordinary file of at most ``most`` bytes."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(21, "Is a directory", file)
    if not stat.S_ISREG(status.st_mode):
        raise BadInput(f"{file}: not an ordinary file; a device or a pipe is not read")
    if status.st_size > most:
        raise BadInput(f"{file}: the file is larger than {most // 2**20} MiB, the most that is read")


def lines(text: TextIO, shown: str, most: int, before: int = 0) -> Iterator[str]:
    """The lines of a text; `BadInput`, with its number, for one of ``most`` characters or more.

    ``before`` is the number of lines that were read before.
    """
    number = before
    while line := text.readline(most):
        number += 1
        if len(line) == most and not line.endswith("\n"):
            raise BadInput(f"{shown}:{number}: a line of more than {most:,} characters")
        yield line
