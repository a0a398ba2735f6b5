"""The tables that the commands on the pages of the docs read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from job_tables import joint_table, lists, motion, seven, write
from lerobot_dataset import LENGTHS, dataset
from supple import models


def write_all(folder: Path) -> None:
    """Write them into a folder."""
    table = joint_table(2)
    write(folder / "episodes", {"a.parquet": table.rename_columns(["episode_index", "note", "q", "ee"])})
    write(folder / "poses", {"b.parquet": table.rename_columns(["episode_index", "note", "joints", "ee_pose"])})
    puma, ur5 = models.puma560(), models.ur5()
    frames = puma.frame(puma.random(20, seed=0), "tool")
    whole = np.concatenate([frames.position, frames.to_quaternion()], axis=1)
    write(folder / "in", {"a.parquet": pa.table({"p": lists(whole)})})
    frames = ur5.frame(ur5.random(20, seed=0), "tool0")
    write(folder, {"poses.parquet": pa.table({"p": lists(frames.position), "r": lists(frames.to_quaternion("xyzw"))})})
    rows = sum(LENGTHS)
    state = np.random.default_rng(0).uniform(-30, 30, (rows, 6)).astype(np.float32)
    poses = seven(motion(1, frames=rows)).astype(np.float32)
    dataset(folder / "my_dataset", more={"motors": state, "ee_pose": poses})
