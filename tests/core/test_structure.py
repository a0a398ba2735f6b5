"""The order of the core's folders, headers that compile alone, and kernels that share no symbols."""

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CORE = next(parent for parent in Path(__file__).parents if (parent / "core" / "supple").is_dir()) / "core"
ORDER = ("math", "model", "motion", "task", "local", "search", "path", "tracking", "cuda")
BIND = CORE.parent / "bind"
KERNELS = sorted(path.name for path in (BIND / "kernels").glob("*.cpp"))
HEADERS = sorted(path.relative_to(CORE).as_posix() for path in CORE.rglob("*.h"))


def includes(header: str) -> list[str]:
    return re.findall(r'^#include "([^"]+)"', (CORE / header).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_header_is_in_a_known_folder():
    assert {header.split("/")[1] for header in HEADERS} <= set(ORDER)


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_includes_only_its_own_folder_and_those_before(header):
    place = ORDER.index(header.split("/")[1])
    for included in includes(header):
        assert included in HEADERS, f"{header} includes {included}, which is not a header of the core"
        assert ORDER.index(included.split("/")[1]) <= place, f"{header} includes {included}"
        assert not (header.startswith("supple/tracking/") and included.startswith("supple/path/"))


@pytest.mark.parametrize("header", [header for header in HEADERS if header.endswith("/types.h")])
def test_shared_structs_need_no_code(header):
    """types.h of a folder includes other types.h alone, so that all instruction sets share its structs."""
    assert all(included.endswith("/types.h") for included in includes(header))


def compiled(command: list[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


def sources(folder: Path, groups: list[list[str]]) -> list[Path]:
    """A file for each group of headers, which includes them in that order."""
    made = []
    for i, headers in enumerate(groups):
        made.append(folder / f"group{i}.cpp")
        made[-1].write_text("".join(f'#include "{header}"\n' for header in headers), encoding="utf-8")
    return made


def available(compiler: str) -> str:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    return compiler


CHECK = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-psabi", f"-I{CORE}"]


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_all_headers_compile_together_in_either_order(compiler, tmp_path):
    compiled([available(compiler), *CHECK, *sources(tmp_path, [HEADERS, HEADERS[::-1]])])


@pytest.mark.gate
@pytest.mark.parametrize("folder", ORDER)
def test_each_header_compiles_alone(folder, tmp_path):
    alone = [[header] for header in HEADERS if header.split("/")[1] == folder]
    compiled([available("g++"), *CHECK, *sources(tmp_path, alone)])


@pytest.mark.slow
def test_clang_has_no_warning_for_the_programs_that_measure_the_core():
    """They use plain numbers in place of vectors: masks are then bool, of which clang warns more than GCC does."""
    programs = sorted(Path(__file__).parent.glob("*.cpp"))
    compiled([available("clang++"), *CHECK, "-Werror", "-Wno-mismatched-new-delete", f"-I{BIND}", *programs])


# as in CMakeLists.txt, but for less optimisation, with which more functions stay
AVX2 = ["-std=c++17", "-O1", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-Wno-psabi"]
AVX2 += ["-mavx2", "-mfma", "-DSUPPLE_ISA=avx2", f"-I{CORE}", f"-I{BIND}"]


def shared_symbols(source: Path, made: Path) -> list[str]:
    """The functions and variables of a source, compiled for AVX2, that the linker may merge with others'."""
    compiled([available("g++"), *AVX2, "-c", source, "-o", made])
    listed = subprocess.run([available("nm"), "-C", "--defined-only", made], capture_output=True, text=True, check=True)
    lines = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [name for _, kind, name in lines if kind in "WVuTDBRGSC"]  # weak, unique or external


@pytest.mark.gate
@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="AVX2 is for x86-64")
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_export_only_symbols_of_their_own_instruction_set(kernel, tmp_path):
    """The linker keeps one of several equal weak symbols. One compiled for AVX2 and named alike in code for
    every machine could then run on a machine without AVX2."""
    found = shared_symbols(BIND / "kernels" / kernel, tmp_path / "kernel.o")
    assert found
    assert [name for name in found if "supple::avx2::" not in name] == []


@pytest.mark.slow
@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="AVX2 is for x86-64")
def test_a_symbol_outside_of_the_instruction_set_is_seen(tmp_path):
    source = tmp_path / "container.cpp"
    source.write_text("#include <vector>\nvoid grow(std::vector<int> &v) { v.resize(v.size() + 3); }\n")
    assert any(name.startswith("std::vector") for name in shared_symbols(source, tmp_path / "container.o"))


# what <windows.h> and <complex.h> define as macros, some of them as nothing
WINDOWS = ("near", "far", "small char", "interface struct", "IN", "OUT", "ERROR 0", "I 1i", "BOOL int", "CONST const")
WINDOWS += (
    "min(a, b) (a)",
    "max(a, b) (a)",
    "pascal",
    "hyper 1",
    "DELETE 1",
    "STRICT 1",
    "NO_ERROR 0",
    "TRUE 1",
    "FALSE 0",
)


@pytest.mark.gate
@pytest.mark.parametrize("source", [f"kernels/{name}" for name in KERNELS])
def test_no_identifier_is_a_macro_of_windows(source, tmp_path):
    """The standard headers come first; the macros stand before everything of ours."""
    before = "".join(f"#include <{name}>\n" for name in ("cmath", "cstring", "type_traits", "utility", "immintrin.h"))
    if platform.machine().lower() not in ("x86_64", "amd64"):
        before = before.replace("#include <immintrin.h>\n", "")
    made = tmp_path / "macros.cpp"
    macros = "".join(f"#define {macro}\n" for macro in WINDOWS)
    made.write_text(f'{before}{macros}#include "{source}"\n', encoding="utf-8")
    compiled([available("g++"), *CHECK, f"-I{BIND}", "-DSUPPLE_ISA=baseline", made])


@pytest.mark.parametrize("source", sorted(BIND.glob("*.[ch]*")), ids=lambda path: path.name)
def test_the_binding_uses_only_the_stable_part_of_pythons_interface(source):
    """Macros that read inside of Python's objects are not in the stable ABI, of which the wheels are made."""
    assert re.findall(r"\bPy\w+_(?:GET|SET)_(?:SIZE|ITEM)\b", source.read_text(encoding="utf-8")) == []


SOURCES = sorted(path for folder in (BIND, CORE) for path in folder.rglob("*.[ch]*"))
RESERVED = re.compile(r"(?<![\w\"])(near|far|small|interface|IN|OUT|ERROR|I)\b(?!\")|\b(min|max)\(")


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_no_identifier_in_the_text_is_a_macro_of_windows(source):
    code = re.sub(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"', "", source.read_text(encoding="utf-8"))
    assert RESERVED.findall(code) == []
