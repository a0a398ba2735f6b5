"""Uploads as a zip file: drawn with their meshes; bombs, traps and junk are refused, and nothing stays on the disk."""

from __future__ import annotations

import contextlib
import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from supple import models
from supple.errors import BadInput, BadLinkage
from supple.teleop.page import archive
from supple.teleop.page.archive import Archive
from supple.teleop.page.arm import MAX_UPLOAD, from_upload

LENGTH = 0.4


def urdf(*meshes: str) -> str:
    """An arm of as many links as meshes after its base, each of them drawn by one."""
    links = "".join(
        f'<link name="l{k}"><visual><geometry><mesh filename="{mesh}" scale="1 1 1"/></geometry></visual></link>'
        f'<joint name="j{k}" type="revolute"><parent link="{f"l{k - 1}" if k else "base"}"/><child link="l{k}"/>'
        f'<origin xyz="{LENGTH} 0 0"/><axis xyz="0 0 1"/><limit lower="-2" upper="2" velocity="2"/></joint>'
        for k, mesh in enumerate(meshes)
    )
    return f'<robot name="zipped"><link name="base"/>{links}</robot>'


def box(size: float) -> bytes:
    return bytes(trimesh.creation.box((size, size, size)).export(file_type="stl"))


def packed(**files: bytes | str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return made.getvalue()


def sizes(arm: Any) -> list[float]:
    """How large the solid of each link is along x, in metres; 0 for none."""
    spans = [
        np.ptp(np.concatenate([solid.vertices for solid in body]), axis=0)[0] if body else 0 for body in arm.bodies
    ]
    return [round(float(span), 3) for span in spans]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary files are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("prefix", ["package://zipped/meshes/", "meshes/", "../meshes/", "file:///home/me/meshes/"])
def test_meshes_are_found_however_the_description_names_them(prefix: str, scratch: Path) -> None:
    files = {
        "zipped/urdf/arm.urdf": urdf(f"{prefix}a/part.stl", f"{prefix}b/Part.STL"),
        "zipped/meshes/a/part.stl": box(0.1),
        "zipped/meshes/b/part.stl": box(0.2),
        "__MACOSX/zipped/urdf/._arm.urdf": b"\0",
    }
    arm = from_upload("arm.zip", packed(**files))
    assert sizes(arm)[1:] == [0.1, 0.2]
    assert arm.links == ("l1",)
    assert not any(link.geometry for link in arm.linkage.links)  # no path of this machine is in recordings
    assert list(scratch.iterdir()) == []
    assert sizes(arm.with_links(("l0",)))[1:] == [0.1, 0.2]  # drawn the same with another end effector


def test_a_mesh_that_is_not_in_the_file_is_never_opened(scratch: Path) -> None:
    outside = scratch / "secret.stl"
    outside.write_bytes(box(0.3))
    for name in (str(outside), f"file://{outside}", "../secret.stl"):
        arm = from_upload("arm.zip", packed(**{"arm.urdf": urdf("a.stl", name), "a.stl": box(0.1)}))
        assert sizes(arm)[1] == 0.1
        assert sizes(arm)[2] != 0.3
    alone = from_upload("arm.urdf", urdf(str(outside)).encode())
    assert 0.3 not in sizes(alone)


@pytest.mark.parametrize("name", ["../../escape.stl", "/etc/cron.d/escape.stl", "C:\\escape.stl", "a\\..\\escape.stl"])
def test_names_in_the_archive_lead_nowhere(name: str, tmp_path: Path) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    Archive("arm.zip", packed(**{"arm.urdf": urdf("escape.stl"), name: box(0.1)}), inside)
    assert [path.parent for path in tmp_path.rglob("*.stl")] == [inside]


def test_a_mesh_that_cannot_be_read_gives_way_to_a_simple_solid(scratch: Path) -> None:
    arm = from_upload("arm.zip", packed(**{"arm.urdf": urdf("a.stl", "b.stl"), "a.stl": b"junk", "b.stl": box(0.1)}))
    assert sizes(arm)[2] == 0.1
    assert sizes(arm)[1] > 0.2  # a limb to the next joint


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04junk", "not a zip file"),
        (b"", "not a zip file"),
        (packed(), "must have one .urdf file, it has 0"),
        (packed(**{"a.urdf": "x", "b.urdf": "y"}), "it has 2: a.urdf, b.urdf"),
        (packed(**{f"{k}.txt": "" for k in range(archive.MAX_MEMBERS + 1)}), "501 files"),
        (packed(**{"a.urdf": b"\0" * (archive.MAX_UNPACKED + 1)}), "unpacks to more than"),
        (packed(**{"a.urdf": b" " * (MAX_UPLOAD + 1)}), "a description may have"),
    ],
    ids=["junk", "empty", "none", "two", "many", "bomb", "long"],
)
def test_what_is_no_arm_is_refused_with_the_reason(content: bytes, said: str, scratch: Path) -> None:
    with pytest.raises(BadInput, match=said):
        from_upload("arm.zip", content)
    assert list(scratch.iterdir()) == []


def test_a_damaged_archive_is_refused(scratch: Path) -> None:
    good = packed(**{"arm.urdf": urdf("a.stl"), "a.stl": box(0.1)})
    rng = np.random.default_rng(0)
    for _ in range(60):
        bad = bytearray(good)
        for place in rng.integers(0, len(bad), 6):
            bad[place] = rng.integers(256)
        with contextlib.suppress(BadInput, BadLinkage):
            from_upload("arm.zip", bytes(bad[: rng.integers(1, len(bad) + 1)]))
    assert list(scratch.iterdir()) == []


def test_the_size_that_is_declared_is_not_believed(scratch: Path) -> None:
    bomb = bytearray(packed(**{"arm.urdf": urdf("a.stl"), "a.stl": b"\0" * (archive.MAX_UNPACKED + 54321)}))
    true = (archive.MAX_UNPACKED + 54321).to_bytes(4, "little")
    assert bomb.count(true) == 2
    with pytest.raises(BadInput):
        from_upload("arm.zip", bytes(bomb.replace(true, (100).to_bytes(4, "little"))))
    assert list(scratch.iterdir()) == []


def test_a_bundled_name_gets_another_and_a_small_zip_is_read_quickly(scratch: Path) -> None:
    text = urdf("a.stl").replace('name="zipped"', 'name="panda"')
    arm = from_upload("arm.ZIP", packed(**{"arm.urdf": text, "a.stl": box(0.1)}))
    assert arm.linkage.name == "panda (uploaded)"
    assert arm.linkage.name not in models.names()
