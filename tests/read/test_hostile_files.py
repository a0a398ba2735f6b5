"""Hostile files: numbers, archives, includes and programs in files are refused in bounded time and memory."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple import Motion, models
from supple.errors import BadInput, BadLinkage, SuppleError
from supple.read import arrays, goal_file, isolated, load, urdf_text

GIB = 2**30
XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
LINK = '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>'


def some_quick(cases: Iterable[str], *quick: str) -> list[Any]:
    """The cases; each starts a process, so most of them are for the gate."""
    return [case if case in quick else pytest.param(case, marks=pytest.mark.gate) for case in cases]


def number(text: str) -> bytes:
    return f'{LINK}<child link="b"/><origin xyz="{text} 0 0"/></joint></robot>'.encode()


# -- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["1" * 40_000 + "x", "1" * 299 + "x", "1" * 40_000, "." * 40_000, "1e" + "1" * 40_000])
def test_a_long_number_is_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(BadLinkage, match="must be 3 numbers"):
        urdf_text(number(text))
    assert time.process_time() - began < 1


def test_a_long_number_in_a_motion_is_refused_at_once(tmp_path: Path) -> None:
    arm = models.planar2()
    file = tmp_path / "a.csv"
    file.write_text(f"time,{','.join(arm.names)}\n0,{'1' * 100_000}x,0\n")
    began = time.process_time()
    with pytest.raises(BadInput, match=r"a\.csv:2: "):
        Motion.load(file, arm)
    assert time.process_time() - began < 1


# -- archives of arrays ------------------------------------------------------------------------------------------------


def header(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": kind, "fortran_order": False, "shape": shape})
    return head.getvalue()


def archive(path: Path, members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as made:
        for name, data in members:
            made.writestr(name, data)
    return path


BOMBS: dict[str, list[tuple[str, bytes]]] = {
    "two of one name": [("position.npy", header((4, 3)) + bytes(96)), ("position", header((4, 3)) + bytes(96))],
    "a header of petabytes": [("position.npy", header((10**13, 3)) + bytes(240))],
    "objects": [("position.npy", header((4, 3), "|O") + bytes(96))],
    "records": [("position.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", 30) + b"{'descr':[('a','<f8')]}".ljust(30))],
    "no header": [("position.npy", bytes(1000))],
    "a header that is code": [("position.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", 20) + b"__import__('os')    ")],
    "negative": [("position.npy", header((4, 3)).replace(b"(4, 3)", b"(-4,3)") + bytes(96))],
    "cut short": [("position.npy", header((4, 3)) + bytes(95))],
}


@pytest.mark.parametrize("case", BOMBS)
def test_a_hostile_archive_of_arrays_is_refused(tmp_path: Path, case: str) -> None:
    members = BOMBS[case]
    with pytest.raises(BadInput, match="not an archive of plain arrays"):
        goal_file.read(archive(tmp_path / "a.npz", members), "hand")
    motion = [(name.replace("position", "times"), data) for name, data in members]
    with pytest.raises(BadInput, match="not an archive of plain arrays"):
        Motion.load(archive(tmp_path / "b.npz", motion), models.planar2())


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_packed_in_an_odd_way_is_refused(tmp_path: Path, method: int) -> None:
    file = archive(tmp_path / "a.npz", [("position.npy", header((4, 3)) + bytes(96))], method)
    with pytest.raises(BadInput, match="neither stored nor deflated"):
        goal_file.read(file, "hand")


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "MAX_SMALL", 2**20)
    size = 2**18
    file = archive(tmp_path / "a.npz", [("position.npy", header((size, 3)) + bytes(24 * size))])
    with pytest.raises(BadInput, match=r"it unpacks to 6,291,\d+ bytes; an archive of [\d,]+ may unpack to 1,048,576"):
        goal_file.read(file, "hand")
    with pytest.raises(BadInput, match="it unpacks to"):
        Motion.load(file, models.planar2())


def test_a_size_that_is_a_lie_unpacks_no_more(tmp_path: Path) -> None:
    """An archive whose directory declares 200 bytes for 24 MB."""
    file = archive(tmp_path / "a.npz", [("position.npy", header((1_000_000, 3)) + bytes(24_000_000))])
    data = bytearray(file.read_bytes())
    data = data.replace(struct.pack("<I", 24_000_128), struct.pack("<I", 224))
    file.write_bytes(data)
    with pytest.raises(BadInput, match="not an archive of plain arrays"):
        goal_file.read(file, "hand")


# -- devices, pipes and links -----------------------------------------------------------------------------------------

posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")


@posix
@pytest.mark.parametrize("what", ["pipe", "zero"])
@pytest.mark.parametrize("ending", [".urdf", ".xacro", ".mjcf", ".xml", "-goals.csv", "-goals.npz", "-motion.csv"])
def test_a_device_or_a_pipe_is_not_read(tmp_path: Path, what: str, ending: str) -> None:
    file = tmp_path / f"a{ending}"
    if what == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero")
    kind = ending.partition("-")[2].partition(".")[0]
    reader = {"goals": lambda: goal_file.read(file, "hand"), "motion": lambda: Motion.load(file, models.planar2())}
    with pytest.raises(SuppleError, match="not an ordinary file"):
        reader.get(kind, lambda: load(file))()


# -- xacro ------------------------------------------------------------------------------------------------------------


def xacro(path: Path, body: str) -> Path:
    path.write_text(f'<robot name="r" {XACRO}>{body}</robot>')
    return path


DOUBLE = "".join(f'<xacro:macro name="m{i}"><xacro:m{i + 1}/><xacro:m{i + 1}/></xacro:macro>' for i in range(40))
GROW = '<xacro:property name="p0" value="xxxxxxxxxx"/>' + "".join(
    f'<xacro:property name="p{i + 1}" value="{f"${{p{i}}}" * 10}"/>' for i in range(12)
)
PROGRAMS = {
    "exponential macros": f'{DOUBLE}<xacro:macro name="m40"><link name="a"/></xacro:macro><xacro:m0/>',
    "endless macro": '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>',
    "exponential properties": f'{GROW}<link name="${{p12}}"/>',
    "long text": "<link name=\"${'x' * 10**10}\"/>",
    "long list": '<link name="${len([0] * 10**11)}"/>',
    "large power": '<link name="${9**9**9 % 7}"/>',
    "endless loop": '<link name="${sum(x for x in range(10**13))}"/>',
    "circle of properties": '<xacro:property name="a" value="${b}"/><xacro:property name="b" value="${a}"/>'
    '<link name="${a}"/>',
    "includes itself": '<xacro:include filename="a.xacro"/>',
    "double underscore": '<link name="${().__class__}"/>',
    "double underscore in a function": '<link name="${(lambda: ().__class__.__base__.__subclasses__())()}"/>',
    "opens a file": "<link name=\"$(eval open('/etc/passwd').read())\"/>",
    "runs code": "<link name=\"$(eval exec('import os; os.system(1)'))\"/>",
    "formats attributes": "<link name=\"${'{0.__class__}'.format(1)}\"/>",
    "file elsewhere": "<link name=\"${xacro.load_yaml('/etc/hostname')}\"/>",
    "file above": '<xacro:include filename="../../above.xacro"/><link name="a"/>',
    "device": '<xacro:include filename="/dev/zero"/>',
    "package that is none": '<xacro:include filename="$(find etc)/passwd"/>',
}


@pytest.fixture
def short_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "DESCRIPTION", isolated.Budget(4.0, GIB))


@pytest.mark.usefixtures("short_budget")
@pytest.mark.parametrize("case", some_quick(PROGRAMS, "long text", "file elsewhere", "runs code"))
def test_a_hostile_xacro_file_is_refused_in_its_budget(tmp_path: Path, case: str) -> None:
    pytest.importorskip("xacrodoc")
    (tmp_path / "above.xacro").write_text(f'<robot {XACRO}><link name="secret"/></robot>')
    folder = tmp_path / "one" / "two"
    folder.mkdir(parents=True)
    file = xacro(folder / "a.xacro", PROGRAMS[case])
    began = time.monotonic()
    with pytest.raises(BadLinkage) as caught:
        load(file)
    assert caught.value.file == str(file)
    assert len(str(caught.value)) < 2000
    assert "root:" not in str(caught.value)
    assert time.monotonic() - began < 300


def test_xacro_sees_arguments_in_place_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xacrodoc")
    monkeypatch.setenv("SUPPLE_SECRET", "hidden")
    file = xacro(tmp_path / "a.xacro", '<link name="$(optenv SUPPLE_SECRET none)"/>')
    assert load(file).root == "none"
    assert load(file, arguments={"SUPPLE_SECRET": "given"}).root == "given"
    with pytest.raises(BadLinkage, match=r"sees no environment: give the variable in arguments="):
        load(xacro(tmp_path / "b.xacro", '<link name="$(env SUPPLE_SECRET)"/>'))


@pytest.mark.gate
def test_xacro_includes_files_of_its_package_and_of_search_folders(tmp_path: Path) -> None:
    pytest.importorskip("xacrodoc")
    inner, outer = tmp_path / "pkg" / "urdf", tmp_path / "outer"
    inner.mkdir(parents=True)
    outer.mkdir()
    for folder in (tmp_path / "pkg", outer):
        xacro(folder / "part.xacro", '<link name="part"/>')
    file = xacro(inner / "a.xacro", '<xacro:include filename="../part.xacro"/>')
    with pytest.raises(BadLinkage, match=r"part\.xacro', which is outside its folder or package"):
        load(file)
    assert load(file, search=tmp_path / "pkg").root == "part"
    (tmp_path / "pkg" / "package.xml").write_text("<package><name>pkg</name></package>")
    assert load(file).root == "part"
    file = xacro(inner / "b.xacro", f'<xacro:include filename="{outer}/part.xacro"/>')
    with pytest.raises(BadLinkage, match="outside its folder"):
        load(file)
    assert load(file, search=[outer]).root == "part"
    (inner / "linked.xacro").symlink_to(outer / "part.xacro")
    assert load(xacro(inner / "c.xacro", '<xacro:include filename="linked.xacro"/>')).root == "part"
    (tmp_path / "secret").write_text("<robot/>")
    (inner / "leak.xacro").symlink_to(tmp_path / "secret")
    with pytest.raises(BadLinkage, match="outside its folder"):
        load(xacro(inner / "d.xacro", '<xacro:include filename="leak.xacro"/>'))


# -- MJCF -------------------------------------------------------------------------------------------------------------

BODY = '<body><joint/><geom size="1"/>{}</body>'


def replicated(depth: int, count: str) -> str:
    text = BODY.format("")
    for _ in range(depth):
        text = f'<replicate count="{count}" offset="1 0 0">{text}</replicate>'
    return f"<mujoco><worldbody>{text}</worldbody></mujoco>"


MODELS = {
    "replicate": replicated(1, "1000000000"),
    "nested replicate": replicated(9, "100"),
    "odd count": replicated(1, "1e300"),
    "count that is none": replicated(1, "nan"),
    "composite": '<mujoco><worldbody><body><composite type="cable" count="100000000 1 1" size="1"/></body></worldbody>'
    "</mujoco>",
    "flexcomp": '<mujoco><worldbody><flexcomp name="f" type="grid" count="9999 9999 9999" spacing=".1 .1 .1"/>'
    "</worldbody></mujoco>",
    "huge texture": '<mujoco><asset><texture name="t" type="2d" builtin="checker" width="100000" height="100000"/>'
    f"</asset><worldbody>{BODY.format('')}</worldbody></mujoco>",
    "huge height field": '<mujoco><asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>'
    f"<worldbody>{BODY.format('')}</worldbody></mujoco>",
    "deep": "<mujoco><worldbody>" + "<body>" * 300 + "</body>" * 300 + "</worldbody></mujoco>",
    "includes itself": '<mujoco><include file="a.xml"/></mujoco>',
    "circle of includes": '<mujoco><include file="b.xml"/></mujoco>',
    "file elsewhere": '<mujoco><include file="/etc/hostname"/></mujoco>',
    "file above": '<mujoco><include file="../above.xml"/></mujoco>',
    "device": '<mujoco><include file="/dev/zero"/></mujoco>',
    "device as a mesh": f'<mujoco><asset><mesh name="m" file="/dev/zero"/></asset><worldbody>{BODY.format("")}'
    "</worldbody></mujoco>",
    "pipe as a mesh": f'<mujoco><asset><mesh name="m" file="pipe.stl"/></asset><worldbody>{BODY.format("")}'
    "</worldbody></mujoco>",
}


@posix
@pytest.mark.usefixtures("short_budget")
@pytest.mark.parametrize("case", some_quick(MODELS, "nested replicate", "file elsewhere", "huge texture"))
def test_a_hostile_mjcf_file_is_refused_in_its_budget(tmp_path: Path, case: str) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "above.xml").write_text("<mujoco/>")
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "b.xml").write_text('<mujoco><include file="a.xml"/></mujoco>')
    os.mkfifo(folder / "pipe.stl")
    file = folder / "a.xml"
    file.write_text(MODELS[case])
    began = time.monotonic()
    with pytest.raises(BadLinkage) as caught:
        load(file)
    assert caught.value.file == str(file)
    assert len(str(caught.value)) < 2000
    assert time.monotonic() - began < 300


LOGS = """
import sys
import mujoco
from supple.read import isolated_child, mjcf_shapes
real = mjcf_shapes._compiled
def logs(*arguments):
    mujoco.mju_writeLog("WARNING", "of MuJoCo")
    return real(*arguments)
mjcf_shapes._compiled = logs
request = {"task": "mjcf", "file": sys.argv[1], "name": None, "search": [], "scratch": sys.argv[2]}
print(isolated_child.answer(request)[0]["name"])
"""


def test_the_log_of_mujoco_is_not_written_to_the_working_directory(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    here, scratch, file = tmp_path / "here", tmp_path / "scratch", tmp_path / "a.xml"
    here.mkdir()
    scratch.mkdir()
    file.write_text(f'<mujoco model="m"><worldbody>{BODY.format("")}</worldbody></mujoco>')
    done = subprocess.run(
        [sys.executable, "-c", LOGS, str(file), str(scratch)], cwd=here, capture_output=True, text=True, check=True
    )
    assert done.stdout == "m\n"
    assert not list(here.iterdir())
    assert [path.name for path in scratch.iterdir()] == ["MUJOCO_LOG.TXT"]


# -- meshes -----------------------------------------------------------------------------------------------------------

STL = b"\0" * 80 + struct.pack("<I", 1) + struct.pack("<12f", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0) + b"\0\0"
GLTF = """{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
"accessors":[{"componentType":5126,"count":%d,"type":"VEC3"}]}"""


def glb(text: str) -> bytes:
    data = text.encode()
    data += b" " * (-len(data) % 4)
    return struct.pack("<4sII", b"glTF", 2, 20 + len(data)) + struct.pack("<I4s", len(data), b"JSON") + data


MESHES: dict[str, tuple[str, bytes]] = {
    "stl that counts too many": ("a.stl", STL[:80] + struct.pack("<I", 2**32 - 1) + STL[84:]),
    "stl cut short": ("a.stl", STL[:100]),
    "ply that counts too many": (
        "a.ply",
        b"ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\n"
        b"property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n" + bytes(40),
    ),
    "off that counts too many": ("a.off", b"OFF\n2000000000 2000000000 0\n0 0 0\n"),
    "obj that names a distant vertex": ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 2000000000\n"),
    "gltf with an accessor of nothing": ("a.glb", glb(GLTF % 10**12)),
    "gltf of gigabytes": ("a.glb", glb(GLTF % (3 * 10**8))),
    "empty": ("a.stl", b""),
    "noise": ("a.dae", bytes(range(256)) * 10),
    "unknown": ("a.exe", b"MZ"),
    "packed": ("a.stl.gz", b"\x1f\x8b"),
}


@pytest.fixture
def mesh_budget() -> isolated.Budget:
    pytest.importorskip("trimesh")
    return isolated.Budget(20.0, GIB)


@pytest.mark.parametrize("case", some_quick(MESHES, "ply that counts too many", "gltf of gigabytes"))
def test_a_hostile_mesh_is_refused(tmp_path: Path, mesh_budget: isolated.Budget, case: str) -> None:
    name, data = MESHES[case]
    file = tmp_path / name
    file.write_bytes(data)
    with pytest.raises(SuppleError) as caught:
        isolated.mesh(str(file), mesh_budget)
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("ending", ["zip", "3mf", "zae"])
def test_an_archive_of_meshes_is_bounded(tmp_path: Path, mesh_budget: isolated.Budget, ending: str) -> None:
    file = archive(tmp_path / f"a.{ending}", [("a.stl", bytes(1000)), ("b.stl", bytes(1000))])
    half = struct.pack("<I", 2**28 + 1)  # what each member of the archive declares to unpack to
    file.write_bytes(file.read_bytes().replace(struct.pack("<I", 1000), half))
    with pytest.raises(BadInput, match=r"it unpacks to 2 files of 536,870,914 bytes; at most 1,000 of 536,870,912"):
        isolated.mesh(str(file), mesh_budget)
    with pytest.raises(BadInput, match="an archive in an archive"):
        isolated.mesh(str(archive(tmp_path / f"b.{ending}", [("c.zip", b"")])), mesh_budget)


def test_a_good_mesh_is_read_after_a_hostile_one(tmp_path: Path, mesh_budget: isolated.Budget) -> None:
    (tmp_path / "bad.glb").write_bytes(glb(GLTF % (3 * 10**8)))
    (tmp_path / "good.stl").write_bytes(STL)
    for _ in range(2):
        with pytest.raises(SuppleError):
            isolated.mesh(str(tmp_path / "bad.glb"), mesh_budget)
        ((vertices, faces, colour, placed),) = isolated.mesh(str(tmp_path / "good.stl"), mesh_budget)
        assert (vertices.shape, faces.shape, colour) == ((3, 3), (1, 3), None)
        assert np.array_equal(placed, np.eye(4))


@posix
def test_a_mesh_opens_no_file_outside_its_folder(tmp_path: Path, mesh_budget: isolated.Budget) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (tmp_path / "above.bin").write_bytes(np.zeros(9, np.float32).tobytes())
    text = GLTF % 3
    text = text.replace('"count"', '"bufferView":0,"count"')[:-1]
    text += ',"bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"uri":"../above.bin","byteLength":36}]}'
    (folder / "a.gltf").write_text(text)
    with pytest.raises(SuppleError, match=r"above\.bin"):
        isolated.mesh(str(folder / "a.gltf"), mesh_budget)
    os.mkfifo(folder / "pipe.stl")
    with pytest.raises(SuppleError, match="not an ordinary file"):
        isolated.mesh(str(folder / "pipe.stl"), mesh_budget)


# -- uploads ----------------------------------------------------------------------------------------------------------


def test_an_upload_holds_up_no_other_thread() -> None:
    """Building 8,000 links takes seconds of Python, which are not those of this process."""
    links = "".join(f'<link name="l{i}"/>' for i in range(8_000))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(7_999)
    )
    text, began = f'<robot name="r">{links}{joints}</robot>'.encode(), time.process_time()
    with pytest.raises(BadLinkage, match=r"up\.urdf: 8,000 links; at most 300 are allowed"):
        isolated.urdf(text, "up.urdf", 300, isolated.Budget(120, GIB))
    assert time.process_time() - began < 1.0


def test_an_upload_that_takes_too_long_is_ended() -> None:
    with pytest.raises(BadLinkage, match=r"up\.urdf: it takes more than 0\.01 s to read"):
        isolated.urdf(number("1"), "up.urdf", 300, isolated.Budget(0.01, GIB))


def test_an_upload_is_the_linkage_that_is_read_here() -> None:
    assert isolated.urdf(number("0.1"), "up.urdf", 300) == urdf_text(number("0.1"))
    with pytest.raises(BadLinkage) as here:
        urdf_text(number("x"), file="up.urdf")
    with pytest.raises(BadLinkage) as there:
        isolated.urdf(number("x"), "up.urdf", 300)
    assert (str(here.value), here.value.line) == (str(there.value), there.value.line)
