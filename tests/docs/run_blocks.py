"""Runs the Python blocks of a page, each alone in a process of its own; prints what came of them as JSON.

    python run_blocks.py PAGE

Each block begins with nothing imported and nothing defined, in an empty folder. To be quick, this process imports numpy
and supple once and forks for every block; where there is no fork, every block gets a new interpreter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from pages import Block, blocks_of

TIMEOUT = 300  # s, for one block
OPTIONAL = ("torch", "jax", "cupy")  # libraries of a reader, which the package does not need


def execute(code: str, page: str, line: int) -> int:
    """Run a block as a program of its own, in this process; its exit code."""
    from supple.errors import MissingExtra

    try:
        exec(compile("\n" * (line - 1) + code, page, "exec"), {"__name__": "__main__"})
    except MissingExtra as missing:
        print(missing, file=sys.stderr)
        return 3
    except ModuleNotFoundError as missing:
        print(missing, file=sys.stderr)
        return 3 if missing.name in OPTIONAL else 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def run_forked(block: Block, page: str) -> dict[str, object]:
    """Run a block in a fork of this process."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "stdout"), Path(folder, "stderr")
        work = Path(folder, "work")
        work.mkdir()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT), 1)
                os.dup2(os.open(err, os.O_WRONLY | os.O_CREAT), 2)
                os.chdir(work)
                code = execute(block.code, page, block.line)
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return {
            "line": block.line,
            "status": status,
            "stdout": out.read_text("utf-8"),
            "stderr": err.read_text("utf-8"),
        }


def run_spawned(block: Block, page: str) -> dict[str, object]:
    """Run a block in a new interpreter."""
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import run_blocks; "
        f"sys.exit(run_blocks.execute(sys.stdin.read(), {page!r}, {block.line}))"
    )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        done = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", program],
            input=block.code,
            capture_output=True,
            encoding="utf-8",
            cwd=folder,
            timeout=TIMEOUT,
            check=False,
        )
    return {"line": block.line, "status": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


def main(page: str) -> None:
    """Run the blocks of a page."""
    run = run_spawned
    if hasattr(os, "fork"):
        import numpy  # noqa: F401

        import supple  # noqa: F401

        run = run_forked
    blocks = [block for block in blocks_of(Path(page)) if block.language == "python" and block.is_run]
    print(json.dumps([run(block, page) for block in blocks]))


if __name__ == "__main__":
    main(sys.argv[1])
