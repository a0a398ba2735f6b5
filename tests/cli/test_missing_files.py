"""A file that does not exist ends every command in the same way."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import invoke, refused

COMMANDS = [
    "show none.urdf",
    "fk none.urdf",
    "solve none.urdf --position 1 0 0",
    "solve planar3 --goals none.csv",
    "table solve none.urdf none.csv out.csv --pose p",
    "table solve planar3 none.csv out.csv --pose p",
    "table solve planar3 none.parquet out.parquet --pose p",
    "path none.csv --robot planar3",
    "path none.npz --robot planar3",
    "path none.csv --robot none.urdf",
    "view none.bvh",
    "teleop none.urdf",
    "convert none.bvh out.glb",
    "convert none.glb out.csv",
    "convert none.npz out.glb --linkage panda",
    "convert none.csv out.glb --linkage panda",
    "convert none.urdf out.glb",
    "convert none.npz out.glb --linkage none.urdf",
    "replay none.parquet",
    "replay none.csv",
    "gauntlet none.urdf",
    "retarget none.bvh --to puppet",
    "retarget none.glb --to puppet",
    "retarget none.bvh --to none.urdf",
    "animate none.json",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_does_not_exist_is_wrong_usage(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(invoke(*command.split()), 2, "none")
    assert not list(tmp_path.iterdir())


def test_a_map_that_does_not_exist_is_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke("convert", "human", "human.glb").exit_code == 0
    refused(invoke("retarget", "human.glb", "--to", "g1", "--map", "none.json"), 2, "none.json")
