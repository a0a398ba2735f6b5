"""Completes a LeRobot dataset: other files, statistics of the new features, episodes, and meta/info.json last."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.errors import BadInput
from supple.frame import Array
from supple.jobs import arrow_arrays, lerobot
from supple.jobs.arrow_arrays import arrow
from supple.jobs.files import Files
from supple.jobs.layout import Layout
from supple.jobs.receipts import write_json
from supple.jobs.tables import Table, TableWriter
from supple.write import atomic

if TYPE_CHECKING:
    from supple.jobs.job import Job

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
Statistics = dict[str, dict[str, list[float]]]
"""Statistics by the name of a feature and of the statistic; each has one number for each entry."""


def write_meta(job: Job, files: Files) -> None:
    """Complete a dataset whose data files are made: other files, episodes, statistics, and meta/info.json last."""
    source, target = Path(os.fspath(job.source)), Path(job.target)  # type: ignore[arg-type]
    data = lerobot.info(source)
    layout = Layout(job, Table(files.entries[0].source))
    added = lerobot.features(layout)
    by_episode = _all_statistics(files, list(added))
    _copy_others(source, target)
    for place in sorted((source / lerobot.EPISODES).rglob("*.parquet")):
        _write_episodes(place, target / place.relative_to(source), by_episode, added)
    stats = source / lerobot.STATS
    if stats.is_file():
        known = json.loads(stats.read_text(encoding="utf-8"))
        write_json(target / lerobot.STATS, {**known, **_aggregated(list(by_episode.values()), added)}, 4)
    write_json(target / lerobot.INFO, {**data, "features": {**data["features"], **added}}, 4)


def _copy_others(source: Path, target: Path) -> None:
    """Copy what the job does not change, such as videos and tasks; a copy of the same size and time is kept."""
    for place in lerobot.others(source, target):
        copy, now = target / place.relative_to(source), place.stat()
        if copy.is_file() and (copy.stat().st_size, copy.stat().st_mtime_ns) == (now.st_size, now.st_mtime_ns):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        with atomic.replacing(copy) as new:
            shutil.copy2(place, new)


# -- statistics -------------------------------------------------------------------------------------------------------


def _all_statistics(files: Files, names: list[str]) -> dict[int, Statistics]:
    """The statistics of each episode of a dataset; raises `BadInput` if the rows of one do not stand together."""
    made: dict[int, Statistics] = {}
    found: dict[int, Path] = {}
    for entry in files.entries:
        for episode, values in _episodes(entry.target, names):
            if episode in found:
                raise BadInput(
                    f"{entry.source}: episode {episode} is also in {found[episode]}; the rows of an episode must stand "
                    "together in one file"
                )
            found[episode] = entry.source
            made[episode] = {name: _statistics(rows) for name, rows in values.items()}
    return made


def _episodes(place: Path, names: list[str]) -> Iterator[tuple[int, dict[str, Array]]]:
    """The episodes of a data file, with the numbers (frames, n) of some columns."""
    table = Table(place)
    sizes = {name: arrow_arrays.list_size(table.schema.field(name).type) or 1 for name in names}
    index = np.empty(0)
    rows = {name: np.empty((0, size)) for name, size in sizes.items()}
    for batch in table.batches([*names, "episode_index"]):
        columns = batch.schema.names
        index = np.append(index, arrow_arrays.numbers(batch.column(columns.index("episode_index")), 1)[:, 0])
        for name, size in sizes.items():
            column = batch.column(columns.index(name))
            column = column.cast(arrow().int8()) if arrow().types.is_boolean(column.type) else column
            rows[name] = np.concatenate([rows[name], arrow_arrays.numbers(column, size)])
        begins = np.append(0, 1 + np.flatnonzero(np.diff(index)))
        for first, last in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
            yield int(index[first]), {name: values[first:last] for name, values in rows.items()}
        left = int(begins[-1])  # the last episode may go on in the next batch
        index, rows = index[left:], {name: values[left:] for name, values in rows.items()}
    if len(index):
        yield int(index[0]), rows


def _statistics(rows: Array) -> dict[str, list[float]]:
    """The statistics of numbers (frames, n) as LeRobot has them; rows that are not finite do not count."""
    good = np.isfinite(rows).all(axis=1)
    ordered = np.sort(rows if good.all() else rows[good], axis=0)
    count = len(ordered)
    if not count:
        nothing = [float("nan")] * rows.shape[1]
        return {**dict.fromkeys(("min", "max", "mean", "std", *QUANTILES), nothing), "count": [0]}
    made = {"min": ordered[0], "max": ordered[-1], "mean": ordered.mean(axis=0), "std": ordered.std(axis=0)}
    made |= {name: ordered[max(int(np.ceil(part * count)) - 1, 0)] for name, part in QUANTILES.items()}
    return {**{name: value.tolist() for name, value in made.items()}, "count": [count]}


def _aggregated(episodes: list[Statistics], added: dict[str, Any]) -> Statistics:
    """The statistics of all episodes; quantiles are the means of those of the episodes, as in LeRobot."""
    made: Statistics = {}
    for name in added:
        several = [episode[name] for episode in episodes if episode[name]["count"][0]]
        if not several:
            continue
        counts = np.array([each["count"] for each in several], dtype=float)
        total = counts.sum()
        stacked = {key: np.array([each[key] for each in several]) for key in several[0] if key != "count"}
        mean = (stacked["mean"] * counts).sum(axis=0) / total
        variance = ((stacked["std"] ** 2 + (stacked["mean"] - mean) ** 2) * counts).sum(axis=0) / total
        made[name] = {
            "min": stacked["min"].min(axis=0).tolist(),
            "max": stacked["max"].max(axis=0).tolist(),
            "mean": mean.tolist(),
            "std": np.sqrt(variance).tolist(),
            "count": [int(total)],
            **{key: ((stacked[key] * counts).sum(axis=0) / total).tolist() for key in QUANTILES},
        }
    return made


def _write_episodes(source: Path, target: Path, episodes: dict[int, Statistics], added: dict[str, Any]) -> None:
    """A file of meta/episodes with the statistics of the added features, in columns as LeRobot names them."""
    pa = arrow()
    table = Table(source)
    if "episode_index" not in table.schema.names:
        raise BadInput(f"{source}: it has no column 'episode_index'")
    schema = table.schema
    keys = [(name, key) for name in added for key in ("min", "max", "mean", "std", "count", *QUANTILES)]
    for name, key in keys:
        schema = schema.append(
            pa.field(f"stats/{name}/{key}", pa.list_(pa.int64() if key == "count" else pa.float64()))
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic.replacing(target) as new, TableWriter(new, schema, "parquet") as writer:
        for batch in table.batches():
            rows = batch.column(batch.schema.names.index("episode_index")).to_pylist()
            lost = [row for row in rows if row not in episodes]
            if lost:
                raise BadInput(f"{source}: episode {lost[0]} is in no data file")
            columns = [
                pa.array([episodes[row][name][key] for row in rows], schema.field(f"stats/{name}/{key}").type)
                for name, key in keys
            ]
            writer.write(pa.RecordBatch.from_arrays([*batch.columns, *columns], schema=schema))
