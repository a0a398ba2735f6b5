"""The package: what an import pulls in, what is shipped, how large it is, and that it installs from nothing."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterable
from pathlib import Path

import pytest

import supple

ROOT = Path(__file__).parents[1]
HOME = Path(supple.__file__).parent
HEAVY = ("lxml", "typer", "viser", "trimesh", "mujoco", "xacrodoc", "matplotlib", "scipy", "PIL")
TOOLS = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence.pth")  # not needs of ours
MEGABYTE = 1_000_000


def size(files: Iterable[Path]) -> int:
    """Bytes of the files, without what Python compiles them to when they are installed."""
    return sum(file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc")


def run(*command: str | Path, cwd: Path, inherit: bool = False, **variables: str) -> str:
    """What a command prints. It must end with 0, and unless told it inherits no settings of this Python."""
    removed = () if inherit else ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "SUPPLE_ISA")
    environment = {key: value for key, value in os.environ.items() if key not in removed}
    environment |= {"PYTHONIOENCODING": "utf-8", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **variables}
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        cwd=cwd,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.mark.wheel
def test_import_pulls_in_no_reader_no_command_and_no_extra(tmp_path: Path) -> None:
    code = "import sys, supple; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = run(sys.executable, "-c", code, cwd=tmp_path, inherit=True).split()
    assert "numpy" in loaded
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.wheel
def test_the_version_is_written_the_same_everywhere() -> None:
    written = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert written is not None
    assert supple.__version__ == written[1]
    assert f"## {written[1]} - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_wheel_for_the_stable_abi_needs_one_package_more() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lists = re.findall(r"result = (\[.*\])$", text, re.MULTILINE)
    plain, stable = map(ast.literal_eval, lists)
    assert stable[:-1] == plain
    assert stable[-1].startswith("nanobind-backend")
    # the stub of the core is made by importing it, which needs that package too
    (building,) = re.findall(
        r"^build\.requires = (\[.*?\])", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE
    )
    assert ast.literal_eval(building) == stable[-1:]


@pytest.mark.gate
def test_the_wheel_for_the_stable_abi_is_built_and_installed(tmp_path: Path) -> None:
    options = {"SKBUILD_CMAKE_DEFINE": "SUPPLE_INSTRUCTION_SETS=baseline", "SUPPLE_STABLE_ABI": "1"}
    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path / "dist", ROOT, cwd=tmp_path, **options)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert "-cp310-abi3-" in wheel.name
    home = tmp_path / "empty"
    venv.create(home, with_pip=True)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    run(scripts / "python", "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    solved = "from supple import *; print(bool(solve(models.ur5(), Goal('tool0', position=[0.4, 0, 0.4]))))"
    assert run(scripts / "python", "-c", solved, cwd=tmp_path).strip() == "True"


@pytest.mark.wheel
def test_the_package_is_small_and_typed() -> None:
    assert size(HOME.rglob("*")) < 10 * MEGABYTE
    assert (HOME / "py.typed").exists()


@pytest.mark.slow
def test_the_source_archive_has_all_that_a_build_reads(tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--sdist", "--outdir", tmp_path, ROOT, cwd=tmp_path)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        shipped = {name.partition("/")[2] for name in packed.getnames()}
    needed = ["LICENSE", "README.md", "CMakeLists.txt", "pyproject.toml"]
    for folder in ("core", "bind", "src"):
        found = [file for file in (ROOT / folder).rglob("*") if file.is_file() and "__pycache__" not in file.parts]
        needed += [file.relative_to(ROOT).as_posix() for file in found if not file.name.startswith("_core.")]
    assert set(needed) - shipped == set()
    assert not [name for name in shipped if name.startswith((".venv", "build", "dist"))]


@pytest.mark.gate
def test_it_installs_from_its_source_archive_into_an_empty_environment(tmp_path: Path) -> None:
    # the wheel is built from the archive, not from this folder: what the archive lacks is missed here
    run(sys.executable, "-m", "build", "--outdir", tmp_path / "dist", ROOT, cwd=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")

    home = tmp_path / "empty"
    venv.create(home, with_pip=True)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    run(scripts / "python", "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    tree = run(scripts / "supple", "show", "panda", cwd=tmp_path)
    assert "panda_hand_tcp" in tree

    where = run(scripts / "python", "-c", "import supple; print(supple.__file__)", cwd=tmp_path).strip()
    installed = Path(where).parent
    site = installed.parent
    assert home.resolve() in installed.resolve().parents
    assert {"py.typed", "_core.pyi"} <= {file.name for file in installed.iterdir()}
    assert size(installed.rglob("*")) < 12 * MEGABYTE  # with all instruction sets
    ours = [path for path in site.iterdir() if not path.name.startswith(TOOLS)]
    assert size(file for path in ours for file in (path, *path.rglob("*"))) < 120 * MEGABYTE


def test_no_file_tells_of_the_machine_it_was_written_on() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")
    paths = ["/".join(("", name, "")).encode() for name in ("work", "root")]
    telling = []
    for name in filter(None, listed):
        file = ROOT / name
        if file.is_file() and any(path in file.read_bytes() for path in paths):
            telling.append(name)
    assert telling == []
