"""Damaged arguments of every entry point of the core raise; they crash nothing and write nowhere else."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "support" / "fuzz_core.py"


def fuzz(seed, calls, log):
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(seed), str(calls), str(log)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stderr[-3000:]}\nlast call: {log.read_text()[:3000] if log.exists() else ''}"


def test_damaged_arguments_crash_nothing(tmp_path):
    fuzz(0, 600, tmp_path / "log")


@pytest.mark.gate
@pytest.mark.parametrize("seed", range(1, 11))
def test_many_damaged_arguments_crash_nothing(seed, tmp_path):
    fuzz(seed, 20_000, tmp_path / "log")
