"""A simulated CUDA driver, for tests of everything around the kernels on machines without a GPU."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("simulated_driver.c")


@pytest.fixture(scope="session")
def simulated_folder(tmp_path_factory):
    """The folder with the simulated library, in the place of the real one."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("the simulated driver is for Linux with a C compiler")
    folder = tmp_path_factory.mktemp("simulated")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", folder / "libcuda.so.1", SOURCE], check=True)
    return folder


@pytest.fixture
def with_driver(simulated_folder, tmp_path):
    """Runs a Python program with the simulated driver; returns what it printed. Keywords are environment variables."""

    def run(program, **environment):
        variables = {**os.environ, "SUPPLE_CACHE": str(tmp_path), **environment}
        variables["LD_LIBRARY_PATH"] = f"{simulated_folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"
        done = subprocess.run(
            [sys.executable, "-c", program], env=variables, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run
