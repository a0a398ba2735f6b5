"""Laws of the readers that need an extra: xacro and MJCF."""

from __future__ import annotations

import math
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from supple import Frame, Kind, Linkage, Mesh, Sphere
from supple.errors import BadInput, BadLinkage, MissingExtra
from supple.read import load

DATA = Path(__file__).parents[1] / "data"
XACRO = DATA / "pkg_arm" / "urdf" / "arm.urdf.xacro"
MODEL = DATA / "all_joints.xml"


def absent(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)


class TestXacro:
    @pytest.fixture(autouse=True)
    def _needs_it(self) -> None:
        pytest.importorskip("xacrodoc")

    def test_macros_includes_and_expressions_are_expanded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)  # an include is relative to its file, not to where the program runs
        arm = load(XACRO)
        assert arm.name == "arm"
        assert [joint.name for joint in arm.joints] == ["joint1", "joint2", "mount"]
        np.testing.assert_allclose(arm.frame([0, 0], "tool").position, [0.6, 0, 0], atol=1e-15)
        np.testing.assert_array_equal(arm.upper, [math.pi / 2] * 2)

    def test_it_may_be_in_any_encoding(self, tmp_path: Path) -> None:
        file = tmp_path / "wide.xacro"
        body = '<xacro:property name="n" value="Überarm"/><link name="${n}"/>'
        file.write_bytes(f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro">{body}</robot>'.encode("utf-16"))
        assert load(file).root == "Überarm"

    def test_arguments_reach_the_file(self) -> None:
        assert load(XACRO, arguments={"joints": "1"}).dof == 1

    def test_meshes_are_found_from_the_folder_of_the_xacro(self) -> None:
        shapes = [link.geometry[0].shape for link in load(XACRO).links[1:]]
        assert all(isinstance(shape, Mesh) and shape.found for shape in shapes)

    def test_search_paths_hold_packages(self, tmp_path: Path) -> None:
        shutil.copytree(DATA / "pkg_arm", tmp_path / "away" / "pkg_arm")
        moved = tmp_path / "top.xacro"
        moved.write_text(XACRO.read_text().replace('"segment.xacro"', '"$(find pkg_arm)/urdf/segment.xacro"'))
        with pytest.raises(BadLinkage, match=r"top\.xacro: xacro cannot expand it: .*pkg_arm"):
            load(moved)
        assert load(moved, search=[tmp_path / "away"]).dof == 2
        assert load(moved, search=tmp_path / "away").dof == 2

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ("<xacro:nothing/>", "nothing"),
            ('<link name="${1 / 0}"/>', "division by zero"),
            ('<xacro:include filename="gone.xacro"/>', "gone.xacro"),
            ('<link name="a"/><link name="a"/>', "link 'a': two links have this name"),
            ('<link name="a">', "2: not well-formed XML"),
        ],
    )
    def test_what_cannot_be_expanded_names_the_file(self, tmp_path: Path, body: str, said: str) -> None:
        file = tmp_path / "bad.xacro"
        file.write_text(f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n{body}</robot>')
        with pytest.raises(BadLinkage) as caught:
            load(file)
        assert str(caught.value).startswith(str(file))
        assert said in str(caught.value)

    def test_hostile_xml_never_reaches_the_expander(self, tmp_path: Path) -> None:
        file = tmp_path / "bomb.xacro"
        file.write_text('<!DOCTYPE r [<!ENTITY a "b">]><robot name="&a;"/>')
        with pytest.raises(BadLinkage, match="document type declaration"):
            load(file)

    def test_its_state_is_left_as_it_was(self) -> None:
        from xacrodoc import packages

        before = packages._finder
        load(XACRO)
        assert packages._finder is before

    def test_without_the_extra_the_message_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        absent(monkeypatch, "xacrodoc")
        with pytest.raises(MissingExtra, match=r"supple\[xacro\]"):
            load(XACRO)


def test_arguments_are_refused_for_other_files() -> None:
    with pytest.raises(BadInput, match=r"arguments are for \.xacro files"):
        load(MODEL, arguments={"a": "b"})


class TestMjcf:
    @pytest.fixture(autouse=True)
    def _needs_it(self) -> None:
        pytest.importorskip("mujoco")

    @pytest.fixture
    def arm(self) -> Linkage:
        return load(MODEL)

    def test_frames_agree_with_mujoco(self, arm: Linkage) -> None:
        import mujoco

        model = mujoco.MjModel.from_xml_path(str(MODEL))
        data = mujoco.MjData(model)
        random = np.random.default_rng(7)
        worst = 0.0
        for _ in range(200):
            q = random.uniform(-2, 2, arm.dof)
            values = dict(zip(arm.names, q, strict=True))
            for j in range(model.njnt):
                name = model.joint(j).name or f"joint{j}"
                at = model.jnt_qposadr[j]
                joint = arm.joint(name)
                if joint.kind is Kind.FLOATING:
                    data.qpos[at : at + 3] = [values[f"fly.{x}"] for x in "xyz"]
                    data.qpos[at + 3 : at + 7] = Frame.rotvec([values[f"fly.r{x}"] for x in "xyz"]).to_quaternion()
                elif joint.kind is Kind.BALL:
                    data.qpos[at : at + 4] = Frame.rotvec([values[f"ball.r{x}"] for x in "xyz"]).to_quaternion()
                elif joint.mimic:
                    data.qpos[at] = joint.mimic.gain * values[joint.mimic.joint] + joint.mimic.offset
                else:
                    data.qpos[at] = values[name]
            mujoco.mj_kinematics(model, data)
            frames = arm.frames(q)
            links = [(model.body(b).name or f"body{b}", data.xpos[b], data.xmat[b]) for b in range(model.nbody)]
            links += [(s, data.site(s).xpos, data.site(s).xmat) for s in ("mark",)]
            links += [("arm_", data.site("arm").xpos, data.site("arm").xmat)]
            for link, position, rotation in links:
                worst = max(worst, np.abs(frames[link].position - position).max())
                worst = max(worst, np.abs(frames[link].rotation - np.reshape(rotation, (3, 3))).max())
        assert worst < 1e-12

    def test_it_rests_where_mujoco_starts(self, arm: Linkage) -> None:
        import mujoco

        model = mujoco.MjModel.from_xml_path(str(MODEL))
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        for body in ("drone", "gimbal", "arm", "plate", "finger"):
            np.testing.assert_allclose(arm.frame(arm.rest, body).position, data.body(body).xpos, atol=1e-14)

    def test_kinds_and_limits_are_those_of_the_model(self, arm: Linkage) -> None:
        kinds = {joint.name: joint.kind for joint in arm.joints if joint.kind is not Kind.FIXED}
        assert kinds == {
            "fly": Kind.FLOATING,
            "ball": Kind.BALL,
            "swing": Kind.REVOLUTE,
            "slide": Kind.PRISMATIC,
            "spin": Kind.CONTINUOUS,
            "left": Kind.PRISMATIC,
            "right": Kind.PRISMATIC,
            "joint7": Kind.CONTINUOUS,
        }
        assert (arm.joint("swing").lower, arm.joint("swing").upper) == ((-1.0,), (2.0,))
        assert arm.joint("ball").swing == pytest.approx(1.2)
        assert arm.joint("ball").twist == pytest.approx((-1.2, 1.2))
        assert arm.root == "world"

    def test_several_joints_become_a_chain_of_links_without_size(self, arm: Linkage) -> None:
        assert [arm.joint(name).child for name in ("swing", "slide", "spin")] == ["arm/swing", "arm/slide", "arm/spin"]
        assert arm.link("arm/slide").geometry == ()

    def test_a_straight_equality_is_a_mimic_and_no_other_is(self, arm: Linkage) -> None:
        mimic = arm.joint("right").mimic
        assert (mimic.joint, mimic.gain) == ("left", -2.0)
        assert mimic.offset == pytest.approx(0.02 + 0.005 + 2 * 0.01)
        assert arm.joint("left").mimic is None  # it would follow its own follower
        assert arm.joint("spin").mimic is None  # a parabola

    def test_named_sites_are_links_and_keep_out_of_the_way_of_bodies(self, arm: Linkage) -> None:
        assert {"mark", "arm_"} <= {link.name for link in arm.links}
        assert not any("site" in link.name for link in arm.links)

    def test_a_mesh_is_placed_by_the_axes_of_its_file(self, arm: Linkage) -> None:
        (piece,) = arm.link("plate").geometry
        assert isinstance(piece.shape, Mesh)
        assert piece.shape.found
        assert os.path.samefile(piece.shape.path, DATA / "pkg_arm" / "meshes" / "wedge.stl")
        assert piece.shape.scale == pytest.approx((0.1, 0.2, 0.3))
        np.testing.assert_allclose(piece.frame.position, [0.1, 0, 0], atol=1e-9)
        np.testing.assert_allclose(piece.frame.to_rotvec(), [0, 0, 0.5], atol=1e-9)
        assert piece.colour == (0.0, 1.0, 0.0, 0.5)

    def test_what_is_for_show_hides_what_is_for_collision(self, arm: Linkage) -> None:
        assert [type(piece.shape).__name__ for piece in arm.link("arm").geometry] == ["Capsule"]
        assert arm.link("drone").geometry[0].colour == (1.0, 0.0, 0.0, 1.0)

    def test_missing_files_are_never_fatal(self, tmp_path: Path) -> None:
        file = tmp_path / "bare.xml"
        file.write_text(
            """<mujoco><compiler meshdir="m" texturedir="t"/><asset>
            <mesh name="gone" file="gone.stl" scale="2 2 2"/><mesh file="lost.obj"/>
            <texture name="t" type="2d" file="gone.png"/><material name="m" texture="t" rgba="0 0 1 1"/></asset>
            <worldbody><body name="b"><joint name="j"/><geom type="mesh" mesh="gone" pos="1 2 3" material="m"/>
            <geom type="mesh" mesh="lost"/><geom size="0.5"/></body></worldbody></mujoco>"""
        )
        arm = load(file)
        first, second, third = arm.link("b").geometry
        assert first.shape == Mesh("gone.stl", (2.0, 2.0, 2.0), found=False)
        assert first.colour == (0.0, 0.0, 1.0, 1.0)
        np.testing.assert_array_equal(first.frame.position, [1, 2, 3])
        assert second.shape == Mesh("lost.obj", found=False)
        assert third.shape == Sphere(0.5)

    def test_a_missing_texture_alone_is_not_fatal(self, tmp_path: Path) -> None:
        file = tmp_path / "bare.mjcf"
        file.write_text(
            """<mujoco><asset><texture name="t" type="2d" file="gone.png"/></asset>
            <worldbody><body name="b"><joint name="j"/><geom size="1"/></body></worldbody></mujoco>"""
        )
        assert load(file, name="mine").name == "mine"

    @pytest.mark.parametrize(
        ("text", "line", "said"),
        [
            (
                "<mujoco>\n<worldbody>\n<body><joint type='foo'/></body></worldbody></mujoco>",
                3,
                "invalid keyword: 'foo'",
            ),
            ("<mujoco>\n<nonsense/></mujoco>", 2, "nonsense"),
            ("<mujoco>\n<worldbody></mujoco>", 2, "not well-formed XML"),
            ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", 0, "mass and inertia"),
            ("<mujoco><include file='gone.xml'/></mujoco>", 0, "gone.xml"),
            ("<html/>", 1, "the root element is <html>; expected <robot> (URDF) or <mujoco> (MJCF)"),
        ],
    )
    def test_what_mujoco_refuses_names_file_and_line(self, tmp_path: Path, text: str, line: int, said: str) -> None:
        file = tmp_path / "bad.xml"
        file.write_text(text)
        with pytest.raises(BadLinkage) as caught:
            load(file)
        assert caught.value.file == str(file)
        assert said in str(caught.value)
        assert not line or caught.value.line == line

    def test_a_file_that_ends_in_mjcf_must_be_mjcf(self, tmp_path: Path) -> None:
        file = tmp_path / "robot.mjcf"
        file.write_text("<robot name='r'><link name='a'/></robot>")
        with pytest.raises(BadLinkage, match=r"robot\.mjcf:1: the root element is <robot>; expected <mujoco>"):
            load(file)

    def test_without_the_extra_the_message_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        absent(monkeypatch, "mujoco")
        with pytest.raises(MissingExtra, match=r"supple\[mjcf\]"):
            load(MODEL)
