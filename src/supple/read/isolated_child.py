"""The process that reads untrusted files; see `supple.read.isolated`."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from importlib import import_module
from typing import Any

from supple.errors import BadLinkage, SuppleError
from supple.read.isolated import IDLE

_DENIED = ("os.", "subprocess.", "socket.", "ctypes.", "shutil.", "tempfile.", "pty.", "mmap.", "winreg.", "msvcrt.")
_ALLOWED = ("os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr")


def main() -> None:
    """Answers requests from the standard input until it ends."""
    global _serving
    _serving = True
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries may print
    while True:
        timer = threading.Timer(IDLE, os._exit, (0,))
        timer.daemon = True
        timer.start()
        line = sys.stdin.buffer.readline()
        timer.cancel()
        if not line:
            return
        request = json.loads(line)
        head, arrays = _safe_answer(request)
        answers.write(json.dumps(head).encode() + b"\n")
        for array in arrays:
            answers.write(array.tobytes())
        answers.flush()


def _safe_answer(request: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    try:
        _prepare(request["task"])
        _limit(request["memory"], request["seconds"])
        data, arrays = answer(request)
        return {"data": data, "arrays": [(array.dtype.str, array.shape) for array in arrays]}, arrays
    except BadLinkage as error:
        place = {"reason": error.reason, "element": error.element, "file": error.file, "line": error.line}
        return {"error": {"type": "BadLinkage", **place}}, []
    except SuppleError as error:
        return {"error": {"type": type(error).__name__, "reason": str(error)}}, []
    except FileNotFoundError as error:
        return {"error": {"type": "FileNotFoundError", "arguments": [error.errno, error.strerror, error.filename]}}, []
    except MemoryError:
        return _bad(request, f"it needs more than {request['memory'] / 2**30:.2g} GiB"), []
    except RecursionError:
        return _bad(request, "it is nested too deeply"), []
    except Exception as error:  # whatever a reader raises
        text = " ".join(str(error).split())[:500]
        return _bad(request, f"it cannot be read: {text or type(error).__name__}"), []


def _bad(request: dict[str, Any], reason: str) -> dict[str, Any]:
    place = {"element": "", "file": request["file"], "line": 0}
    return {"error": {"type": "BadLinkage", "reason": reason, **place}}


def _prepare(task: str) -> None:
    """Imports what the task needs, before memory is limited."""
    with contextlib.suppress(ImportError):
        if task == "mjcf":
            import_module("mujoco")
        elif task == "xacro":
            import_module("xacrodoc")
            import_module("yaml")
        elif task == "mesh":
            import_module("supple.read.mesh_file")
    if task == "urdf" and hasattr(os, "nice"):
        os.nice(10)  # a loop may run beside it


def _limit(memory: int, seconds: float) -> None:
    """Bounds the memory and the processor time of this process, and lets it write no file."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _limit_memory(memory)
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_FSIZE, 0)
    if seconds:
        _set(resource.RLIMIT_CPU, int(seconds) + 5)  # in case nobody waits for the answer any more


def _limit_memory(memory: int) -> None:
    """Bounds what this process may allocate beyond what it has."""
    import resource

    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm") as pages:
        used = int(pages.read().split()[0]) * resource.getpagesize()
        _set(resource.RLIMIT_AS, used + memory)


def _set(which: int, soft: int) -> None:
    import resource

    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(which)
        resource.setrlimit(which, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def answer(request: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The answer to a request, and its arrays."""
    task, file = request["task"], request["file"]
    if task == "urdf":
        from supple.read.files import urdf_text

        linkage = urdf_text(request["text"].encode("latin-1"), file=file)
        count, most = len(linkage.links), request["most_links"]
        if count > most:
            raise BadLinkage(f"{count:,} links; at most {most} are allowed", file=file)
        return linkage.to_dict(), []
    reader = import_module(f"supple.read.{'mesh_file' if task == 'mesh' else task}")  # readers import this package
    if task == "mjcf":
        return reader.build(file, request["name"], request["search"], request.get("scratch")).to_dict(), []
    if task == "xacro":
        return reader.expand(file, request["arguments"], request["search"], guard), []
    answer: tuple[Any, list[Any]] = reader.read(file, guard)
    return answer


_may_open: list[Any] = []
_serving = False  # whether this is the separate process


def guard(may_open: Any) -> None:
    """From now on this process runs no program, and only reads files for which ``may_open(path)`` raises nothing.

    Readers that are Python need this: a xacro file holds Python expressions, and a mesh file names other files. The
    files of Python itself may always be opened. In a process that cannot start another one there is no guard.
    """
    if not _serving:
        return
    first = not _may_open
    _may_open[:] = [may_open]
    if first:
        packages = [place for place in sys.path if place.endswith(("site-packages", "dist-packages", ".zip"))]
        here = os.path.dirname(os.path.dirname(__file__))
        own = tuple(os.path.realpath(place) + os.sep for place in (sys.prefix, sys.base_prefix, here, *packages))
        sys.addaudithook(lambda event, arguments: _audit(event, arguments, own))


def _audit(event: str, arguments: Any, own: tuple[str, ...]) -> None:
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, int):
            return
        name = os.fsdecode(path)
        writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        if (isinstance(mode, str) and set(mode) & set("wax+")) or (isinstance(flags, int) and flags & writes):
            raise PermissionError(f"it would write {name[:300]!r}")
        if os.path.realpath(name).startswith(own):
            return
        _may_open[0](name)
    elif event.startswith(_DENIED) and event not in _ALLOWED:
        raise PermissionError(f"it would call {event}")
