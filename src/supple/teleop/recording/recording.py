"""Recording: a recorded file, its metadata and its ticks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from supple import _check
from supple.errors import BadInput, SuppleError
from supple.frame import Array
from supple.linkage import Linkage
from supple.solver import Solver
from supple.teleop.recording import metadata, reader
from supple.teleop.recording.columns import Layout, Rows
from supple.tracker import Tracker

_BLOCK = 4096  # ticks read at a time
_MAX_MEMORY = 4 * 2**30  # bytes


class Recording:
    """A recorded file: its metadata, and its ticks in blocks."""

    path: Path
    """The file."""
    linkage: Linkage
    """The linkage, without its geometry."""
    links: tuple[str, ...]
    """The driven end effectors."""
    solver: str
    """The solver it began with, as text."""
    rate: float
    """Requested ticks per second."""
    start: Array
    """Joint values (dof,) when the recorder was made."""
    acceleration: Array
    """Acceleration bounds (dof,) it began with, per second squared."""
    version: str
    """Version of supple that recorded it."""
    instructions: str
    """Instruction set it was computed with; another one may differ in the last bits."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Opens ``.parquet``, ``.csv``, or the journal ``.parquet.part`` that a crash has left.

        Raises `BadInput`, with file and column, if it is not a recording.
        """
        self.path = Path(_check.file_name(path))
        data = reader.metadata(self.path)
        try:
            self._metadata = found = metadata.Metadata.from_dict(data)
        except BadInput as error:
            raise BadInput(f"{self.path}: {error}") from None
        self.linkage, self.links, self.rate, self.start = found.linkage, found.links, found.rate, found.start
        self.version, self.instructions = found.version, found.instructions
        self.solver = found.tracker["solver_text"]
        self.acceleration = np.array(found.tracker["acceleration"], dtype=float)
        self._layout = Layout(self.linkage.names, self.links, found.has_grippers)
        reader.check_columns(self.path, self._layout)

    def blocks(self, size: int = _BLOCK) -> Iterator[Rows]:
        """Its ticks, up to ``size`` at a time; raises `BadInput` with file, column and row of invalid data."""
        for block in reader.blocks(self.path, self._layout, _check.whole(size, "size", 1)):
            yield self._layout.rows(*block)

    def rows(self) -> Rows:
        """All its ticks. Half an hour of an arm of six joints takes 300 MB; `blocks` takes a few.

        Raises `BadInput` above 4 GiB: a small file may hold very many equal rows.
        """
        parts, size = [], 0
        for block in self.blocks():
            parts.append(block)
            size += 8 * len(block) * len(self._layout.columns)
            if size > _MAX_MEMORY:
                raise BadInput(f"{self.path}: its rows need more than {_MAX_MEMORY // 2**30} GiB; use blocks()")
        if not parts:
            raise BadInput(f"{self.path}: there is no tick in it")
        return Rows.join(parts)

    def tracker(
        self, solver: Solver | None = None, *, linkage: Linkage | None = None, start: Array | None = None
    ) -> Tracker:
        """A tracker like the recorded one; with another solver, linkage or start (dof,) where given.

        Raises `BadInput` if the recording does not describe one.
        """
        begin = self.start if start is None else start
        try:
            return metadata.tracker_from_dict(self._metadata.tracker, linkage or self.linkage, begin, solver)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError) as error:
            if isinstance(error, SuppleError):
                raise
            raise BadInput(f"{self.path}: its tracker cannot be made again: {str(error)[:300]}") from None

    def _new_tracker(self, text: str, tracker: Tracker, solver: Solver | None) -> tuple[Tracker, str]:
        """The tracker that replaced another during the recording, and the text of its recorded solver."""
        data = metadata.tracker_from_json(text, self._metadata.format)
        return metadata.tracker_from_dict(data, tracker.linkage, tracker.q, solver), data["solver_text"]

    def __repr__(self) -> str:
        return f"<Recording {os.fspath(self.path)!r}: {self.linkage.name}, {', '.join(self.links)}, {self.solver}>"
