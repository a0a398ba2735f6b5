"""The command `supple figures`: files, tables, JSON, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Run, data, invoke, refused
from supple import method


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return invoke


@pytest.mark.slow
def test_figures_are_written_into_out_only_and_the_methods_are_compared(run: Run) -> None:
    pytest.importorskip("matplotlib")
    result = run("figures", "--out", "here", "--only", "5.20,5.14", "--only", "5.20", "--format", "png,svg")
    assert result.exit_code == 0, result.output
    expected = [str(Path("here", f"figure-{n}.{e}")) for n in ("5.20", "5.14") for e in ("png", "svg")]
    assert result.stdout.splitlines()[:4] == expected
    assert sorted(str(path) for path in Path().rglob("*") if path.is_file()) == sorted(expected)
    for name in method.names():
        assert f"| {name} " in result.stdout
    searches = [line for line in result.stdout.splitlines() if line.startswith("| search ")]
    assert searches
    assert all(line.count("| - ") + line.count(" - |") > 1 for line in searches), "a search has no step and no path"


def test_figures_as_json_name_their_files_and_their_tables(run: Run) -> None:
    pytest.importorskip("matplotlib")
    shown = data(run("figures", "--out", "here", "--only", "5.23", "--format", "svg", "--json"))
    assert shown["files"] == [str(Path("here", "figure-5.23.svg"))]
    assert shown["tables"][0]["title"] == "planar3 to (-20, 5)"
    rows = {row["method"]: row for row in shown["tables"][0]["rows"]}
    assert rows["inverse"]["iterations"] is None
    assert "square" in rows["inverse"]["refused"]
    assert rows["selectively_damped"]["arrived"] == 1
    assert rows["selectively_damped"]["microseconds"] > 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--only", "5.26"], 2, "did you mean"),
        (["--only", "hand"], 2, "'5.14'"),
        (["--format", "gif"], 2, "png, svg, pdf"),
        (["--format", ""], 2, "png, svg, pdf"),
        (["--out", "taken", "--only", "5.20"], 1, "taken"),
    ],
)
def test_figures_that_cannot_be_are_refused(run: Run, words: list[str], code: int, said: str) -> None:
    pytest.importorskip("matplotlib")
    Path("taken").touch()
    refused(run("figures", *words), code, said)
    assert [path.name for path in Path.cwd().iterdir()] == ["taken"]
