"""NVRTC, NVIDIA's run-time compiler: found where torch, CuPy, JAX, the CUDA toolkit or pip have put it.

No GPU and no driver are needed to compile.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import glob
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_void_p
from dataclasses import dataclass
from typing import Any

from supple.errors import DeviceError, missing_extra

_WINDOWS = sys.platform == "win32"
_PATTERNS = ("bin/**/nvrtc64_*.dll",) if _WINDOWS else ("lib/libnvrtc.so.*", "lib64/libnvrtc.so.*")
_BY_NAME = (
    ("nvrtc64_130_0.dll", "nvrtc64_120_0.dll") if _WINDOWS else ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
)


@dataclass(frozen=True)
class Compiler:
    """One NVRTC library."""

    library: Any
    version: tuple[int, int]

    @functools.cached_property
    def capabilities(self) -> tuple[int, ...]:
        """Compute capabilities that it makes machine code for, such as 75 and 90, in rising order."""
        count = c_int()
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        found = (c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", found)
        return tuple(sorted(found))

    def compiled(self, source: str, name: str, capability: int, options: Sequence[str]) -> tuple[bytes, str]:
        """Machine code for a compute capability (PTX for one newer than the compiler), and what the compiler said."""
        kind, target = self.target(capability)
        words = [word.encode() for word in (f"-arch={target}", *options)]
        program = c_void_p()
        self._call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), name.encode(), c_int(0), None, None)
        try:
            failed = self.library.nvrtcCompileProgram(program, c_int(len(words)), (c_char_p * len(words))(*words))
            log = self._text(program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
            if failed:
                raise DeviceError(f"NVRTC {self} cannot compile {name} for {target}:\n{log[:4000]}")
            return self._text(program, kind), log
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))

    def target(self, capability: int) -> tuple[str, str]:
        """What to compile to, CUBIN or PTX, and the name of the target."""
        known = self.capabilities
        if capability in known:
            return "CUBIN", f"sm_{capability}"
        if capability < known[0]:
            raise DeviceError(
                f"the GPU has compute capability {capability / 10}; NVRTC {self} compiles for {known[0] / 10} and up"
            )
        return "PTX", f"compute_{max(each for each in known if each < capability)}"

    def _text(self, program: c_void_p, what: str) -> bytes:
        size = c_size_t()
        self._call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(max(size.value, 1))
        self._call(f"nvrtcGet{what}", program, text)
        return text.raw[: size.value]

    def _call(self, name: str, *arguments: Any) -> None:
        failed = getattr(self.library, name)(*arguments)
        if failed:
            text = self.library.nvrtcGetErrorString(failed)
            raise DeviceError(f"{name} of NVRTC {self} failed: {(text or b'unknown').decode()}")

    def __str__(self) -> str:
        return f"{self.version[0]}.{self.version[1]}"


def compiler(driver: int | None = None) -> Compiler:
    """The newest compiler found, whose machine code a driver for that CUDA version (such as 13000) can load."""
    found = _found()
    if not found:
        raise missing_extra("cuda", "computing on a GPU (compiling for it with NVRTC)")
    usable = [each for each in found if driver is None or each.version[0] * 1000 <= driver]
    if not usable:
        major = driver // 1000 if driver else 0
        raise DeviceError(
            f"the NVIDIA driver is for CUDA {major} and the compiler is NVRTC {found[0]}: update the driver, or "
            f"pip install nvidia-cuda-nvrtc-cu{major}"
        )
    return usable[0]


@functools.cache
def _found() -> tuple[Compiler, ...]:
    """All compilers found, the newest first."""
    opened: dict[tuple[int, int], Compiler] = {}
    for path in _places():
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL(path)
            _load_builtins(path)
            major, minor = c_int(), c_int()
            if library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0:
                library.nvrtcGetErrorString.restype = c_char_p
                library.nvrtcCreateProgram.argtypes = (POINTER(c_void_p), c_char_p, c_char_p, c_int, c_void_p, c_void_p)
                opened.setdefault((major.value, minor.value), Compiler(library, (major.value, minor.value)))
    return tuple(opened[version] for version in sorted(opened, reverse=True) if version >= (12, 0))


def _load_builtins(path: str) -> None:
    """Loads the library beside NVRTC that it looks for by name when it compiles: older ones do not look there."""
    for beside in glob.glob(os.path.join(glob.escape(os.path.dirname(path) or "."), "*nvrtc-builtins*")):
        if ".alt." not in beside and os.path.dirname(path):
            with contextlib.suppress(OSError):
                ctypes.CDLL(beside)


def _places() -> Iterator[str]:
    """Paths of libraries that may be NVRTC: of pip's packages, of the CUDA toolkit, then of the system."""
    package = importlib.util.find_spec("nvidia")
    roots = [str(root) for root in (package.submodule_search_locations or () if package else ())]
    folders = [folder for root in roots for folder in sorted(glob.glob(os.path.join(glob.escape(root), "*")))]
    folders += [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    folders += [] if _WINDOWS else ["/usr/local/cuda"]
    for folder in folders:
        for pattern in _PATTERNS:
            for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern), recursive=True)):
                if re.fullmatch(r"libnvrtc\.so\.\d+|nvrtc64_\d+_\d+\.dll", os.path.basename(path)):
                    yield path
    yield from _BY_NAME
