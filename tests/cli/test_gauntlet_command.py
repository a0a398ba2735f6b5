"""The command `supple gauntlet`: text, JSON, picture, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from gauntlet_runs import hazard
from supple import BadInput, gauntlet
from supple.cli import gauntlet as gauntlet_command


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    app = typer.Typer(rich_markup_mode=None)
    app.command()(gauntlet_command.gauntlet)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def test_the_command_prints_a_sentence_for_each_hazard(command: Callable[..., Any]) -> None:
    said = command("ur5")
    assert said.exit_code == 0, said.output
    lines = said.stdout.splitlines()
    assert len(lines) == 10
    assert "held at the smallest possible error, at rest; recovered after" in lines[4]
    assert "15 of 15 rad/s2" in lines[-1]


def test_the_command_prints_json_for_programs(command: Callable[..., Any]) -> None:
    data = json.loads(command("ur5", "--only", "s5,s1", "--rate", "500", "--json").stdout)
    assert (data["name"], data["rate"]) == ("ur5", 500.0)
    assert [row["hazard"] for row in data["hazards"]] == ["s1_baseline", "s5_limit"]


@pytest.mark.slow
def test_the_command_reads_a_urdf_file(command: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(
        '<robot name="two"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>'
        '<joint name="j1" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="-2" upper="2" velocity="2" effort="1"/></joint>'
        '<joint name="j2" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.5 0 0"/>'
        '<axis xyz="0 0 1"/><limit lower="-2.5" upper="2.5" velocity="2" effort="1"/></joint>'
        '<joint name="tip" type="fixed"><parent link="c"/><child link="d"/><origin xyz="0.4 0 0"/></joint></robot>'
    )
    said = command("robot.urdf", "--only", "s1,s4,s5")
    assert said.exit_code == 0, said.output
    assert said.stdout.splitlines()[0] == "two, d: 2 joints, reach 0.9 m"


@pytest.mark.parametrize(
    ("words", "piece"),
    [
        (("ur5", "--rate", "0"), "--rate"),
        (("ur5", "--acceleration", "-1"), "--acceleration"),
        (("ur5", "--plot", "picture.gif"), "--plot"),
        (("ur5", "--plot", "nowhere/picture.png"), "no folder"),
        (("ur5", "--only", "s77"), "s1_baseline"),
        (("baxter",), "--link"),
    ],
)
def test_the_command_refuses_before_any_work(command: Callable[..., Any], words: tuple[str, ...], piece: str) -> None:
    said = command(*words)
    assert said.exit_code == 2
    assert piece in said.output


@pytest.mark.slow
def test_the_picture_is_written(command: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    said = command("ur5", "--only", "s4,s5", "--plot", "picture.png")
    assert said.exit_code == 0, said.output
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_runs_of_two_arms_are_not_drawn_in_one_figure() -> None:
    pytest.importorskip("matplotlib")
    from supple.view import gauntlet as drawing

    runs = {arm: gauntlet.run(hazard(arm, "s1"), gauntlet.tracked(replay=True)) for arm in ("ur5", "panda")}
    with pytest.raises(BadInput, match="arms"):
        drawing.draw(runs)
    with pytest.raises(BadInput, match="no run"):
        drawing.draw({})
