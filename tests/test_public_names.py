"""The public names: a snapshot of their signatures, and docstrings whose examples run alone."""

from __future__ import annotations

import doctest
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import supple
from public_api import doctested, lines

SNAPSHOT = Path(__file__).parent / "data" / "public_names.txt"


def test_the_public_names_and_signatures_are_those_of_the_snapshot() -> None:
    now = "\n".join(lines()) + "\n"
    if os.environ.get("UPDATE_PUBLIC_NAMES"):
        SNAPSHOT.write_text(now, encoding="utf-8")
    before = SNAPSHOT.read_text(encoding="utf-8")
    gone = sorted(set(before.splitlines()) - set(now.splitlines()))
    new = sorted(set(now.splitlines()) - set(before.splitlines()))
    assert (gone, new) == ([], []), (
        "the public API changed. If that is intended, run UPDATE_PUBLIC_NAMES=1 pytest tests/test_public_names.py, "
        "and list the change in CHANGELOG.md"
    )


@pytest.mark.parametrize("name", doctested())
def test_the_example_of_a_public_name_runs_alone(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = inspect.getdoc(doctested()[name]) or ""
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)


def test_every_class_and_function_of_solving_has_an_example() -> None:
    modules = (
        "damping",
        "errors",
        "goal",
        "method",
        "path_solution",
        "prefer",
        "solution",
        "solver",
        "step",
        "tracker",
    )
    homes = {f"supple.{name}" for name in modules} | {"supple._solve.compiled_solver", "supple._solve.singularity"}
    own = {name: value for name, value in doctested().items() if getattr(value, "__module__", "") in homes}
    assert len(own) > 50
    assert [name for name, value in own.items() if ">>>" not in (inspect.getdoc(value) or "")] == []


@pytest.mark.slow
def test_modules_are_attributes_after_a_plain_import(tmp_path: Path) -> None:
    names = ["analysis", "damping", "errors", "gauntlet", "method", "models", "path", "read", "step", "teleop"]
    names += ["textbook", "tracker", "view", "workspace", "write"]
    for name in names:
        code = f"import supple; print(supple.{name}.__name__)"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
        assert ran.stdout.strip() == f"supple.{name}"


def test_tab_completion_shows_public_names_only() -> None:
    shown = dir(supple)
    assert set(shown) == {*supple.__all__, "__version__"}
    for name in supple.__all__:
        assert getattr(supple, name) is not None
