"""Laws of .gltf and .glb files: nodes, skins and animations as the specification says, and files that read back."""

from pathlib import Path

import numpy as np
import pytest

import supple
from gltf_files import GltfFile, arm
from supple import Frame, Joint, Kind, Linkage, Motion, models
from supple.errors import BadInput, BadLinkage

CLIP = Path(__file__).parents[1] / "data" / "cmu_01_01.bvh"
CMU = 0.056444  # metres: the unit of CMU's clips


def positions(motion: Motion, links: list[str]) -> np.ndarray:
    frames = motion.linkage.frames(motion.q)
    return np.stack([frames[name].position for name in links], 1)


def names(linkage: Linkage) -> list[str]:
    return [link.name for link in linkage.links]


# -- files that read back ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".glb", ".gltf"])
def test_the_clip_reads_back_as_it_was_written(tmp_path: Path, ending: str) -> None:
    clip = Motion.load(CLIP, up="y", unit=CMU)
    clip.save(tmp_path / f"one{ending}")
    one = Motion.load(tmp_path / f"one{ending}")
    assert one.linkage.names == clip.linkage.names
    assert one.linkage.joint("Hips").kind is Kind.FLOATING
    assert one.linkage.joint("Head").kind is Kind.BALL
    assert one.linkage.joint("Head_End").kind is Kind.FIXED
    assert np.abs(positions(one, names(clip.linkage)) - positions(clip, names(clip.linkage))).max() < 1e-6
    one.save(tmp_path / f"two{ending}")
    two = Motion.load(tmp_path / f"two{ending}")
    assert np.abs(positions(two, names(clip.linkage)) - positions(one, names(clip.linkage))).max() < 1e-6
    assert supple.load(tmp_path / f"one{ending}") == one.linkage


def test_in_units_of_the_file_the_error_is_that_of_single_precision(tmp_path: Path) -> None:
    clip = Motion.load(CLIP)
    clip.save(tmp_path / "a.glb", up="z")
    again = Motion.load(tmp_path / "a.glb", up="z")
    size = np.abs(positions(clip, names(clip.linkage))).max()
    off = np.abs(positions(again, names(clip.linkage)) - positions(clip, names(clip.linkage))).max()
    assert off < 2e-7 * size


@pytest.mark.parametrize("name", ["human", "puppet", "g1", "panda", "baxter"])
def test_bundled_models_read_back(name: str, tmp_path: Path) -> None:
    figure = models.get(name)
    motion = Motion(figure, np.arange(6) / 10, figure.random(6, seed=2))
    motion.save(tmp_path / "a.glb", unit="cm")
    again = Motion.load(tmp_path / "a.glb", unit="cm")
    assert np.abs(positions(again, names(figure)) - positions(motion, names(figure))).max() < 1e-6


def test_random_figures_read_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    makers = (Joint.ball, Joint.floating, Joint.revolute, Joint.prismatic, Joint.planar, Joint.fixed)
    for _ in range(60):
        joints = []
        for i in range(int(rng.integers(1, 12))):
            make = makers[int(rng.integers(len(makers)))]
            at = Frame.at(rng.normal(size=3), Frame.rotvec(rng.normal(size=3)))
            joints.append(make(f"joint {i}", f"link{rng.integers(i + 1)}", f"link{i + 1}", at=at))
        figure = Linkage("figure", joints, base=Frame.exp(rng.normal(size=6)))
        motion = Motion(figure, np.arange(4) / 30, figure.random(4, seed=rng))
        ending = rng.choice([".glb", ".gltf"])
        motion.save(tmp_path / f"a{ending}")
        again = Motion.load(tmp_path / f"a{ending}")
        assert np.abs(positions(again, names(figure)) - positions(motion, names(figure))).max() < 3e-6


def test_keys_between_are_the_motion_too(tmp_path: Path) -> None:
    human = models.human()
    motion = Motion(human, [0, 1, 2.5], [human.rest, *human.random(2, seed=5)])
    motion.save(tmp_path / "a.glb")
    again = Motion.load(tmp_path / "a.glb")
    t = np.linspace(0, 2.5, 41)
    ball_and_root = [joint.child for joint in human.joints if joint.kind in (Kind.BALL, Kind.FLOATING)]
    for link in ("head", "left_shoulder", "chest"):
        assert link in ball_and_root
        assert np.abs(again.frame(t, link).position - motion.frame(t, link).position).max() < 1e-5


# -- what the specification says --------------------------------------------------------------------------------------


def slerp(a: np.ndarray, b: np.ndarray, t: float) -> np.ndarray:
    dot = float(a @ b)
    b, dot = (b, dot) if dot >= 0 else (-b, -dot)
    angle = np.arccos(min(dot, 1.0))
    return a if angle < 1e-9 else (np.sin((1 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle)


def test_linear_rotations_are_slerped_and_translations_are_straight(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    quaternions = rng.normal(size=(4, 4))
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    places = rng.normal(size=(3, 3))
    file = GltfFile([{"name": "body", "rotation": [0.5, 0.5, 0.5, 0.5]}])
    file.animate(0, "rotation", [0.5, 1, 2, 4], quaternions)
    file.animate(0, "translation", [0, 1, 3], places)
    motion = Motion.load(file.save(tmp_path / "a.glb"), up="z")
    assert motion.start == 0
    assert motion.end == 4
    for t, i in ((0.75, 0), (1.1, 1), (1.9, 1), (3.0, 2)):
        start, end = [0.5, 1, 2, 4][i : i + 2]
        turn = Frame.quaternion(slerp(quaternions[i], quaternions[i + 1], (t - start) / (end - start)), order="xyzw")
        assert motion.frame(t, "body").rotation == pytest.approx(turn.rotation, abs=1e-5)
    assert motion.frame(2, "body").position == pytest.approx((places[1] + places[2]) / 2, abs=1e-6)
    assert motion.frame(4, "body").position == pytest.approx(places[2], abs=1e-6)


def test_a_step_holds_and_then_jumps(tmp_path: Path) -> None:
    file = GltfFile([{"name": "body"}])
    file.animate(0, "translation", [0, 1, 2], [[0, 0, 0], [1, 0, 0], [5, 0, 0]], "STEP")
    motion = Motion.load(file.save(tmp_path / "a.gltf"), up="z")
    assert motion.frame([0, 0.99, 1, 1.9, 2], "body").position[:, 0].tolist() == [0, 0, 1, 1, 5]


def test_a_spline_passes_its_keys_with_their_tangents(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    times = np.array([0.0, 1.0, 3.0])
    values = rng.normal(size=(3, 3, 3))  # tangent before, value, tangent after
    turns = rng.normal(size=(3, 3, 4)) + np.array([0, 0, 0, 4])
    file = GltfFile([{"name": "body"}])
    file.animate(0, "translation", times, values, "CUBICSPLINE")
    file.animate(0, "rotation", times, turns, "CUBICSPLINE")
    motion = Motion.load(file.save(tmp_path / "a.glb"), up="z")
    for i in range(2):
        gap = times[i + 1] - times[i]
        for k in range(9):  # the reader cuts each piece into eight
            t = k / 8

            def hermite(rows: np.ndarray, i: int = i, gap: float = gap, t: float = t) -> np.ndarray:
                return (
                    (2 * t**3 - 3 * t**2 + 1) * rows[i, 1]
                    + gap * (t**3 - 2 * t**2 + t) * rows[i, 2]
                    + (-2 * t**3 + 3 * t**2) * rows[i + 1, 1]
                    + gap * (t**3 - t**2) * rows[i + 1, 0]
                )

            frame = motion.frame(times[i] + t * gap, "body")
            assert frame.position == pytest.approx(hermite(values), abs=1e-5)
            assert frame.rotation == pytest.approx(Frame.quaternion(hermite(turns), order="xyzw").rotation, abs=1e-5)


def test_normalised_integers_are_fractions(tmp_path: Path) -> None:
    file = GltfFile([{"name": "body"}])
    file.animate(0, "rotation", [0, 1], [[0, 0, 0, 127], [0, 0, 90, 90]], component=5120, normalized=True)
    motion = Motion.load(file.save(tmp_path / "a.glb"), up="z")
    assert motion.frame(1, "body").to_rotvec() == pytest.approx([0, 0, np.pi / 2])


def test_a_matrix_is_a_place_a_turn_and_a_scale(tmp_path: Path) -> None:
    turn = Frame.at([1, 2, 3], Frame.rotvec([0.3, -0.4, 0.5]))
    scaled = turn.matrix.copy()
    scaled[:3, :3] *= 2.0
    file = GltfFile(
        [
            {"name": "base", "children": [1]},
            {"name": "body", "matrix": scaled.T.ravel().tolist(), "children": [2]},
            {"name": "tip", "translation": [1, 0, 0], "scale": [1, 2, 3]},
        ]
    )
    linkage = supple.load(file.save(tmp_path / "a.gltf"), up="z")
    assert linkage.dof == 0
    assert linkage.frame([], "body").matrix == pytest.approx(turn.matrix)
    assert linkage.frame([], "tip").position == pytest.approx(turn.apply([2, 0, 0]))


def test_scales_above_a_node_scale_its_motion(tmp_path: Path) -> None:
    file = GltfFile(
        [
            {"name": "armature", "scale": [0.01, 0.01, 0.01], "children": [1]},
            {"name": "hips", "translation": [0, 100, 0], "children": [2]},
            {"name": "head", "translation": [0, 80, 0]},
        ]
    )
    file.animate(1, "translation", [0, 1], [[0, 100, 0], [50, 100, 0]])
    file.animate(2, "scale", [0, 1], [[1, 1, 1], [1, 1, 1]])  # constant ones do nothing
    motion = Motion.load(file.save(tmp_path / "a.glb"))
    assert motion.frame(0, "head").position == pytest.approx([0, 0, 1.8])  # y of the file is up
    assert motion.frame(1, "head").position == pytest.approx([0.5, 0, 1.8])


def test_joints_of_a_skin_are_balls_and_its_first_floats(tmp_path: Path) -> None:
    nodes = [
        {"name": "rig", "children": [1]},
        {"name": "hips", "translation": [0, 1, 0], "rotation": [0, 0, 0.6, 0.8], "children": [2, 3]},
        {"name": "leg", "translation": [1, 0, 0], "children": [4]},
        {"name": "lamp"},
        {"name": "foot"},
        {"name": "mesh", "skin": 0, "mesh": 0},
    ]
    file = GltfFile(nodes)
    file.json |= {"skins": [{"joints": [1, 2]}], "scenes": [{"nodes": [0, 5]}]}
    linkage = supple.load(file.save(tmp_path / "a.gltf"), up="z")
    kinds = {joint.name: joint.kind for joint in linkage.joints}
    assert kinds == {"hips": Kind.FLOATING, "leg": Kind.BALL, "lamp": Kind.FIXED, "foot": Kind.FIXED}
    assert linkage.root == "rig"
    turn = Frame.quaternion([0, 0, 0.6, 0.8], order="xyzw")
    assert linkage.frame(linkage.rest, "foot").position == pytest.approx(turn.apply([1, 0, 0]) + np.array([0, 1, 0]))
    with pytest.raises(BadInput, match="it has no animation"):
        Motion.load(tmp_path / "a.gltf")


def test_names_that_repeat_or_are_missing_become_unique(tmp_path: Path) -> None:
    file = GltfFile([{"children": [1, 2]}, {"name": "arm"}, {"name": "arm"}, {"name": "world"}])
    file.json["scenes"] = [{"nodes": [0, 3]}]
    linkage = supple.load(file.save(tmp_path / "a.gltf"))
    assert [link.name for link in linkage.links] == ["world_2", "node0", "arm", "arm_2", "world"]


def test_an_animation_is_chosen_by_number_or_name(tmp_path: Path) -> None:
    file = arm()
    first = file.json["animations"][0]
    second = {"name": "second", "channels": first["channels"][:1], "samplers": first["samplers"]}
    file.json["animations"] = [{**first, "name": "first"}, second]
    path = file.save(tmp_path / "a.glb")
    one, two = Motion.load(path), Motion.load(path, animation="second")
    assert two == Motion.load(path, animation=1)
    assert one.linkage == two.linkage
    assert np.ptp(two.q[:, 3:]) == 0
    assert np.ptp(one.q[:, 3:]) > 1
    for wrong in (2, -1, "third"):
        with pytest.raises(BadInput, match="no animation"):
            Motion.load(path, animation=wrong)
    with pytest.raises(BadInput, match="animation must be a whole number"):
        Motion.load(path, animation=True)


def test_a_buffer_may_be_a_file_beside_it_or_below(tmp_path: Path) -> None:
    file = arm()
    (tmp_path / "more parts").mkdir()
    (tmp_path / "more parts" / "a.bin").write_bytes(file.data)
    (tmp_path / "a.gltf").write_bytes(file.gltf("more%20parts/a.bin"))
    (tmp_path / "b.glb").write_bytes(file.glb())
    assert Motion.load(tmp_path / "a.gltf").q.tolist() == Motion.load(tmp_path / "b.glb").q.tolist()


def test_a_scale_that_changes_is_refused(tmp_path: Path) -> None:
    file = arm()
    file.animate(1, "scale", [0, 1], [[1, 1, 1], [2, 2, 2]])
    with pytest.raises(BadLinkage, match=r"nodes\[1\]: its scale changes"):
        Motion.load(file.save(tmp_path / "a.glb"))


# -- what is written --------------------------------------------------------------------------------------------------


def test_other_software_reads_what_is_written(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    human = models.human()
    motion = Motion(human, [0, 1], [human.rest, human.random(seed=1)])
    motion.save(tmp_path / "a.glb")
    scene = trimesh.load(tmp_path / "a.glb")
    low, high = scene.bounds
    assert high[1] == pytest.approx(1.75, abs=0.02)  # y is up, in metres
    assert low[1] == pytest.approx(0.0, abs=0.01)
    for link in ("left_hand", "head"):
        x, y, z = scene.graph.get(link)[0][:3, 3]
        assert [x, -z, y] == pytest.approx(human.frame(human.rest, link).position, abs=1e-5)
