"""The commands `supple retarget` and `supple animate`."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from supple import Motion, models
from supple.animate.timeline_file import EXAMPLE
from supple.cli import app, motion_output


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.fixture
def clip(tmp_path):
    figure = models.human(1.9)
    file = tmp_path / "wait.bvh"
    Motion(figure, np.arange(13) / 60, np.tile(figure.rest, (13, 1))).save(file, up="y", unit="cm")
    return file


def test_a_clip_in_any_unit_and_axes_becomes_a_motion_of_a_robot(clip, tmp_path):
    out = tmp_path / "out.npz"
    done = run("retarget", clip, "--to", "g1", "--out", out, "--json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.output)
    assert report["frames"] == 13
    assert report["within_limits"]
    assert report["within_speeds"]
    assert 0.6 < report["scale"] < 0.7
    assert np.load(out)["q"].shape == (13, 35)
    assert np.load(out)["q"][:, 2].min() > 0.7  # it stands
    assert "check --unit" in run("retarget", clip, "--to", "g1", "--out", out, "--unit", "mm").output


@pytest.mark.parametrize("ending", ["csv", "bvh", "glb"])
def test_a_motion_is_written_in_any_format(clip, tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    done = run("retarget", clip, "--to", "human", "--out", out, "--rate", 30)
    assert done.exit_code == 0, done.output
    assert out.stat().st_size > 100


def test_the_map_is_written_edited_and_used(clip, tmp_path):
    maps = tmp_path / "map.json"
    assert run("retarget", clip, "--to", "g1", "--write-map", maps).exit_code == 0
    data = json.loads(maps.read_text())
    assert data["target"]["links"]["left_forearm"] == "left_elbow_link"
    data["target"]["links"]["left_hand"] = "left_rubber_hand"
    maps.write_text(json.dumps(data))
    assert run("retarget", clip, "--to", "g1", "--map", maps, "--out", tmp_path / "o.npz").exit_code == 0


def test_a_map_with_parts_that_no_name_fits_is_written_to_be_filled_in(clip, tmp_path):
    file = tmp_path / "map.json"
    robot = tmp_path / "robot.urdf"
    text = "".join(f'<link name="part{i}"/>' for i in range(2))
    joint = '<joint name="j" type="revolute"><parent link="part0"/><child link="part1"/><axis xyz="0 0 1"/>'
    joint += '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
    robot.write_text(f'<robot name="odd">{text}{joint}</robot>')
    done = run("retarget", clip, "--to", robot, "--write-map", file)
    assert done.exit_code == 0
    assert "fill in pelvis" in done.output
    assert "part0, part1" in done.output
    maps = json.loads(file.read_text())
    assert maps["target"]["links"]["left_hand"] == ""
    assert maps["source"]["links"]["left_hand"] == "left_hand"
    again = run("retarget", clip, "--to", robot, "--map", file)
    assert again.exit_code == 2
    assert "no link of 'odd'" in again.output


def test_keys_become_a_motion(tmp_path):
    shown = run("animate", "--example")
    assert shown.output == EXAMPLE
    keys = tmp_path / "wave.json"
    keys.write_text(shown.output)
    done = run("animate", keys, "--rate", 30, "--plant", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["frames"] == 91
    assert (tmp_path / "wave.glb").stat().st_size > 1000


@pytest.mark.parametrize("ending", motion_output.ENDINGS)
def test_animate_writes_all_that_convert_writes(tmp_path, ending):
    keys = {"figure": "puppet", "poses": [{"time": 0, "joints": {}}, {"time": 0.2, "joints": {}}]}
    (tmp_path / "keys.json").write_text(json.dumps(keys))
    done = run("animate", tmp_path / "keys.json", "--out", tmp_path / f"out{ending}")
    assert done.exit_code == 0, done.output
    again = run("convert", "puppet", tmp_path / f"again{ending}")
    assert again.exit_code == 0, again.output
    begins = [(tmp_path / f"{name}{ending}").read_bytes()[:4] for name in ("out", "again")]
    assert begins[0] == begins[1]  # files of one kind


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("retarget", "{clip}", "--to", "panda"), "is named like a part of a body"),
        (("retarget", "{clip}", "--to", "g1", "--out", "x.txt"), "--out must end in"),
        (("retarget", "{clip}", "--to", "g1", "--rate", "-1"), "--rate"),
        (("retarget", "{clip}", "--to", "g1", "--map", "nothing.json"), "cannot read the map"),
        (("retarget", "nothing.bvh", "--to", "g1"), "nothing.bvh"),
        (("animate",), "--example"),
        (("animate", "nothing.json"), "no file 'nothing.json'"),
        (("retarget", "g1", "--to", "human"), "CLIP must be a file with a figure and its motion"),
    ],
)
def test_what_cannot_be_meant_is_refused(clip, words, text):
    done = run(*(word.replace("{clip}", str(clip)) for word in words))
    assert done.exit_code in (1, 2)
    assert text in done.output


def test_key_goals_that_are_not_reached_are_named(tmp_path):
    keys = tmp_path / "far.json"
    keys.write_text(EXAMPLE.replace("[0.45, 0.1, 1.4]", "[45, 0.1, 1.4]"))
    done = run("animate", keys, "--rate", 30)
    assert done.exit_code == 0
    assert done.output.count("away from its key goal") == 1
    assert "supple: at 2 s right_hand is 44" in done.output
    keys.write_text('{"figure": "human"}')
    assert "there are no keys in it" in run("animate", keys).output


def test_a_figure_or_a_file_of_keys_opens_the_page(tmp_path, monkeypatch):
    pytest.importorskip("viser")
    from supple.view import animator

    pages = []
    monkeypatch.setattr(animator.Animator, "wait", lambda page: (pages.append(page), page.close()))
    keys = tmp_path / "wave.json"
    keys.write_text(EXAMPLE)
    for words in (["human"], [keys, "--page"]):
        done = run("animate", *words, "--port", 0, "--no-open")
        assert done.exit_code == 0, done.output
        assert "http://127.0.0.1:" in done.output
    assert [page.keys.times for page in pages] == [[], [0.0, 1.0, 1.5, 2.0, 3.0]]
    assert list(tmp_path.iterdir()) == [keys]


def test_a_clip_plays_in_the_viewer(tmp_path, monkeypatch):
    pytest.importorskip("viser")
    from supple import view
    from supple.view import player

    figure, clip = models.human(1.9), tmp_path / "wait.bvh"
    Motion(figure, np.arange(13) / 60, np.tile(figure.rest, (13, 1))).save(clip, up="z", unit="cm")
    played = []
    make = player.play
    monkeypatch.setattr(player, "play", lambda motion, **options: played.append(make(motion, **options)) or played[-1])
    monkeypatch.setattr(view.Viewer, "wait", lambda viewer: None)
    done = run("view", clip, "--port", 0, "--no-open")
    assert done.exit_code == 0, done.output
    with played[0] as shown:
        assert shown.playing
        assert abs(shown.viewer.linkage.frame(shown.viewer.q, "head_End").position[2] - 1.9) < 0.1
