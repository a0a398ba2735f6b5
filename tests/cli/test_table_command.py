"""The command `supple table`."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

pq = pytest.importorskip("pyarrow.parquet")  # an installed wheel is tested without the extras

from job_tables import LINK, contents, joint_table, write  # noqa: E402
from supple.cli import app  # noqa: E402


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["table", *map(str, words)], prog_name="supple")
    return done.exit_code, done.output


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "in", {"a.parquet": joint_table(2), "deep/b.parquet": joint_table(1)})


def test_the_help_teaches_with_three_examples():
    code, text = run("--help")
    assert code == 0
    assert text.count("\n    supple table ") == 3
    assert "Exit codes:" in text


def test_each_kind_of_work_writes_its_columns(folder, tmp_path):
    words = {
        "forward": ["--joints", "joints", "--pose", "tool"],
        "solve": ["--pose", "ee"],
        "track": ["--pose", "ee", "--rate", "30"],
        "path": ["--pose", "ee", "--rate", "30"],
    }
    added = {
        "forward": ["tool", "outcome"],
        "solve": ["q", "outcome", "position_error", "angle_error"],
        "track": ["q", "outcome", "position_error", "angle_error"],
        "path": ["q", "outcome", "position_error", "angle_error", "reconfigured"],
    }
    for work, more in words.items():
        code, text = run(work, "panda", folder, tmp_path / work, "--link", LINK, *more)
        assert code == 0, text
        assert "2 files made" in text
        assert "\ntarget  " in text
        assert "120 rows" in text
        assert sorted(contents(tmp_path / work)) == ["a.parquet", "deep/b.parquet"]
        assert pq.read_table(tmp_path / work / "a.parquet").column_names[4:] == added[work]
    code, text = run("solve", "panda", folder, tmp_path / "solve", "--link", LINK, "--pose", "ee", "--json")
    assert code == 0
    data = json.loads(text)
    assert (data["made"], data["kept"], data["outcomes"]["arrived"]) == (0, 2, 120)


def test_results_of_another_job_are_refused_in_the_spelling_of_the_command(folder, tmp_path):
    words = ["panda", folder, tmp_path / "out", "--link", LINK, "--pose", "ee", "--rate"]
    assert run("path", *words, "30")[0] == 0
    code, text = run("path", *words, "60")
    assert code == 2
    assert "(rate differs): choose another target, or give --overwrite" in text
    assert "True" not in text
    assert run("path", *words, "60", "--overwrite")[0] == 0


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(folder, tmp_path):
    code, text = run("solve", "panda", folder, tmp_path / "out", "--link", LINK, "--pose", "ee", "--dry-run")
    assert code == 0
    for words in ("2 files to make, 120 rows", "reads   ee: ", "adds    position_error: float", "deep/b.parquet"):
        assert words in text
    assert not (tmp_path / "out").exists()


def test_columns_are_split_at_commas(folder, tmp_path):
    names = "panda_joint1,panda_joint2,panda_joint3,panda_joint4,panda_joint5,panda_joint6,panda_joint7,-"
    words = ["--joints", "joints", "--names", names, "--position", "x,y,z", "--quaternion", "r", "--order", "xyzw"]
    code, text = run("forward", "panda", folder / "a.parquet", tmp_path / "out.parquet", "--link", LINK, *words)
    assert code == 0, text
    assert pq.read_table(tmp_path / "out.parquet").column_names[4:] == ["x", "y", "z", "r", "outcome"]


def test_strict_fails_where_a_row_does(folder, tmp_path):
    words = ["panda", folder, tmp_path / "out", "--link", "panda_link3", "--pose", "ee"]
    code, text = run("solve", *words)
    assert code == 0, text
    assert run("solve", *words, "--strict")[0] == 1


WRONG = {
    "no joints": (["forward", "panda"], 2, "give --joints"),
    "no pose": (["solve", "panda"], 2, "give --pose"),
    "rate": (["solve", "panda", "--pose", "ee", "--rate", "3"], 2, "--rate is only for path and track"),
    "no rate": (["track", "panda", "--pose", "ee"], 2, "track needs --rate, the rows per second"),
    "address": (["solve", "panda", "--pose", "ee", "--address", "x"], 2, "--address needs --ray"),
    "column": (["solve", "panda", "--pose", "eee"], 2, "no column 'eee'; did you mean 'ee'?"),
    "model": (["solve", "pandda", "--pose", "ee"], 2, "did you mean 'panda'"),
    "order": (["solve", "panda", "--pose", "ee", "--order", "xyz"], 2, "did you mean"),
    "format": (["solve", "panda", "--pose", "ee", "--format", "arow"], 2, "did you mean 'arrow'"),
    "names": (["forward", "panda", "--joints", "joints", "--names", "a,b,c,d,e,f,g,h"], 2, "no joint value named 'a'"),
    "taken": (["solve", "panda", "--pose", "ee", "--joints", "note"], 2, "give --joints another name"),
    "time": (["path", "panda", "--pose", "ee", "--time", "t", "--rate", "3"], 2, "give --time or --rate, not both"),
    "work": (["fly", "panda"], 2, "fly"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_usage_is_refused_with_the_exit_code(folder, tmp_path, case):
    (work, model, *more), wanted, message = WRONG[case]
    code, text = run(work, model, folder, tmp_path / "out", "--link", LINK, *more)
    assert code == wanted
    assert message in text.replace("\n", " ")
    assert not (tmp_path / "out").exists()


def test_a_target_that_cannot_be_made_is_wrong_usage(folder, tmp_path):
    (tmp_path / "file").write_text("x")
    code, text = run("solve", "panda", folder, tmp_path / "file" / "out", "--link", LINK, "--pose", "ee")
    assert code == 2
    assert "the target cannot be made" in text


def test_messages_have_the_spelling_of_the_options(folder, tmp_path):
    words = ["panda", folder / "a.parquet", tmp_path / "out.csv", "--link", LINK, "--pose", "ee"]
    code, text = run("solve", *words)
    assert code == 2
    assert "give --format csv to convert" in text
    (tmp_path / "prefix=x").mkdir()
    write(tmp_path / "prefix=x", {"a.parquet": joint_table(1).append_column("outcome", [[1] * 40])})
    code, text = run("solve", "panda", tmp_path / "prefix=x", tmp_path / "out", "--link", LINK, "--pose", "ee")
    assert code == 2
    assert "give --prefix to rename the columns that are added" in text
    assert "/prefix=x/a.parquet: the table" in text


def test_stale_results_are_named(folder, tmp_path):
    words = ["panda", folder, tmp_path / "out", "--link", LINK, "--pose", "ee", "--json"]
    assert json.loads(run("solve", *words)[1])["stale"] == []
    (folder / "deep/b.parquet").unlink()
    assert json.loads(run("solve", *words)[1])["stale"] == ["deep/b.parquet"]


def test_a_file_that_fails_gives_exit_code_1_and_the_others_are_made(folder, tmp_path):
    data = bytearray((folder / "a.parquet").read_bytes())
    data[60:3000] = bytes(2940)
    (folder / "a.parquet").write_bytes(data)
    code, text = run("solve", "panda", folder, tmp_path / "out", "--link", LINK, "--pose", "ee")
    assert code == 1
    assert "1 file made, 1 failed" in text
    assert "failed  a.parquet: " in text


def test_importing_supple_and_its_jobs_does_not_import_pyarrow():
    code = (
        "import sys, supple, supple.jobs, supple.cli; assert 'pyarrow' not in sys.modules and 'ray' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
