"""Compiling with NVRTC, and its cache: real compilations, which need no GPU."""

import os
import subprocess
import sys
import threading

import pytest

from supple._cuda import cache, driver, nvrtc
from supple.errors import DeviceError, MissingExtra, UnknownName

SOURCE = """
#include "supple/math/number.h"
extern "C" __global__ void scale(const double *from, double *to, double factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = factor * from[i] + SHIFT;
}
"""


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    """A folder of sources with one file, and an empty cache."""
    try:
        nvrtc.compiler()
    except MissingExtra:
        pytest.skip("NVRTC is not installed: pip install 'supple[cuda]'")
    (tmp_path / "core" / "supple" / "cuda").mkdir(parents=True)
    (tmp_path / "core" / "supple" / "math").mkdir(parents=True)
    (tmp_path / "core" / "supple" / "math" / "number.h").write_text("#define SUPPLE_TEST 1\n")
    (tmp_path / "core" / "supple" / "cuda" / "scale.cu").write_text(SOURCE)
    monkeypatch.setattr(driver, "sources", lambda: tmp_path / "core")
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    driver._fingerprint.cache_clear()
    yield tmp_path
    driver._fingerprint.cache_clear()


def compiled(**defines):
    return driver.compiled("scale.cu", {"SHIFT": 1.0, **defines}, 90)


def counted(monkeypatch):
    """A list that grows by one with each compilation."""
    done, real = [], driver.compile_now

    def compile_now(*arguments):
        done.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(driver, "compile_now", compile_now)
    return done


def test_what_was_compiled_once_comes_from_the_cache(kernels, monkeypatch):
    done = counted(monkeypatch)
    first = compiled()
    assert first[:4] == b"\x7fELF"
    assert compiled() == first
    assert len(done) == 1
    compiled(SHIFT=2.0)
    compiled(USED=True)
    driver.compiled("scale.cu", {"SHIFT": 1.0}, 80)
    assert len(done) == 4
    (kernels / "core" / "supple" / "math" / "number.h").write_text("#define SUPPLE_TEST 2\n")
    driver._fingerprint.cache_clear()
    compiled()
    assert len(done) == 5, "a changed header needs another compilation"
    assert len(list((kernels / "cache").iterdir())) == 5


@pytest.mark.parametrize(
    "damage", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:-1] + b"x", lambda b: b"junk"]
)
def test_a_damaged_file_is_made_again(kernels, monkeypatch, damage):
    done = counted(monkeypatch)
    first = compiled()
    (file,) = (kernels / "cache").iterdir()
    good = file.read_bytes()
    file.write_bytes(damage(good))
    assert compiled() == first
    assert len(done) == 2
    assert file.read_bytes() == good


def test_a_folder_that_cannot_be_used_is_no_error(kernels, monkeypatch):
    (kernels / "file").write_text("")
    monkeypatch.setenv("SUPPLE_CACHE", str(kernels / "file" / "below"))
    assert compiled()[:4] == b"\x7fELF"


def test_the_oldest_files_are_deleted(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path))
    for number in range(80):
        cache.remembered(f"{number}.cubin", lambda: b"content")
        os.utime(tmp_path / f"{number}.cubin", (number, number))
    kept = sorted(int(file.stem) for file in tmp_path.iterdir())
    assert len(kept) <= 65
    assert kept[-1] == 79


@pytest.mark.slow
def test_processes_and_threads_that_write_one_file_all_read_it_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path))
    program = """
from supple._cuda import cache
for i in range(60):
    content = bytes([i % 7]) * 100_000
    assert len(set(cache.remembered(f"{i % 7}.cubin", lambda: content))) == 1
    if i % 3 == 0:
        cache._write(cache.folder() / f"{i % 7}.cubin", content)
"""
    processes = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]
    failures = []
    threads = [threading.Thread(target=lambda: _run(program, failures)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(process.wait() for process in processes)
    assert not failures
    assert not list(tmp_path.glob("*.part"))


def _run(program, failures):
    try:
        exec(program, {})
    except Exception as error:  # a thread's exception would be lost
        failures.append(error)


def test_an_error_of_the_source_is_shown(kernels):
    (kernels / "core" / "supple" / "cuda" / "scale.cu").write_text(SOURCE.replace("factor *", "none *"))
    driver._fingerprint.cache_clear()
    with pytest.raises(DeviceError, match=r'cannot compile scale.cu for sm_90:\n(.|\n)*identifier "none" is undefined'):
        compiled()


def test_a_source_that_does_not_exist_is_named(kernels):
    with pytest.raises(UnknownName, match=r"no source file of kernels named 'scal.cu'; did you mean 'scale.cu'?"):
        driver.compiled("scal.cu", {}, 90)


def test_targets_follow_the_compute_capability(kernels):
    compiler = nvrtc.compiler()
    assert compiler.target(90) == ("CUBIN", "sm_90")
    kind, target = compiler.target(990)
    assert kind == "PTX"
    assert target == f"compute_{compiler.capabilities[-1]}"
    assert b".target" in driver.compiled("scale.cu", {"SHIFT": 1.0}, 990)
    with pytest.raises(DeviceError, match=r"compute capability 3.5; NVRTC .* compiles for"):
        compiler.target(35)


def test_a_compiler_newer_than_the_driver_is_not_used(kernels):
    major = nvrtc.compiler().version[0]
    assert nvrtc.compiler(major * 1000 + 10).version[0] == major
    with pytest.raises(DeviceError, match="driver is for CUDA 11 and the compiler is NVRTC"):
        nvrtc.compiler(11080)


def test_without_a_compiler_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(nvrtc, "_found", lambda: ())
    with pytest.raises(MissingExtra, match=r"supple\[cuda\]"):
        nvrtc.compiler()
