"""Threads that cannot start, or that fail, cost no rows and no process."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits memory with Linux's RLIMIT_AS")

PROGRAM = """
import resource
import numpy as np
import supple

arm = supple.models.panda()
q = arm.random(200_000, seed=0)
expected = arm.frame(q[::1000], "panda_hand_tcp").matrix
solver = supple.Solver()
goals = supple.Goal("panda_hand_tcp", arm.frame(q[:20_000], "panda_hand_tcp"))
size = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (size + {room} * 2**20, -1))
try:
    frames = arm.frame(q, "panda_hand_tcp").matrix
    assert np.array_equal(frames[::1000], expected)
    found = solver.solve(arm, goals)
    assert found.arrived.all()
    print("done")
except MemoryError:
    print("MemoryError")
"""


@pytest.mark.slow
@pytest.mark.parametrize("room", [4, 64, 150, 400])
def test_too_little_memory_for_64_threads_is_no_crash(room):
    """Fewer threads do the work, or MemoryError is raised; the process lives."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(room=room)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SUPPLE_THREADS": "64"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() in ("done", "MemoryError")


WITHOUT_THREADS = """
import os
import pathlib
import resource
import tempfile
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import supple
from supple import Goal, Solver, jobs

arm, link = supple.models.panda(), "panda_hand_tcp"
q = arm.random(40_000, seed=0)
folder = pathlib.Path(tempfile.mkdtemp())
folder.chmod(0o777)
values = pa.FixedSizeListArray.from_arrays(pa.array(q[:200].reshape(-1)), 8)
pyarrow.parquet.write_table(pa.table({"q": values}), folder / "in.parquet")


def everything(count):
    space = supple.reachable(arm, link, samples=count, progress=False)
    path = supple.solve_path(arm, Goal(link, arm.frame(np.linspace(arm.rest, arm.rest + 0.1, 20), link)))
    found = supple.solve(arm, Goal(link, arm.frame(q[: count // 10], link)))
    arms = Solver().track(arm, link, start=q[:500]).step(arm.frame(q[500:1000], link), 0.01)
    made = folder / f"out{threading.active_count()}{os.getuid()}"
    jobs.forward(arm, folder / "in.parquet", made, joints="q", link=link).run(progress=False)
    table = pyarrow.parquet.read_table(next(made.glob("*.parquet"))).column("pose").to_pylist()
    return [space.counts, path.q, found.q, arms.q, arm.frame(q, link).matrix, np.array(table)]


expected = everything(20_000)  # also imports what it needs: the next user may not be able to read it
if os.getuid() == 0:
    os.setgid(54321)  # limits do not hold for the superuser
    os.setuid(54321)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
try:
    threading.Thread(target=int).start()
    print("threads start nevertheless")
except RuntimeError:
    for found, wanted in zip(everything(20_000), expected, strict=True):
        assert np.array_equal(found, wanted)
    print("done")
"""


@pytest.mark.slow
def test_where_no_thread_can_start_the_results_are_the_same():
    pytest.importorskip("pyarrow", reason="jobs need pyarrow")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THREADS],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SUPPLE_THREADS": "16"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    if done.stdout.strip() == "threads start nevertheless":
        pytest.skip("RLIMIT_NPROC does not hold here")
    assert done.stdout.strip() == "done"
