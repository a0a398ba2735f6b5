"""Runs the tests of the native code under AddressSanitizer and UndefinedBehaviorSanitizer.

Builds the core with both into build/sanitize and runs pytest with the interpreter that the virtual environment was made
from: an editable install would bring the ordinary core. Arguments are pytest's; without any, the tests of everything
that runs in the core.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "sanitize"
SITE = BUILD / "site"
TESTS = [
    "tests/linkage",
    "tests/solve",
    "tests/tracking",
    "tests/motion",
    "tests/animation",
    "-m",
    "not alone and not gate and not slow",
]
TESTS += ["-n", "auto"]
LEFT_OUT = [
    "tests/solve/test_search_batch.py::test_no_bar_is_shown_for_what_takes_no_second",  # checked code is too slow
    # the process that reads MJCF has a limit of memory, and AddressSanitizer reserves terabytes
    "tests/linkage/test_masses.py::test_mjcf_gives_the_mass_and_centre_that_mujoco_uses",
    "tests/linkage/test_masses.py::test_a_missing_mesh_of_mjcf_gives_no_mass",
]
TESTS += [word for name in LEFT_OUT for word in ("--deselect", name)]


def compiler() -> list[str]:
    """The C++ compiler, as the words of a command."""
    named = shlex.split(os.environ.get("CXX", ""))
    return named or [next(name for name in ("c++", "g++", "clang++") if shutil.which(name))]


def library(name: str) -> str:
    """The path of a library of the compiler."""
    found = subprocess.run([*compiler(), f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def build() -> None:
    """The package with a checked core, in SITE."""
    options = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DSUPPLE_SANITIZE=ON", f"-DPython_EXECUTABLE={sys.executable}"]
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", *generator, "-S", ROOT, "-B", BUILD, *options], check=True)
    jobs = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", BUILD, "--target", "_core", "-j", jobs], check=True)
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "supple", SITE / "supple", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    (core,) = BUILD.glob("_core*.so")
    shutil.copy(core, SITE / "supple")


def environment() -> dict[str, str]:
    """Settings under which Python runs the checked core; leaks are the interpreter's own."""
    runtimes = [library("libasan.so"), library("libubsan.so"), library("libstdc++.so")]
    if "clang" in Path(compiler()[0]).name:
        runtimes = [library("libclang_rt.asan-x86_64.so"), library("libstdc++.so")]
    return os.environ | {
        "LD_PRELOAD": " ".join(str(Path(path).resolve()) for path in runtimes),
        "PYTHONPATH": os.pathsep.join([str(SITE), sysconfig.get_path("purelib"), os.environ.get("PYTHONPATH", "")]),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }


def main() -> int:
    """Build and run; the exit status of pytest."""
    build()
    python = getattr(sys, "_base_executable", sys.executable)
    check = "import supple, sys; sys.exit(0 if 'sanitize' in supple._core.__file__ else supple._core.__file__)"
    subprocess.run([python, "-c", check], check=True, env=environment())
    arguments = sys.argv[1:] or TESTS
    return subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], cwd=ROOT, env=environment()
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
