"""The library of the CUDA driver, called through ctypes, and its errors in words.

Every machine with an NVIDIA driver has this library; its functions keep their names and types for good. Python bindings
of it, such as cuda-bindings, take a quarter of a second to import, as long as everything else that a first call from
the cache does, and must match the major version of the driver. So none is used.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from ctypes import POINTER, c_char_p, c_float, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from typing import Any

from supple.errors import DeviceError

OLDEST_DRIVER = 12000
"""The oldest CUDA version of a driver that is supported: 12.0, of December 2022 (R525)."""

_NAMES = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libcuda.so")
_pointer = POINTER(c_void_p)
_DEVICE_POINTER = c_ulonglong

# argument types by name; each returns a CUresult
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (POINTER(c_int),),
    "cuGetErrorName": (c_int, POINTER(c_char_p)),
    "cuGetErrorString": (c_int, POINTER(c_char_p)),
    "cuDeviceGetCount": (POINTER(c_int),),
    "cuDeviceGet": (POINTER(c_int), c_int),
    "cuDeviceGetName": (c_char_p, c_int, c_int),
    "cuDeviceGetAttribute": (POINTER(c_int), c_int, c_int),
    "cuDeviceTotalMem_v2": (POINTER(c_size_t), c_int),
    "cuDevicePrimaryCtxRetain": (_pointer, c_int),
    "cuCtxGetCurrent": (_pointer,),
    "cuCtxPushCurrent_v2": (c_void_p,),
    "cuCtxPopCurrent_v2": (_pointer,),
    "cuModuleLoadData": (_pointer, c_char_p),
    "cuModuleGetFunction": (_pointer, c_void_p, c_char_p),
    "cuFuncGetAttribute": (POINTER(c_int), c_int, c_void_p),
    "cuFuncSetAttribute": (c_void_p, c_int, c_int),
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": (POINTER(c_int), c_void_p, c_int, c_size_t),
    "cuLaunchKernelEx": (c_void_p, c_void_p, c_void_p, c_void_p),
    "cuMemGetInfo_v2": (POINTER(c_size_t), POINTER(c_size_t)),
    "cuMemAlloc_v2": (POINTER(_DEVICE_POINTER), c_size_t),
    "cuMemFree_v2": (_DEVICE_POINTER,),
    "cuMemPoolCreate": (_pointer, c_void_p),
    "cuMemPoolSetAttribute": (c_void_p, c_int, c_void_p),
    "cuMemPoolTrimTo": (c_void_p, c_size_t),
    "cuMemAllocFromPoolAsync": (POINTER(_DEVICE_POINTER), c_size_t, c_void_p, c_void_p),
    "cuMemFreeAsync": (_DEVICE_POINTER, c_void_p),
    "cuMemHostAlloc": (_pointer, c_size_t, c_uint),
    "cuMemFreeHost": (c_void_p,),
    "cuMemcpyHtoDAsync_v2": (_DEVICE_POINTER, c_void_p, c_size_t, c_void_p),
    "cuMemcpyDtoHAsync_v2": (c_void_p, _DEVICE_POINTER, c_size_t, c_void_p),
    "cuMemcpyDtoDAsync_v2": (_DEVICE_POINTER, _DEVICE_POINTER, c_size_t, c_void_p),
    "cuMemsetD8Async": (_DEVICE_POINTER, ctypes.c_ubyte, c_size_t, c_void_p),
    "cuPointerGetAttribute": (c_void_p, c_int, _DEVICE_POINTER),
    "cuStreamCreate": (_pointer, c_uint),
    "cuStreamSynchronize": (c_void_p,),
    "cuStreamWaitEvent": (c_void_p, c_void_p, c_uint),
    "cuEventCreate": (_pointer, c_uint),
    "cuEventDestroy_v2": (c_void_p,),
    "cuEventRecord": (c_void_p, c_void_p),
    "cuEventQuery": (c_void_p,),
    "cuEventSynchronize": (c_void_p,),
    "cuEventElapsedTime": (POINTER(c_float), c_void_p, c_void_p),
}

NO_DEVICE = 100
OUT_OF_MEMORY = 2
NOT_READY = 600
_HINTS = {
    34: "the library found is a stub, which cannot run anything; take it out of LD_LIBRARY_PATH",
    46: "another process holds the GPU alone",
    200: "the driver does not know this machine code; update the driver",
    209: "the driver has no code for this GPU; update the driver",
    218: "the driver does not know this PTX; update the driver",
    222: "the driver is older than the compiler; update the driver",
    700: "a kernel used a wrong address; the process cannot use this GPU any more",
    701: "a kernel needs more registers or shared memory than the GPU has",
    719: "a kernel failed; the process cannot use this GPU any more",
    803: "the kernel module and the library of the driver differ; restart the machine",
    804: "this GPU needs the driver of its own version, not the forward compatibility package",
}


@functools.cache
def cuda() -> Any:
    """The library, with the types of its functions set; `DeviceError` where there is none or it is too old."""
    library = _loaded()
    for name, types in _FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise DeviceError(f"the NVIDIA driver is too old: it has no {name}; {_needed()}") from None
        function.argtypes, function.restype = types, c_int
    version = c_int()
    library.cuDriverGetVersion(ctypes.byref(version))
    if version.value < OLDEST_DRIVER:
        raise DeviceError(f"the NVIDIA driver is too old: it is for CUDA {dotted(version.value)}; {_needed()}")
    failed = library.cuInit(0)
    if failed == NO_DEVICE:
        raise DeviceError("this machine has an NVIDIA driver but no GPU that may be used; see CUDA_VISIBLE_DEVICES")
    if failed:
        raise DeviceError(f"the NVIDIA driver does not start: {_in_words(library, failed)}")
    return library


def _loaded() -> Any:
    for name in _NAMES:
        with contextlib.suppress(OSError):
            return ctypes.CDLL(name)
    raise DeviceError(f"no NVIDIA driver is installed here ({_NAMES[0]} is not found); arrays of the CPU need none")


def driver_version() -> int:
    """The newest CUDA version that the driver is for, such as 13000."""
    version = c_int()
    call("cuDriverGetVersion", ctypes.byref(version))
    return version.value


def call(name: str, *arguments: Any, doing: str = "") -> None:
    """Calls a function of the library; raises `DeviceError` if it fails. ``doing`` begins the message."""
    library = cuda()
    failed: int = getattr(library, name)(*arguments)
    if failed:
        raise failure(failed, name, doing)


def failure(code: int, name: str, doing: str = "") -> DeviceError:
    """The error for a code that a function returned."""
    return DeviceError(f"{doing or name} failed on the GPU: {_in_words(cuda(), code)}")


def _in_words(library: Any, code: int) -> str:
    name, text = c_char_p(), c_char_p()
    library.cuGetErrorName(code, ctypes.byref(name))
    library.cuGetErrorString(code, ctypes.byref(text))
    words = f"{(name.value or b'CUDA error').decode()} ({code}): {(text.value or b'unknown').decode()}"
    return f"{words}; {_HINTS[code]}" if code in _HINTS else words


def dotted(version: int) -> str:
    """A CUDA version as people write it: 12040 is 12.4."""
    return f"{version // 1000}.{version % 1000 // 10}"


def _needed() -> str:
    return f"one for CUDA {dotted(OLDEST_DRIVER)} or newer is needed (Linux: 525 or newer)"
