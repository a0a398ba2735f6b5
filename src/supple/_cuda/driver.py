"""What kernels need of CUDA: compiled modules and launches; with memory, streams and events from the modules beside it.

``kernels.py`` calls only this module:

    module(ordinal, "kernels.cu", {"DOF": 7}).launch("solve", grid, block, args, stream)
    empty(shape, dtype, ordinal, stream), upload(data, ordinal), download(array)
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from ctypes import byref, c_int, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from supple import _core, errors
from supple._cuda import cache, nvrtc
from supple._cuda.device import LEGACY_STREAM as LEGACY_STREAM
from supple._cuda.device import Device as Device
from supple._cuda.device import Event as Event
from supple._cuda.device import Stream as Stream
from supple._cuda.device import count as count
from supple._cuda.device import device as device
from supple._cuda.library import call, cuda, driver_version, failure
from supple._cuda.memory import DeviceArray as DeviceArray
from supple._cuda.memory import download as download
from supple._cuda.memory import empty as empty
from supple._cuda.memory import fill as fill
from supple._cuda.memory import upload as upload
from supple._cuda.memory import wrapped as wrapped
from supple._cuda.transfer import in_chunks as in_chunks

OPTIONS = ("-std=c++17", "-default-device")
"""Options of every compilation."""
_REGISTERS, _MOST_SHARED = 4, 8  # attributes of a function
_SHARED_BY_DEFAULT = 48 * 1024


class Module:
    """Compiled kernels on one GPU; see `module`."""

    def __init__(self, owner: Device, code: bytes, name: str) -> None:
        self.device, self.name = owner, name
        handle = c_void_p()
        with owner.current():
            call("cuModuleLoadData", byref(handle), code, doing=f"loading {name}")
        self._handle = handle.value
        self._functions: dict[str, int | None] = {}
        self._shared: dict[str, int] = {}

    def launch(
        self,
        name: str,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        args: Sequence[Any],
        stream: int,
        shared: int = 0,
    ) -> None:
        """Starts a kernel in a stream and returns at once.

        ``args`` are ctypes numbers or structures, addresses as ints, or device arrays, in the order and of the types of
        the kernel's parameters. ``grid`` and ``block`` have one to three numbers; a grid of 0 does nothing. ``shared``
        is the dynamic shared memory of a block, in bytes.
        """
        self.kernel(name, args, shared).launch(grid, block, stream)

    def kernel(self, name: str, args: Sequence[Any], shared: int = 0) -> Kernel:
        """A kernel with its arguments: numbers and structures may be changed before each launch."""
        with self.device.current():
            return Kernel(self, name, self._function(name, shared), args, shared)

    def registers(self, name: str) -> int:
        """Registers of each thread of a kernel."""
        return self._attribute(name, _REGISTERS)

    def blocks_at_once(self, name: str, block: int, shared: int = 0) -> int:
        """How many blocks of a kernel the GPU runs at a time, on all its multiprocessors."""
        each = c_int()
        with self.device.current():
            function = self._function(name, shared)
            call("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(each), function, block, shared)
        return each.value * self.device.multiprocessors

    def _attribute(self, name: str, number: int) -> int:
        found = c_int()
        with self.device.current():
            call("cuFuncGetAttribute", byref(found), number, self._function(name))
        return found.value

    def _function(self, name: str, shared: int = 0) -> int | None:
        """The handle of a kernel, which may use that much dynamic shared memory. Its device must be current."""
        if name not in self._functions:
            found = c_void_p()
            call("cuModuleGetFunction", byref(found), self._handle, name.encode(), doing=f"finding the kernel {name}")
            self._functions[name] = found.value
        if shared > self._shared.get(name, _SHARED_BY_DEFAULT):
            call("cuFuncSetAttribute", self._functions[name], _MOST_SHARED, shared, doing=f"kernel {name}")
            self._shared[name] = shared
        return self._functions[name]


class _Launch(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared", c_uint),
        ("stream", c_void_p),
        ("attributes", c_void_p),
        ("attribute_count", c_uint),
    )


class Kernel:
    """A kernel and its arguments, for one thread at a time; see `Module.kernel`."""

    def __init__(self, owner: Module, name: str, function: int | None, args: Sequence[Any], shared: int) -> None:
        self.name, self._owner, self._device = name, owner, owner.device
        self._function, self._shared = function, shared
        self._values = [_value(arg) for arg in args]
        self._addresses = (c_void_p * len(self._values))(*map(ctypes.addressof, self._values))
        self._held = args  # owners of device memory
        self._at_once: dict[int, int] = {}
        self._launch = _Launch(shared=shared)
        self._launch_address = ctypes.addressof(self._launch)
        self._sizes: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
        self._start = cuda().cuLaunchKernelEx

    def launch(self, grid: int | tuple[int, ...], block: int | tuple[int, ...], stream: int) -> None:
        """Starts the kernel in a stream with the arguments as they are now, and returns at once."""
        blocks, threads = _three(grid), _three(block)
        if 0 in blocks:
            return
        launch = self._launch
        if self._sizes != (blocks, threads):
            launch.grid, launch.block = self._sizes = blocks, threads
        launch.stream = stream
        with self._device.current():
            failed = self._start(self._launch_address, self._function, self._addresses, None)
        if failed:
            raise failure(failed, "cuLaunchKernelEx", f"kernel {self.name}")

    def blocks_at_once(self, block: int) -> int:
        """How many blocks of so many threads the GPU runs at a time; asked once."""
        if block not in self._at_once:
            self._at_once[block] = self._owner.blocks_at_once(self.name, block, self._shared)
        return self._at_once[block]


def module(
    ordinal: int, source_name: str, defines: Mapping[str, object] | None = None, options: Sequence[str] = ()
) -> Module:
    """The kernels of a source file of `sources`, compiled for a GPU and loaded there; made once in a process.

    ``defines`` are macros: True is a macro without a value. The machine code is kept in the user's cache folder.
    """
    wanted = (ordinal, source_name, tuple(sorted((defines or {}).items())), tuple(options))
    with _locks[wanted]:  # of several threads that need it first, one compiles
        return _loaded(*wanted)


Defines = tuple[tuple[str, object], ...]
_locks: defaultdict[object, threading.Lock] = defaultdict(threading.Lock)
"""One for each module, so that threads may compile different ones side by side."""


@functools.cache
def _loaded(ordinal: int, source_name: str, defines: Defines, options: tuple[str, ...]) -> Module:
    target = device(ordinal)
    code = compiled(source_name, dict(defines), target.capability, options, nvrtc.compiler(driver_version()))
    return Module(target, code, source_name)


def compiled(
    source_name: str,
    defines: Mapping[str, object],
    capability: int,
    options: Sequence[str] = (),
    compiler: nvrtc.Compiler | None = None,
) -> bytes:
    """The machine code of a source file for a compute capability such as 90, from the cache or compiled now.

    No GPU is needed. The name in the cache stands for all sources and headers, the options, the compiler and the
    version of supple.
    """
    from supple import __version__

    chosen = compiler or nvrtc.compiler()
    words = [*OPTIONS, *options]
    if chosen.version >= (13, 0):
        words.append("--split-compile=0")  # on all processors
    words += [f"-D{name}" if value is True else f"-D{name}={value}" for name, value in sorted(defines.items())]
    _, target = chosen.target(capability)
    parts = (source_name, target, str(chosen), __version__, *words)
    name = cache.key(_fingerprint(), *(part.encode() for part in parts))
    return cache.remembered(f"{name}.cubin", lambda: compile_now(source_name, capability, words, chosen)[0])


def compile_now(source_name: str, capability: int, words: Sequence[str], compiler: nvrtc.Compiler) -> tuple[bytes, str]:
    """The machine code, compiled now, and what the compiler said. ``words`` are all options but the target."""
    root = sources()
    path = root / "supple" / "cuda" / source_name
    if not path.is_file():
        known = sorted(each.name for each in path.parent.glob("*.cu"))
        raise errors.unknown("source file of kernels", source_name, known)
    folders = (root, root / "supple" / "cuda" / "standard")
    include = [f"-I{folder}" for folder in folders if folder.is_dir()]
    return compiler.compiled(path.read_text("utf-8"), source_name, capability, [*words, *include])


@functools.cache
def sources() -> Path:
    """The folder that ``#include "supple/..."`` starts from: in the installed package, or in the repository."""
    package = Path(__file__).parents[1]
    places = (package / "core", Path(_core.__file__ or package).parent / "core", package.parents[1] / "core")
    for place in places:
        if (place / "supple" / "cuda").is_dir():
            return place
    raise errors.DeviceError(f"the headers of the kernels are missing; looked in {', '.join(map(str, places))}")


@functools.cache
def _fingerprint() -> bytes:
    """One hash of all source files and headers, with their names."""
    root = sources()
    files = sorted(path for path in root.rglob("*") if path.is_file())
    parts = [part for path in files for part in (path.relative_to(root).as_posix().encode(), path.read_bytes())]
    return cache.key(*parts).encode()


def _three(size: int | tuple[int, ...]) -> tuple[int, ...]:
    return (size, 1, 1) if isinstance(size, int) else (*size, 1, 1)[:3]


def _value(arg: Any) -> Any:
    """An argument of a kernel as a ctypes value; an address is a 64-bit number."""
    if isinstance(arg, int):
        return c_uint64(arg)
    if isinstance(arg, DeviceArray):
        return c_uint64(arg.pointer)
    if isinstance(arg, ctypes._SimpleCData | ctypes.Structure | ctypes.Array):
        return arg
    raise TypeError(f"a kernel takes ctypes values, addresses and device arrays, not {errors.short(arg)}")
