"""Every allocation of the core may fail: the call raises MemoryError, and the process lives."""

import os
import shutil
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or not shutil.which("c++"),
        reason="replaces operator new by LD_PRELOAD, with a compiler",
    ),
]

FAILING_NEW = r"""
#include <atomic>
#include <cstdlib>
#include <new>
static std::atomic<long> left{-1};
extern "C" void fail_after(long count) { left = count; }
extern "C" bool has_failed() { return left == -2; }
static void *take(std::size_t size) {
  if (left >= 0 && left.fetch_sub(1) == 0) {
    left = -2;
    throw std::bad_alloc();
  }
  void *found = std::malloc(size ? size : 1);
  if (!found)
    throw std::bad_alloc();
  return found;
}
void *operator new(std::size_t size) { return take(size); }
void *operator new[](std::size_t size) { return take(size); }
void operator delete(void *p) noexcept { std::free(p); }
void operator delete[](void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }
void operator delete[](void *p, std::size_t) noexcept { std::free(p); }
"""

PROGRAM = """
import ctypes
import os
import numpy as np
from supple import Goal, Solver, damping, method, models

injected = ctypes.CDLL(os.environ["LD_PRELOAD"])
injected.has_failed.restype = ctypes.c_bool
arm, link = models.panda(), "panda_hand_tcp"
q = arm.random(40_000, seed=0)
frames = arm.frame(q, link)
some = Goal(link, frames.matrix[:600])
trackers = [Solver().track(arm, link), Solver().track(arm, link, start=q[:600])]
find, damped = Solver().compile(arm, link), Solver(method=method.damped())
schemes = Solver(method=method.damped(), damping=damping.limits())
calls = {
    "frame": lambda: arm.frame(q, link),
    "jacobian": lambda: arm.jacobian(q[:5000], link),
    "compile": lambda: (arm.__dict__.pop("_plans", None), Solver().compile(arm, link)),
    "compile local": lambda: (arm.__dict__.pop("_plans", None), schemes.solve(arm, Goal(link, frames.matrix[0]))),
    "find": lambda: find(frames.matrix[0]),
    "solve": lambda: Solver().solve(arm, some),
    "damped": lambda: damped.solve(arm, some),
    "track": lambda: Solver().track(arm, link),
    "step": lambda: trackers[0].step(frames.matrix[0], 0.01, stamp=1.0, measured=q[0]),
    "step of many": lambda: trackers[1].step(frames.matrix[:600], 0.01),
    "replay": lambda: trackers[0].replay(frames.matrix[:10], 0.01),
}
for name, call in calls.items():
    call()
    failures = 0
    for count in range(2000):
        injected.fail_after(count)
        try:
            call()
        except MemoryError as error:
            assert "std::" not in str(error), error
        failed = injected.has_failed()
        injected.fail_after(-1)
        failures += failed
        if not failed:
            break
    call()
    print(name, failures)
"""


def test_an_allocation_that_fails_is_a_memory_error(tmp_path):
    source, library = tmp_path / "failing_new.cpp", tmp_path / "failing_new.so"
    source.write_text(FAILING_NEW)
    subprocess.run(["c++", "-O1", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LD_PRELOAD": str(library), "SUPPLE_THREADS": "3"},
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    failures = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert sum(int(count) for count in failures.values()) > 50, failures
