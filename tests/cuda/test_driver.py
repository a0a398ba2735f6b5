"""Memory, streams, launches and copies, on a simulated driver that checks contexts, addresses and what is freed."""

import numpy as np
import pytest

from supple._cuda import transfer

HEAD = """
import ctypes, gc, numpy as np
from supple._cuda import driver, library
from supple.errors import BadInput, DeviceError, MissingExtra
simulated = library.cuda()
used, depth = simulated.simulated_used, simulated.simulated_depth
used.restype = ctypes.c_long
"""
MODULE = (
    HEAD
    + """
from supple._cuda import nvrtc
def made():
    return driver.Module(driver.device(0), b"\\x7fELF", "test")
"""
)


def test_what_is_uploaded_comes_back_and_is_freed_once(with_driver):
    program = """
rng = np.random.default_rng(0)
for shape, kind in (((3, 4), float), ((0, 4), float), ((), np.int32), ((1000, 7), np.float32), ((5,), bool)):
    given = rng.normal(size=shape).astype(kind)
    array = driver.upload(given, 0)
    assert array.shape == given.shape and array.dtype == given.dtype, array
    assert np.array_equal(driver.download(array), given)
    flat = array.reshape(-1 if False else given.size)
    del array
    assert np.array_equal(flat.numpy(), given.ravel())
    del flat
block = driver.upload(b"abc", 0)
assert block.numpy().tobytes() == b"abc" and used() == 3
del block
gc.collect()
print(used(), depth())
"""
    assert with_driver(HEAD + program) == "0 0"
    assert with_driver(HEAD + program, SIMULATED_POOLS="0") == "0 0"


def test_a_kernel_gets_its_arguments(with_driver):
    program = """
given = np.arange(1000.0)
source = driver.upload(given, 0)
stream = driver.device(0).stream
target = driver.empty((1000,), float, 0, stream)
module = made()
module.launch("scale", 4, 256, [source, target.pointer, ctypes.c_double(2.5), ctypes.c_int(1000)], stream)
module.launch("scale", (4, 1), (256, 1, 1), [source, target, ctypes.c_double(2.5), ctypes.c_int(1000)], stream, 100_000)
module.launch("scale", 0, 256, [], stream)
assert np.array_equal(target.numpy(), 2.5 * given)
print(module.registers("scale"), module.blocks_at_once("scale", 256), simulated.simulated_launches(), depth())
"""
    assert with_driver(MODULE + program) == "32 32 2 0"


def test_rows_of_the_host_pass_through_in_chunks(with_driver):
    program = """
module, rng = made(), np.random.default_rng(1)
for rows, chunk in ((1, None), (999, 100), (1000, 1), (5000, 1024), (300_000, None), (0, None)):
    given, found, twice = rng.normal(size=(rows, 3)), np.empty((rows, 3)), np.empty((rows, 3), order="C")
    def work(inputs, stream):
        array, n = inputs[0], inputs[0].size
        results = [driver.empty(array.shape, float, 0, stream) for _ in range(2)]
        for result, factor in zip(results, (3.0, 2.0)):
            numbers = [array, result, ctypes.c_double(factor), ctypes.c_int(n)]
            module.launch("scale", -(-n // 256), 256, numbers, stream)
        return results
    driver.in_chunks([given], [found, twice], work, 0, chunk)
    assert np.array_equal(found, 3 * given) and np.array_equal(twice, 2 * given)
def broken(inputs, stream):
    raise KeyboardInterrupt
try:
    driver.in_chunks([np.ones((9, 3))], [np.empty((9, 3))], broken, 0, 2)
except KeyboardInterrupt:
    pass
driver.in_chunks([given], [found, twice], work, 0)
gc.collect()
print(used(), depth())
"""
    assert with_driver(MODULE + program) == "0 0"


def test_chunks_are_whole_and_the_first_and_the_last_are_short():
    rng = np.random.default_rng(0)
    for rows, row_bytes in zip(rng.integers(1, 10**8, 300).tolist(), rng.integers(1, 10**4, 300).tolist(), strict=True):
        borders = transfer.chunk_borders(rows, row_bytes)
        sizes = np.diff(borders)
        assert borders[0] == 0
        assert borders[-1] == rows
        assert sizes.min() > 0
        assert sizes.max() * row_bytes <= transfer._MOST_CHUNK_BYTES + row_bytes
        if len(sizes) > 1:
            assert max(sizes[0], sizes[-1]) <= sizes.max() / 2 + 1


def test_an_array_goes_to_other_libraries_and_is_freed_after_them(with_driver):
    program = """
from supple._cuda import dlpack
array = driver.upload(np.arange(12.0).reshape(3, 4), 0)
assert array.__dlpack_device__() == (2, 0)
capsule = array.__dlpack__(stream=7)
seen = dlpack.imported(capsule)
assert seen[:5] == (array.pointer, (3, 4), (4, 1), "f8", (2, 0)), seen
del array
gc.collect()
assert used() == 96
del capsule, seen
gc.collect()
assert used() == 0
array = driver.upload(np.arange(4, dtype=np.int32), 0)
face = array.__cuda_array_interface__
assert face["data"] == (array.pointer, False) and face["typestr"] == "<i4" and face["shape"] == (4,)
print(depth())
"""
    assert with_driver(HEAD + program) == "0"


def test_numpy_takes_memory_of_the_host_exported_so(with_driver):
    program = """
from supple._cuda import dlpack
class Host:
    def __init__(self, array): self.array = array
    def __dlpack_device__(self): return (1, 0)
    def __dlpack__(self, **options):
        a = self.array
        return dlpack.exported(self, a.ctypes.data, a.shape, a.dtype, (1, 0))
import weakref
host = Host(np.arange(6.0).reshape(2, 3)); gone = weakref.ref(host)
taken = np.from_dlpack(host)
del host; gc.collect()
assert gone() is not None and taken.tolist() == [[0, 1, 2], [3, 4, 5]]
del taken; gc.collect()
print(gone())
"""
    assert with_driver(HEAD + program) == "None"


FAILURES = {
    "no GPU": (
        "driver.device(0)",
        {"SIMULATED_GPUS": "0"},
        "DeviceError: this machine has an NVIDIA driver but no GPU",
    ),
    "old": (
        "driver.device(0)",
        {"SIMULATED_CUDA": "11040"},
        "DeviceError: the NVIDIA driver is too old: it is for CUDA 11.4",
    ),
    "number": (
        "driver.device(2)",
        {"SIMULATED_GPUS": "2"},
        "BadInput: there is no GPU 2: this process has 2, counted from 0",
    ),
    "memory": (
        "driver.empty((3000, 1000), float, 0, 0)",
        {"SIMULATED_MEMORY": "2000000"},
        "DeviceError: too little memory on GPU 0 (Simulated 0): 24 MB more are needed, 2 MB of 2 MB are free",
    ),
}
MISTAKES = {
    "made().launch('none', 1, 1, [], 0)": "DeviceError: finding the kernel none failed on the GPU",
    "made().launch('fail', 1, 1, [], 0)": "DeviceError: kernel fail failed on the GPU",
    "made().launch('scale', 1, 1, ['a'], 0)": "TypeError: a kernel takes ctypes values",
    "driver.Module(driver.device(0), b'junk', 'test')": "DeviceError: loading test failed on the GPU",
    "driver.download(driver.upload(b'abc', 0), np.empty(4))": "BadInput: out must be a C-contiguous array of uint8",
    "driver.upload(b'abc', 0).reshape(4)": "BadInput: an array of shape (3,) cannot have the shape (4,)",
}
ATTEMPT = """
try:
    {}
except Exception as error:
    print(type(error).__name__, error, sep=": ")
"""


@pytest.mark.parametrize("name", FAILURES)
def test_a_machine_that_cannot_do_it_is_an_error(with_driver, name):
    line, variables, expected = FAILURES[name]
    head = "from supple._cuda import driver\n"
    assert with_driver(head + ATTEMPT.format(line), **variables).startswith(expected)


def test_a_mistake_is_an_error(with_driver):
    printed = with_driver(MODULE + "".join(map(ATTEMPT.format, MISTAKES))).splitlines()
    assert len(printed) == len(MISTAKES)
    for line, expected in zip(printed, MISTAKES.values(), strict=True):
        assert line.startswith(expected), line
