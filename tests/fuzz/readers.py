"""The readers that are fuzzed: seeds, changes of seeds, and the law that only a `SuppleError` comes out.

As a program, ``python readers.py TARGET SEED COUNT`` reads so many changed files within bounded memory and time, and
prints the file that breaks the law.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import os
import random
import struct
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from supple import Frame, Joint, Linkage, Motion, Solver, models
from supple.errors import SuppleError
from supple.read import goal_file, isolated_child, mesh_file, mjcf, urdf_text, xacro

DATA = Path(__file__).parents[1] / "data"
BUNDLED = Path(models.__file__).parent / "data"
MEMORY = 3 * 2**30
"""Bytes that a reader may allocate."""
SECONDS = 20
"""Time that a file may take; then the process ends with the place where it is."""
ARM = models.planar2()
ODD = [
    *(b"", b"\0", b"\xff" * 4, b"\xff\xff\xff\x7f", b"\x80", b"\xef\xbb\xbf", b"\xc3"),
    *(b"nan", b"1e999", b"-1", b"99999999999999999999", b"1" * 5000, b"null", b"NaN", b"Infinity", b"true"),
    *(struct.pack("<Q", 2**62), struct.pack("<I", 10**9), b"../", b"/dev/zero", b"${", b"$("),
    *(b"\n", b"\r", b'"', b",", b"<", b">", b"&", b"{", b"}", b"[", b"#", b"e", b"."),
]
Change = tuple[float, int, int, float]
"""Place (0 to 1), number of the odd bytes that are put there, bytes that are removed, place of bytes copied from."""


def changed(data: bytes, changes: Sequence[Change]) -> bytes:
    """The seed with these changes."""
    for at, odd, gone, source in changes:
        place = int(at * len(data))
        if odd < len(ODD):
            new = ODD[odd]
        elif odd == len(ODD):  # bytes of the seed, elsewhere
            begin = int(source * len(data))
            new = data[begin : begin + 64]
        else:  # one bit
            new = bytes([data[place] ^ 1 << int(8 * source) % 8]) if place < len(data) else b""
            gone = len(new)
        data = data[:place] + new + data[place + gone :]
    return data


# -- seeds ------------------------------------------------------------------------------------------------------------


def _array_archive(members: dict[str, Any], packed: bool) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(file, **members)
    return file.getvalue()


def _motion(ending: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"a{ending}")
        Motion(ARM, [0, 1, 2], [[0, 0], [1, 1], [0, 2]]).save(file)
        return file.read_bytes()


@cache
def _figure(ending: str) -> bytes:
    """A small figure that moves."""
    joints = [
        Joint.floating("root", "world", "hip"),
        Joint.ball("knee", "hip", "shin", at=Frame.at([0, 0, -1])),
        Joint.fixed("sole", "shin", "shin_End", at=Frame.at([0, 0, -1])),
    ]
    figure = Linkage("figure", joints)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"a{ending}")
        Motion(figure, np.arange(5) / 10, figure.random(5, seed=1)).save(file)
        return file.read_bytes()


@cache
def _recording(ending: str) -> bytes:
    from supple.teleop import Command, Loop, Mapping
    from supple.teleop.recording import Recorder

    class Clock:
        time = 0.0

        def now(self) -> float:
            return self.time

        def wait(self, until: float) -> None:
            self.time = max(self.time, until)

    class Source:
        def read(self) -> Command | None:
            return None

        def close(self) -> None:
            pass

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "a" + ending.removesuffix(".part"))
        tracker = Solver().track(ARM, ARM.tips[0])
        recorder = Recorder(file, tracker)
        loop = Loop(Source(), Mapping(), tracker, recorder, clock=Clock())
        if ending.endswith(".part"):
            finish = recorder._writer.finish
            recorder._writer.finish = recorder._writer.flush  # type: ignore[method-assign]
            loop.run(0.05)
            data = Path(folder, "a" + ending).read_bytes()
            finish()
            return data
        loop.run(0.05)
        return file.read_bytes()


def _meshes() -> list[tuple[str, bytes]]:
    import trimesh

    box = trimesh.creation.box()
    seeds = [(f".{kind}", box.export(file_type=kind)) for kind in ("stl", "ply", "obj", "off", "glb")]
    seeds.append((".stl", trimesh.exchange.stl.export_stl_ascii(box)))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a.stl", seeds[0][1])
    seeds.append((".zip", archive.getvalue()))
    return [(ending, data.encode() if isinstance(data, str) else data) for ending, data in seeds]


def seeds(target: str) -> list[tuple[str, bytes]]:
    """Endings and contents of whole files."""
    if target == "urdf":
        return [(".urdf", (BUNDLED / name).read_bytes()) for name in ("ur5.urdf", "so101.urdf")]
    if target == "xacro":
        return [(".xacro", path.read_bytes()) for path in sorted((DATA / "pkg_arm" / "urdf").glob("*.xacro"))]
    if target == "mjcf":
        return [(".xml", (DATA / "all_joints.xml").read_bytes())]
    if target == "mesh":
        return _meshes()
    if target == "goals":
        rows = np.arange(12.0).reshape(4, 3)
        table = b"x,y,z,qw,qx,qy,qz\n" + b"0.1,0.2,0.3,1,0,0,0\n" * 4
        arrays = {"position": rows, "rpy": rows}
        return [(".csv", table), *((".npz", _array_archive(arrays, packed)) for packed in (False, True))]
    if target == "motion":
        return [(ending, _motion(ending)) for ending in (".csv", ".npz")]
    if target == "recording":
        return [(ending, _recording(ending)) for ending in (".csv", ".parquet", ".parquet.part")]
    if target == "figure":
        return [(ending, _figure(ending)) for ending in (".bvh", ".glb", ".gltf")]
    if target == "linkage":
        return [(".json", json.dumps(models.get(name).to_dict()).encode()) for name in ("planar3", "so101")]
    if target == "solver":
        return [(".json", json.dumps(Solver().to_dict()).encode())]
    raise ValueError(target)


# -- readers ----------------------------------------------------------------------------------------------------------


def _read_recording(file: Path) -> None:
    from supple.teleop.recording import Recording
    from supple.teleop.recording.replay import replay

    recording = Recording(file)
    for _ in recording.blocks():
        pass
    replay(recording)


def _from_json(make: Callable[[Any], Any]) -> Callable[[Path], Any]:
    def read(file: Path) -> None:
        try:
            data = json.loads(file.read_bytes())
        except (ValueError, RecursionError):
            return  # the reader takes plain data; JSON itself is the caller's
        make(data)

    return read


READERS: dict[str, Callable[[Path], Any]] = {
    "urdf": lambda file: urdf_text(file.read_bytes(), file="a.urdf"),
    "goals": lambda file: goal_file.read(file, "hand"),
    "motion": lambda file: Motion.load(file, ARM),
    "recording": _read_recording,
    "figure": lambda file: Motion.load(file),
    "linkage": _from_json(Linkage.from_dict),
    "solver": _from_json(Solver.from_dict),
    "xacro": lambda file: xacro.expand(str(file), {}, [str(DATA / "pkg_arm")], lambda may_open: None),
    "mjcf": lambda file: mjcf.build(str(file), None, [str(DATA)]),
    "mesh": lambda file: mesh_file.read(str(file), lambda may_open: None),
}
IN_A_PROCESS = ("xacro", "mjcf", "mesh")
"""Readers that the library runs in a separate process, where any exception becomes a `SuppleError`."""


def obey(target: str, ending: str, data: bytes, folder: Path) -> None:
    """Raises unless the file is read, or refused with a `SuppleError` of bounded length."""
    file = folder / f"a{ending}"
    file.write_bytes(data)
    allowed: tuple[type[BaseException], ...] = (SuppleError,)
    if target in IN_A_PROCESS:
        allowed = (SuppleError, Exception)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            READERS[target](file)
    except allowed as error:
        if isinstance(error, SuppleError) and len(str(error)) > 5000:
            raise AssertionError(f"a message of {len(str(error)):,} characters") from error


def limit_memory() -> Callable[[], None]:
    """Bounds the memory of this process from now on; returns a function that lifts the bound."""
    try:
        import resource
    except ImportError:
        return lambda: None
    before = resource.getrlimit(resource.RLIMIT_AS)
    isolated_child._limit_memory(MEMORY)
    return lambda: resource.setrlimit(resource.RLIMIT_AS, before)


def main(target: str, seed: int, count: int) -> None:
    """Reads changed seeds; ends the process at the first that breaks the law."""
    rng, kinds = random.Random(seed), seeds(target)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # a reader that writes here is found below
        for ending, data in kinds:
            obey(target, ending, data, Path(folder))
        limit_memory()
        for k in range(count):
            ending, data = rng.choice(kinds)
            changes = [
                (rng.random(), rng.randrange(len(ODD) + 4), rng.choice([0, 0, 1, 2, 8, 100]), rng.random())
                for _ in range(rng.choice([1, 1, 2, 5]))
            ]
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            new = changed(data, changes)
            try:
                obey(target, ending, new, Path(folder))
            except BaseException:
                print(f"{target} {seed}: file {k}{ending}: {changes}", flush=True)
                print(repr(new[:3000]), flush=True)
                raise
            finally:
                faulthandler.cancel_dump_traceback_later()
        left = sorted(path.name for path in Path(folder).iterdir() if path.stem.partition(".")[0] != "a")
        assert not left, f"files that a reader wrote: {left}"
        os.chdir("/")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
