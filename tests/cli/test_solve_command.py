"""The command `supple solve`: text, JSON, files, refusals."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import supple
from commands import Run, data, invoke, refused
from supple import Frame, Goal, method, models
from supple.cli import app
from supple.errors import Interrupted
from supple.textbook import figures

FAR = ("solve", "planar3", "--position", "-35", "5", "0")
NEAR = ("solve", "planar3", "--position", "-20", "5", "0")
HAND = ("solve", "panda", "--link", "panda_hand_tcp")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return invoke


# -- solve --------------------------------------------------------------------------------------------------------


@pytest.mark.wheel
def test_an_answer_is_a_sentence_and_a_value_for_each_joint(run: Run) -> None:
    result = run(*NEAR)
    found = supple.solve(models.planar3(), Goal("tip", position=[-20, 5, 0]))
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0] == str(found)
    assert [line.split() for line in lines[1:]] == [
        [name, f"{value:.6f}", "rad"] for name, value in zip(models.planar3().names, found.q, strict=True)
    ]


def test_an_answer_as_json_is_the_one_that_python_gives(run: Run) -> None:
    goal = Goal("panda_hand_tcp", position=[0.4, -0.2, 0.5], orientation=Frame.fixed("xyz", [3, 0.1, -0.2]))
    found = supple.solve(models.panda(), goal)
    shown = data(run(*HAND, "--position", 0.4, -0.2, 0.5, "--rpy", 3, 0.1, -0.2, "--json"))
    assert shown["q"] == found.q.tolist()
    assert shown["names"] == list(models.panda().names)
    assert (shown["outcome"], shown["why"], shown["iterations"]) == ("arrived", "", int(found.iterations))
    assert shown["error"] == found.error[0].tolist()
    assert (shown["distance"], shown["angle"]) == (found.distance[0], found.angle[0])
    turned = data(run(*HAND, "--position", 0.4, -0.2, 0.5, "--quaternion", *goal_quaternion(goal), "--json"))
    assert turned["q"] == pytest.approx(shown["q"], abs=1e-6)


def goal_quaternion(goal: Goal) -> list[float]:
    assert goal.orientation is not None
    return [float(x) for x in Frame.at([0, 0, 0], goal.orientation).to_quaternion()]


def test_not_arriving_is_a_result_with_its_reason_and_exit_code_one(run: Run) -> None:
    result = run(*FAR)
    assert result.exit_code == 1
    assert result.stderr == ""
    assert result.stdout.splitlines()[0].startswith("stuck after ")
    assert "out of reach by 5.36 m" in result.stdout
    shown = data(run(*FAR, "--json"), 1)
    assert shown["outcome"] == "stuck"
    assert "out of reach" in shown["why"]
    assert shown["distance"] >= 5.355
    assert shown["angle"] is None
    spent = data(run(*NEAR, "--method", "damped", "--max-iterations", 2, "--json"), 1)
    assert (spent["outcome"], spent["iterations"]) == ("out_of_budget", 2)


def test_it_searches_unless_told_otherwise(run: Run) -> None:
    assert data(run(*NEAR, "--json"))["method"] == "search"
    assert data(run(*NEAR, "--damping", 0.01, "--json"))["method"] == "damped"
    assert data(run(*NEAR, "--timeout", 1, "--json"))["outcome"] == "arrived"


def test_what_is_not_asked_for_has_no_distance_or_angle(run: Run) -> None:
    shown = data(run(*HAND, "--axis", 0, 0, 1, "--direction", 1, 0, -2, "--json"))
    assert shown["distance"] is None
    assert shown["angle"] < 1e-6
    z = models.panda().frame(shown["q"], "panda_hand_tcp").rotation[:, 2]
    assert z == pytest.approx(np.array([1, 0, -2]) / np.sqrt(5), abs=1e-6)


@pytest.mark.parametrize("name", [name for name in method.names() if name != "inverse"])
def test_every_method_arrives_at_the_chapter_s_goal(run: Run, name: str) -> None:
    shown = data(run(*NEAR, "--method", name, "--tolerance", 1e-3, "--json"))
    assert shown["method"] == name
    tip = models.planar3().frame(shown["q"], "tip").position
    assert np.linalg.norm(tip - [-20, 5, 0]) <= 1e-3


def test_damping_start_and_tolerance_are_those_given(run: Run) -> None:
    arm = models.planar3()
    goal = Goal("tip", position=[-20, 5, 0])
    for words, start, options in (
        (["--start", "-0.1,0.2,0.3"], [-0.1, 0.2, 0.3], {}),
        (["--damping", "0.5"], None, {"damping": 0.5, "method": supple.method.damped()}),
        (["--tolerance", "0.1"], None, {"tolerance": supple.Tolerance(position=0.1)}),
    ):
        found = supple.solve(arm, goal, start, **options)
        assert data(run(*NEAR, *words, "--json"))["q"] == found.q.tolist()


def test_degrees_are_for_turns_and_not_for_slides(run: Run) -> None:
    words = (*HAND, "--position", 0.4, -0.2, 0.5)
    plain = data(run(*words, "--rpy", np.pi, 0, 0, "--json"))
    shown = data(run(*words, "--rpy", 180, 0, 0, "--degrees", "--json"))
    assert shown["angles"] == "deg"
    assert shown["q"][:7] == pytest.approx(np.degrees(plain["q"][:7]))
    assert shown["q"][7] == plain["q"][7]
    lines = run(*words, "--degrees").stdout.splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["deg"] * 7 + ["m"]


def test_angles_that_look_like_degrees_are_noted(run: Run) -> None:
    words = (*HAND, "--position", 0.4, -0.2, 0.5)
    read_as_radians = "angles up to 90 are read as radians; --degrees reads them as degrees"
    for line in (
        (*words, "--rpy", 90, 0, 0),
        (*words, "--start", "90,0,0,0,0,0,0,0"),
        ("fk", "ur5", "--joint", "elbow_joint=90"),
        ("fk", "ur5", "--q", "90,0,0,0,0,0"),
    ):
        assert read_as_radians in run(*line).stderr
        assert "note" not in run(*line, "--degrees").stderr
    assert "note" not in run(*words, "--rpy", 3.14, 0, 0).stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "no goal"),
        (["--position", "1", "2"], 2, "3"),
        (["--position", "1", "2", "x"], 2, "--position"),
        (["--position", "nan", "2", "0"], 2, "finite"),
        (["--position", "inf", "2", "0"], 2, "finite"),
        (["--rpy", "nan", "0", "0"], 2, "finite"),
        (["--quaternion", "0", "0", "0", "0"], 2, "quaternion"),
        (["--quaternion", "1", "0", "0"], 2, "4"),
        (["--rpy", "0", "0", "0", "--quaternion", "1", "0", "0", "0"], 2, "not both"),
        (["--axis", "0", "0", "1"], 2, "together"),
        (["--direction", "0", "0", "1"], 2, "together"),
        (["--axis", "0", "0", "0", "--direction", "0", "0", "1"], 2, "zero"),
        (["--axis", "0", "0", "1", "--direction", "0", "0", "1", "--rpy", "0", "0", "0"], 2, "not both"),
        (["--position", "1", "2", "0", "--method", "dampd"], 2, "did you mean 'damped'"),
        (["--position", "1", "2", "0", "--damping", "-1"], 2, "damping"),
        (["--position", "1", "2", "0", "--damping", "nan"], 2, "damping"),
        (["--position", "1", "2", "0", "--max-iterations", "-1"], 2, "max_iterations"),
        (["--position", "1", "2", "0", "--max-iterations", "1.5"], 2, "max-iterations"),
        (["--position", "1", "2", "0", "--tolerance", "0"], 2, "tolerance"),
        (["--position", "1", "2", "0", "--tolerance", "nan"], 2, "tolerance"),
        (["--position", "1", "2", "0", "--tolerance", "inf"], 2, "tolerance"),
        (["--position", "1", "2", "0", "--start", "1,2"], 2, "--start needs 3 values"),
        (["--position", "1", "2", "0", "--start", "1,2,nan"], 2, "--start takes finite"),
        (["--position", "1", "2", "0", "--link", "tipp"], 1, "did you mean 'tip'"),
        (["--position", "1", "2", "0", "--link", "base"], 2, "no joint moves"),
        (["--position", "1", "2", "0", "--draw", "a.gif"], 2, ".png"),
        (["--position", "1", "2", "0", "--draw", "no/such/a.png"], 2, "folder"),
        (["--position", "1", "2", "0", "--out", "a.txt"], 2, "--out takes a file that ends in .csv or .npz"),
        (["--position", "1", "2", "0", "--out", "no/such/a.csv"], 2, "folder"),
        (["--position", "1", "2", "0", "--solutions", "0"], 2, "solutions"),
        (["--position", "1", "2", "0", "--solutions", "2", "--method", "damped"], 2, "finds one solution"),
        (["--position", "1", "2", "0", "--timeout", "-1"], 2, "timeout"),
        (["--goals", "none.csv"], 2, "none.csv"),
        (["--goals", "goals.txt"], 2, "a file that ends in .csv or .npz"),
        (["--goals", "goals.csv", "--position", "1", "2", "0"], 2, "the goals are in the file"),
        (["--goals", "goals.csv", "--draw", "a.png"], 2, "no --draw"),
    ],
)
def test_bad_input_is_refused_before_any_work(run: Run, words: list[str], code: int, said: str) -> None:
    refused(run("solve", "planar3", *words), code, said)
    assert list(Path.cwd().iterdir()) == []


def test_the_inverse_is_refused_where_the_jacobian_is_not_square(run: Run) -> None:
    refused(run(*HAND, "--position", 0.4, 0, 0.5, "--method", "inverse"), 2, "square", "3 rows", "7 joint values")


def test_of_several_tips_one_must_be_named(run: Run) -> None:
    refused(run("solve", "panda", "--position", 0.4, 0, 0.5), 2, "--link", "panda_leftfinger")


def test_bad_files_and_names_are_refused(run: Run) -> None:
    Path("bad.urdf").write_text("<robot>")
    refused(run("solve", "bad.urdf", "--position", 0, 0, 0), 1, "bad.urdf")
    refused(run("solve", "pandas", "--position", 0, 0, 0), 2, "did you mean 'panda'")


def test_an_answer_is_drawn_where_asked_and_nowhere_else(run: Run) -> None:
    pytest.importorskip("matplotlib")
    assert run(*NEAR, "--draw", "near.png").exit_code == 0
    assert run(*FAR, "--draw", "far.svg").exit_code == 1  # it did not arrive, and is drawn
    assert run(*HAND, "--position", 0.4, 0, 0.5, "--draw", "hand.PNG").exit_code == 0
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["far.svg", "hand.PNG", "near.png"]
    assert Path("near.png").read_bytes().startswith(b"\x89PNG")
    assert Path("hand.PNG").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in Path("far.svg").read_bytes()


def test_drawing_without_matplotlib_is_refused_before_any_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refused(run(*NEAR, "--draw", "a.png"), 1, "supple[plot]")
    refused(run("figures", "--only", "5.20"), 1, "supple[plot]")
    assert list(Path.cwd().iterdir()) == []


# -- many goals, many answers ---------------------------------------------------------------------------------------

ARM, HAND_LINK = models.panda(), "panda_hand_tcp"


def write_goals(n: int = 20, lost: tuple[int, ...] = ()) -> Frame:
    """Frames that the hand can reach, and some, by number, that it cannot, as goals.csv and goals.npz."""
    frames = np.array(ARM.frame(ARM.random(n, seed=0), HAND_LINK).matrix)
    frames[list(lost), :3, 3] += [5, 0, 0]
    wanted = Frame(frames)
    rows = np.hstack([wanted.position, wanted.to_quaternion()])
    Path("goals.csv").write_text(
        "x,y,z,qw,qx,qy,qz\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows.tolist())
    )
    np.savez("goals.npz", frames=frames)
    return wanted


def table_and_summary(text: str) -> tuple[list[list[str]], str]:
    """The rows of a table, and the summary under it."""
    *rows, summary = text.splitlines()
    return [row.split() for row in rows], summary


def test_a_file_of_goals_has_a_row_for_each_and_a_summary(run: Run) -> None:
    wanted = write_goals()
    result = run(*HAND, "--goals", "goals.npz")
    assert result.exit_code == 0, result.output
    (names, *rows), summary = table_and_summary(result.stdout)
    assert names == ["goal", "outcome", "distance", "angle", *ARM.names]
    assert [row[:2] for row in rows] == [[str(i + 1), "arrived"] for i in range(20)]
    q = np.array([[float(word) for word in row[-ARM.dof :]] for row in rows])
    assert ARM.frame(q, HAND_LINK).matrix == pytest.approx(wanted.matrix, abs=1e-5)
    assert re.fullmatch(r"20 goals: 20 arrived; [\d.e-]+ s, [\d,]+ goals per second", summary)


def test_rows_as_json_are_those_that_python_gives(run: Run) -> None:
    wanted = write_goals(lost=(3, 7))
    found = supple.solve(ARM, Goal(HAND_LINK, wanted))
    shown = data(run(*HAND, "--goals", "goals.npz", "--json"), 1)
    assert [row["q"] for row in shown["rows"]] == found.q.tolist()
    assert [row["distance"] for row in shown["rows"]] == found.distance[:, 0].tolist()
    assert [row["angle"] for row in shown["rows"]] == found.angle[:, 0].tolist()
    assert [row["iterations"] for row in shown["rows"]] == found.iterations.tolist()
    assert [row["goal"] for row in shown["rows"]] == list(range(1, 21))
    for i, row in enumerate(shown["rows"]):
        assert row["outcome"] == ("stuck" if i in (3, 7) else "arrived")
        assert row["why"] == (found[i].why if i in (3, 7) else None)
    summary = shown["summary"]
    assert [summary[name] for name in ("goals", "arrived", "stuck", "out_of_budget", "invalid")] == [20, 18, 2, 0, 0]
    assert summary["rate"] == pytest.approx(20 / summary["seconds"])
    assert (shown["method"], shown["angles"], shown["names"]) == ("search", "rad", list(ARM.names))


def test_not_all_arriving_is_exit_code_one_and_says_why_under_the_row(run: Run) -> None:
    write_goals(lost=(3,))
    result = run(*HAND, "--goals", "goals.csv")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[4].split()[:2] == ["4", "stuck"]
    assert lines[5].strip().startswith(f"{HAND_LINK} is out of reach by ")
    assert lines[-1].startswith("20 goals: 19 arrived, 1 stuck; ")


def test_a_goal_that_is_not_finite_is_invalid_alone(run: Run) -> None:
    Path("goals.csv").write_text("x,y,z\n0.4,0,0.5\n0.4,nan,0.5\n0.4,0.1,0.5\n")
    shown = data(run(*HAND, "--goals", "goals.csv", "--json"), 1)
    assert [row["outcome"] for row in shown["rows"]] == ["arrived", "invalid", "arrived"]
    assert shown["rows"][1]["distance"] is None
    assert run(*HAND, "--goals", "goals.csv").stdout.splitlines()[-1].startswith("3 goals: 2 arrived, 1 invalid; ")
    assert "nan" not in run(*HAND, "--goals", "goals.csv").stdout
    for degrees in ((), ("--degrees",)):
        Path("turned.csv").write_text("x,y,z,roll,pitch,yaw\nnan,0,0.5,nan,0,0\n0.4,0,0.5,3.1,0,0\n")
        lines = run(*HAND, "--goals", "turned.csv", *degrees).stdout.splitlines()
        assert lines[1].split()[1:4] == ["invalid", "-", "-"]
        assert "nan" not in "".join(lines)


def test_a_dash_reads_goals_from_the_standard_input(tmp_path: Path) -> None:
    words = ["solve", "planar3", "--goals", "-", "--json"]
    result = CliRunner().invoke(app, words, input="x,y,z\n-20,5,0\n10,10,0\n")
    shown = data(result)
    tips = models.planar3().frame([row["q"] for row in shown["rows"]], "tip").position
    assert tips == pytest.approx(np.array([[-20, 5, 0], [10, 10, 0]]), abs=1e-5)
    assert [row["angle"] for row in shown["rows"]] == [None, None]
    assert "standard input:2: column 2, y" in CliRunner().invoke(app, words, input="x,y,z\n1,b,0\n").stderr


def test_directions_are_for_an_axis(run: Run) -> None:
    Path("goals.csv").write_text("x,y,z,ax,ay,az\n0.4,0,0.5,0,0,-1\n0.4,0.1,0.5,1,0,-1\n")
    refused(run(*HAND, "--goals", "goals.csv"), 2, "goals.csv: directions need an axis")
    shown = data(run(*HAND, "--goals", "goals.csv", "--axis", 0, 0, 1, "--json"))
    z = ARM.frame([row["q"] for row in shown["rows"]], HAND_LINK).rotation[:, :, 2]
    assert z == pytest.approx(np.array([[0, 0, -1], [1, 0, -1] / np.sqrt(2)]), abs=1e-5)


def test_answers_are_written_where_asked(run: Run) -> None:
    wanted = write_goals(lost=(3,))
    found = supple.solve(ARM, Goal(HAND_LINK, wanted))
    result = run(*HAND, "--goals", "goals.npz", "--out", "a.npz")
    assert result.exit_code == 1
    assert result.stdout.startswith("20 goals: 19 arrived, 1 stuck; ")  # the rows are in the file
    with np.load("a.npz") as held:
        assert np.array_equal(held["q"], found.q)
        assert np.array_equal(held["distance"], found.distance[:, 0])
        assert held["names"].tolist() == list(ARM.names)
        assert held["outcome"][3] == "stuck"
    run(*HAND, "--goals", "goals.npz", "--out", "a.csv")
    lines = [line.split(",") for line in Path("a.csv").read_text().splitlines()]
    assert lines[0] == ["goal", "outcome", "distance", "angle", *ARM.names]
    assert [[float(word) for word in line[4:]] for line in lines[1:]] == found.q.tolist()
    assert run(*NEAR, "--out", "one.csv").stdout.startswith("arrived after ")
    assert Path("one.csv").read_text().splitlines()[0] == "goal,outcome,distance,joint1,joint2,joint3"


def test_degrees_are_read_and_written(run: Run) -> None:
    Path("goals.csv").write_text("x,y,z,roll,pitch,yaw\n0.4,0,0.5,180,0,30\n")
    Path("radians.csv").write_text(f"x,y,z,roll,pitch,yaw\n0.4,0,0.5,{math.pi!r},0,{math.pi / 6!r}\n")
    shown = data(run(*HAND, "--goals", "goals.csv", "--degrees", "--out", "a.csv", "--json"))
    plain = data(run(*HAND, "--goals", "radians.csv", "--json"))
    assert shown["angles"] == "deg"
    assert shown["rows"][0]["q"][:7] == pytest.approx(np.degrees(plain["rows"][0]["q"][:7]))
    assert shown["rows"][0]["angle"] == pytest.approx(np.degrees(plain["rows"][0]["angle"]))
    written = [float(word) for word in Path("a.csv").read_text().splitlines()[1].split(",")[4:]]
    assert written == shown["rows"][0]["q"]


def test_several_answers_are_told_nearest_first(run: Run) -> None:
    words = ("solve", "ur5", "--link", "tool0", "--position", 0.4, 0.2, 0.4, "--rpy", 0.1, 0.2, 0.3)
    arm = models.ur5()
    goal = Goal("tool0", position=[0.4, 0.2, 0.4], orientation=Frame.fixed("xyz", [0.1, 0.2, 0.3]))
    found = supple.solve(arm, goal, arm.rest, solutions=8)
    rest = ",".join(map(repr, arm.rest.tolist()))
    shown = data(run(*words, "--solutions", 8, "--start", rest, "--json"))
    assert len(shown["rows"]) == len(found) > 2
    assert [row["q"] for row in shown["rows"]] == found.q.tolist()
    assert [row["solution"] for row in shown["rows"]] == list(range(1, len(found) + 1))
    assert (shown["summary"]["goals"], shown["summary"]["solutions"]) == (1, len(found))
    (names, *rows), summary = table_and_summary(run(*words, "--solutions", 8).stdout)
    assert names[:3] == ["goal", "solution", "outcome"]
    assert re.fullmatch(rf"1 goal: 1 arrived; {len(rows)} solutions; .*", summary)


def test_of_several_answers_to_many_goals_only_those_found_are_table_and_summary(run: Run) -> None:
    Path("goals.csv").write_text("x,y,z\n-20,5,0\n40,0,0\n10,10,0\n")
    shown = data(run("solve", "planar3", "--goals", "goals.csv", "--solutions", 3, "--json"), 1)
    assert [(row["goal"], row["solution"]) for row in shown["rows"] if row["goal"] == 2] == [(2, 1)]
    assert all(row["outcome"] == "arrived" for row in shown["rows"] if row["goal"] != 2)
    assert "out of reach by 10 m" in next(row["why"] for row in shown["rows"] if row["goal"] == 2)
    assert (shown["summary"]["arrived"], shown["summary"]["stuck"]) == (2, 1)


def test_ctrl_c_keeps_what_is_done(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = write_goals()
    found = supple.solve(ARM, Goal(HAND_LINK, wanted))
    half = replace(found, outcomes=np.where(np.arange(20) < 12, found.outcomes, supple.Outcome.OUT_OF_BUDGET.value))

    def stopped(*_: object, **__: object) -> None:
        raise Interrupted(half)

    monkeypatch.setattr(supple.Solver, "solve", stopped)
    result = run(*HAND, "--goals", "goals.npz", "--out", "a.npz")
    assert result.exit_code == 130
    assert result.stdout.startswith("20 goals: 12 arrived, 8 out of budget; ")
    with np.load("a.npz") as held:
        assert held["outcome"].tolist() == ["arrived"] * 12 + ["out_of_budget"] * 8


# -- help and completion ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("command", ["solve", "figures"])
def test_help_teaches_by_examples_that_are_real(run: Run, command: str) -> None:
    pytest.importorskip("matplotlib")
    Path("goals.csv").write_text("x,y,z,roll,pitch,yaw\n0.4,-0.2,0.5,3.1416,0,0\n0.5,0.1,0.4,3.1416,0,0.5\n")
    text = run(command, "--help").stdout
    examples = [line.split()[1:] for line in text.splitlines() if line.startswith("    supple ")]
    assert len(examples) >= 2
    for words in examples:
        assert words[0] == command
        assert run(*words).exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("supple solve pan", ["panda"]),
        ("supple solve panda --method p", ["pseudoinverse"]),
        ("supple figures --only 5.2", [name for name in figures.names() if name.startswith("5.2")]),
    ],
)
def test_the_shell_is_given_completions(line: str, expected: list[str]) -> None:
    words = line.split()
    asked = {"_SUPPLE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "supple"], capture_output=True, text=True, env={**os.environ, **asked}, check=False
    )
    assert done.stdout.split() == expected


@pytest.mark.slow
def test_answers_and_tables_need_no_special_signs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for words in (NEAR, ("figures", "--only", "5.14", "--format", "png")):
        done = subprocess.run(
            [sys.executable, "-m", "supple", *words], capture_output=True, env=environment, check=False, cwd=tmp_path
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert "?" not in done.stdout.decode("ascii")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("teleop", "--method", "foo"), "the methods are supple, paper, damped, pseudoinverse"),
        (("teleop", "--source", "joystick"), "it takes browser, udp:PORT, ws:PORT, spacemouse, gamepad, or a file"),
        ((*HAND, "--goals", "missing.csv"), "--goals: no file 'missing.csv'"),
        ((*NEAR, "--method", "pseudoinverse", "--damping", "0.1"), "write --method damped --damping 0.1"),
        (("show", "missing.urdf"), "no file or bundled model named 'missing.urdf'"),
        (("convert", "missing.bvh", "out.glb"), "no file or bundled model named 'missing.bvh'"),
        (("retarget", "missing.bvh", "--to", "human", "-o", "out.npz"), "missing.bvh"),
        (("replay", "missing.csv"), "missing.csv"),
        (("path", "missing.csv", "--robot", "planar3"), "missing.csv"),
    ],
)
def test_wrong_usage_ends_with_code_2_and_what_to_write(run: Run, words: tuple[str, ...], said: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert said in result.stderr
