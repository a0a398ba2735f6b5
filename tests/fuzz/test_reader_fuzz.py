"""Fuzz: whatever is changed in a file, each reader gives a result or a `SuppleError`, in bounded memory and time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, os.path.dirname(__file__))
readers = pytest.importorskip("readers", reason="the readers that are fuzzed need the extras")
CHANGE = st.tuples(
    st.floats(0, 1), st.integers(0, len(readers.ODD) + 3), st.sampled_from([0, 1, 2, 8, 100]), st.floats(0, 1)
)
HERE = [name for name in readers.READERS if name not in readers.IN_A_PROCESS]
NEEDS = {"recording": "pyarrow", "xacro": "xacrodoc", "mjcf": "mujoco", "mesh": "trimesh"}


@pytest.fixture
def little_memory() -> Iterator[None]:
    lift = readers.limit_memory()
    yield
    lift()


@pytest.mark.parametrize("target", readers.READERS)
def test_the_seeds_themselves_are_read(target: str, tmp_path: Path) -> None:
    pytest.importorskip(NEEDS.get(target, "supple"))
    for ending, data in readers.seeds(target):
        file = tmp_path / f"a{ending}"
        file.write_bytes(data)
        if target == "mjcf":
            os.symlink(readers.DATA / "pkg_arm", tmp_path / "pkg_arm")
        if target != "xacro" or b"<xacro:arg" in data:
            if target == "xacro":
                for part in (readers.DATA / "pkg_arm" / "urdf").glob("*.xacro"):
                    (tmp_path / part.name).write_bytes(part.read_bytes())
            readers.READERS[target](file)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("target", HERE)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(which=st.integers(0, 7), changes=st.lists(CHANGE, min_size=1, max_size=5))
def test_changed_files_are_read_or_refused(
    target: str, tmp_path: Path, which: int, changes: list[tuple[float, int, int, float]]
) -> None:
    pytest.importorskip(NEEDS.get(target, "supple"))
    kinds = readers.seeds(target)
    ending, data = kinds[which % len(kinds)]
    readers.obey(target, ending, readers.changed(data, changes), tmp_path)


def run(target: str, seed: int, count: int, seconds: int) -> None:
    done = subprocess.run(
        [sys.executable, readers.__file__, target, str(seed), str(count)],
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]


@pytest.mark.parametrize("target", readers.IN_A_PROCESS)
def test_changed_files_of_native_readers(target: str) -> None:
    pytest.importorskip(NEEDS[target])
    run(target, 0, 20, 300)


@pytest.mark.gate
@pytest.mark.parametrize("target", readers.READERS)
@pytest.mark.parametrize("seed", range(3))
def test_very_many_changed_files(target: str, seed: int) -> None:
    pytest.importorskip(NEEDS.get(target, "supple"))
    run(target, 1000 + seed, 1500, 3600)
