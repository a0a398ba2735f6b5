"""Files as other tools write them: z up, prefixed names, numbered spines, position channels on every joint."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bvh_figures import BLENDER, MIXAMO, XSENS, walk
from supple import Linkage, Motion, models
from supple._figure.skin import drawn, limbs
from supple.animate import BodyMap, Retarget, load_clip
from supple.cli import app
from supple.link import Box, Geometry
from supple.view import bodies

STYLES = {
    "blender": (BLENDER, {"up": "z", "unit": 0.01}),
    "mixamo": (MIXAMO, {}),
    "xsens": (XSENS, {"everywhere": True}),
}


@pytest.fixture(params=STYLES)
def clip(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[dict[str, str], Path]:
    names, how = STYLES[request.param]
    return names, walk(tmp_path / "walk.bvh", names, **how)


def test_the_figure_stands_and_its_parts_are_found(clip: tuple[dict[str, str], Path]) -> None:
    names, file = clip
    motion = load_clip(file)
    parts = BodyMap.of(motion.linkage).links
    assert [parts[part] for part in ("pelvis", "chest", "head")] == [names[n] for n in ("Hips", "Spine2", "Head")]
    assert parts["left_shank"] == names["LeftLeg"]
    heights = [motion.linkage.frame(motion.q, parts[part]).position[:, 2] for part in ("pelvis", "head", "left_foot")]
    assert heights[0] == pytest.approx(0.92, abs=1e-3)
    assert (heights[1] > 1.4).all()
    assert (heights[2] < 0.5).all()


def test_it_retargets(clip: tuple[dict[str, str], Path]) -> None:
    motion = load_clip(clip[1])
    moved = Retarget(motion.linkage, models.human()).motion(motion, progress=False)
    head = moved.linkage.frame(moved.q, "head").position
    assert (head[:, 2] > 1.3).all()
    assert np.linalg.norm(head[-1, :2] - head[0, :2]) > 1.2  # it walks on


def test_it_is_converted_upright(clip: tuple[dict[str, str], Path], tmp_path: Path) -> None:
    names, file = clip
    done = CliRunner().invoke(app, ["convert", str(file), str(tmp_path / "a.glb")])
    assert done.exit_code == 0, done.output
    motion = Motion.load(tmp_path / "a.glb", up="y")
    head, foot = (motion.linkage.frame(motion.q, names[part]).position for part in ("Head", "LeftFoot"))
    assert (head[:, 2] > foot[:, 2] + 0.3 * np.ptp(head[:, 2]) + 0.5).all()


def test_bones_of_joints_with_position_channels_are_drawn(tmp_path: Path) -> None:
    linkage = load_clip(walk(tmp_path / "walk.bvh", XSENS, everywhere=True)).linkage
    plain = load_clip(walk(tmp_path / "plain.bvh", XSENS)).linkage
    assert len(limbs(linkage, linkage.rest)) == len(limbs(plain, plain.rest)) == 21
    assert bodies.length(linkage) == pytest.approx(bodies.length(plain))  # also in the viewer


def test_of_several_sensors_on_a_link_only_the_farthest_is_drawn():
    robot = models.g1()
    names = [robot.links[i].name for i, _ in limbs(robot, robot.rest)]
    assert names.count("torso_link") == 3  # both arms, and the highest of the sensors


def test_a_robot_of_mesh_files_with_a_box_for_a_sensor_is_drawn_along_its_links() -> None:
    robot = models.g1()
    box = Geometry(Box((0.02, 0.02, 0.02)))
    links = [dataclasses.replace(link, geometry=(box,)) if link.name == "head_link" else link for link in robot.links]
    found = drawn(Linkage("robot", robot.joints, links), robot.rest)
    bare = drawn(robot, robot.rest)
    assert len(bare) > 20
    assert [piece for _, piece in found].count(box) == 1
    assert len(found) >= len(bare) - 2


def test_shapes_of_a_figure_are_drawn_and_transparent_ones_are_not() -> None:
    human = models.human()
    assert drawn(human, human.rest) == [(i, piece) for i, link in enumerate(human.links) for piece in link.geometry]
    clear = Geometry(Box((1.0, 1.0, 1.0)), colour=(1.0, 1.0, 1.0, 0.0))
    links = [dataclasses.replace(link, geometry=(*link.geometry, clear)) for link in human.links]
    assert clear not in [piece for _, piece in drawn(Linkage("clear", human.joints, links), human.rest)]
