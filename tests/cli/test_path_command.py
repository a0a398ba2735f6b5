"""The command `supple path`: summary, files, pictures, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from commands import Run, data, invoke, refused
from supple import Frame, Motion, models
from supple.view import path as pictures

LINK = ("--robot", "ur5", "--link", "tool0")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    s = np.linspace(0, 2 * np.pi, 61)
    seam = np.stack([0.42 + 0.1 * np.sin(2 * s), 0.25 * np.sin(s), np.full_like(s, 0.25)], axis=-1)
    frames = Frame.at(seam, Frame.turn([1, 0, 0], np.pi))
    table = np.column_stack([s, seam, frames.to_quaternion()])
    np.savetxt("seam.csv", table, delimiter=",", header="time,x,y,z,qw,qx,qy,qz", comments="")
    np.savez("seam.npz", frames=frames.matrix, times=s)
    return invoke


def test_a_path_is_summed_up_and_written(run: Run) -> None:
    result = run("path", "seam.csv", *LINK, "--closed", "-o", "weld.npz")
    assert result.exit_code == 0
    assert "ur5 followed all 61 frames within tolerance" in result.stdout
    assert "worst step:" in result.stdout
    assert "nearest limit" in result.stdout
    assert "in 6.283 s\n" in result.stdout
    assert "  wrote weld.npz\n" in result.stdout
    motion = Motion.load("weld.npz", models.ur5())
    assert len(motion) == 61
    assert motion.duration == pytest.approx(2 * np.pi)
    assert np.abs(motion.q[0] - motion.q[-1]).max() < 1e-6


def test_a_npz_is_the_same_path(run: Run) -> None:
    one, two = (data(run("path", file, *LINK, "--json")) for file in ("seam.csv", "seam.npz"))
    assert np.abs(np.array(one["q"]) - np.array(two["q"])).max() < 1e-6
    assert one["arrived"] is True
    assert one["continuous"] is True
    assert one["reconfigurations"] == []
    assert one["times"][-1] == pytest.approx(2 * np.pi)


def test_a_path_that_is_too_fast_says_so_and_can_be_retimed(run: Run) -> None:
    fast = run("path", "seam.csv", *LINK, "--duration", "0.3")
    assert fast.exit_code == 1
    assert "comes too soon" in fast.stdout
    assert "too fast, at frames" in fast.stdout
    assert fast.stdout.count("  --retime stretches the time\n") == 1
    slower = run("path", "seam.csv", *LINK, "--duration", "0.3", "--retime")
    assert slower.exit_code == 0
    assert "time stretched by" in slower.stdout


def test_poses_out_of_reach_have_a_reason(run: Run) -> None:
    result = run("path", "seam.csv", *LINK, "--offset", "0", "0", "2")
    assert result.exit_code == 1
    assert "out of reach" in result.stdout


@pytest.mark.slow
def test_both_pictures_are_drawn(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert run("path", "seam.csv", *LINK, "--plot", "joints.png", "--draw", "arm.svg").exit_code == 0
    assert (tmp_path / "joints.png").stat().st_size > 10_000
    assert (tmp_path / "arm.svg").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing.csv", *LINK), "no file 'nothing.csv'"),
        (("seam.csv", "--robot", "panda"), "choose one with --link"),
        (("seam.csv", *LINK, "--rate", "30", "--duration", "2"), "give times, rate or duration"),
        (("seam.csv", *LINK, "--out", "weld.txt"), "--out takes"),
        (("seam.csv", *LINK, "--plot", "joints.bmp"), "--plot takes a file"),
        (("seam.csv", *LINK, "--start", "1,2"), "--start needs 6 values"),
        (("seam.csv", *LINK, "--axis", "0", "0", "1"), "an axis needs directions"),
        (("seam.csv", *LINK, "--prefer", "fast"), "'least motion', 'centred', 'conditioning'"),
        (("seam.csv", "--robot", "ur5", "--link", "tool"), "did you mean 'tool0'"),
    ],
)
def test_what_cannot_be_planned_is_refused(run: Run, arguments: tuple[str, ...], said: str) -> None:
    refused(run("path", *arguments), 2, said)


def test_a_column_that_is_not_known_is_named_with_its_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("tim,x,y,z\n0,1,2,3\n")
    refused(run("path", "bad.csv", *LINK), 2, "bad.csv:1: column 1")


def test_the_player_shows_the_motion_in_its_time() -> None:
    arm = models.planar2()
    motion = Motion(arm, [0, 1], [[0, 0], [1, 0.5]])
    now = [0.0]
    shown: list[tuple[float, np.ndarray]] = []

    class Page:
        def __setattr__(self, name: str, value: np.ndarray) -> None:
            shown.append((now[0], np.array(value)))

    def sleep(seconds: float) -> None:
        now[0] += seconds

    pictures.play(Page(), motion, rounds=2, clock=lambda: now[0], sleep=sleep)
    assert np.array_equal(shown[-1][1], [1, 0.5])
    first = [(at, q) for at, q in shown if at < 1]
    assert len(first) > 50
    assert all(np.allclose(q, [at, 0.5 * at]) for at, q in first)


def test_columns_that_a_path_does_not_have_are_ignored_with_a_note(run: Run) -> None:
    lines = Path("seam.csv").read_text().splitlines()
    marked = [f"{line},{word}" for line, word in zip(lines, ["note", *["a word"] * len(lines)], strict=False)]
    Path("noted.csv").write_text("\n".join(marked))
    plain, noted = (run("path", name, *LINK, "--json") for name in ("seam.csv", "noted.csv"))
    assert data(plain)["q"] == data(noted)["q"]
    assert plain.stderr == ""
    assert noted.stderr == "supple: noted.csv: column 'note' is not read\n"


def test_degrees_are_those_of_the_input_alone(run: Run) -> None:
    first = data(run("path", "seam.csv", *LINK, "--json"))
    assert first["units"] == ["rad"] * 6
    start = ",".join(str(float(x)) for x in np.degrees(first["q"][0]))
    again = data(run("path", "seam.csv", *LINK, "--degrees", "--start", start, "--json"))
    assert np.abs(np.array(again["q"][0]) - first["q"][0]).max() < 1e-6
    help_text = " ".join(run("path", "--help").stdout.split())
    assert "Angles of FILE, --start and --end are in degrees; all output is in radians." in help_text


def test_what_may_be_a_mistake_is_noted(run: Run) -> None:
    Path("degrees.csv").write_text("x,y,z,roll,pitch,yaw\n0.4,0,0.3,180,0,0\n0.4,0.01,0.3,180,0,0\n")
    result = run("path", "degrees.csv", *LINK)
    assert "angles up to 180 are read as radians; --degrees" in result.stderr
    assert "as no times were given; speeds are not checked" in result.stdout
    assert run("path", "degrees.csv", *LINK, "--degrees").stderr == ""
    outside = run("path", "seam.csv", *LINK, "--start", "0,-90,90,0,0,0")
    assert "--start is outside the joint limits of ur5" in outside.stderr


def test_rows_that_make_no_path_are_refused_with_their_line(run: Run) -> None:
    Path("nan.csv").write_text("x,y,z\n0.4,0,0.3\nnan,0,0.3\n0.4,0,0.4\n")
    Path("one.csv").write_text("x,y,z\n0.4,0,0.3\n")
    assert "nan.csv:3: the pose is not finite" in run("path", "nan.csv", *LINK).stderr
    assert "one.csv: a path needs two poses or more" in run("path", "one.csv", *LINK).stderr
