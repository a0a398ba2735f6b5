"""The command line: what it prints, for people and for programs, and how it fails."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import supple
from commands import Run, data, invoke, refused
from supple import Frame, Linkage, models
from supple.cli import completion

ALL = models.names()
TWO = """<robot name="two"><link name="base"/><link name="arm"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="1 0 0"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1"/></joint></robot>"""


@pytest.fixture
def run() -> Run:
    return invoke


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.urdf"
    path.write_text(TWO)
    return path


def process(*words: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **more}
    return subprocess.run([sys.executable, "-m", "supple", *words], capture_output=True, env=environment, check=False)


# -- show ---------------------------------------------------------------------------------------------------------


@pytest.mark.wheel
@pytest.mark.parametrize("name", ALL)
def test_show_prints_every_bundled_model_as_its_tree(run: Run, name: str) -> None:
    result = run("show", name)
    assert result.exit_code == 0
    assert result.stdout == f"{models.get(name)}\n"


@pytest.mark.parametrize("name", ALL)
def test_json_of_a_linkage_is_the_linkage(run: Run, name: str) -> None:
    shown, linkage = data(run("show", name, "--json")), models.get(name)
    assert Linkage.from_dict(shown["linkage"]) == linkage
    assert (shown["name"], shown["dof"], shown["root"]) == (linkage.name, linkage.dof, linkage.root)
    assert shown["names"] == list(linkage.names)
    assert shown["units"] == list(linkage.units)
    assert shown["tips"] == list(linkage.tips)


def test_a_file_is_read(run: Run, two: Path) -> None:
    assert "turn" in run("show", two).stdout
    assert data(run("show", two, "--json", "--search", two.parent))["name"] == "two"


def test_a_file_wins_over_a_bundled_name_and_a_folder_does_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "panda").mkdir()
    assert data(run("show", "panda", "--json"))["dof"] == 8
    (tmp_path / "panda").rmdir()
    (tmp_path / "panda").write_text(TWO)
    refused(run("show", "panda"), 1, "panda", ".urdf")  # the file is what was meant, and it has no ending


def test_an_unknown_name_is_refused_with_near_matches(run: Run) -> None:
    refused(run("show", "pandas"), 2, "'pandas'", "did you mean 'panda'")
    refused(run("fk", "qqqq"), 2, "'qqqq'", "'planar2'")
    refused(run("view", "pandas", "--no-open"), 2, "did you mean 'panda'")


def test_a_misspelt_file_is_refused_with_the_one_beside_it(run: Run, two: Path) -> None:
    refused(run("show", two.with_name("tow.urdf")), 2, "tow.urdf", "two.urdf")


@pytest.mark.parametrize("text", ["", "<robot>", TWO.replace('"-1"', '"x"'), TWO.replace("revolute", "magic")])
def test_a_bad_file_is_refused_by_name_and_line(run: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.urdf"
    path.write_text(text)
    refused(run("show", path), 1, "supple: ", "bad.urdf")
    assert run("show", path).stderr.count("\n") == 1


def test_a_folder_is_refused(run: Run, tmp_path: Path) -> None:
    refused(run("show", tmp_path), 1, str(tmp_path))


# -- fk -----------------------------------------------------------------------------------------------------------


@pytest.mark.wheel
@pytest.mark.parametrize("name", ALL)
def test_json_of_frames_is_forward_kinematics(run: Run, name: str) -> None:
    linkage = models.get(name)
    q = linkage.random(seed=3)
    shown = data(run("fk", name, "--q", ",".join(map(repr, map(float, q))), "--json"))
    assert shown["q"] == pytest.approx(q, abs=0)
    assert list(shown["frames"]) == list(linkage.tips)
    for link, row in shown["frames"].items():
        frame = linkage.frame(q, link)
        assert np.array_equal(row["matrix"], frame.matrix)
        assert np.array_equal(row["position"], frame.position)
        assert np.abs(Frame.quaternion(row["quaternion"]).rotation - frame.rotation).max() < 1e-12
        assert np.abs(Frame.fixed("xyz", row["rpy"]).rotation - frame.rotation).max() < 1e-9


def test_frames_are_at_rest_when_nothing_is_said(run: Run) -> None:
    arm = models.panda()
    shown = data(run("fk", "panda", "--link", "panda_hand", "--json"))
    assert list(shown["frames"]) == ["panda_hand"]
    assert np.array_equal(shown["frames"]["panda_hand"]["matrix"], arm.frame(arm.rest, "panda_hand").matrix)


def test_joints_are_set_by_name_and_the_others_rest(run: Run) -> None:
    shown = data(run("fk", "planar3", "--joint", "joint2=-1.5", "--joint", "joint1=0", "--json"))
    assert shown["q"] == list(models.planar3().q(joint1=0, joint2=-1.5))


def test_degrees_are_for_turns_only(run: Run) -> None:
    shown = data(
        run("fk", "panda", "--joint", "panda_joint1=90", "--joint", "panda_finger_joint1=0.03", "--degrees", "--json")
    )
    expected = models.panda().q(panda_joint1=math.pi / 2, panda_finger_joint1=0.03)
    frame = models.panda().frame(expected, "panda_leftfinger")
    assert shown["angles"] == "deg"
    assert shown["q"][0] == pytest.approx(90)
    assert shown["q"][-1] == 0.03
    assert np.abs(np.array(shown["frames"]["panda_leftfinger"]["matrix"]) - frame.matrix).max() < 1e-15
    assert shown["frames"]["panda_leftfinger"]["rpy"] == pytest.approx(np.degrees(frame.to_fixed("xyz")))
    every = data(run("fk", "panda", "--q=-90,0,0,-90,0,90,0,0.03", "--degrees", "--json"))
    assert every["q"] == pytest.approx([-90, 0, 0, -90, 0, 90, 0, 0.03])
    turned = models.panda().frame([-math.pi / 2, 0, 0, -math.pi / 2, 0, math.pi / 2, 0, 0.03], "panda_leftfinger")
    assert np.abs(np.array(every["frames"]["panda_leftfinger"]["matrix"]) - turned.matrix).max() < 1e-15


def test_text_of_a_frame_has_its_numbers_and_units(run: Run) -> None:
    lines = run("fk", "planar3", "--q", "0,0,0").stdout.splitlines()
    assert lines[0] == "tip"
    assert lines[1].split() == ["position", "30.000000", "0.000000", "0.000000", "m"]
    assert lines[2].split() == ["quaternion", "1.000000", "0.000000", "0.000000", "0.000000", "wxyz"]
    assert lines[3].split() == ["rpy", "0.000000", "0.000000", "0.000000", "rad"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--q", "1,2"], 2, "needs 3 values for planar3 (joint1, joint2, joint3), got 2"),
        (["--q", ""], 2, "got 0"),
        (["--q", "1,2,3,4"], 2, "got 4"),
        (["--q", "1,nan,3"], 2, "finite"),
        (["--q", "1,inf,3"], 2, "finite"),
        (["--q", "1,1e999,3"], 2, "finite"),
        (["--q", "1,,3"], 2, "numbers with commas"),
        (["--q", "1;2;3"], 2, "numbers with commas"),
        (["--q", "1_0,0,0,0,0,0"], 2, "numbers with commas"),
        (["--q", "٣,0,0,0,0,0"], 2, "numbers with commas"),
        (["--joint", "joint1=1", "--joint", "joint1=2"], 2, "given twice"),
        (["--q", "1,2,3", "--joint", "joint1=0"], 2, "not both"),
        (["--joint", "joint1"], 2, "NAME=VALUE"),
        (["--joint", "joint1="], 2, "takes 1 value"),
        (["--joint", "joint1=1,2"], 2, "takes 1 value"),
        (["--joint", "joint1=x"], 2, "numbers"),
        (["--joint", "joint1=nan"], 2, "finite"),
        (["--joint", "tip_mount=1"], 2, "fixed"),
        (["--joint", "join1=1"], 1, "did you mean 'joint1'"),
        (["--link", "tipp"], 1, "did you mean 'tip'"),
        (["--bogus"], 2, "bogus"),
    ],
)
def test_bad_values_are_refused_by_name(run: Run, words: list[str], code: int, said: str) -> None:
    refused(run("fk", "planar3", *words), code, said)


# -- the rest -----------------------------------------------------------------------------------------------------


def test_models_lists_every_model_with_its_licence(run: Run) -> None:
    rows = data(run("models", "--json"))
    assert [row["name"] for row in rows] == list(ALL)
    lines = run("models").stdout.splitlines()
    for line, row in zip(lines, rows, strict=True):
        assert row["dof"] == models.get(row["name"]).dof
        assert row["about"] == models.about(row["name"])
        assert line.split()[:2] == [row["name"], str(row["dof"])]
        assert re.search(r"Apache-2.0|BSD-3-Clause|CC0-1.0", line)


def test_version_is_the_package_s(run: Run) -> None:
    assert run("--version").stdout == f"supple {supple.__version__}\n"


@pytest.mark.parametrize("command", ["show", "fk", "view", "models"])
def test_help_teaches_by_examples_that_are_real(run: Run, command: str) -> None:
    text = run(command, "--help").stdout
    examples = [line.split()[1:] for line in text.splitlines() if line.startswith("    supple ")]
    assert examples
    for words in examples:
        assert words[0] == command
        if command != "view" and "robot.urdf" not in words:
            assert run(*words).exit_code == 0


@pytest.mark.parametrize(
    "words", [["bogus"], ["show"], ["fk"], ["view", "panda", "--port", "70000"], ["view", "panda", "--port", "x"]]
)
def test_wrong_usage_ends_with_two(run: Run, words: list[str]) -> None:
    refused(run(*words), 2, "Usage: supple")


def test_completion_knows_bundled_models_files_and_folders(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(two.parent)
    (two.parent / "plans").mkdir()
    (two.parent / "plain.txt").touch()
    assert completion.models_and_files("pla") == ["planar2", "planar3", "plans/"]
    assert completion.models_and_files("") == [*ALL, "plans/", "two.urdf"]
    assert completion.models_and_files(f"{two.parent.as_posix()}/tw") == [two.as_posix()]
    assert completion.models_and_files("no/such/folder/") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("supple show pan", ["panda"]),
        ("supple fk planar3 --link ti", ["tip"]),
        ("supple fk planar3 --joint ", ["joint1=", "joint2=", "joint3="]),
        ("supple gauntlet ur5 --link tool", ["tool0"]),
        ("supple teleop ur5 --link tool", ["tool0"]),
        ("supple teleop --method pse", ["pseudoinverse"]),
        ("supple fk nothing_of_that_name --link ", []),
    ],
)
def test_the_shell_is_given_completions(line: str, expected: list[str]) -> None:
    asked = {"_SUPPLE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    assert process(**asked).stdout.decode().split() == expected


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_for_a_shell(shell: str, tmp_path: Path) -> None:
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # the shell is named, not that of this process
    done = process("--show-completion", shell, **named)
    assert b"_SUPPLE_COMPLETE" in done.stdout
    installed = process("--install-completion", shell, HOME=str(tmp_path), **named)
    assert installed.returncode == 0, installed.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_misspelt_command_is_answered_with_the_nearest(run: Run) -> None:
    refused(run("modles"), 2, "models")
    refused(run("solve", "planar3", "--positon", "1", "2", "3"), 2, "--position")


def test_help_documents_the_exit_codes(run: Run) -> None:
    text = run("--help").stdout
    assert "Exit codes:" in text
    for code in ("  0 ", "  1 ", "  2 ", "  130 "):
        assert code in text


@pytest.mark.wheel
def test_it_runs_as_a_process_of_its_own() -> None:
    done = process("show", "panda", PYTHONIOENCODING="utf-8")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode("utf-8").splitlines() == str(models.panda()).splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437", "latin-1"])
def test_a_console_that_lacks_a_sign_still_gets_the_tree(encoding: str) -> None:
    done = process("show", "baxter", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode(encoding)
    assert "left_gripper" in shown
    assert "?" not in shown
    assert len(shown.splitlines()) == len(str(models.baxter()).splitlines())


@pytest.mark.slow
def test_names_that_no_console_sign_exists_for_do_not_stop_it(tmp_path: Path) -> None:
    path = tmp_path / "odd.urdf"
    path.write_text(TWO.replace("turn", "肘"), encoding="utf-8")
    done = process("show", str(path), PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"revolute" in done.stdout
    asked = process("show", str(path), "--json", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert json.loads(asked.stdout)["names"] == ["肘"]
    refusal = process("fk", str(path), "--link", "手", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert refusal.returncode == 1
    assert b"Traceback" not in refusal.stderr


def test_no_command_but_view_loads_the_browser_s_libraries() -> None:
    code = (
        "import sys; from supple.cli import app; app(['models'], standalone_mode=False); print('viser' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to one process there")
def test_view_serves_until_interrupted_and_steps_aside_for_a_taken_port() -> None:
    pytest.importorskip("viser", reason="the view extra is not installed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        words = [sys.executable, "-m", "supple", "view", "planar3", "--no-open", "--port", str(port)]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert server.stdout
            assert f"port {port} is taken" in server.stdout.readline()
            found = re.search(r"planar3: (http://127\.0\.0\.1:(\d+))", server.stdout.readline())
            assert found
            assert int(found[2]) > port
            with urllib.request.urlopen(found[1], timeout=60) as page:
                assert page.status == 200
            server.send_signal(signal.SIGINT)
            _, complaint = server.communicate(timeout=60)
        finally:
            server.kill()
    assert (server.returncode, complaint) == (0, "")


def test_view_refuses_a_host_that_is_none(run: Run) -> None:
    pytest.importorskip("viser", reason="the view extra is not installed")
    refused(run("view", "planar2", "--no-open", "--host", "no such host"), 2, "'no such host'")
