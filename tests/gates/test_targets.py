"""Every C++ file compiles for the other systems that wheels are promised for, with clang as `ziglang` brings it.

Compiled, not run. `*-windows-gnu` has MinGW's headers. Visual C++ and its standard library are not on the package
index: for `windows-msvc` clang reads the core as Visual C++ would (its macros, no compiler vectors, no GNU extension),
with the few standard declarations that the core needs, from `headers/` and from those of the CUDA kernels.
"""

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parents[2]
HEADERS = Path(__file__).parent / "headers"
STANDARD = ROOT / "core" / "supple" / "cuda" / "standard"
KERNELS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "bind" / "kernels").glob("*.cpp"))
BINDING = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "bind").glob("*.cpp"))
SETS = {
    "baseline": [],
    "avx2": ["-mavx2", "-mfma"],
    "avx512": ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw", "-mavx2", "-mfma"],
}
TARGETS = {
    "aarch64-linux-gnu": ["baseline"],
    "aarch64-macos": ["baseline"],
    "x86_64-macos": ["baseline", "avx2", "avx512"],
    "x86_64-windows-gnu": ["baseline", "avx2", "avx512"],
    "aarch64-windows-gnu": ["baseline"],
}
COMMON = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Icore", "-Ibind"]
NUMPY = [f"-D{name}=NPY_1_25_API_VERSION" for name in ("NPY_NO_DEPRECATED_API", "NPY_TARGET_VERSION")]


def zig(*arguments):
    """Run zig's C++ compiler in the project's folder."""
    if importlib.util.find_spec("ziglang") is None:
        pytest.fail("ziglang is not installed: run `make gates`, or pip install '.[gates]'")
    ran = subprocess.run([sys.executable, "-m", "ziglang", "c++", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[:5000]


def object_kind(file):
    """What a file of compiled code begins with: the magic number of its format and of its processor."""
    start = Path(file).read_bytes()[:20]
    if start[:4] == b"\x7fELF":
        return "linux", {0xB7: "aarch64", 0x3E: "x86_64"}[start[18]]
    if start[:4] == b"\xcf\xfa\xed\xfe":
        return "macos", {0x0100000C: "aarch64", 0x01000007: "x86_64"}[int.from_bytes(start[4:8], "little")]
    return "windows", {0xAA64: "aarch64", 0x8664: "x86_64"}[int.from_bytes(start[:2], "little")]


def compiled(target, source, made, *flags):
    zig("-target", target, *COMMON, *flags, "-c", source, "-o", str(made))
    processor, system = target.split("-")[:2]
    assert object_kind(made) == (system, processor)


@pytest.mark.parametrize("source", KERNELS)
@pytest.mark.parametrize(("target", "set_name"), [(target, name) for target, sets in TARGETS.items() for name in sets])
def test_the_kernels_compile_for(target, set_name, source, tmp_path):
    flags = ["-O1", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", f"-DSUPPLE_ISA={set_name}"]
    compiled(target, source, tmp_path / "kernel.o", *flags, *SETS[set_name])


@pytest.fixture(scope="session")
def python_headers(tmp_path_factory):
    """The folders of Python's and numpy's headers, changed where systems differ."""

    def prepared(system):
        folder = tmp_path_factory.getbasetemp() / f"headers-{system}"
        if folder.exists():
            return folder
        shutil.copytree(sysconfig.get_path("include"), folder / "python")
        shutil.copytree(np.get_include(), folder / "numpy")
        config = folder / "numpy" / "numpy" / "_numpyconfig.h"
        text = config.read_text()
        if system != "linux":
            text = text.replace("#define NPY_HAVE_ENDIAN_H 1", "")
        if system == "windows":
            shutil.copy(HEADERS / "windows" / "pyconfig.h", folder / "python" / "pyconfig.h")
            for name, size in (("LONG", 4), ("WCHAR_T", 2), ("OFF_T", 4)):
                old = f"#define NPY_SIZEOF_{name} {2 * size}"
                assert old in text
                text = text.replace(old, f"#define NPY_SIZEOF_{name} {size}")
        config.write_text(text)
        return folder

    return prepared


@pytest.mark.parametrize("source", BINDING)
@pytest.mark.parametrize("target", TARGETS)
def test_the_binding_compiles_for(target, source, python_headers, tmp_path):
    import nanobind

    folder = python_headers(target.split("-")[1])
    flags = ["-O0", *NUMPY, *(f"-DSUPPLE_HAS_{name}" for name in TARGETS[target])]
    flags += [f"-isystem{path}" for path in (nanobind.include_dir(), folder / "python", folder / "numpy")]
    if "macos" in target:  # as the wheel: elsewhere nanobind's split mode wants another library than zig's libc++
        flags += ["-DPy_LIMITED_API=0x030A0000", "-DNB_BACKEND_MODULE=nanobind_backend"]
    compiled(target, source, tmp_path / "binding.o", *flags)


# Visual C++ has no vectors of GNU C; __clang__ is hidden, so that code for it alone is not seen. dispatch.cpp is the
# one file of the binding that needs no Python.
MSVC = ["-nostdinc++", "-fsyntax-only", "-fno-delayed-template-parsing", "-fms-compatibility-version=19.30"]
MSVC += ["-pedantic-errors", "-Werror=gnu", "-U__clang__", "-DSUPPLE_PLAIN_ARRAYS", f"-I{HEADERS}", f"-I{STANDARD}"]


@pytest.mark.parametrize("source", [*KERNELS, "bind/dispatch.cpp"])
@pytest.mark.parametrize("set_name", SETS)
def test_what_visual_c_would_read_compiles(source, set_name):
    clang = shutil.which("clang++") or shutil.which("clang++-14")
    if clang is None:
        pytest.skip("clang++ is not installed; zig has no Windows SDK to offer it")
    names = [f"-DSUPPLE_ISA={set_name}", *(f"-DSUPPLE_HAS_{name}" for name in SETS)]
    command = [clang, "--target=x86_64-pc-windows-msvc", *COMMON, *MSVC, *names, *SETS[set_name], source]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[:5000]
