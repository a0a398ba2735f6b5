"""Memory stays flat over many calls: the short form of benchmarks/soak.py."""

import subprocess
import sys
from pathlib import Path

import pytest
import soak

SCRIPT = Path(soak.__file__)


@pytest.mark.gate
def test_memory_stays_flat():
    ran = subprocess.run([sys.executable, SCRIPT, "--quick"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count(" flat\n") == 4


LEAK = """
import soak
kept = []
raise SystemExit(soak.soak("a leak", 40_000, lambda count: kept.extend(bytes(1000) for _ in range(count))))
"""


def test_a_leak_is_seen():
    """In a process of its own: memory that others have freed would hide the leak."""
    ran = subprocess.run([sys.executable, "-c", LEAK], cwd=SCRIPT.parent, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "GROWS" in ran.stdout
