"""Laws of the bundled models: they load, rest well, move as the reference says, and tell their sources."""

import json
import math
import subprocess
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from supple import models
from supple.errors import UnknownName
from supple.frame import Frame
from supple.link import Mesh

EXPECTED = Path(__file__).parents[1] / "data" / "expected"
DATA = resources.files("supple") / "data"
# end effectors, and how many directions each can be moved in
ENDS = {
    "planar2": {"tip": 2},
    "planar3": {"tip": 3},
    "panda": {"panda_hand_tcp": 6, "panda_hand": 6},
    "ur5": {"tool0": 6, "ee_link": 6},
    "ur10": {"tool0": 6, "ee_link": 6},
    "iiwa14": {"tool0": 6},
    "puma560": {"tool": 6},
    "so101": {"gripper_frame_link": 5},
    "baxter": {"left_gripper": 6, "right_gripper": 6},
    "g1": {
        "left_rubber_hand": 6,
        "right_rubber_hand": 6,
        "left_ankle_roll_link": 6,
        "right_ankle_roll_link": 6,
    },
    "kraft": {"tool": 6},
    "human": {"left_hand": 6, "right_hand": 6, "left_foot": 6, "right_foot": 6, "head": 6},
    "puppet": {"left_hand": 2, "right_hand": 2},
}
DOF = {
    "planar2": 2,
    "planar3": 3,
    "panda": 8,
    "ur5": 6,
    "ur10": 6,
    "iiwa14": 7,
    "puma560": 6,
    "so101": 6,
    "baxter": 17,
    "g1": 29,
    "kraft": 6,
    "human": 56,
    "puppet": 4,
}
EVERY = pytest.mark.parametrize("name", list(ENDS))


def test_the_box_holds_what_it_says():
    assert set(models.names()) == set(ENDS)
    assert set(models.__all__) == set(ENDS) | {"names", "get", "about"}
    assert set(models.__all__) <= set(dir(models))


@EVERY
def test_every_bundled_model_loads_once_under_its_name(name):
    arm = models.get(name)
    assert arm is getattr(models, name)()
    assert arm.name == name
    assert arm.dof == DOF[name]
    assert len(str(arm).splitlines()) == len(arm.links) + 2


@EVERY
def test_every_rest_is_inside_the_limits_and_off_their_edges(name):
    arm = models.get(name)
    assert arm.inside(arm.rest)
    assert (arm.rest - arm.lower >= 0.005).all()
    assert (arm.upper - arm.rest >= 0.005).all()


@EVERY
def test_every_rest_leaves_every_end_effector_free_to_move(name):
    arm = models.get(name)
    for end, directions in ENDS[name].items():
        sizes = np.linalg.svd(arm.jacobian(arm.rest, end), compute_uv=False)
        assert (sizes > 1e-9).sum() == directions
        assert sizes[directions - 1] > 0.07
        assert arm.manipulability(arm.rest, end) == pytest.approx(np.prod(sizes[:directions]))
        assert arm.manipulability(arm.rest, end) > 0.005


@EVERY
def test_every_speed_is_known_and_no_acceleration_is(name):
    arm = models.get(name)
    assert np.isfinite(arm.speed).all() == (not name.startswith("planar"))
    assert np.isinf(arm.acceleration).all()


@EVERY
def test_about_tells_end_effectors_source_and_licence_in_one_line(name):
    line = models.about(name)
    assert "\n" not in line
    assert "dof" in line
    assert next(iter(ENDS[name])) in line
    assert line.endswith(("Apache-2.0", "BSD-3-Clause", "CC0-1.0"))


@pytest.mark.parametrize("file", sorted(EXPECTED.glob("*.fk.json")), ids=lambda file: file.name.split(".")[0])
def test_frames_and_jacobians_agree_with_the_reference(file):
    arm = models.get(file.name.split(".")[0])
    reference = json.loads(file.read_text())
    order = [arm.names.index(name) for name in reference["free_joints"]]
    assert sorted(order) == list(range(arm.dof))
    assert arm.root == reference["root"]
    for sample in reference["samples"]:
        q = arm.q(sample["q"])
        frames = arm.frames(q)
        for link, rows in sample["fk"].items():
            # the reference has twelve decimals, so half of the last is the most that it can be off
            assert np.abs(frames[link].matrix[:3] - rows).max() < 1e-12
            assert np.abs(arm.frame(q, link).matrix[:3] - rows).max() < 1e-12
        assert np.abs(arm.jacobian(q, reference["tip"])[:, order] - sample["jac"]).max() < 1e-12


def test_the_reference_covers_every_file():
    files = {entry.name[: -len(".urdf")] for entry in DATA.iterdir() if entry.name.endswith(".urdf")}
    assert files == {file.name.split(".")[0] for file in EXPECTED.glob("*.fk.json")}
    assert files | {"planar2", "planar3", "puma560", "human", "puppet"} == set(ENDS)


def test_planar_arms_reach_as_their_lengths_say():
    two, three = models.planar2(), models.planar3()
    assert two.rest.tolist() == [math.pi / 8, math.pi / 4]
    assert three.rest.tolist() == [math.pi / 8, math.pi / 4, math.pi / 4]
    assert two.frame([0, 0], "tip") == Frame.at([25, 0, 0])
    assert three.frame([0, 0, 0], "tip") == Frame.at([30, 0, 0])
    bent = three.frame([0.3, 0.4, 0.5], "tip")
    turns = np.cumsum([0.3, 0.4, 0.5])
    wanted = [[15, 10, 5] @ np.cos(turns), [15, 10, 5] @ np.sin(turns), 0]
    assert np.abs(bent.position - wanted).max() < 1e-13


def test_the_puma_is_its_denavit_hartenberg_table():
    h = math.pi / 2  # twist and length before each joint, offset along its axis (the last includes the tool)
    rows = [(0, 0, 0.672), (-h, 0, 0), (0, 0.4318, 0.14909), (h, -0.02032, 0.43307), (-h, 0, 0), (h, 0, 0.15625)]
    puma = models.puma560()
    q = puma.random(50, seed=0)
    frame = Frame()
    for i, (twist, length, offset) in enumerate(rows):
        before = Frame.turn([1, 0, 0], twist) @ Frame.at([length, 0, 0])
        frame = frame @ before @ Frame.turn([0, 0, 1], q[:, i]) @ Frame.at([0, 0, offset])
    assert np.abs(puma.frame(q, "tool").matrix - frame.matrix).max() < 1e-14
    assert np.degrees(puma.upper) == pytest.approx([160, 45, 225, 170, 100, 266])
    assert np.degrees(puma.lower) == pytest.approx([-160, -225, -45, -110, -100, -266])
    assert np.degrees(puma.speed) == pytest.approx([82, 74, 122, 228, 241, 228])


def test_the_two_arms_of_baxter_and_g1_rest_as_mirror_images():
    flip = np.array([1, -1, 1])
    for name, left, right in (
        ("baxter", "left_gripper", "right_gripper"),
        ("g1", "left_rubber_hand", "right_rubber_hand"),
    ):
        arm = models.get(name)
        a, b = arm.frame(arm.rest, left), arm.frame(arm.rest, right)
        assert np.abs(a.position * flip - b.position).max() < 1e-3
    g1 = models.g1()
    assert np.abs(g1.frame(g1.rest, "left_ankle_roll_link").rotation - np.eye(3)).max() < 1e-3  # flat on the floor


@pytest.mark.parametrize("name", ["panda", "ur5", "so101", "iiwa14", "baxter", "g1"])
def test_meshes_are_bundled(name):
    meshes = [g.shape for link in models.get(name).links for g in link.geometry]
    assert len(meshes) >= 7
    for mesh in meshes:
        assert isinstance(mesh, Mesh)
        assert mesh.found
        assert Path(mesh.path).stat().st_size > 84  # more than the head of the file
    assert sum(file.stat().st_size for file in Path(meshes[0].path).parent.iterdir()) <= 400_000


def test_every_file_tells_its_source_and_licence():
    table = (DATA / "LICENSES.md").read_text(encoding="utf-8")
    for entry in DATA.iterdir():
        if entry.name.endswith(".urdf"):
            head = entry.read_text(encoding="utf-8").split("<robot")[0]
            assert f"`{entry.name}`" in table
            assert "Changes:" in head or "CC0-1.0" in head
            licence = next(word for word in ("Apache-2.0", "BSD-3-Clause", "CC0-1.0") if word in head)
            assert models.about(entry.name[: -len(".urdf")]).endswith(licence)
            row = next(line for line in table.splitlines() if f"`{entry.name}`" in line)
            assert licence in row
    for text in ("Apache-2.0.txt", "BSD-3-Clause.txt"):
        assert (DATA / "licenses" / text).is_file()


def test_a_name_that_is_not_bundled_is_answered_with_near_ones():
    with pytest.raises(UnknownName, match="no bundled model named 'pandas'; did you mean 'panda'"):
        models.get("pandas")
    with pytest.raises(UnknownName, match="no bundled model named 'ur55'; did you mean 'ur5'"):
        models.about("ur55")


def test_nothing_is_read_on_import():
    code = "from supple import models; print(sum(getattr(models, n).cache_info().currsize for n in models.names()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
