"""Episodes of a table: consecutive rows with the same value of one column, several whole episodes at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.errors import BadInput
from supple.frame import Array
from supple.jobs.arrow_arrays import arrow, decoded

if TYPE_CHECKING:
    from supple.jobs.layout import Layout

CHUNK_ROWS = 1 << 14
"""Whole episodes are collected until they have this number of rows."""


@dataclass
class Episodes:
    """Some whole episodes, as rows in their order."""

    numbers: dict[str, Array]
    """The numbers (rows, n) of each part of the poses."""
    times: Array | None
    """Times (rows,) in seconds, if the table has them."""
    offsets: Any
    """Where each episode begins (episodes + 1,), and the number of rows."""
    first: int
    """The row of the table that they begin with."""


def whole_episodes(layout: Layout, batches: Iterable[Any]) -> Iterator[Episodes]:
    """The episodes of a table, in chunks of whole ones of about `CHUNK_ROWS` rows.

    Raises `BadInput` where an episode comes again after another: its rows must stand together.
    """
    runs = _Runs(layout)
    parts: list[tuple[dict[str, Array], Array | None]] = []
    begins: list[int] = []  # in rows of the parts
    rows = before = 0
    for batch in batches:
        begins += (rows + runs.begins(batch)).tolist()
        parts.append((layout.poses(batch), layout.times(batch)))
        rows += batch.num_rows
        if rows >= CHUNK_ROWS and begins[-1] > 0:
            cut = begins[-1]
            numbers, times = _joined(parts)
            offsets = np.array(begins)
            when = None if times is None else times[:cut]
            yield Episodes({k: v[:cut] for k, v in numbers.items()}, when, offsets, before)
            before += cut
            rest = {k: v[cut:].copy() for k, v in numbers.items()}
            parts = [(rest, None if times is None else times[cut:].copy())]
            begins, rows = [0], rows - cut
    if rows:
        yield Episodes(*_joined(parts), np.append(begins, rows).astype(int), before)


def _joined(parts: list[tuple[dict[str, Array], Array | None]]) -> tuple[dict[str, Array], Array | None]:
    numbers = {name: np.concatenate([part[name] for part, _ in parts]) for name in parts[0][0]}
    times = [time for _, time in parts if time is not None]
    return numbers, np.concatenate(times) if times else None


class _Runs:
    """Finds where the episode changes, from batch to batch."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._last: Any = None
        self._seen: dict[Any, int] = {}
        self._row = 0

    def begins(self, batch: Any) -> Any:
        """The rows of a batch at which an episode begins."""
        column = self._layout.episode
        if column is None:
            begin = np.zeros(1 if self._row == 0 else 0, dtype=np.int64)
            self._row += batch.num_rows
            return begin
        import pyarrow.compute as compute

        values = batch.column(batch.schema.names.index(column))
        values = decoded(values)
        before, after = values.slice(0, len(values) - 1), values.slice(1)
        same = compute.or_kleene(compute.equal(before, after), compute.and_(before.is_null(), after.is_null()))
        changes = 1 + np.flatnonzero(~same.fill_null(False).to_numpy(zero_copy_only=False))
        first = values[0].as_py()
        begins = changes if self._row and first == self._last else np.append(0, changes)
        for row, value in zip(begins.tolist(), values.take(arrow().array(begins)).to_pylist(), strict=True):
            if value in self._seen:
                raise BadInput(
                    f"{self._layout.table.path}: episode {value!r} begins again at row {self._row + row}, after it "
                    f"began at row {self._seen[value]}; the rows of an episode must stand together: sort by {column!r}"
                )
            self._seen[value] = self._row + row
        self._last = values[len(values) - 1].as_py()
        self._row += batch.num_rows
        return begins
