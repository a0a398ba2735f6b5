"""Zip files that are uploaded to harm the page: refused in bounded time and memory."""

import io
import random
import zipfile

import pytest

from supple import BadInput

pytest.importorskip("viser")
from supple.teleop.page import archive
from supple.teleop.page.archive import Archive

URDF = b'<robot name="r"><link name="a"/></robot>'
OTHER_WAYS = [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def packed(files, way=zipfile.ZIP_DEFLATED):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", way) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return made.getvalue()


@pytest.mark.parametrize("way", OTHER_WAYS)
def test_a_bomb_of_another_packing_is_not_unpacked(tmp_path, way, monkeypatch):
    """Of bzip2 and LZMA zipfile unpacks all that it reads, whatever the number of bytes that it is asked for."""
    bomb = packed({"r.urdf": URDF, "m.stl": bytes(10**6)}, way)
    assert len(bomb) < 2000
    monkeypatch.setattr(archive.zipfile.ZipFile, "open", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(BadInput, match="packed in another way"):
        Archive("u.zip", bomb, tmp_path)


@pytest.mark.parametrize("way", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, *OTHER_WAYS])
def test_damage_is_refused_with_an_error_of_supple(tmp_path, way):
    rng = random.Random(0)
    whole = packed({"r.urdf": URDF, "m.stl": b"solid x\n" * 100, "../n.stl": b"x"}, way)
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(rng.choice([1, 2, 6])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            Archive("u.zip", bytes(data), tmp_path)
        except BadInput as error:
            assert len(str(error)) < 1000  # noqa: PT017
    assert {path.parent for path in tmp_path.rglob("*")} <= {tmp_path}


def test_very_many_members_are_refused_before_they_are_listed(tmp_path, monkeypatch):
    crowd = packed({f"{i}.txt": b"" for i in range(5 * archive.MAX_MEMBERS)})
    monkeypatch.setattr(archive.zipfile, "ZipFile", lambda *_: pytest.fail("listed"))
    with pytest.raises(BadInput, match="2,500 files"):
        Archive("u.zip", crowd, tmp_path)


def test_a_mesh_is_compared_only_with_files_of_its_own_name(tmp_path, monkeypatch):
    """A description has thousands of names and an archive hundreds of files."""
    files = {f"a/{i}.stl": b"x" for i in range(200)} | {"b/7.stl": b"y", "r.urdf": URDF}
    opened, compared = Archive("u.zip", packed(files), tmp_path), []
    end = archive._common_end
    monkeypatch.setattr(archive, "_common_end", lambda *given: compared.append(given) or end(*given))
    assert opened._file("package://x/b/7.stl").read_bytes() == b"y"
    assert opened._file("A\\7.STL").read_bytes() == b"x"
    assert opened._file("none.stl") is None
    assert opened._file("") is None
    assert len(compared) <= 4
