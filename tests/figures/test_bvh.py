"""Laws of .bvh files: positions as other software has them, any order of channels, and files that read back."""

import json
from pathlib import Path

import numpy as np
import pytest

import supple
from supple import Frame, Joint, Kind, Linkage, Motion, models
from supple.errors import BadInput

DATA = Path(__file__).parents[1] / "data"
CLIP = DATA / "cmu_01_01.bvh"
ONE = """HIERARCHY
ROOT hip
{{
  OFFSET {offset}
  CHANNELS {channels}
{inside}
}}
MOTION
Frames: {count}
Frame Time: 0.5
{rows}
"""


@pytest.fixture(scope="module")
def clip() -> Motion:
    return Motion.load(CLIP)


def written(folder: Path, channels: str, rows: list[list[float]], inside: str = "", offset: str = "1 2 3") -> Path:
    file = folder / "one.bvh"
    lines = "\n".join(" ".join(map(repr, row)) for row in rows)
    file.write_text(ONE.format(offset=offset, channels=channels, inside=inside, count=len(rows), rows=lines))
    return file


def world(motion: Motion, links: tuple[str, ...] = ()) -> np.ndarray:
    """Frames (n, links, 4, 4) of the named links, or of all but the root."""
    frames = motion.linkage.frames(motion.q)
    return np.stack([frames[name].matrix for name in links or [link.name for link in motion.linkage.links[1:]]], 1)


def test_positions_of_the_clip_are_those_of_other_software(clip: Motion) -> None:
    expected = json.loads((DATA / "expected" / "cmu_01_01.bvh.json").read_text())
    frames = clip.linkage.frames(clip.q)
    assert len(clip) == expected["frames"]
    assert clip.linkage.dof == expected["channels"]
    assert np.diff(clip.times) == pytest.approx(expected["frame_time"])
    samples = [sample for sample in expected["samples"] if sample["convention"] == "replace"]
    assert samples
    for sample in samples:
        assert set(sample["positions"]) == {link.name for link in clip.linkage.links[1:]}
        for name, position in sample["positions"].items():
            assert np.abs(frames[name].position[sample["frame"]] - position).max() < 1e-6
    for name, parent in expected["parents"].items():
        assert clip.linkage.joint(name).parent == (parent or "world")


def test_joints_of_the_clip_are_balls_and_its_root_floats(clip: Motion) -> None:
    kinds = {joint.name: joint.kind for joint in clip.linkage.joints}
    assert kinds.pop("Hips") is Kind.FLOATING
    assert {kind for name, kind in kinds.items() if name.endswith("_End")} == {Kind.FIXED}
    assert {kind for name, kind in kinds.items() if not name.endswith("_End")} == {Kind.BALL}
    assert supple.load(CLIP) == clip.linkage


@pytest.mark.parametrize("options", [{}, {"up": "y", "unit": "in"}, {"up": "x", "unit": 0.056444}])
def test_the_clip_reads_back_as_it_was_written(clip: Motion, tmp_path: Path, options: dict[str, object]) -> None:
    file = tmp_path / "again.bvh"
    clip.save(file, **options)
    again = Motion.load(file, **options)
    assert again.linkage.names == clip.linkage.names
    assert np.abs(world(again) - world(clip)).max() < 1e-6
    assert np.abs(again.times - clip.times).max() < 1e-6


def test_up_and_unit_turn_and_scale_the_world(clip: Motion) -> None:
    turned = Motion.load(CLIP, up="y", unit="cm")
    x, y, z = np.moveaxis(world(clip)[..., :3, 3], -1, 0)
    assert np.abs(world(turned)[..., :3, 3] - 0.01 * np.stack([x, -z, y], -1)).max() < 1e-12
    sideways = Motion.load(CLIP, up="x")
    assert np.abs(world(sideways)[..., 2, 3] - x).max() < 1e-9


ORDERS = ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("positions", ["", "Xposition Yposition Zposition ", "Zposition Xposition "])
def test_channels_come_in_any_order(tmp_path: Path, order: str, positions: str) -> None:
    rng = np.random.default_rng(ORDERS.index(order))
    names = positions.split() + [f"{axis}rotation" for axis in order]
    if rng.random() < 0.5:
        names = [*names[-3:], *names[:-3]]  # positions last: they are still applied first
    rows = rng.uniform(-400, 400, (50, len(names)))
    file = written(tmp_path, f"{len(names)} {' '.join(names)}", rows.tolist())
    motion = Motion.load(file)
    frames = motion.linkage.frame(motion.q, "hip")
    for row, matrix in zip(rows, frames.matrix, strict=True):
        value = dict(zip(names, row, strict=True))
        at = [value.get(f"{axis}position", offset) for axis, offset in zip("XYZ", (1, 2, 3), strict=True)]
        turn = Frame.at(at)
        for axis in order:
            turn = turn @ Frame.turn(np.eye(3)["XYZ".index(axis)], np.radians(value[f"{axis}rotation"]))
        assert np.abs(matrix - turn.matrix).max() < 1e-9


def test_few_channels_give_simpler_joints(tmp_path: Path) -> None:
    def joint(name: str, channels: str, more: str = "") -> str:
        return f"JOINT {name} {{ OFFSET 0 1 0 CHANNELS {channels} {more} }}"

    inside = joint("knee", "1 Xrotation", joint("ankle", "2 Zrotation Xrotation", joint("nail", "0"))) + joint(
        "slider", "1 Yposition", "End Site { OFFSET 0 0 1 } End Site { OFFSET 0 0 2 }"
    )
    file = written(tmp_path, "3 Zrotation Yrotation Xrotation", [[0, 0, 90, 720 + 30, 10, 20, 5]], inside, "0 0 0")
    motion = Motion.load(file)
    kinds = {joint.name: joint.kind.value for joint in motion.linkage.joints}
    assert kinds == {
        "hip": "ball",
        "knee": "continuous",
        "ankle": "ball",
        "nail": "fixed",
        "slider": "floating",
        "slider_End": "fixed",
        "slider_End_2": "fixed",
    }
    frames = motion.linkage.frames(motion.q[0])
    assert frames["knee"].position == pytest.approx([0, 0, 1])
    assert motion.q[0, motion.linkage.names.index("knee")] == pytest.approx(np.radians(750))
    # the position channel stands for the offset
    assert frames["slider"].position == pytest.approx([0, 0, 5])
    assert frames["slider_End_2"].position == pytest.approx([0, -2, 5])


@pytest.mark.parametrize("name", ["g1", "panda", "baxter"])
def test_every_link_of_a_robot_reads_back(name: str, tmp_path: Path) -> None:
    arm = models.get(name)
    motion = Motion(arm, [0, 1, 2], arm.random(3, seed=1))
    motion.save(tmp_path / "arm.bvh", rate=20, unit="cm")
    again = Motion.load(tmp_path / "arm.bvh", unit="cm")
    links = tuple(link.name for link in arm.links)
    times = np.linspace(0, 2, 41)
    sampled = Motion(arm, times, motion.at(times))
    assert np.abs(world(again, links) - world(sampled, links)).max() < 1e-6


def test_random_figures_read_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    makers = (Joint.ball, Joint.floating, Joint.revolute, Joint.prismatic, Joint.planar, Joint.fixed)
    for _ in range(60):
        joints = []
        for i in range(int(rng.integers(1, 12))):
            make = makers[int(rng.integers(len(makers)))]
            at = Frame.at(rng.normal(size=3), Frame.rotvec(rng.normal(size=3)))
            joints.append(make(f"joint {i}", f"link{rng.integers(i + 1)}", f"link{i + 1}", at=at))
        figure = Linkage("figure", joints, base=Frame.exp(rng.normal(size=6)))
        motion = Motion(figure, np.arange(4) / 30, figure.random(4, seed=rng))
        file = tmp_path / "figure.bvh"
        motion.save(file, up="y")
        again = Motion.load(file, up="y")
        links = tuple(link.name for link in figure.links)
        known = [name for name in links if name in {link.name for link in again.linkage.links}]
        assert len(known) >= len(links) - 1  # a root that only carries a floating joint is the world
        assert np.abs(world(again, tuple(known)) - world(motion, tuple(known))).max() < 1e-6


def test_keys_at_unequal_times_need_a_rate(tmp_path: Path) -> None:
    arm = models.planar2()
    motion = Motion(arm, [0, 1, 3], np.zeros((3, 2)))
    with pytest.raises(BadInput, match="give a rate"):
        motion.save(tmp_path / "a.bvh")
    motion.save(tmp_path / "a.bvh", rate=10)
    assert len(Motion.load(tmp_path / "a.bvh")) == 31


def test_options_of_animation_files_are_refused_for_others(tmp_path: Path) -> None:
    arm = models.planar2()
    motion = Motion(arm, [0, 1], np.zeros((2, 2)))
    with pytest.raises(BadInput, match="up and unit"):
        motion.save(tmp_path / "a.csv", up="y")
    with pytest.raises(BadInput, match="up and unit"):
        supple.load(Path(models.__file__).parent / "data" / "ur5.urdf", unit="cm")
    motion.save(tmp_path / "a.csv")
    with pytest.raises(BadInput, match="up, unit and animation"):
        Motion.load(tmp_path / "a.csv", arm, unit=2)
    with pytest.raises(BadInput, match=r"Motion\.load\(path, linkage\)"):
        Motion.load(tmp_path / "a.csv")
    for bad in ({"up": "w"}, {"up": 1}, {"unit": "parsec"}, {"unit": 0}, {"unit": -1}, {"unit": float("nan")}):
        with pytest.raises(BadInput, match="must be"):
            Motion.load(CLIP, **bad)
