"""Compares forward kinematics with pinocchio: frame and Jacobian of the Panda's tool, single and batched.

    python benchmarks/forward.py [--cpp] [--json FILE]

Each number is the minimum of many rounds: process time for one row, wall time for a batch. Compare the ratios. All
results are first checked against each other. Needs the extra `bench`; --cpp also needs a compiler and the headers of
Eigen and urdfdom.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import supple
from supple import _core
from supple._table import text_table

LINK = "panda_hand_tcp"
ROWS = 100_000
HERE = Path(__file__).parent


def shortest(call: Callable[[], object], rounds: int, repeats: int, clock: Callable[[], float]) -> float:
    """Nanoseconds per call, the minimum of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = clock()
        for _ in range(repeats):
            call()
        best = min(best, clock() - start)
    return best / repeats * 1e9


def pinocchio_cpp(urdf: str) -> float | None:
    """Nanoseconds of pinocchio in C++ for frame and Jacobian, or None if it cannot be compiled."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    prefix = Path(sysconfig.get_path("purelib")) / "cmeel.prefix"
    places = (Path(p) / "include/eigen3" for p in ("/usr", "/usr/local", "/opt/homebrew"))
    eigen = next((place for place in places if place.exists()), None)
    if not (compiler and eigen and (prefix / "include/pinocchio").exists()):
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "forward"
        # no -march: the library was built without it, and the alignment of Eigen must agree
        line = [compiler, "-std=c++17", "-O3", "-DNDEBUG", "-w", f"-I{eigen}", f"-I{prefix / 'include'}"]
        line += ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS"]
        line += [str(HERE / "pinocchio_forward.cpp"), f"-L{prefix / 'lib'}", f"-Wl,-rpath,{prefix / 'lib'}"]
        line += ["-lpinocchio_default", "-lpinocchio_parsers", "-o", str(program)]
        built = subprocess.run(line, capture_output=True, text=True)
        if built.returncode:
            errors = [text for text in built.stderr.splitlines() if "error" in text][:1]
            print("pinocchio's C++ did not compile:", *errors, file=sys.stderr)
            return None
        environment = {**os.environ, "LD_LIBRARY_PATH": str(prefix / "lib")}
        run = subprocess.run([str(program), urdf, LINK], capture_output=True, text=True, check=True, env=environment)
        return float(run.stdout)


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--cpp", action="store_true", help="compile and time pinocchio's C++ too (a minute)")
    options.add_argument("--json", type=Path, help="also write the numbers to this file")
    arguments = options.parse_args()
    try:
        import pinocchio
    except ImportError:
        sys.exit("this benchmark compares with pinocchio: pip install 'supple[bench]'")

    urdf = str(Path(supple.__file__).parent / "data" / "panda.urdf")
    # without the fingers: seven joints
    arm = supple.load(urdf).part("panda_link0", LINK)
    whole = pinocchio.buildModelFromUrdf(urdf)
    fingers = [whole.getJointId(f"panda_finger_joint{i}") for i in (1, 2)]
    model = pinocchio.buildReducedModel(whole, fingers, pinocchio.neutral(whole))
    data = model.createData()
    frame = model.getFrameId(LINK)
    q = arm.random(seed=1)
    many = arm.random(ROWS, seed=2)

    def theirs() -> tuple[object, np.ndarray]:
        pinocchio.computeJointJacobians(model, data, q)
        placement = pinocchio.updateFramePlacement(model, data, frame)
        return placement, pinocchio.getFrameJacobian(model, data, frame, pinocchio.LOCAL_WORLD_ALIGNED)

    # the same robot and q give the same result
    assert tuple(model.names)[1:] == arm.names
    placement, jacobian = theirs()
    ours, ours_jacobian = arm.frame_and_jacobian(q, LINK)
    assert np.abs(placement.homogeneous - ours.matrix).max() < 1e-12
    assert np.abs(jacobian - ours_jacobian).max() < 1e-12

    cpu = time.process_time
    wall = time.perf_counter
    out = (np.empty((ROWS, 4, 4)), np.empty((ROWS, 6, arm.dof)))
    numbers = {
        "pinocchio, Python, one": shortest(theirs, 60, 1000, cpu),
        "pinocchio, C++, one": pinocchio_cpp(urdf) if arguments.cpp else None,
        "supple, frame then jacobian, one": shortest(
            lambda: (arm.frame(q, LINK), arm.jacobian(q, LINK)), 60, 1000, cpu
        ),
        "supple, frame_and_jacobian, one": shortest(lambda: arm.frame_and_jacobian(q, LINK), 60, 1000, cpu),
        f"supple, {ROWS:,} in one call, new memory": shortest(lambda: arm.frame_and_jacobian(many, LINK), 40, 1, wall)
        / ROWS,
        f"supple, {ROWS:,} in one call, out=": shortest(
            lambda: arm.frame_and_jacobian(many, LINK, out=out), 40, 1, wall
        )
        / ROWS,
    }
    for name in _core.instruction_sets():
        _core.use(name)
        numbers[f"core, {name}, scalar"] = arm._native.core_cost(q, LINK, 3000)
        numbers[f"core, {name}, a vector of {_core.lane_width()}"] = arm._native.core_cost(many[:32], LINK, 300)
    _core.use(None)

    reference = numbers["pinocchio, Python, one"]
    print(f"frame and Jacobian of {LINK}, {arm.dof} degrees of freedom; instruction set {_core.instruction_set()}\n")
    rows = [["", "ns each", "times faster than pinocchio from Python"]]
    for name, value in numbers.items():
        rows.append([name, "not measured", ""] if value is None else [name, f"{value:.1f}", f"{reference / value:.1f}"])
    print("\n".join(text_table(rows, "<>")))
    if arguments.json:
        arguments.json.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()
