"""Every code block of the README and the docs runs alone, as pasted, and prints what the page shows."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import page_tables
import supple
from commands import invoke

sys.path.insert(0, str(Path(__file__).parent))
from pages import PAGES, blocks_of, name_of

from supple.animate.timeline_file import EXAMPLE

HERE = Path(__file__).parent
WITH_CODE = [page for page in PAGES if any(block.language == "python" for block in blocks_of(page))]
QUICK = ("README.md", "docs/index.md", "docs/linkages.md", "docs/solving.md")
SERVES = ("supple view", "supple teleop", "supple animate human")  # commands that run until Ctrl-C
ENVIRONMENT = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"}


def marked(page: Path) -> object:
    """A page as a parameter, with the marks of its test."""
    marks = [] if name_of(page) in QUICK else [pytest.mark.slow]
    return pytest.param(page, marks=marks, id=name_of(page))


@pytest.mark.parametrize("page", [marked(page) for page in WITH_CODE])
def test_each_python_block_runs_alone_and_prints_what_the_page_shows(page: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "run_blocks.py"), str(page)],
        capture_output=True,
        encoding="utf-8",
        env=ENVIRONMENT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results = {result["line"]: result for result in json.loads(done.stdout)}
    failures, missing = [], []
    for block in blocks_of(page):
        if block.language != "python" or not block.is_run:
            continue
        result, place = results[block.line], f"{name_of(page)}:{block.line}"
        if result["status"] == 3:
            missing.append(f"{place}: {result['stderr'].strip()}")
        elif result["status"] != 0:
            failures.append(f"{place} fails:\n{result['stderr']}")
        elif block.output is not None and result["stdout"] != block.output:
            failures.append(f"{place} shows\n{block.output}and prints\n{result['stdout']}")
    assert not failures, "\n\n".join(failures)
    if missing:
        pytest.skip("; ".join(missing))


def test_only_blocks_that_open_a_browser_are_not_run() -> None:
    not_run = [block for page in PAGES for block in blocks_of(page) if not block.is_run]
    assert len(not_run) <= 3
    assert all(re.search(r"view\.show\(|page\.show\(", block.code) for block in not_run)


def commands() -> list[str]:
    """Every `supple` command that the pages show and that ends by itself."""
    found = []
    for page in PAGES:
        for block in blocks_of(page):
            if block.language in ("sh", "console"):
                lines = [re.split(r"\s{2,}|\s#", line.removeprefix("$ "))[0] for line in block.code.splitlines()]
                found += [line for line in lines if re.match(r"supple \w", line)]
    return [line for line in dict.fromkeys(found) if not line.startswith(SERVES) and "<" not in line]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the commands on the pages read; drive.parquet is a short recording."""
    from supple import Frame, Solver, teleop

    pytest.importorskip("pyarrow")
    made = tmp_path_factory.mktemp("files")
    arm = supple.models.ur5()
    tracker = Solver().track(arm, "tool0", start=arm.q(elbow_joint=1.0))
    hands = (Frame.at([0, 0.001 * k, 0]) for k in range(30))
    teleop.drive(hands, teleop.Mapping(), tracker, teleop.Recorder(made / "drive.parquet", tracker))
    shutil.copy(Path(supple.__file__).parent / "data" / "panda.urdf", made / "robot.urdf")
    (made / "goals.csv").write_text("x,y,z,roll,pitch,yaw\n0.4,0,0.5,3.1416,0,0\n0.3,0.2,0.4,3.1416,0,0\n")
    rows = [f"{0.4 + 0.002 * k},{0.2 - 0.01 * k},0.3,0,1,0,0" for k in range(41)]
    (made / "seam.csv").write_text("\n".join(["x,y,z,qw,qx,qy,qz", *rows]) + "\n")
    np.savez(made / "goals.npz", position=[[0.4, 0, 0.5], [0.3, 0.2, 0.4]])
    for name, motion_of in (("walk.bvh", "human"), ("wave.npz", "panda")):
        moved = supple.models.get(motion_of)
        supple.Motion(moved, [0, 0.1], [moved.rest, moved.rest]).save(made / name)
    page_tables.write_all(made)
    for name in ("keys.json", "wave.json"):
        (made / name).write_text(EXAMPLE)
    (made / "m.json").write_text("{}")
    return made


@pytest.fixture
def folder(tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of these files, in which a command runs."""
    copied = tmp_path / "files"
    shutil.copytree(files, copied)
    monkeypatch.chdir(copied)
    return copied


def test_the_pages_show_commands() -> None:
    assert len(commands()) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("command", commands())
def test_a_command_on_a_page_runs(command: str, folder: Path) -> None:
    _, *words = shlex.split(command)
    done = invoke(*words)  # in this process: a new one takes a second, and tests/cli starts some
    differs = "replay" in command and "--solver" in command  # exit code 1: the replay differs from the recording
    assert done.exit_code == (1 if differs else 0), done.output
    assert done.stdout.strip()
