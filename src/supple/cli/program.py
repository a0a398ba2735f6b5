"""A name in a user's Python file, for options such as --arm FILE:NAME."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from supple.errors import BadInput


def defined(option: str, word: str, example: str) -> Any:
    """What FILE:NAME names; the file is run. Raises `BadInput` that begins with the option."""
    file, _, name = word.rpartition(":")
    if not file or not name.isidentifier():
        raise BadInput(f"{option}: expected a file and a name in it, such as {example}; got {word!r}")
    if not Path(file).is_file():
        raise BadInput(f"{option}: there is no file {file}")
    try:
        names = runpy.run_path(file)
    except Exception as error:
        raise BadInput(f"{option}: {file} failed: {type(error).__name__}: {error}") from error
    if name not in names:
        raise BadInput(f"{option}: {file} defines no {name!r}")
    return names[name]
