"""Runs readers of untrusted files in a separate process, within a budget of time and memory."""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from supple import errors
from supple.errors import BadInput, BadLinkage
from supple.frame import Array
from supple.linkage import Linkage


@dataclass(frozen=True)
class Budget:
    """What a separate process may use. Where the system has no such limit (Windows, macOS) only the time is bounded."""

    seconds: float
    """Time until it is ended."""
    memory: int
    """Bytes that it may allocate."""


UPLOAD = Budget(10.0, 2**30)
"""For a description from a browser."""
DESCRIPTION = Budget(60.0, 4 * 2**30)
"""For an MJCF or xacro file."""
MESH = Budget(60.0, 4 * 2**30)
"""For a mesh file."""
MAX_ANSWER = 2**30
"""Most bytes that the process may answer."""
IDLE = 10.0
"""Seconds after which the process that reads meshes ends."""

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from supple.read import isolated_child; isolated_child.main()"
)
_INHERITED = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH"),
    *("ROS_PACKAGE_PATH", "ROS_ROOT", "AMENT_PREFIX_PATH"),
)
"""Environment variables of the process; a xacro file sees none of them."""


def urdf(content: bytes, file: str, most_links: int, budget: Budget | None = None) -> Linkage:
    """The linkage in URDF text, of at most ``most_links`` links; errors call it ``file``.

    The thread that calls waits without holding up other threads, whatever the text is.
    """
    request = {"task": "urdf", "text": content.decode("latin-1"), "file": file, "most_links": most_links}
    return Linkage.from_dict(_run_once(request, budget or UPLOAD, file)[0])


def mjcf(file: str, name: str | None, search: list[str], budget: Budget | None = None) -> Linkage:
    """The linkage in an MJCF file; it may include files of its folder or package, and of the ``search`` folders."""
    request = {"task": "mjcf", "file": file, "name": name, "search": search}
    if not available():  # the working directory is that of the whole program
        return Linkage.from_dict(_run_once(request, DESCRIPTION, file)[0])
    with tempfile.TemporaryDirectory() as scratch:
        return Linkage.from_dict(_run_once(request | {"scratch": scratch}, budget or DESCRIPTION, file)[0])


def xacro(file: str, arguments: Mapping[str, str], search: list[str], budget: Budget | None = None) -> str:
    """The URDF text that a xacro file expands to."""
    request = {"task": "xacro", "file": file, "arguments": dict(arguments), "search": search}
    text: str = _run_once(request, budget or DESCRIPTION, file)[0]
    return text


Part = tuple[Array, Any, list[float] | None, Array]
"""Vertices (n, 3), triangles (m, 3), colour from 0 to 1 or None, and placement (4, 4)."""


def mesh(file: str, budget: Budget | None = None) -> list[Part]:
    """The parts of a mesh file. One process reads all meshes, and ends when there are none for some seconds."""
    global _meshes
    budget = budget or MESH
    request = {"task": "mesh", "file": os.path.abspath(file), "memory": budget.memory, "seconds": 0.0}
    if not available():
        return _parts(*_run_once(request, budget, file))
    with _meshes_lock:
        for _ in range(2):
            fresh = _meshes is None
            _meshes = _meshes or _Process()
            try:
                data, arrays = _meshes.ask(request, budget)
                break
            except _Ended as ended:
                _meshes.end()
                _meshes = None
                if fresh or ended.timed_out:
                    raise ended.error(file, budget) from None
    return _parts(data, arrays)


def _parts(data: Any, arrays: list[Any]) -> list[Part]:
    return [
        (arrays[3 * k], arrays[3 * k + 1], part["colour"], arrays[3 * k + 2]) for k, part in enumerate(data["parts"])
    ]


def available() -> bool:
    """Whether this program can start Python: not where it is part of another program."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def _run_once(request: dict[str, Any], budget: Budget, file: str) -> tuple[Any, list[Any]]:
    if not available():
        here: tuple[Any, list[Any]] = import_module("supple.read.isolated_child").answer(request)
        return here
    process = _Process()
    try:
        return process.ask(request | {"memory": budget.memory, "seconds": budget.seconds}, budget)
    except _Ended as ended:
        raise ended.error(file, budget) from None
    finally:
        process.end()


class _Ended(Exception):
    """The process ended without an answer."""

    def __init__(self, timed_out: bool) -> None:
        super().__init__()
        self.timed_out = timed_out

    def error(self, file: str, budget: Budget) -> BadLinkage:
        """The reason for a person."""
        if self.timed_out:
            return BadLinkage(f"it takes more than {budget.seconds:g} s to read", file=file)
        return BadLinkage(f"its reader failed, or needed more than {budget.memory / 2**30:.2g} GiB", file=file)


class _Process:
    """A process that reads untrusted files: a request is a line of JSON, an answer one too and the bytes of arrays."""

    def __init__(self) -> None:
        path = [os.path.abspath(place) if place in ("", ".") else place for place in sys.path]
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        # each thread of a linear algebra library reserves memory
        environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _START, json.dumps(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # Ctrl-C is for this process, which then ends the other
        )

    def ask(self, request: dict[str, Any], budget: Budget) -> tuple[Any, list[Any]]:
        """The answer and its arrays; raises the exception of the reader, or `_Ended`."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(budget.seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            answer, arrays = self._ask(request)
        except (OSError, EOFError, ValueError, KeyError, TypeError):
            self._process.kill()
            raise _Ended(late.is_set()) from None
        except BaseException:  # such as Ctrl-C
            self._process.kill()
            raise
        finally:
            timer.cancel()
        if "error" in answer:
            raise _exception(answer["error"])
        return answer["data"], arrays

    def _ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(request).encode() + b"\n")
        stdin.flush()
        line = stdout.readline(MAX_ANSWER)
        if not line.endswith(b"\n"):
            raise EOFError
        answer = json.loads(line)
        arrays = []
        for kind, shape in answer.get("arrays", ()):
            size = math.prod(shape) * np.dtype(kind).itemsize
            if size > MAX_ANSWER:
                raise EOFError
            data = stdout.read(size)
            arrays.append(np.frombuffer(bytearray(data), kind).reshape(shape))
        return answer, arrays

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        self._process.wait()


def _exception(data: Mapping[str, Any]) -> Exception:
    """The exception that the process raised."""
    if data["type"] == "BadLinkage":
        return BadLinkage(data["reason"], element=data["element"], file=data["file"], line=data["line"])
    if data["type"] == "FileNotFoundError":
        return FileNotFoundError(*data["arguments"])
    kind: type[Exception] = getattr(errors, data["type"], BadInput)
    return kind(data["reason"])


_meshes: _Process | None = None
_meshes_lock = threading.Lock()


@atexit.register
def _end_meshes() -> None:
    if _meshes is not None:
        _meshes.end()
