"""Properties of the C++ core: small programs that measure it, compiled for each instruction set of this machine."""

import json
import os
import shutil
import subprocess
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
FLAGS = ["-std=c++17", "-fno-math-errno", "-fno-trapping-math"]
FLAGS += ["-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-Wno-mismatched-new-delete"]  # operator new is our own
FLAGS += ["-Wno-unknown-warning-option"]  # GCC and clang have different ones
BUILDS = {
    "baseline": [],
    "avx2": ["-mavx2", "-mfma"],
    "avx512": ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw", "-mavx2", "-mfma", "-mprefer-vector-width=512"],
}
BUILDS["avx512"] += ["-Wno-uninitialized", "-Wno-maybe-uninitialized"]  # gcc's own header warns
BUILDS = {name: flags for name, flags in BUILDS.items() if name in _core.instruction_sets()}
NATIVE = list(BUILDS)[-1]  # the widest instruction set of this machine
BUILDS["plain arrays"] = ["-DSUPPLE_PLAIN_ARRAYS"]
QUICK = [("numbers", NATIVE), ("goal", NATIVE)]  # what takes a second or two


def marks(kind, quick=False):
    """`make test` runs each program for plain arrays, Python's tests run the vectors, `make gates` runs all."""
    return () if quick else pytest.mark.slow if kind == "plain arrays" else pytest.mark.gate


def level(name, kind):
    """How much to optimise: what takes least time to compile and to run together."""
    return "-O0" if kind == "plain arrays" and name != "command" else "-O1"


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


def contraction(command):
    """How the build lets this compiler join products and sums."""
    version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    return "-ffp-contract=on" if "clang" in version else "-ffp-contract=fast"


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """The path of a program in a build, compiled when it is first asked for."""
    command, folder = compiler(), tmp_path_factory.mktemp("core")
    joined = contraction(command)

    @cache
    def build(name, kind):
        made = folder / f"{name}-{kind}".replace(" ", "-")
        source = [f"-I{CORE}", f"-I{BIND}", str(HERE / f"{name}.cpp"), "-o", str(made)]
        flags = [*FLAGS, joined, level(name, kind), *BUILDS[kind]]
        ran = subprocess.run([*command, *flags, *source], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr[:5000]
        return made

    return build


@cache
def laws(made):
    """What a program measured."""
    ran = subprocess.run([made], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize(
    ("name", "kind"),
    [pytest.param(name, kind, marks=marks(kind, (name, kind) in QUICK)) for name in PROGRAMS for kind in BUILDS],
)
def test_every_property_that_a_program_measures_holds(name, kind, program):
    found = laws(program(name, kind))
    assert any("alloc" in each["law"] for each in found)
    broken = [each for each in found if not each["measured"] <= each["allowed"]]
    assert not broken, "\n".join(map(str, broken))


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=marks(kind)) for kind in BUILDS])
def test_the_nearest_step_in_a_box_is_the_one_a_search_of_all_sides_finds(kind, program):
    ran = subprocess.run([program("track", kind), "boxes"], capture_output=True, text=True)
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
