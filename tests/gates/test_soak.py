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


def test_a_leak_is_seen(capsys):
    kept = []
    assert not soak.soak("a leak", 40_000, lambda count: kept.extend(bytes(1000) for _ in range(count)))
    assert "GROWS" in capsys.readouterr().out
