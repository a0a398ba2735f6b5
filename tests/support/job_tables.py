"""Small tables for the tests of jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from supple import Frame, models

ARM = models.panda()
LINK = "panda_hand_tcp"
FRAMES = 40


def motion(episodes: int, seed: int = 0, frames: int = FRAMES) -> np.ndarray:
    """Smooth joint values (episodes * frames, 8) well within the limits."""
    rng = np.random.default_rng(seed)
    time = np.arange(frames)[:, None] / 30
    low, high = ARM.lower, ARM.upper
    middle = (low + high) / 2 + (high - low) * rng.uniform(-0.2, 0.2, (episodes, 1, 8))
    rate, phase = rng.uniform(0.1, 0.4, (episodes, 1, 8)), rng.uniform(0, 6, (episodes, 1, 8))
    return (middle + 0.15 * (high - low) * np.sin(2 * np.pi * rate * time + phase)).reshape(-1, 8)


def lists(values: Any, kind: str = "fixed") -> pa.Array:
    """Numbers (rows, n) as an Arrow column of lists."""
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    size = np.shape(values)[1]
    if kind == "fixed":
        return pa.FixedSizeListArray.from_arrays(flat, size)
    offsets = np.arange(0, len(flat) + 1, size)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)


def poses(q: np.ndarray) -> Frame:
    """The poses of the end effector."""
    return ARM.frame(q, LINK)


def seven(q: np.ndarray, order: str = "wxyz") -> np.ndarray:
    """Poses as position and quaternion (rows, 7)."""
    frames = poses(q)
    return np.concatenate([frames.position, frames.to_quaternion(order)], axis=1)


def joint_table(episodes: int = 3, seed: int = 0) -> pa.Table:
    """A table with joint values, poses, episodes and a note."""
    q = motion(episodes, seed)
    rows = len(q)
    return pa.table(
        {
            "episode_index": np.repeat(np.arange(episodes), FRAMES),
            "note": [f"row {i}" for i in range(rows)],
            "joints": lists(q),
            "ee": lists(seven(q)),
        }
    )


def write(folder: Path, tables: dict[str, pa.Table], **options: Any) -> Path:
    """Parquet files of some tables in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, folder / name, **options)
    return folder


def numbers(table: pa.Table, name: str) -> np.ndarray:
    """The numbers (rows, n) of a column of lists."""
    column = table[name].combine_chunks()
    return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of all files below a folder, but for the job's own."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".supple-job" not in path.as_posix()
    }
