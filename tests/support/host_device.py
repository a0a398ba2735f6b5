"""A device that is this machine's processor: kernels are compiled as functions that run their threads in a loop.

It stands in for `supple._cuda.driver`, so that tests run the kernels and the launches without a GPU.
"""

import contextlib
import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

CORE = Path(__file__).parents[2] / "core"
FLAGS = ["-std=c++17", "-x", "c++", "-shared", "-fPIC", "-fno-math-errno", "-fno-trapping-math", "-w"]
_folder = Path(tempfile.mkdtemp(prefix="supple-host-device-"))


class HostArray:
    """An array with the interface of a device array."""

    def __init__(self, array, owner=None):
        self.array, self.owner = np.ascontiguousarray(array), owner

    @property
    def pointer(self):
        return self.array.ctypes.data if self.array.size else 0

    @property
    def shape(self):
        return self.array.shape

    @property
    def dtype(self):
        return self.array.dtype

    @property
    def size(self):
        return self.array.size

    ordinal, stream = 0, 0

    def numpy(self):
        return self.array.copy()


class Grid(ctypes.Structure):
    _fields_ = (("blocks", ctypes.c_longlong), ("block_size", ctypes.c_int))


class HostModule:
    def __init__(self, library):
        self._library = library

    def launch(self, name, grid, block, args, stream, shared=0):
        self.kernel(name, args, shared).launch(grid, block, stream)

    def kernel(self, name, args, shared=0):
        del shared
        return HostKernel(getattr(self._library, name), args)


class HostKernel:
    def __init__(self, function, args):
        self._function, self._args = function, args

    def launch(self, grid, block, stream):
        del stream  # kernels run one after another
        if grid:
            self._function(ctypes.byref(Grid(grid, block)), *map(_value, self._args))

    def blocks_at_once(self, block):
        del block
        return 3


def _value(arg):
    if isinstance(arg, int):
        return ctypes.c_void_p(arg)
    if hasattr(arg, "pointer"):
        return ctypes.c_void_p(arg.pointer)
    if isinstance(arg, ctypes.Structure | ctypes.Array):
        return ctypes.byref(arg)
    return arg


@functools.cache
def _compiled(source_name, defines):
    made = _folder / f"{abs(hash((source_name, defines)))}.so"
    words = [f"-D{name}={value}" for name, value in defines]
    level = "-O1" if source_name.startswith("arm") else "-O0"  # what takes least time to compile and to run together
    command = [shutil.which("c++") or "g++", level, *FLAGS, f"-I{CORE}", *words]
    done = subprocess.run(
        [*command, str(CORE / "supple" / "cuda" / source_name), "-o", str(made)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[:5000]
    return HostModule(ctypes.CDLL(str(made)))


def module(ordinal, source_name, defines=None, options=()):
    del ordinal, options
    return _compiled(source_name, tuple(sorted((defines or {}).items())))


def empty(shape, dtype, ordinal, stream):
    """An array with content that is easily seen to be wrong."""
    del ordinal, stream
    made = np.empty(shape, dtype)
    made.view(np.uint8).reshape(-1)[:] = 0xC5
    return HostArray(made)


def wrapped(pointer, shape, dtype, ordinal, stream, owner):
    del ordinal, stream
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return HostArray(np.frombuffer((ctypes.c_char * size).from_address(pointer), dtype).reshape(shape), owner)


def fill(pointer, size, ordinal, stream):
    del ordinal, stream
    ctypes.memset(pointer, 0, size)


def copy_in(array, host, stream):
    del stream
    array.array[:] = host


def device(ordinal):
    return SimpleNamespace(
        stream=0,
        ordinal=ordinal,
        multiprocessors=2,
        synchronize=lambda stream: None,
        current=contextlib.nullcontext,
    )


def stand_in(monkeypatch):
    """Lets the modules of `supple._cuda` use this device."""
    from supple._cuda import arm_search, blocks, forward, general_search, search

    this = SimpleNamespace(
        module=module,
        empty=empty,
        fill=fill,
        wrapped=wrapped,
        upload=lambda numbers, ordinal: HostArray(numbers),
        device=device,
        DeviceArray=HostArray,
        Module=HostModule,
    )
    for each in (arm_search, blocks, forward, general_search, search):
        monkeypatch.setattr(each, "driver", this)
    monkeypatch.setattr(blocks, "copy_in", copy_in)
