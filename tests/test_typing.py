"""Typical user code passes `mypy --strict`, runs, and the options are typed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import supple
from supple.solver import Solver, SolverOptions

HERE = Path(__file__).parent
PACKAGE = Path(supple.__file__).parent
WRONG = """
import supple
arm = supple.models.panda()
goal = supple.Goal("panda_hand_tcp", position=[0.4, 0, 0.5])
supple.solve(arm, goal, iteratons=50)
supple.solve(arm, goal, max_iterations="many")
supple.Solver(damping=[1])
found = supple.solve(arm, goal)
found.outcome.nmae
found.arrived.al()
supple.Interrupted(found).found.qq
"""


@pytest.mark.slow
def test_mypy_accepts_typical_user_code_and_finds_mistakes(tmp_path: Path) -> None:
    """One run for both files: it reads the whole package."""
    pytest.importorskip("mypy")
    good, wrong = HERE / "typing" / "user_code.py", tmp_path / "wrong.py"
    wrong.write_text(WRONG, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "--cache-dir", os.devnull]
    environment = os.environ | {"MYPYPATH": str(PACKAGE.parent)}
    ran = subprocess.run(
        [*command, str(good), str(wrong)], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )
    said = [line for line in ran.stdout.splitlines() if ": error:" in line]
    assert [line for line in said if "wrong.py" not in line.split(":")[0]] == [], ran.stdout + ran.stderr
    assert {int(line.split(":")[1]) for line in said} == {5, 6, 7, 9, 10, 11}, ran.stdout + ran.stderr


def test_typical_user_code_runs() -> None:
    ran = subprocess.run(
        [sys.executable, str(HERE / "typing" / "user_code.py")], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_the_typed_options_are_the_fields_of_a_solver() -> None:
    assert list(SolverOptions.__annotations__) == list(Solver.__dataclass_fields__)
    for name, kind in SolverOptions.__annotations__.items():
        forward = getattr(kind, "__forward_arg__", kind)
        assert forward == Solver.__dataclass_fields__[name].type, name
