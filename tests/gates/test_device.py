"""The search compiles for a graphics processor, with NVIDIA's run-time compiler; none is needed to compile."""

import ctypes
import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parents[2]
HEADERS = Path(__file__).parent / "headers"
# one problem a thread
SOURCE = """
#include "supple/search/search.h"
using namespace supple;
extern "C" __global__ void solve(const Problem *problem, const Search *search, const Request *requests, double *q,
                                 int *counts, Found *found, char *memory, int bytes) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  ScratchLayout layout = ScratchLayout::place(memory + (long long)(row) * bytes);
  RestartScratch<double> scratch;
  lay_out(scratch, layout, *problem);
  found[row] = search_one(*problem, *search, requests[row], scratch, q + row * problem->n, counts[row]);
}
"""


def library():
    found = importlib.util.find_spec("nvidia")
    for place in found.submodule_search_locations if found else ():
        for file in sorted(Path(place).glob("*/lib/libnvrtc.so.*")) + sorted(
            Path(place).glob("*/bin/**/nvrtc64_*.dll")
        ):
            if "builtins" not in file.name and "alt" not in file.name:
                return ctypes.CDLL(str(file))
    return pytest.fail("nvidia-cuda-nvrtc is not installed: run `make gates`, or pip install '.[gates]'")


def compiled(source, *options):
    """The size of the machine code, and what the compiler said."""
    nvrtc, program, size = library(), ctypes.c_void_p(), ctypes.c_size_t()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"solve.cu", 0, None, None) == 0
    words = [option.encode() for option in options]
    failed = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    code = ctypes.c_size_t()
    if not failed:
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(code))
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code.value, log.value.decode()


OPTIONS = ("-arch=sm_90", "-std=c++17", "-default-device", f"-I{ROOT / 'core'}", f"-I{HEADERS}")


def test_the_search_compiles_for_sm_90():
    size, log = compiled(SOURCE, *OPTIONS)
    assert size > 100_000, log[:5000]


def test_an_error_in_the_source_is_seen():
    size, log = compiled(SOURCE.replace("search_one", "search_none"), *OPTIONS)
    assert size == 0
    assert "search_none" in log
    assert "1 error detected" in log
