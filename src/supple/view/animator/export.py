"""Export of the page: the motion or the keys as the bytes of a file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from supple.animate.timeline_file import written
from supple.view.animator.keys import Keys


def content(keys: Keys, figure: str, ending: str, rate: float) -> bytes:
    """The bytes of a file: the motion at a rate in frames per second, or with ".json" the keys of ``figure``."""
    if ending == ".json":
        return written(keys.timeline, figure).encode("utf-8")
    motion = keys.sampled(rate)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"motion{ending}"
        if ending in (".npz", ".csv"):
            motion.save(path)
        else:
            motion.save(path, up="y")
        return path.read_bytes()
