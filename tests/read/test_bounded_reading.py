"""Files that a reader once read wrongly, or that cost it far more time or memory than they are long."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from supple import Motion, models
from supple.errors import BadInput, BadLinkage
from supple.read import bounded, goal_file, motion_file, urdf_text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<robot name='r'><link name='b'/><g:x/></robot><link name='q'/>junk", "Extra content"),
        ("<robot name='r'>\n<link name='b'/><g:x/></robot>\njunk", ":3: .*Extra content"),
        ("<robot name='r'><link name='b'/><g:x g:y='1' g:y='2'/></robot>", "redefined"),
        ("<robot name='r'><link name='b'/><g:x/><a></robot>", "mismatch"),
        ("<robot name='r'><link name='b'/>" + "".join(f"<p{k}:x/>" for k in range(101)) + "</robot>", "prefixes"),
    ],
)
def test_an_undeclared_prefix_hides_no_other_fault(text: str, said: str) -> None:
    with pytest.raises(BadLinkage, match=said):
        urdf_text(text)


def test_undeclared_prefixes_alone_are_forgiven() -> None:
    text = "<!-- <x> -->\n<robot name='r'><link name='b'/><g:x h:y='1'><h:z/></g:x></robot>\n<!-- e -->"
    assert urdf_text(text).root == "b"


def test_the_limit_of_an_archive_counts_the_floats_that_it_becomes(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    np.savez_compressed(file, position=np.zeros((goal_file.MOST + 1, 3), np.uint8))
    with pytest.raises(BadInput, match="position holds more than 10,000,000 goals"):
        goal_file.read(file, "tool0")
    arm = models.planar2()
    count = 12_000_000  # 12 MB of times, and 96 MB as floats
    rows = {name: np.zeros((count, 2), np.uint8) for name in ("q", "leaving", "arriving")}
    np.savez_compressed(file, names=np.array(arm.names), times=np.zeros(count, np.uint8), **rows)
    with pytest.raises(BadInput, match="as floats its arrays take more than 268,435,456 bytes"):
        Motion.load(file, arm)


def test_names_of_a_motion_are_not_all_read(tmp_path: Path) -> None:
    arm, file = models.planar2(), tmp_path / "a.npz"
    np.savez_compressed(file, names=np.full(1_000_000, "a"), times=np.zeros(1))
    with pytest.raises(BadInput, match="no array 'q'"):
        Motion.load(file, arm)
    arrays = {name: np.zeros((1, 2)) for name in ("q", "leaving", "arriving")}
    np.savez_compressed(file, names=np.array([*arm.names, *["a"] * 100_000]), times=np.zeros(1), **arrays)
    with pytest.raises(BadInput, match="expected 2 names"):
        Motion.load(file, arm)


def test_lines_of_tables_are_counted_blank_ones_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arm, file = models.planar2(), tmp_path / "a.csv"
    monkeypatch.setattr(bounded, "MOST_BLANK", 100)
    monkeypatch.setattr(motion_file, "MOST_BLANK", 100)
    file.write_text("x,y,z\n0.3,0.2,0.3\n" + "\n" * 101)
    with pytest.raises(BadInput, match=r"a\.csv:103: more than 100 blank lines"):
        goal_file.read(file, "tool0")
    head = f"time,{','.join(arm.names)}\n"
    file.write_text(head + "0,0,0\n" + "\n" * 101)
    with pytest.raises(BadInput, match=r"a\.csv:103: more than 100 blank lines"):
        Motion.load(file, arm)
    monkeypatch.setattr(motion_file, "MOST", 10)
    file.write_text(head + "".join(f"{k},0,{k / 7}\n" for k in range(10)))
    assert np.array_equal(Motion.load(file, arm).q[:, 1], np.arange(10) / 7)
    file.write_text(head + "".join(f"{k},0,0\n" for k in range(11)))
    with pytest.raises(BadInput, match=r"a\.csv:12: more than 10 lines"):
        Motion.load(file, arm)


def test_a_mesh_of_very_many_parts_is_merged_and_its_triangles_are_bounded(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    from supple.read import isolated

    count = 3000
    mirrored = {"mesh": 0, "scale": [-1, 1, 1]}
    nodes = [{"mesh": 0, "translation": [k, 0, 0]} for k in range(count - 1)] + [mirrored]
    scene = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(count))}],
        "nodes": nodes,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36}],
    }
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    corners = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    body = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", 36, b"BIN\0") + corners
    (tmp_path / "a.glb").write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body)
    ((vertices, faces, _, placed),) = isolated.mesh(str(tmp_path / "a.glb"))
    assert faces.shape == (count, 3)
    assert np.array_equal(placed, np.eye(4))
    assert sorted(vertices[:, 0])[-1] == count - 1
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()  # a mirrored part keeps its outside out
    (tmp_path / "b.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\n" + "f 1 2 3\n" * 1_000_001)
    with pytest.raises(BadInput, match="more than 1,000,000 triangles"):
        isolated.mesh(str(tmp_path / "b.obj"))


def test_a_linkage_draws_a_bounded_number_of_triangles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("viser")
    from supple.view import bodies

    trimesh.creation.box((1, 1, 1)).export(tmp_path / "a.stl")
    mesh = "<visual><geometry><mesh filename='a.stl'/></geometry></visual>"
    text = f"<robot name='r'><link name='b'>{mesh * 5}</link></robot>"
    linkage = urdf_text(text, search=tmp_path)
    assert sum(map(len, bodies.bodies(linkage))) == 5
    monkeypatch.setattr(bodies, "MAX_DRAWN", 20)
    assert sum(map(len, bodies.bodies(linkage))) == 2
