"""Tables: poses for joint values and joint values for poses, over folders of Parquet files, in bounded memory."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from supple import jobs, models

arm, link = models.panda(), "panda_hand_tcp"
folder = Path(tempfile.mkdtemp())
(folder / "episodes").mkdir()

# two files with ten episodes each: smooth joint motion at 30 frames a second, and a column that the jobs do not use
time = np.arange(200)[:, None] / 30
rng = np.random.default_rng(0)
for number in range(2):
    phase = rng.uniform(0, 6, (10, 1, arm.dof))
    q = arm.rest + 0.2 * (np.sin(0.8 * time + phase) - np.sin(phase))
    q = arm.clamp(q.reshape(-1, arm.dof))
    q[17, 3] = np.nan  # a sensor that failed
    table = {
        "episode_index": np.repeat(np.arange(10), 200),
        "q": pa.FixedSizeListArray.from_arrays(pa.array(q.ravel()), arm.dof),
        "note": [f"frame {i}" for i in range(len(q))],
    }
    pq.write_table(pa.table(table), folder / "episodes" / f"{number}.parquet")

# joints to poses: what would be done, and what was
job = jobs.forward(arm, folder / "episodes", folder / "poses", joints="q", link=link, pose="ee_pose")
print(f"{job.plan().rows:,} rows, adds {', '.join(job.plan().adds)}")
print(job.run().counts)

# poses to joints: each row on its own, then continuous within each episode
options = {"pose": "ee_pose", "joints": "found", "link": link, "prefix": "ik_"}
for name, job in {
    "row by row": jobs.solve(arm, folder / "poses", folder / "solved", **options),
    "continuous": jobs.path(arm, folder / "poses", folder / "paths", rate=30, **options),
}.items():
    done = job.run()
    result = pq.read_table(Path(job.target) / "0.parquet")
    found = np.array(result["found"].to_pylist())
    steps = np.abs(np.diff(found.reshape(10, 200, -1)[1:], axis=1)).max()  # the first episode has the bad row
    print(f"{name}: {done.succeeded:,} of {done.rows:,} arrived, largest step between frames {steps:.3f} rad")

# a second run has nothing to do: finished files are kept
again = job.run()
print(f"{again.made} made, {again.kept} kept")
