"""A small LeRobot dataset (v3) for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from job_tables import ARM, lists, motion

LENGTHS = (20, 25, 30, 12)
"""Frames of each episode."""


def dataset(root: Path, spoil: bool = False, more: Mapping[str, np.ndarray] | None = None) -> Path:
    """A dataset as LeRobot 0.6 writes it: two data files, one row group for each episode.

    ``more`` are further features, with rows (frames, n) for all episodes.
    """
    feature = {"dtype": "float32", "shape": [8], "names": list(ARM.names)}
    plain = {
        name: {"dtype": "int64", "shape": [1], "names": None} for name in ("frame_index", "episode_index", "index")
    }
    features = {"observation.state": feature, "timestamp": {"dtype": "float32", "shape": [1], "names": None}, **plain}
    for name, values in (more or {}).items():
        features[name] = {"dtype": "float32", "shape": [values.shape[1]], "names": None}
    (root / "meta/episodes/chunk-000").mkdir(parents=True)
    (root / "data/chunk-000").mkdir(parents=True)
    (root / "videos").mkdir()
    (root / "videos/clip.mp4").write_bytes(b"film")
    listed, first = [], 0
    writers = {}
    noted = {"info": {"features": {"index": {"dtype": "int64", "_type": "Value"}}}}
    for episode, length in enumerate(LENGTHS):
        q = motion(1, episode, length).astype(np.float32)
        if spoil and episode == 1:
            q[4] = np.nan
        table = pa.table(
            {
                **{name: lists(rows[first : first + length]) for name, rows in (more or {}).items()},
                "observation.state": lists(q),
                "timestamp": (np.arange(length) / 30).astype(np.float32),
                "frame_index": np.arange(length),
                "episode_index": np.full(length, episode),
                "index": np.arange(first, first + length),
            }
        ).replace_schema_metadata({"huggingface": json.dumps(noted)})
        file = episode // 2
        place = root / f"data/chunk-000/file-{file:03d}.parquet"
        if file not in writers:
            writers[file] = pq.ParquetWriter(place, table.schema)
        writers[file].write_table(table)
        listed.append(
            {
                "episode_index": episode,
                "tasks": ["reach"],
                "length": length,
                "data/chunk_index": 0,
                "data/file_index": file,
                "dataset_from_index": first,
                "dataset_to_index": first + length,
            }
        )
        first += length
    for writer in writers.values():
        writer.close()
    pq.write_table(pa.Table.from_pylist(listed), root / "meta/episodes/chunk-000/file-000.parquet")
    pq.write_table(pa.table({"task_index": [0], "task": ["reach"]}), root / "meta/tasks.parquet")
    info = {"codebase_version": "v3.0", "fps": 30, "features": features, "total_frames": first, "total_episodes": 4}
    (root / "meta/info.json").write_text(json.dumps(info))
    (root / "meta/stats.json").write_text(json.dumps({"timestamp": {"min": [0.0]}}))
    return root
