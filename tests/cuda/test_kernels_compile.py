"""Every kernel compiles with NVIDIA's run-time compiler, without a GPU, and within its registers."""

import re

import pytest

from supple._cuda import arm_search, driver, general_search, nvrtc
from supple.errors import MissingExtra

SHAPE = {
    "SUPPLE_SLIDES": "1ULL",
    "SUPPLE_TILTS": "10920ULL",
    "SUPPLE_SHIFTS": "275072ULL",
    "SUPPLE_UNIT_GAINS": "126ULL",
    "SUPPLE_UNIT_SIZES": "126ULL",
    "SUPPLE_UNIT_TURNS": 1,
    "SUPPLE_WRAPS": "0ULL",
}
MODULES = {
    "arm of 7": ("arm.cu", {"SUPPLE_JOINTS": 7, **SHAPE}, arm_search.OPTIONS),
    "arm of 6": ("arm.cu", {"SUPPLE_JOINTS": 6}, arm_search.OPTIONS),
    "positions of 5": ("arm.cu", {"SUPPLE_JOINTS": 5, "SUPPLE_GOAL": 1}, arm_search.OPTIONS),
    "axes of 5": ("arm.cu", {"SUPPLE_JOINTS": 5, "SUPPLE_GOAL": 2}, arm_search.OPTIONS),
    "warps, 7": ("arm_warps.cu", {"SUPPLE_JOINTS": 7, **SHAPE}, arm_search.OPTIONS),
    "warps, axes of 5": ("arm_warps.cu", {"SUPPLE_JOINTS": 5, "SUPPLE_GOAL": 2}, arm_search.OPTIONS),
    "general": ("general.cu", {"SUPPLE_AXES": 16, "SUPPLE_COMPACT": 1}, general_search.FAST_COMPILATION),
    "frames of an arm": (
        "forward.cu",
        {"SUPPLE_REAL": "double", "SUPPLE_BLOCK": 64, "SUPPLE_JOINTS": 7, "SUPPLE_DOF": 8, "SUPPLE_AXES": 7},
        (),
    ),
    "frames of a chain": (
        "forward.cu",
        {"SUPPLE_REAL": "float", "SUPPLE_BLOCK": 64, "SUPPLE_JOINTS": 0, "SUPPLE_DOF": 12, "SUPPLE_AXES": 12},
        (),
    ),
    "frames of a tree": (
        "forward.cu",
        {"SUPPLE_REAL": "double", "SUPPLE_BLOCK": 128, "SUPPLE_DOF": 8, "SUPPLE_NODES": 10},
        (),
    ),
}
CASES = [(name, capability) for capability in (75, 80, 90, 100) for name in MODULES]
IN_TESTS = ("arm of 7", 90)


def log_of(name, capability):
    """What the compiler says about a module: registers and memory of each kernel."""
    try:
        compiler = nvrtc.compiler()
    except MissingExtra:
        pytest.skip("NVRTC is not installed: pip install nvidia-cuda-nvrtc")
    source, defines, options = MODULES[name]
    words = [
        *driver.OPTIONS,
        "--ptxas-options=-v",
        "--no-cache",
        *options,
        *(f"-D{key}={value}" for key, value in defines.items()),
    ]
    code, log = driver.compile_now(source, capability, words, compiler)
    assert code[:4] == b"\x7fELF"
    return log


@pytest.mark.parametrize(
    ("name", "capability"),
    [pytest.param(*case, marks=pytest.mark.slow if case == IN_TESTS else pytest.mark.gate) for case in CASES],
)
def test_a_module_compiles_for(name, capability):
    log_of(name, capability)


@pytest.mark.gate
def test_the_descents_stay_in_registers():
    said = log_of("arm of 7", 90)
    descend = re.search(r"entry function 'descend'.*?(\d+) bytes spill stores", said, re.DOTALL)
    assert descend
    assert descend[1] == "0"
    assert re.search(r"properties for descend\n.*?\b0 bytes stack frame", said)
