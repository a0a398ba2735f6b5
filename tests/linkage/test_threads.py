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
