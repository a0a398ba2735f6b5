"""Files are written whole or not at all: a full disk leaves what was there before."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from supple import Motion, Solver, models
from supple.write import atomic, solution_file

resource = pytest.importorskip("resource")
ARM = models.planar2()
N = 3000


def motion(path: Path) -> None:
    Motion(ARM, np.arange(N), np.random.default_rng(0).normal(size=(N, ARM.dof))).save(path)


def solutions(path: Path) -> None:
    solution_file.write(path, ARM.names, {"goal": np.arange(N)}, np.random.default_rng(0).normal(size=(N, ARM.dof)))


def picture(path: Path) -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    figure.add_subplot().imshow(np.random.default_rng(0).random((200, 200)))
    from supple.view import image

    image.write(figure, path)


@pytest.fixture
def full_disk() -> Iterator[None]:
    """No file can grow beyond 20 kB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (motion, "a.npz"),
        (motion, "a.csv"),
        (solutions, "a.npz"),
        (solutions, "a.csv"),
        (picture, "a.png"),
        (picture, "a.svg"),
        (picture, "a.pdf"),
    ],
)
@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, write: Callable[[Path], None], name: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"old")
    with pytest.raises(OSError, match="File too large"):
        write(file)
    assert file.read_bytes() == b"old"
    file.unlink()
    with pytest.raises(OSError, match="File too large"):
        write(file)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_the_old_recording_and_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    from supple.teleop.recording import Recorder
    from supple.teleop.recording import writer as writers

    file = tmp_path / "a.parquet"
    file.write_bytes(b"old")
    recorder = Recorder(file, Solver().track(ARM, ARM.tips[0]), overwrite=True)

    def fails(path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(writers.atomic, "_to_disk", fails)
    with pytest.warns(UserWarning, match="recording ended"), pytest.raises(OSError, match="No space left"):
        recorder.close()
    assert file.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "a.parquet.part"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "a.csv", tmp_path / "b.csv"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to(file)
    solutions(link)
    assert link.is_symlink()
    assert file.read_bytes().startswith(b"goal,")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    solutions(tmp_path / "new.csv")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == 0o666 & ~mask


def test_what_is_not_an_ordinary_file_is_written_directly() -> None:
    with atomic.replacing("/dev/null") as place, open(place, "wb") as binary:
        binary.write(b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
