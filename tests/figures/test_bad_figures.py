"""Malformed .bvh, .gltf and .glb files are refused with the place of the fault, or loaded as the docs say."""

from __future__ import annotations

import json
import os
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from gltf_files import GltfFile, arm
from supple import Motion
from supple.errors import BadInput, BadLinkage, SuppleError

BVH = """HIERARCHY
ROOT hip
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT knee
  {
    OFFSET 0 -1 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -1 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.1
1 2 3 4 5 6 7 8 9
1 2 3 4 5 6 7 8 9
"""
# what is replaced by what, and the words of the message
BAD_BVH = {
    "empty": (BVH, "", "the file ends where 'HIERARCHY' is expected"),
    "another format": (BVH, "solid cube", r":1: expected 'HIERARCHY', got 'solid'"),
    "no root": ("ROOT hip", "JOINT hip", r":2: expected 'ROOT', got 'JOINT'"),
    "no name": ("JOINT knee", "JOINT", r":6: a joint needs a name"),
    "long name": ("JOINT knee", "JOINT " + "k" * 5000, r":6: a joint needs a name of 1 to 200 characters"),
    "same name": ("JOINT knee", "JOINT hip", r":6: joint 'hip': two joints have this name; the first is on line 2"),
    "no brace": ("ROOT hip\n{", "ROOT hip\n", r":4: expected '{', got 'OFFSET'"),
    "brace too few": ("  }\n}\nMOTION", "  }\nMOTION", r":15: joint 'hip': expected OFFSET, CHANNELS.*got 'MOTION'"),
    "brace too many": ("}\nMOTION", "}\n}\nMOTION", r":16: expected 'ROOT', got '}'"),
    "hierarchy cut": (BVH[BVH.index("End Site") :], "", r"the file ends where"),
    "no offset": ("    OFFSET 0 -1 0\n    CHANNELS", "    CHANNELS", r"joint 'knee': it has no OFFSET"),
    "two offsets": ("OFFSET 0 0 0", "OFFSET 0 0 0 OFFSET 1 1 1", r":4: joint 'hip': OFFSET stands twice"),
    "short offset": ("OFFSET 0 0 0", "OFFSET 0 0", r":5: each of the three numbers of OFFSET must be a finite number"),
    "nan offset": ("OFFSET 0 0 0", "OFFSET 0 nan 0", r":4: .*written like 0.5, got 'nan'"),
    "hex offset": ("OFFSET 0 0 0", "OFFSET 0 0x10 0", r":4: .*got '0x10'"),
    "infinite offset": ("OFFSET 0 0 0", "OFFSET 0 1e999 0", r":4: .*got '1e999'"),
    "far offset": ("OFFSET 0 -1 0\n    CH", "OFFSET 0 1e13 0\n    CH", r"joint 'knee': .*1e\+12"),
    "no channels": ("    CHANNELS 3 Zrotation Xrotation Yrotation\n", "", r"joint 'knee': it has no CHANNELS"),
    "channels twice": ("CHANNELS 3", "CHANNELS 1 Zrotation CHANNELS 3", r"joint 'knee': CHANNELS stands twice"),
    "channel count": ("CHANNELS 3", "CHANNELS 2", r":9: joint 'knee': expected OFFSET.*got 'Yrotation'"),
    "channel count above": ("CHANNELS 3", "CHANNELS 4", r":10: joint 'knee': unknown channel 'End'"),
    "huge channel count": ("CHANNELS 3", "CHANNELS 999999999", r":9: the number of channels must be a whole number"),
    "negative channel count": ("CHANNELS 3", "CHANNELS -3", r":9: the number of channels"),
    "unknown channel": (
        "3 Zrotation",
        "3 Zrotaton",
        r":9: joint 'knee': unknown channel 'Zrotaton'; did you mean Zrot",
    ),
    "scale channel": ("3 Zrotation", "3 Zscale", r":9: joint 'knee': unknown channel 'Zscale'"),
    "same channel": ("3 Zrotation Xr", "3 Xrotation Xr", r":9: joint 'knee': channel Xrotation stands twice"),
    "joint in an end site": (
        "      OFFSET 0 -1 0\n",
        "      OFFSET 0 -1 0\nJOINT a { }\n",
        r"end site of joint 'knee'",
    ),
    "channels in an end site": ("      OFFSET 0 -1 0\n", "OFFSET 0 1 0\nCHANNELS 0\n", r"end site of joint 'knee'"),
    "binary": ("HIERARCHY", "HIERARCHY\0\ufffd", r":1: expected 'HIERARCHY'"),
}
BAD_TABLE = {
    "no frames": ("Frames: 2", "Frames: 0", r":18: there are no frames"),
    "negative frames": ("Frames: 2", "Frames: -2", r":17: the number of frames"),
    "frames not whole": ("Frames: 2", "Frames: 2.5", r":17: the number of frames"),
    "frames missing": ("Frames: 2\n", "", r":17: expected 'Frames:', got 'Frame'"),
    "too few lines": ("Frames: 2", "Frames: 3", r"expected 3 frames, got 2"),
    "far too few lines": ("Frames: 2", "Frames: 999999999", r"expected 999,999,999 frames, got 2"),
    "too many lines": ("Frames: 2", "Frames: 1", r":20: more lines than the 1 frames"),
    "negative frame time": ("Time: 0.1", "Time: -0.1", r":18: the frame time must be positive"),
    "zero frame time": ("Time: 0.1", "Time: 0", r":18: the frame time must be positive"),
    "nan frame time": ("Time: 0.1", "Time: nan", r":18: the frame time must be a finite number"),
    "short line": ("7 8 9\n1", "7 8\n1", r":19: 8 numbers, 9 expected"),
    "short second line": ("7 8 9\n1 2 3", "7 8 9\n1 2", r":20: 8 numbers, 9 expected"),
    "no lines": ("1 2 3 4 5 6 7 8 9\n" * 2, "", r"expected 2 frames, got none"),
    "all lines short": ("7 8 9", "7 8", r":19: 8 numbers, 9 expected, one for each channel"),
    "a word": ("7 8 9\n1", "7 x 9\n1", r":19: expected 9 numbers, got 'x'$"),
    "nan": ("7 8 9\n1", "7 nan 9\n1", r"frame 0: its numbers must be finite"),
    "infinite": ("7 8 9\n1", "7 1e400 9\n1", r"frame 0: its numbers must be finite"),
    "a far number": ("7 8 9\n1", "7 1e300 9\n1", r"frame 0: its numbers must be finite and within 1e\+12"),
    "a long line": ("7 8 9\n1", "7 8 9 " + "1 " * 3000 + "\n1", r":19: a line of more than"),
    "a long number": ("7 8 9\n1", "7 8 " + "1" * 3000 + "\n1", r":19: a line of more than"),
    "no motion": (BVH[BVH.index("MOTION") :], "", r"the file ends where 'MOTION' is expected"),
}


def bad(table: dict[str, tuple[str, str, str]], name: str, folder: Path) -> tuple[Path, str]:
    old, new, message = table[name]
    assert old in BVH
    count = -1 if name == "all lines short" else 1
    file = folder / "bad.bvh"
    file.write_text(BVH.replace(old, new, count), encoding="utf-8")
    return file, message


def test_the_good_file_is_good(tmp_path: Path) -> None:
    (tmp_path / "good.bvh").write_text(BVH)
    assert len(Motion.load(tmp_path / "good.bvh")) == 2


@pytest.mark.parametrize("name", BAD_BVH)
def test_a_bad_hierarchy_is_refused_at_its_line(name: str, tmp_path: Path) -> None:
    file, message = bad(BAD_BVH, name, tmp_path)
    for read in (supple.load, Motion.load):
        with pytest.raises(BadLinkage, match=message) as caught:
            read(file)
        assert str(file) in str(caught.value)
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", BAD_TABLE)
def test_a_bad_table_is_refused_and_the_linkage_is_still_read(name: str, tmp_path: Path) -> None:
    file, message = bad(BAD_TABLE, name, tmp_path)
    with pytest.raises((BadInput, BadLinkage), match=message) as caught:
        Motion.load(file)
    assert str(file) in str(caught.value)
    assert supple.load(file).dof == 9


def test_what_others_write_is_read(tmp_path: Path) -> None:
    """Lower case, several words in a name, braces anywhere, line ends of Windows, blank lines, a mark of UTF-8."""
    text = (
        BVH.lower().replace("root hip\n{", "root left hip {").replace("\n", "\r\n\r\n").replace("frames: 2", "frames:2")
    )
    (tmp_path / "a.bvh").write_bytes(b"\xef\xbb\xbf" + text.encode())
    (tmp_path / "b.bvh").write_text(BVH)
    one, other = Motion.load(tmp_path / "a.bvh"), Motion.load(tmp_path / "b.bvh")
    assert one.q.tolist() == other.q.tolist()
    assert one.linkage.joints[0].name == "left hip"


@pytest.mark.slow
def test_a_hierarchy_10000_deep_is_read_and_written(tmp_path: Path) -> None:
    n = 10_000
    head = "".join(f"JOINT j{i} {{ OFFSET 0 0.001 0 CHANNELS 1 Xrotation\n" for i in range(n))
    body = "HIERARCHY\nROOT r { OFFSET 0 0 0 CHANNELS 1 Xrotation\n" + head + "}\n" * (n + 1)
    file = tmp_path / "deep.bvh"
    file.write_text(f"{body}\nMOTION\nFrames: 1\nFrame Time: 0.1\n" + " ".join(["0"] * (n + 1)))
    motion = Motion.load(file)
    assert motion.linkage.frame(motion.q[0], f"j{n - 1}").position == pytest.approx([0, 10, 0])
    motion.save(tmp_path / "again.bvh")
    assert (tmp_path / "again.bvh").stat().st_size < 4e6
    again = Motion.load(tmp_path / "again.bvh")
    assert again.linkage.frame(again.q[0], f"j{n - 1}").position == pytest.approx([0, 10, 0])


def peak(read: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        read()
    except SuppleError:
        pass
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return most


def test_memory_of_a_table_is_bounded_by_its_size(tmp_path: Path) -> None:
    file = tmp_path / "a.bvh"
    rows = 20_000
    file.write_text(BVH.replace("Frames: 2", f"Frames: {rows}") + "0 0 0 0 0 0 0 0 0\n" * (rows - 2))
    assert peak(lambda: Motion.load(file)) < 60 * file.stat().st_size
    file.write_text(BVH.replace("Frames: 2", "Frames: 999999999"))
    assert peak(lambda: Motion.load(file)) < 5e6


def test_memory_of_a_deep_hierarchy_is_bounded_by_its_size(tmp_path: Path) -> None:
    n = 800
    deep = "HIERARCHY ROOT r { OFFSET 0 0 0 CHANNELS 0\n" + "".join(
        f"JOINT {i} {{ OFFSET 0 0 0 CHANNELS 0\n" for i in range(n)
    )
    file = tmp_path / "a.bvh"
    file.write_text(deep + "}\n" * (n + 1))
    assert supple.load(file).dof == 0
    assert peak(lambda: supple.load(file)) < 200 * file.stat().st_size


# -- glTF -------------------------------------------------------------------------------------------------------------


def change(*path: object, to: object) -> Callable[[GltfFile], None]:
    def apply(file: GltfFile) -> None:
        at: Any = file.json
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = to

    return apply


def remove(*path: object) -> Callable[[GltfFile], None]:
    def apply(file: GltfFile) -> None:
        at: Any = file.json
        for step in path[:-1]:
            at = at[step]
        del at[path[-1]]

    return apply


SHEAR = [1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
MIRROR = [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
BAD_NODES: dict[str, tuple[Callable[[GltfFile], None], str]] = {
    "version 1": (change("asset", to={"version": "1.0"}), "its version must be 2.0"),
    "no asset": (remove("asset"), "asset: it must be an object"),
    "needs an extension": (change("extensionsRequired", to=["KHR_draco"]), "needs extensions"),
    "nodes no list": (change("nodes", to={}), "nodes must be an array"),
    "no nodes": (change("scenes", 0, "nodes", to=[]), "there are no nodes"),
    "node no object": (change("nodes", 1, to=7), r"nodes\[1\]: it must be an object"),
    "circle": (change("nodes", 2, "children", to=[1]), r"nodes\[1\]: it has two parents"),
    "own child": (change("nodes", 0, "children", to=[0]), r"nodes\[0\]: it is part of a circle"),
    "circle apart": (
        lambda file: file.json["nodes"].extend([{"children": [4]}, {"children": [3]}]),
        r"nodes\[3\]: it is part of a circle",
    ),
    "two parents": (change("nodes", 0, "children", to=[1, 2]), r"nodes\[2\]: it has two parents"),
    "child not there": (change("nodes", 0, "children", to=[9]), "there are 3 nodes; got index 9"),
    "child negative": (change("nodes", 0, "children", to=[-1]), "got index -1"),
    "child a word": (change("nodes", 0, "children", to=["1"]), "got index '1'"),
    "scene not there": (change("scene", to=4), "there are 1 scenes"),
    "root with a parent": (change("scenes", 0, "nodes", to=[0, 1]), "a root of the scene has a parent"),
    "root twice": (change("scenes", 0, "nodes", to=[0, 0]), "a node is listed twice"),
    "short translation": (change("nodes", 1, "translation", to=[1, 2]), r"nodes\[1\]: translation must be 3 numbers"),
    "far translation": (change("nodes", 1, "translation", to=[1e300, 0, 0]), r"translation must be 3 numbers within"),
    "word in translation": (change("nodes", 1, "translation", to=["1", 0, 0]), r"translation must be 3 numbers"),
    "true in translation": (change("nodes", 1, "translation", to=[True, 0, 0]), r"translation must be 3 numbers"),
    "zero rotation": (change("nodes", 1, "rotation", to=[0, 0, 0, 0]), "quaternion that is not zero"),
    "uneven scale": (change("nodes", 1, "scale", to=[1, 2, 1]), "the same positive number in all directions"),
    "zero scale": (change("nodes", 1, "scale", to=[0, 0, 0]), "the same positive number in all directions"),
    "mirrored scale": (change("nodes", 1, "scale", to=[-1, -1, -1]), "the same positive number in all directions"),
    "shear": (change("nodes", 0, "matrix", to=SHEAR), "its matrix must be a rotation"),
    "mirror": (change("nodes", 0, "matrix", to=MIRROR), "its matrix must be a rotation"),
    "zero matrix": (change("nodes", 0, "matrix", to=[0] * 16), "its matrix must be a rotation"),
    "matrix and translation": (change("nodes", 1, "matrix", to=np.eye(4).ravel().tolist()), "not both"),
    "target not there": (change("animations", 0, "channels", 0, "target", "node", to=8), "got index 8"),
    "no target": (remove("animations", 0, "channels", 0, "target"), "target: it must be an object"),
}
BAD_ANIMATION: dict[str, tuple[Callable[[GltfFile], None], str]] = {
    "unknown path": (change("animations", 0, "channels", 0, "target", "path", to="colour"), "unknown path 'colour'"),
    "same target": (change("animations", 0, "channels", 1, "target", "node", to=1), "is animated twice"),
    "sampler not there": (change("animations", 0, "channels", 0, "sampler", to=5), "there are 2 samplers; got index 5"),
    "unknown mode": (change("animations", 0, "samplers", 0, "interpolation", to="BEZIER"), "LINEAR, STEP, CUBICSPLINE"),
    "accessor not there": (change("animations", 0, "samplers", 0, "input", to=99), "got index 99"),
    "wrong type": (change("accessors", 1, "type", to="VEC3"), r"accessors\[1\]: expected 4 numbers"),
    "wrong component": (change("accessors", 1, "componentType", to=5130), "componentType must be one of"),
    "count above": (change("accessors", 1, "count", to=1000), "do not fit into"),
    "huge count": (change("accessors", 1, "count", to=2**39), "do not fit into"),
    "count 0": (change("accessors", 1, "count", to=0), "do not fit into"),
    "counts differ": (change("accessors", 1, "count", to=2), "3 times do not fit 2 values"),
    "offset above": (change("accessors", 1, "byteOffset", to=10**9), "do not fit into"),
    "view above": (change("bufferViews", 0, "byteLength", to=10**9), r"bufferViews\[0\]: bytes 0 to 1,000,000,000"),
    "stride": (change("bufferViews", 1, "byteStride", to=10_000), "byteStride must be at most 252"),
    "sparse": (change("accessors", 1, "sparse", to={}), "sparse accessors"),
    "no view": (remove("accessors", 1, "bufferView"), "sparse accessors"),
    "buffer not there": (change("bufferViews", 0, "buffer", to=1), "there are 1 buffers; got index 1"),
    "times fall": (lambda file: _replace(file, 0, [0, 2, 1]), "its times must increase"),
    "nan time": (lambda file: _replace(file, 0, [0, np.nan, 1]), "its numbers must be finite"),
    "nan value": (lambda file: _replace(file, 1, [np.nan] * 12), "its numbers must be finite"),
    "zero quaternion": (lambda file: _replace(file, 1, [0] * 12), "quaternion that is not zero"),
}


def _replace(file: GltfFile, accessor: int, numbers: list[float]) -> None:
    """Other numbers in the place of an array."""
    view = file.json["bufferViews"][accessor]
    at, raw = view["byteOffset"], np.asarray(numbers, dtype="<f4").tobytes()
    file.data = file.data[:at] + raw + file.data[at + len(raw) :]


@pytest.mark.parametrize("name", BAD_NODES)
@pytest.mark.parametrize("ending", [".gltf", ".glb"])
def test_bad_nodes_are_refused(name: str, ending: str, tmp_path: Path) -> None:
    file = arm()
    wrong, message = BAD_NODES[name]
    wrong(file)
    path = file.save(tmp_path / f"bad{ending}")
    for read in (supple.load, Motion.load):
        with pytest.raises(BadLinkage, match=message):
            read(path)


@pytest.mark.parametrize("name", BAD_ANIMATION)
def test_a_bad_animation_is_refused(name: str, tmp_path: Path) -> None:
    file = arm()
    wrong, message = BAD_ANIMATION[name]
    wrong(file)
    with pytest.raises(BadLinkage, match=message):
        Motion.load(file.save(tmp_path / "bad.glb"))


def _sized(data: bytes, size: int) -> bytes:
    return data[:8] + struct.pack("<I", size) + data[12:]


BAD_BYTES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "only a magic": (lambda data: data[:4], "cut short"),
    "cut in the header": (lambda data: data[:15], "cut short"),
    "cut in the JSON": (lambda data: data[:100], "its header says"),
    "cut in the binary": (lambda data: data[:-7], "its header says"),
    "cut, with its size": (lambda data: _sized(data[:-8], len(data) - 8), "says .* bytes, more than are left"),
    "size too small": (lambda data: _sized(data, 50), "its header says 50 bytes"),
    "version 7": (lambda data: data[:4] + struct.pack("<I", 7) + data[8:], "its version must be 2"),
    "huge chunk": (lambda data: data[:12] + struct.pack("<I", 2**31) + data[16:], "more than are left"),
    "binary first": (lambda data: data[:16] + b"BIN\0" + data[20:], "the first chunk of a .glb must be JSON"),
    "not JSON": (lambda data: data[:20] + b"<" + data[21:], "not JSON"),
    "not UTF-8": (lambda data: data.replace(b'"upper"', b'"\xff\xfe\xfdxx"'), "not JSON"),
    "NaN": (lambda data: data.replace(b'"name": "hand"', b'"name": NaN   '), "NaN is not a number of JSON"),
    "text": (lambda _: b"hello", "not JSON"),
    "nothing": (lambda _: b"", "not JSON"),
    "a list": (lambda _: b"[]", "must be an object"),
    "deep JSON": (lambda _: b"[" * 200_000, "not JSON"),
    "many entries": (lambda _: b"[" + b"{}," * 3_000_000 + b"{}]", "more than 5,000,000 entries"),
}


@pytest.mark.parametrize("name", BAD_BYTES)
def test_bad_bytes_are_refused(name: str, tmp_path: Path) -> None:
    wrong, message = BAD_BYTES[name]
    path = tmp_path / "bad.glb"
    path.write_bytes(wrong(arm().glb()))
    with pytest.raises(BadLinkage, match=message):
        Motion.load(path)


@pytest.mark.parametrize(
    "uri",
    [
        "../secret.bin",
        "sub/../../secret.bin",
        "%2e%2e/secret.bin",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://127.0.0.1/a.bin",
        "C:\\secret.bin",
        "sub\\..\\..\\secret.bin",
        "a\0.bin",
    ],
)
def test_a_buffer_outside_the_folder_is_not_opened(uri: str, tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(1000))
    (tmp_path / "in" / "sub").mkdir(parents=True)
    path = tmp_path / "in" / "a.gltf"
    path.write_bytes(arm().gltf(uri))
    with pytest.raises(BadLinkage, match="must be a file in the folder of this one"):
        Motion.load(path)


@pytest.mark.skipif(os.name == "nt", reason="links and pipes are those of POSIX")
def test_links_devices_and_missing_buffers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(1000))
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "a.gltf"
    os.symlink(tmp_path / "secret.bin", tmp_path / "in" / "link.bin")
    os.symlink("/dev/zero", tmp_path / "in" / "zero.bin")
    os.mkfifo(tmp_path / "in" / "pipe.bin")
    for uri, message in (
        ("link.bin", "leads out of the folder"),
        ("zero.bin", "leads out of the folder"),
        ("pipe.bin", "not an ordinary file"),
        ("none.bin", "No such file"),
        (".", "directory|ordinary"),
    ):
        path.write_bytes(arm().gltf(uri))
        with pytest.raises(BadLinkage, match=message):
            Motion.load(path)
    (tmp_path / "in" / "short.bin").write_bytes(bytes(10))
    path.write_bytes(arm().gltf("short.bin"))
    with pytest.raises(BadLinkage, match="but there are 10"):
        Motion.load(path)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("data:application/octet-stream,abc", "must be in base64"),
        ("data:;base64,@@@@", "not base64"),
        ("data:;base64,AAAA", "but there are 3"),
        ("data:;base64", "must be in base64"),
    ],
)
def test_bad_data_uris_are_refused(uri: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.gltf").write_bytes(arm().gltf(uri))
    with pytest.raises(BadLinkage, match=message):
        Motion.load(tmp_path / "a.gltf")


def test_a_file_of_gigabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """Such as a data URI of gigabytes; the file here is sparse, so that it takes no room."""
    for ending in (".gltf", ".glb", ".bvh"):
        path = tmp_path / f"huge{ending}"
        with open(path, "wb") as file:
            file.truncate(3 * 2**30)
        with pytest.raises(BadInput, match="larger than"):
            supple.load(path)
        assert peak(lambda path=path: supple.load(path)) < 1e6  # type: ignore[misc]


def test_declared_sizes_cost_no_memory(tmp_path: Path) -> None:
    file = arm()
    file.json["buffers"] = [{"byteLength": 2**39}]
    path = file.save(tmp_path / "a.glb")
    assert peak(lambda: Motion.load(path)) < 2e6
    with pytest.raises(BadLinkage, match="it should have 549,755,813,888 bytes"):
        Motion.load(path)


def test_times_that_all_differ_are_refused_before_they_take_memory(tmp_path: Path) -> None:
    """With n nodes of n keys each, all at different times, joint values would take n³ numbers."""
    n = 150
    file = GltfFile([{"children": list(range(1, n + 1))}, *({"name": f"n{i}"} for i in range(n))])
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (400, 1))
    for i in range(n):
        file.animate(i + 1, "rotation", np.arange(400) + i / 1000, turns)
    path = file.save(tmp_path / "a.glb")
    with pytest.raises(BadLinkage, match="need too much memory"):
        Motion.load(path)
    assert peak(lambda: Motion.load(path)) < 20 * path.stat().st_size


@pytest.mark.slow
def test_nodes_10000_deep_are_read(tmp_path: Path) -> None:
    n = 10_000
    nodes: list[dict[str, Any]] = [{"children": [i + 1], "translation": [0, 0.001, 0]} for i in range(n)]
    file = GltfFile([*nodes, {"name": "tip"}])
    file.animate(0, "rotation", [0, 1], [[0, 0, 0, 1], [0, 0, 1, 0]])
    motion = Motion.load(file.save(tmp_path / "a.glb"), up="z")
    assert motion.frame(0, "tip").position == pytest.approx([0, 10, 0])
    assert motion.frame(1, "tip").position == pytest.approx([0, -9.998, 0])


def test_very_many_equal_names_take_linear_time_and_memory(tmp_path: Path) -> None:
    n = 3000
    file = GltfFile([{"children": list(range(1, n + 1))}, *({"name": "a" * 150} for _ in range(n))])
    path = file.save(tmp_path / "a.gltf")
    assert peak(lambda: supple.load(path)) < 60 * path.stat().st_size
    ends = "End Site { OFFSET 0 0 0 }\n" * n
    (tmp_path / "a.bvh").write_text("HIERARCHY\nROOT a { OFFSET 0 0 0 CHANNELS 0\n" + ends + "}")
    figure = supple.load(tmp_path / "a.bvh")
    assert len(figure.links) == n + 2
    assert max(len(link.name) for link in figure.links) < 20


ODD: list[Any] = [None, True, -1, 0, 7, 2**62, 1e300, -0.5, "", "x" * 5000, "LINEAR", [], [0], [[]], {}, {"a": 1}]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all entries of plain data."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, entry in entries for place in places(entry, (*path, key)))]


def test_any_entry_may_be_anything(tmp_path: Path) -> None:
    """One entry of the JSON at a time is removed or replaced: the file is read, or refused with a `SuppleError`."""
    whole = json.loads(arm().gltf())
    path = tmp_path / "a.gltf"
    rng = np.random.default_rng(5)
    for place in places(whole)[1:]:
        for odd in rng.permutation(len(ODD) + 1)[:8]:
            changed = json.loads(json.dumps(whole))
            at = changed
            for key in place[:-1]:
                at = at[key]
            if odd == len(ODD):
                del at[place[-1]]
            else:
                at[place[-1]] = ODD[odd]
            path.write_text(json.dumps(changed))
            try:
                Motion.load(path)
            except SuppleError as error:
                assert len(str(error)) < 2000  # noqa: PT017


def test_more_than_35_malformed_files_are_tried() -> None:
    assert len(BAD_BVH) + len(BAD_TABLE) >= 35
    assert len(BAD_NODES) + len(BAD_ANIMATION) + len(BAD_BYTES) >= 35
    assert json.loads(arm().gltf())["nodes"]
