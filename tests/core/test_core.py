"""Laws of the C++ core itself: small programs that measure it, compiled for each instruction set this machine has."""

import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from oracle_box import cost, nearest_in_box
from supple import _core

HERE = Path(__file__).parent
CORE, BIND = HERE.parents[1] / "core", HERE.parents[1] / "bind"
PROGRAMS = ("numbers", "rigid", "tree", "goal", "command", "damp", "track", "search")
# as in CMakeLists.txt, but for less optimisation, which only takes time
FLAGS = ["-std=c++17", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"]
FLAGS += ["-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-Wno-mismatched-new-delete"]  # operator new is our own
BUILDS = {
    "baseline": [],
    "avx2": ["-mavx2", "-mfma"],
    "avx512": ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw", "-mavx2", "-mfma", "-mprefer-vector-width=512"],
}
BUILDS["avx512"] += ["-Wno-uninitialized", "-Wno-maybe-uninitialized"]  # gcc's own header warns
BUILDS = {name: flags for name, flags in BUILDS.items() if name in _core.instruction_sets()}
BUILDS["plain arrays"] = ["-DSUPPLE_PLAIN_ARRAYS"]


def level(program, kind):
    """How much to optimise: what takes least time to compile and to run together."""
    if kind == "plain arrays":  # optimising lanes one by one would take half a minute
        return "-O1" if program == "command" else "-O0"
    return "-O1" if program in ("track", "search") else "-O2"  # there is a tracker for each number of joints


def compiler():
    """The compiler to use, as the words of a command; none is a failure where everything must be there."""
    named = os.environ.get("CXX", "").split()
    for command in (named, ["c++"], ["g++"], ["clang++"]):
        if command and shutil.which(command[0]):
            return command
    reason = "no C++ compiler: set CXX, or install c++, g++ or clang++"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """Every program in every build, being compiled side by side; ask for the one that is needed."""
    command, folder = compiler(), tmp_path_factory.mktemp("core")

    def build(program, kind):
        made = folder / f"{program}-{kind}".replace(" ", "-")
        source = [f"-I{CORE}", f"-I{BIND}", str(HERE / f"{program}.cpp"), "-o", str(made)]
        flags = [*FLAGS, level(program, kind), *BUILDS[kind]]
        ran = subprocess.run([*command, *flags, *source], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr[:5000]
        return made

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {(program, kind): pool.submit(build, program, kind) for kind in BUILDS for program in PROGRAMS}


@cache
def laws(made):
    """What a program measured."""
    ran = subprocess.run([made], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("kind", BUILDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_core_keeps_its_word(program, kind, programs):
    found = laws(programs[program, kind].result())
    assert any("alloc" in each["law"] for each in found)
    broken = [each for each in found if not each["measured"] <= each["allowed"]]
    assert not broken, "\n".join(map(str, broken))


@pytest.mark.parametrize("law", ["sine and cosine", "angle of the point"])
def test_the_bounds_that_are_measured_are_those_the_header_states(law, programs):
    header = re.sub(r"(?<=[^\n])\n// ", " ", (CORE / "supple" / "math" / "number.h").read_text())
    comment = header.split(f"// {law}")[1]
    stated = re.search(r"error (?:is )?below (\S+) \(double\)(?:,| and)\s+(?:// )?(\S+) \(float\)", comment)
    assert stated, "math/number.h states no bound"
    for each in laws(programs["numbers", "baseline"].result()):
        if each["law"] == law:
            assert each["allowed"] == float(stated[1] if each["type"].startswith("double") else stated[2])


@pytest.mark.parametrize("kind", BUILDS)
def test_the_nearest_step_in_a_box_is_the_one_a_search_of_all_sides_finds(kind, programs):
    ran = subprocess.run([programs["track", kind].result(), "boxes"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    problems = json.loads(ran.stdout)
    assert len(problems) >= 300
    for each in problems:
        wanted, low, high, found = (np.array(each[name]) for name in ("wanted", "low", "high", "x"))
        M = np.array(each["M"]).reshape(len(wanted), -1)
        assert ((low <= found) & (found <= high)).all()
        best = nearest_in_box(M, wanted, low, high)
        size = np.abs(np.concatenate([wanted, best])).max()
        assert cost(M, wanted, found) <= cost(M, wanted, best) + 1e-12 * np.abs(M).max() * size**2
        assert np.abs(found - best).max() <= 1e-9 * size * np.linalg.cond(M) ** 0.5
