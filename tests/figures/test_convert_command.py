"""The command `supple convert`: every format to every other, with units, axes, rates and parts."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from supple import Motion, models
from supple.cli import app

CLIP = Path(__file__).parents[1] / "data" / "cmu_01_01.bvh"
CMU = 0.056444  # metres: the unit of CMU's clips


def run(*words: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["convert", *map(str, words)])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first 60 frames of the clip."""
    file = tmp_path_factory.mktemp("walk") / "walk.bvh"
    run(CLIP, file, "--end", 0.5)
    return file


def test_a_part_has_the_keys_of_the_whole(walk: Path) -> None:
    part, whole = Motion.load(walk), Motion.load(CLIP)
    assert len(part) == 61
    assert part.linkage.frames(part.q).matrix == pytest.approx(whole.linkage.frames(whole.q[:61]).matrix, abs=1e-9)


@pytest.mark.parametrize("ending", [".bvh", ".glb", ".gltf"])
def test_every_animation_file_becomes_every_other_and_is_in_metres(walk: Path, tmp_path: Path, ending: str) -> None:
    expected = Motion.load(walk, up="y", unit=CMU)
    file = tmp_path / f"walk{ending}"
    assert "31 joints" in run(walk, file, "--unit", CMU)
    again = Motion.load(file, up="y")
    assert again.linkage.names == expected.linkage.names
    links = [link.name for link in expected.linkage.links[1:]]
    for name in links:
        one, other = (each.linkage.frame(each.q, name).position for each in (expected, again))
        assert np.abs(one - other).max() < 1e-6
    run(file, tmp_path / "back.bvh", "--to-unit", CMU)
    back, first = Motion.load(tmp_path / "back.bvh"), Motion.load(walk)
    assert back.linkage.frame(back.q, "Head").position == pytest.approx(
        first.linkage.frame(first.q, "Head").position, abs=1e-4
    )


@pytest.mark.parametrize("ending", [".csv", ".npz"])
def test_joint_values_need_the_linkage_to_be_read(walk: Path, tmp_path: Path, ending: str) -> None:
    table = tmp_path / f"walk{ending}"
    run(walk, table)
    assert "--linkage" in run(table, tmp_path / "a.glb", code=2)
    run(table, tmp_path / "a.bvh", "--linkage", walk, "--to-up", "z")
    one, other = Motion.load(walk), Motion.load(tmp_path / "a.bvh")
    assert one.linkage.frames(one.q)["Head"].matrix == pytest.approx(
        other.linkage.frames(other.q)["Head"].matrix, abs=1e-6
    )


def test_the_rate_changes_the_keys_and_not_the_motion(walk: Path, tmp_path: Path) -> None:
    data = json.loads(run(walk, tmp_path / "slow.bvh", "--rate", 30, "--json"))
    assert data["keys"] == len(Motion.load(tmp_path / "slow.bvh")) == 15
    assert data["joints"] == 31


def test_a_robot_is_written_at_rest(tmp_path: Path) -> None:
    run("panda", tmp_path / "panda.glb")
    motion, panda = Motion.load(tmp_path / "panda.glb"), models.panda()
    assert len(motion) == 1
    hand = motion.linkage.frame(motion.q[0], "panda_hand").matrix
    assert hand == pytest.approx(panda.frame(panda.rest, "panda_hand").matrix, abs=1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("walk.xyz",), "B must end in"),
        (("no/folder/a.glb",), "there is no folder"),
        (("a.glb", "--unit", "parsec"), "unit must be"),
        (("a.glb", "--up", "w"), "up must be"),
        (("a.glb", "--linkage", "panda"), "holds its own"),
        (("a.csv", "--to-unit", "cm"), "--to-unit"),
        (("a.glb", "--rate", "0"), "rate must be"),
        (("a.bvh", "--start", "9"), "begin before it ends"),
        (("a.glb", "--animation", "1"), "one animation"),
    ],
)
def test_wrong_words_are_answered(walk: Path, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    said = run(walk, tmp_path / words[0], *words[1:], code=2)
    assert message in " ".join(said.split())
    assert not (tmp_path / words[0]).exists()


def test_help_teaches_with_examples() -> None:
    said = run("--help")
    for word in (".bvh", ".glb", "--unit", "--rate", "Examples:", "supple convert walk.bvh walk.glb"):
        assert word in said


def test_a_retargeted_motion_of_a_robot_without_a_root_is_converted(tmp_path):
    from supple.animate import Retarget

    figure = models.human()
    clip = Motion(figure, np.arange(5) / 60, np.tile(figure.rest, (5, 1)))
    Retarget(figure, models.g1()).motion(clip).save(tmp_path / "walk.npz")
    run(tmp_path / "walk.npz", tmp_path / "w.glb", "--linkage", "g1")
    assert len(Motion.load(tmp_path / "w.glb")) == 5


@pytest.mark.parametrize("ending", ["gif", "png"])
def test_a_motion_becomes_a_picture(tmp_path, ending):
    pytest.importorskip("matplotlib")
    figure = models.human()
    clip = Motion(figure, [0, 0.2], [figure.rest, figure.q(left_elbow=1.0)])
    clip.save(tmp_path / "wave.bvh", rate=20, up="y", unit="cm")
    said = run(tmp_path / "wave.bvh", tmp_path / f"wave.{ending}")
    assert "give --unit" in said  # 170 m tall
    assert (tmp_path / f"wave.{ending}").stat().st_size > 1000
