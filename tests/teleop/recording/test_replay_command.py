"""The command `supple replay`."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from drives import UR5
from supple.cli import app
from supple.teleop.methods import named


def run(*words):
    return CliRunner().invoke(app, ["replay", *map(str, words)], prog_name="supple")


def test_the_command_says_identical_and_ends_with_0(kept):
    for path in kept[0].values():
        done = run(path)
        assert done.exit_code == 0, done.output
        assert "the same, bit for bit" in done.stdout


def test_the_command_prints_what_differs_and_ends_with_1(kept):
    done = run(kept[0]["parquet"], "--solver", "paper")
    assert done.exit_code == 1
    for word in (*UR5.names, "following", "acceleration, largest", "differ from row", repr(named("paper"))):
        assert word in done.stdout


def test_the_command_says_it_in_json(kept):
    done = run(kept[0]["csv"], "--solver", "pseudoinverse", "--raw", "--json")
    said = json.loads(done.stdout)
    assert done.exit_code == 1
    assert said["identical"] is False
    assert said["names"] == list(UR5.names)
    assert said["replayed"]["solver"] == "Solver(method=method.pseudoinverse(), keep_limits=False)"
    assert said["replayed"]["too_fast"] > 0 == said["recorded"]["too_fast"]
    assert sum(said["replayed"]["statuses"].values()) == said["ticks"]


def test_the_command_takes_another_robot(kept):
    assert run(kept[0]["parquet"], "--robot", "ur5").exit_code == 0
    done = run(kept[0]["parquet"], "--robot", "panda")
    assert done.exit_code == 2
    assert "the recording has others" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.parquet"], "nowhere.parquet: No such file"),
        (["nowhere.txt"], "ends in .parquet or .csv"),
        (["FILE", "--solver", "magic"], "no method named 'magic'"),
        (["FILE", "--raw"], "--raw needs --solver"),
        (["FILE", "--robot", "nobody"], "no file or bundled model named 'nobody'"),
        (["FILE", "--draw", "a.gif"], "--draw takes a file that ends in"),
        (["FILE", "--draw", "nowhere/a.png"], "--draw: there is no folder"),
    ],
)
def test_every_mistake_ends_with_exit_code_2_and_a_sentence(kept, words, said):
    done = run(*[kept[0]["parquet"] if word == "FILE" else word for word in words])
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_draws_the_joint_speeds_side_by_side(kept, tmp_path):
    pytest.importorskip("matplotlib")
    for ending, sign in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        done = run(kept[0]["parquet"], "--solver", "paper", "--draw", tmp_path / f"a.{ending}")
        assert done.exit_code == 1, done.output
        assert (tmp_path / f"a.{ending}").read_bytes().startswith(sign)


def test_a_line_of_any_length_is_drawn_with_a_bounded_number_of_points_and_keeps_its_peaks():
    from supple.view.replay import _MOST, _Envelope

    rng, line, all_ = np.random.default_rng(0), _Envelope(), []
    for _ in range(60):
        rows = rng.normal(size=(int(rng.integers(1, 3000)), 2))
        line.add(rows)
        all_.append(rows)
        assert len(line.points()) <= 4 * _MOST
    whole = np.concatenate(all_)
    seen = whole[: len(whole) - len(line._rest)]
    assert np.array_equal(line.points().min(axis=0), seen.min(axis=0))
    assert np.array_equal(line.points().max(axis=0), seen.max(axis=0))


def test_control_characters_of_names_are_printed_as_escapes(capsys):
    from supple.cli import output

    output.print_text("a\x1b[2Jb\x9bc\n\td")
    assert capsys.readouterr().out == "a\\x1b[2Jb\\x9bc\n\td\n"
