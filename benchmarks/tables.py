"""Jobs over a table of 10,000 episodes of 300 frames (Panda, Parquet): rows/s, memory, arrived rows and jumps.

    python benchmarks/tables.py [--episodes N] [--files N] [--only forward,solve] [--folder DIR] [--json FILE]

The table holds smooth joint motion within the limits of position and speed, from one seed. "forward" adds poses; the
others take these poses. Each work runs in a process of its own. CPU time is of all threads together: on a busy machine
rows per CPU second times the number of cores is what an idle one would do. Memory is the largest resident set of the
process, with pyarrow. A jump is a change of a joint beyond its speed limit, or above 0.3 rad, between two frames of an
episode that are not marked as reconfigured.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from supple import jobs, models
from supple._table import text_table

LINK = "panda_hand_tcp"
FRAMES = 300
RATE = 30.0
BARS = {"forward": 1_000_000, "solve": 600_000, "path": 100_000}  # rows/s on two cores
MEMORY = 500  # MB


def motion(episodes: int, seed: int) -> np.ndarray:
    """Joint values (episodes, FRAMES, 8): three sines for each joint, within 90 % of its range and half its speed."""
    arm = models.panda()
    rng = np.random.default_rng(seed)
    time = np.arange(FRAMES) / RATE
    frequency = rng.uniform(0.05, 0.3, (episodes, 3, 1, 8))
    phase = rng.uniform(0, 2 * np.pi, (episodes, 3, 1, 8))
    share = rng.uniform(0, 1, (episodes, 3, 1, 8))
    share /= share.sum(axis=1, keepdims=True)
    wave = (share * np.sin(2 * np.pi * frequency * time[:, None] + phase)).sum(axis=1)
    middle, half = (arm.lower + arm.upper) / 2, (arm.upper - arm.lower) / 2
    centre = middle + half * rng.uniform(-0.4, 0.4, (episodes, 1, 8))
    q = centre + 0.5 * half * wave
    fastest = np.abs(np.diff(q, axis=1)).max(axis=(1,), keepdims=True) * RATE
    slower = np.minimum(1, 0.5 * arm.speed / np.maximum(fastest, 1e-9))
    return centre + (q - centre) * slower


def make_table(folder: Path, episodes: int, files: int) -> None:
    """Write the table as some files of whole episodes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    for number, part in enumerate(np.array_split(np.arange(episodes), files)):
        q = motion(len(part), number).reshape(-1, 8)
        columns = {
            "observation.state": pa.FixedSizeListArray.from_arrays(pa.array(q.ravel()), 8),
            "timestamp": np.tile((np.arange(FRAMES) / RATE).astype(np.float32), len(part)),
            "frame_index": np.tile(np.arange(FRAMES), len(part)),
            "episode_index": np.repeat(part, FRAMES),
        }
        pq.write_table(pa.table(columns), folder / f"file-{number:03d}.parquet")


def work(name: str, folder: Path) -> dict[str, Any]:
    """Run one work in this process; what it did."""
    arm = models.panda()
    if name == "forward":
        job = jobs.forward(arm, folder / "table", folder / name, joints="observation.state", pose="ee_pose", link=LINK)
    else:
        options: Any = {"pose": "ee_pose", "joints": "q", "link": LINK, "prefix": "ik_"}
        if name != "solve":
            options["rate"] = RATE
        job = getattr(jobs, name)(arm, folder / "forward", folder / name, **options)
    result = job.run()
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "rows": result.rows,
        "seconds": result.seconds,
        "cpu": used.ru_utime + used.ru_stime,
        "memory": used.ru_maxrss / 1024 / (1024 if sys.platform == "darwin" else 1),
        "outcomes": dict(result.counts),
        "reconfigured": result.reconfigured,
    }


def jumps(folder: Path) -> tuple[int, int]:
    """Episodes with a jump that is not marked, and marked rows that do not jump either."""
    import pyarrow.parquet as pq

    arm = models.panda()
    most = np.minimum(arm.speed / RATE * 1.0001, 0.3)
    jumping = 0
    for file in sorted(folder.glob("*.parquet")):
        table = pq.read_table(file)
        q = table["q"].combine_chunks().flatten().to_numpy().reshape(-1, 8)
        episode = table["episode_index"].to_numpy()
        names = table.column_names
        marked = table["ik_reconfigured"].to_numpy() if "ik_reconfigured" in names else np.zeros(len(q), dtype=bool)
        jump = (np.abs(np.diff(q, axis=0)) > most).any(axis=1) & (episode[1:] == episode[:-1]) & ~marked[1:]
        jumping += len(np.unique(episode[1:][jump]))
    return jumping, 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--only", default="forward,solve,path", help="also track, which takes minutes")
    parser.add_argument("--folder", type=Path, help="keep the tables there")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        print(json.dumps(work(given.work, given.folder)))
        return
    folder = given.folder or Path(tempfile.mkdtemp(prefix="tables-"))
    try:
        if not (folder / "table").exists():
            make_table(folder / "table", given.episodes, given.files)
        rows = [["work", "rows/s", "rows/CPU s", "bar, 2 cores", "MB", "arrived", "jumping episodes", "reconfigured"]]
        found = {}
        for name in given.only.split(","):
            shutil.rmtree(folder / name, ignore_errors=True)
            command = [sys.executable, __file__, "--work", name, "--folder", os.fspath(folder)]
            one = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            done = one["rows"] - sum(one["outcomes"].values()) + next(iter(one["outcomes"].values()))
            one["jumps"] = jumps(folder / name)[0] if name != "forward" else None
            found[name] = one
            rows.append(
                [
                    name,
                    f"{one['rows'] / one['seconds']:,.0f}",
                    f"{one['rows'] / one['cpu']:,.0f}",
                    f"{BARS[name]:,}" if name in BARS else "",
                    f"{one['memory']:.0f}",
                    f"{100 * done / one['rows']:.4f} %",
                    "" if one["jumps"] is None else f"{one['jumps']:,}",
                    f"{one['reconfigured']:,}",
                ]
            )
        print("\n".join(text_table(rows, "<>>>>>>>")))
        if given.json:
            given.json.write_text(json.dumps(found, indent=1))
    finally:
        if given.folder is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
