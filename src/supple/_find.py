"""A linkage by the path of a file or by the name of a bundled model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from supple import models, read
from supple.errors import near_matches, short, unknown
from supple.linkage import Linkage


def find(source: str, search: Sequence[Path] = ()) -> Linkage:
    """The linkage in a file, or the bundled model of that name; an existing file takes precedence.

    ``search`` as in `read.load`. Raises FileNotFoundError, with the nearest names, if there is neither.
    """
    path = Path(source)
    if path.is_file() or (path.exists() and source not in models.names()):
        return read.load(path, search=list(search))
    if source in models.names():
        return models.get(source)
    known = (*models.names(), *_readable_files(path.parent))
    bundled = [name for name in models.names() if path.stem.lower().startswith(name)]
    if not bundled or near_matches(source, known):
        raise FileNotFoundError(str(unknown("file or bundled model", source, known)))
    raise FileNotFoundError(f"no file {short(source)}; there is a bundled model {short(bundled[-1])}")


def _readable_files(folder: Path) -> list[str]:
    try:
        return sorted(str(path) for path in folder.iterdir() if path.suffix.lower() in read.ENDINGS)
    except OSError:
        return []
