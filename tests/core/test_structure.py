"""The order of the core's folders, and headers that stand alone."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CORE = next(parent for parent in Path(__file__).parents if (parent / "core" / "supple").is_dir()) / "core"
ORDER = ("math", "model", "task", "local", "search", "tracking")
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


@pytest.mark.parametrize("header", [header for header in HEADERS if header.endswith("/types.h")])
def test_shared_structs_need_no_code(header):
    """types.h of a folder includes other types.h alone, so that all instruction sets share its structs."""
    assert all(included.endswith("/types.h") for included in includes(header))


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_headers_stand_alone_and_together(compiler, tmp_path):
    """Each header compiles alone; all compile together in either order."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    sources = {f"alone{i}.cpp": [header] for i, header in enumerate(HEADERS)}
    sources["together.cpp"] = HEADERS
    sources["reversed.cpp"] = HEADERS[::-1]
    for name, headers in sources.items():
        (tmp_path / name).write_text("".join(f'#include "{header}"\n' for header in headers), encoding="utf-8")
    files = [str(tmp_path / name) for name in sources]
    command = [compiler, "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-psabi", f"-I{CORE}", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
