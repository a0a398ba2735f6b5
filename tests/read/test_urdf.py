"""Laws of reading URDF: what the wild does and physics allows is loaded, and means what the docs say."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from supple import Box, Capsule, Cylinder, Frame, Kind, Linkage, Mesh, Mimic, Sphere
from supple.errors import BadInput, BadLinkage, UnknownName
from supple.read import load, urdf_text

DATA = Path(__file__).parents[1] / "data"
LINKS = '<link name="a"/><link name="b"/>'
ENDS = '<parent link="a"/><child link="b"/>'


def one(kind: str, inside: str = "", *, links: str = LINKS, robot: str = '<robot name="r">') -> str:
    """A robot of two links and one joint called 'j'."""
    return f'{robot}{links}<joint name="j" type="{kind}">{ENDS}{inside}</joint></robot>'


def drawn(shape: str, extra: str = "", top: str = "") -> Linkage:
    """A robot of one link, drawn with a shape."""
    return urdf_text(
        f'<robot name="r">{top}<link name="a"><visual>{extra}<geometry>{shape}</geometry></visual></link></robot>'
    )


# -- encodings and layout -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        one("fixed").encode(),
        one("fixed"),
        "\ufeff" + one("fixed"),
        b"\xef\xbb\xbf" + one("fixed").encode(),
        one("fixed").encode("utf-16"),
        one("fixed").encode("utf-16-le"),
        b"\xfe\xff" + one("fixed").encode("utf-16-be"),
        ('<?xml version="1.0" encoding="utf-16"?>' + one("fixed")).encode("utf-16"),
        one("fixed").encode("utf-32"),
        ('<?xml version="1.0" encoding="UTF-8"?>\r\n' + one("fixed").replace("><", ">\r\n<")).encode(),
        ('<?xml version="1.0" encoding="utf-16"?>' + one("fixed")).encode(),
        '<?xml version="1.0" encoding="latin-1"?><!-- \xe9 -->'.encode("latin-1") + one("fixed").encode(),
        ("<?xml version='1.0'?><!-- <!DOCTYPE no> --><?pi?>\n" + one("fixed")).encode(),
        one("fixed", "<!-- a comment -->" + "\n" * 5),
    ],
    ids=range(14),
)
def test_every_common_encoding_and_line_ending_loads(data: str | bytes) -> None:
    arm = urdf_text(data)
    assert [link.name for link in arm.links] == ["a", "b"]


@pytest.mark.parametrize("name", ["arm/left/1", "my arm", "Überarm-腕", "a.b:c", "-", "ns::link", "🦾", "x" * 1000])
def test_names_are_kept_as_written(name: str) -> None:
    arm = urdf_text(one("fixed").replace('"b"', f'"{name}"').replace('"j"', f'"{name}"'))
    assert (arm.links[1].name, arm.joints[0].name) == (name, name)


def test_joints_may_stand_before_links() -> None:
    text = f'<robot name="r"><joint name="j" type="fixed">{ENDS}</joint><link name="b"/><link name="a"/></robot>'
    assert urdf_text(text).root == "a"


def test_what_is_not_kinematics_is_ignored() -> None:
    more = '<dynamics damping="x"/><safety_controller k_velocity="x"/><calibration/><anything/>'
    others = '<gazebo><joint name="j" type="?"/></gazebo><transmission name="t"><joint name="j"/></transmission>'
    text = one("continuous", more).replace("</robot>", others + '<s:camera xmlns:s="x" name="a"/></robot>')
    assert urdf_text(text).dof == 1


def test_a_default_namespace_is_read_like_none() -> None:
    assert urdf_text(one("continuous", robot='<robot name="r" xmlns="http://www.ros.org">')).dof == 1


def test_an_undeclared_prefix_is_forgiven() -> None:
    assert urdf_text(one("continuous", "<sensor:camera/>")).dof == 1
    assert urdf_text(one("continuous", "<s:c/>" * 300)).dof == 1


def test_without_a_name_it_is_called_robot() -> None:
    assert urdf_text(one("fixed", robot="<robot>")).name == "robot"
    assert urdf_text(one("fixed"), name="mine").name == "mine"


def test_a_single_link_is_a_linkage() -> None:
    assert urdf_text('<robot name="r"><link name="only"/></robot>').dof == 0


def test_a_chain_of_any_length_is_read() -> None:
    names = range(3000)  # past the depth of any recursion
    links = "".join(f'<link name="{i}"/>' for i in (*names, 3000))
    joints = "".join(
        f'<joint name="{i}" type="fixed"><parent link="{i}"/><child link="{i + 1}"/><origin xyz="0 0 1"/></joint>'
        for i in names
    )
    assert urdf_text(f"<robot>{links}{joints}</robot>").frame([], "3000").position[2] == 3000


# -- numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["1 -2 3", " 1.0\t-2.0\n3.0 ", "1e0 -2E+0 +3", "+1 -.2e1 3.", "1e-0 -0.2e01 30e-1", "1&#9;-2&#xA;3"]
)
def test_numbers_are_read_as_written(text: str) -> None:
    arm = urdf_text(one("fixed", f'<origin xyz="{text}"/>'))
    np.testing.assert_array_equal(arm.frame([], "b").position, [1, -2, 3])


def test_rpy_are_fixed_angles() -> None:
    arm = urdf_text(one("fixed", '<origin rpy="0.1 0.2 0.3"/>'))
    turns = Frame.turn([0, 0, 1], 0.3) @ Frame.turn([0, 1, 0], 0.2) @ Frame.turn([1, 0, 0], 0.1)
    np.testing.assert_allclose(arm.frame([], "b").matrix, turns.matrix, atol=1e-15)


@pytest.mark.parametrize("version", ["", ' version="1.0"', ' version="1.2"'])
def test_a_quaternion_in_an_origin_is_honoured(version: str) -> None:
    half = math.sqrt(0.5)
    text = one("fixed", f'<origin quat_xyzw="0 0 {half} {half}"/>', robot=f'<robot name="r"{version}>')
    np.testing.assert_allclose(urdf_text(text).frame([], "b").to_rotvec(), [0, 0, math.pi / 2], atol=1e-15)


# -- joints -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "kind"), [(kind.value, kind) for kind in Kind] + [("spherical", Kind.BALL)], ids=lambda x: str(x)
)
def test_every_kind_of_joint_is_read(word: str, kind: Kind) -> None:
    assert urdf_text(one(word)).joints[0].kind is kind


@pytest.mark.parametrize("inside", ["", "<axis/>"])
def test_the_axis_is_x_unless_said(inside: str) -> None:
    assert urdf_text(one("continuous", inside)).joints[0].axis == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("length", ["2", "1e-200", "1e200"])
def test_an_axis_of_any_length_is_made_unit(length: str) -> None:
    assert urdf_text(one("prismatic", f'<axis xyz="0 0 -{length}"/>')).joints[0].axis == (0.0, 0.0, -1.0)


@pytest.mark.parametrize("kind", ["fixed", "floating"])
def test_joints_without_an_axis_do_not_look_at_it(kind: str) -> None:
    inside = '<axis xyz="0 0 0"/><limit lower="1" upper="-1"/><mimic joint="nobody"/>'
    assert urdf_text(one(kind, inside)).joints[0].mimic is None


@pytest.mark.parametrize(
    ("kind", "limit", "expected"),
    [
        ("revolute", "", (-math.inf, math.inf, math.inf)),
        ("prismatic", "", (-math.inf, math.inf, math.inf)),
        ("revolute", '<limit effort="1" velocity="2"/>', (0.0, 0.0, 2.0)),
        ("revolute", '<limit upper="1"/>', (0.0, 1.0, math.inf)),
        ("revolute", '<limit lower="-1"/>', (-1.0, 0.0, math.inf)),
        ("prismatic", '<limit lower="-1" upper="1"/>', (-1.0, 1.0, math.inf)),
        ("revolute", '<limit lower="-1" upper="1" effort="nonsense"/>', (-1.0, 1.0, math.inf)),
        ("revolute", '<limit lower="-1" upper="1" velocity="0"/>', (-1.0, 1.0, math.inf)),
        ("revolute", '<limit lower="0.5" upper="0.5" velocity="3"/>', (0.5, 0.5, 3.0)),
        ("continuous", '<limit lower="x" upper="y" velocity="3"/>', (-math.inf, math.inf, 3.0)),
    ],
)
def test_limits_mean_what_the_docs_say(kind: str, limit: str, expected: tuple[float, float, float]) -> None:
    joint = urdf_text(one(kind, limit)).joints[0]
    assert (joint.lower[0], joint.upper[0], joint.speed[0]) == expected


def test_planar_and_ball_joints_have_no_limits_in_urdf() -> None:
    for kind in ("planar", "ball"):
        joint = urdf_text(one(kind, '<limit lower="-1" upper="1" velocity="1"/>')).joints[0]
        assert all(map(math.isinf, joint.lower + joint.upper + joint.speed))


def test_a_planar_joint_slides_across_its_axis() -> None:
    arm = urdf_text(one("planar", '<axis xyz="0 1 0"/>'))
    np.testing.assert_allclose(arm.frame([0.3, 0.4, 0], "b").position[1], 0, atol=1e-15)
    np.testing.assert_allclose(arm.frame([0, 0, 0.5], "b").to_rotvec(), [0, 0.5, 0], atol=1e-15)


def test_mimic_defaults_to_the_same_value() -> None:
    def arm(mimic: str) -> Linkage:
        more = f'<joint name="k" type="continuous"><parent link="b"/><child link="c"/>{mimic}</joint></robot>'
        return urdf_text(one("continuous", links=LINKS + '<link name="c"/>').replace("</robot>", more))

    assert arm('<mimic joint="j"/>').joint("k").mimic == Mimic("j", 1.0, 0.0)
    assert arm('<mimic joint="j" multiplier="-2" offset="0.5"/>').joint("k").mimic == Mimic("j", -2.0, 0.5)
    assert arm('<mimic joint="j"/>').dof == 1


# -- geometry -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ('<box size="1 2 3"/>', Box((1.0, 2.0, 3.0))),
        ('<sphere radius="0.5"/>', Sphere(0.5)),
        ('<cylinder radius="0.5" length="2"/>', Cylinder(0.5, 2.0)),
        ('<capsule radius="0.5" length="2"/>', Capsule(0.5, 2.0)),
        ('<mesh filename="gone.stl"/>', Mesh("gone.stl", found=False)),
        ('<mesh filename="gone.stl" scale="1 -1 0.001"/>', Mesh("gone.stl", (1.0, -1.0, 0.001), found=False)),
        ('<box size="0 0 0"/>', Box((0.0, 0.0, 0.0))),
    ],
)
def test_every_shape_is_read(text: str, shape: object) -> None:
    (piece,) = drawn(text, '<origin xyz="1 2 3"/>').links[0].geometry
    assert piece.shape == shape
    np.testing.assert_array_equal(piece.frame.position, [1, 2, 3])
    assert piece.colour is None


def test_shapes_that_are_unknown_or_missing_are_left_out() -> None:
    assert drawn("<cone/>").links[0].geometry == ()
    assert drawn("").links[0].geometry == ()
    assert urdf_text('<robot name="r"><link name="a"><visual/></link></robot>').links[0].geometry == ()


def test_collision_shapes_are_shown_only_without_visual_ones() -> None:
    ball, box = '<geometry><sphere radius="1"/></geometry>', '<geometry><box size="1 1 1"/></geometry>'
    link = f'<link name="a"><collision>{box}</collision><visual>{ball}</visual><visual>{ball}</visual></link>'
    both = urdf_text(f'<robot name="r">{link}</robot>')
    assert [type(piece.shape) for piece in both.links[0].geometry] == [Sphere, Sphere]
    bare = urdf_text(f'<robot name="r"><link name="a"><collision>{box}</collision></link></robot>')
    assert [type(piece.shape) for piece in bare.links[0].geometry] == [Box]


def test_colours_are_resolved_by_name_and_never_fatal() -> None:
    def colour(extra: str, top: str = "") -> object:
        return drawn('<sphere radius="1"/>', extra, top).links[0].geometry[0].colour

    red = '<material name="red"><color rgba="1 0 0 0.5"/></material>'
    assert colour(red) == (1.0, 0.0, 0.0, 0.5)
    assert colour('<material name="red"/>', red) == (1.0, 0.0, 0.0, 0.5)
    assert colour('<material name="green"/>', red) is None
    assert colour('<material name="t"><texture filename="gone.png"/></material>') is None
    assert colour('<material><color rgba="2 -1 0 1"/></material>') == (1.0, 0.0, 0.0, 1.0)
    later = f'<link name="z"><visual><geometry/>{red}</visual></link>'
    first = '<link name="a"><visual><geometry><sphere radius="1"/></geometry><material name="red"/></visual></link>'
    text = f'<robot name="r">{first}{later}'
    text += '<joint name="j" type="fixed"><parent link="a"/><child link="z"/></joint></robot>'
    assert urdf_text(text).links[0].geometry[0].colour == (1.0, 0.0, 0.0, 0.5)


# -- meshes -------------------------------------------------------------------------------------------------------


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ``ws/pkg_arm/{urdf,meshes/wedge.stl}`` and ``far/other/wedge.stl``."""
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    shutil.copytree(DATA / "pkg_arm", tmp_path / "ws" / "pkg_arm")
    (tmp_path / "far" / "other").mkdir(parents=True)
    shutil.copy(DATA / "pkg_arm" / "meshes" / "wedge.stl", tmp_path / "far" / "other")
    return tmp_path


def mesh(shelf: Path, filename: str, *, search: object = ()) -> Mesh:
    file = shelf / "ws" / "pkg_arm" / "urdf" / "one.urdf"
    shown = f'<visual><geometry><mesh filename="{filename}"/></geometry></visual>'
    file.write_text(f'<robot name="r"><link name="a">{shown}</link></robot>')
    shape = load(file, search=search).links[0].geometry[0].shape  # type: ignore[arg-type]
    assert isinstance(shape, Mesh)
    return shape


@pytest.mark.parametrize(
    "filename",
    [
        "../meshes/wedge.stl",
        "meshes/wedge.stl",
        "package://pkg_arm/meshes/wedge.stl",
        "model://pkg_arm/meshes/wedge.stl",
        "package://renamed/meshes/wedge.stl",
        "package://pkg_arm/meshes/../meshes/wedge.stl",
        "file://../meshes/wedge.stl",
        "file://{shelf}/ws/pkg_arm/meshes/wedge.stl",
        "file://{shelf}/ws/pkg%5Farm/meshes/wedge.stl",
        "{shelf}/ws/pkg_arm/meshes/wedge.stl",
    ],
)
def test_a_mesh_is_found_around_its_description(shelf: Path, filename: str) -> None:
    found = mesh(shelf, filename.format(shelf=shelf))
    assert found.found
    assert os.path.isabs(found.path)
    assert os.path.samefile(found.path, shelf / "ws" / "pkg_arm" / "meshes" / "wedge.stl")


@pytest.mark.parametrize("filename", ["package://other/wedge.stl", "other/wedge.stl", "package://far/other/wedge.stl"])
def test_search_paths_and_the_environment_are_looked_in(
    shelf: Path, filename: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mesh(shelf, filename, search=[shelf / "far"]).found
    assert mesh(shelf, filename, search=str(shelf / "far")).found
    if filename == "package://other/wedge.stl":
        assert mesh(shelf, filename) == Mesh(filename, found=False)
        monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere{os.pathsep}{shelf / 'far'}")
        assert mesh(shelf, filename).found


def test_ament_prefixes_are_looked_in(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shelf / "install" / "share").mkdir(parents=True)
    shutil.copytree(shelf / "far" / "other", shelf / "install" / "share" / "other")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(shelf / "install"))
    assert mesh(shelf, "package://other/wedge.stl").found


@pytest.mark.parametrize(
    "filename",
    [
        "gone.stl",
        "package://nowhere/wedge.stl",
        "package://pkg_arm/../../far/other/wedge.stl",
        "package://../far/other/wedge.stl",
        "package://",
        "https://example.com/a.stl",
        "/no/such/file.stl",
        "file:///no/such/file.stl",
        "meshes",
        "x" * 900,
        "a\\b.stl",
    ],
)
def test_a_missing_mesh_keeps_its_name_and_is_never_fatal(shelf: Path, filename: str) -> None:
    assert mesh(shelf, filename) == Mesh(filename, found=False)


# -- files --------------------------------------------------------------------------------------------------------


def test_xml_that_holds_a_robot_is_urdf(tmp_path: Path) -> None:
    file = tmp_path / "robot.XML"
    file.write_text(one("continuous"))
    assert load(file).dof == 1
    assert load(str(file), name="mine").name == "mine"


def test_a_missing_file_says_so_and_points_to_the_box(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no file '.*gone\.urdf'$"):
        load(tmp_path / "gone.urdf")
    for path in ("panda", "panda.urdf"):
        with pytest.raises(
            FileNotFoundError, match=r"no file 'panda.*'; the bundled model is supple\.models\.panda\(\)"
        ):
            load(path)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load(tmp_path)


@pytest.mark.parametrize("name", ["arm.step", "arm", "arm.urdf.bak"])
def test_an_unknown_ending_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(one("fixed"))
    with pytest.raises(UnknownName, match=r"supple reads \.urdf, \.xacro, \.xml, \.mjcf"):
        load(tmp_path / name)


def test_text_must_be_text() -> None:
    with pytest.raises(BadInput, match=r"text must be str or bytes, got PosixPath|WindowsPath"):
        urdf_text(Path("a.urdf"))  # type: ignore[arg-type]


def test_a_refusal_names_the_file_that_was_loaded(tmp_path: Path) -> None:
    file = tmp_path / "bad.urdf"
    file.write_text('<robot name="r">\n<link name="a"/>\n<link name="a"/>\n</robot>')
    with pytest.raises(BadLinkage) as caught:
        load(file)
    assert (caught.value.file, caught.value.line, caught.value.element) == (str(file), 3, "link 'a'")


def test_importing_supple_does_not_import_the_parser() -> None:
    code = "import sys, supple, supple.read; sys.exit(bool({'lxml', 'mujoco', 'xacro', 'xacrodoc'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_long_name_of_a_text_does_not_make_a_long_message():
    with pytest.raises(BadLinkage) as caught:
        urdf_text("a\0b", file="x" * 100_000)
    assert len(str(caught.value)) < 1000
