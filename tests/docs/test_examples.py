"""The examples are short, numbered and run, and each is on the examples page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def of(example: Path) -> str:
    return example.name


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=of)
def test_an_example_is_short_runs_and_prints_a_number(example: Path, tmp_path: Path) -> None:
    source = example.read_text(encoding="utf-8")
    for library in re.findall(r"^import (torch|jax)$", source, re.MULTILINE):
        pytest.importorskip(library)
    assert len(source.splitlines()) <= 60
    assert source.startswith('"""')
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"\d", done.stdout)
    assert not re.search(r"(?<!not finite, it has )\bnan\b", done.stdout)  # but for the reason of a held step


def test_examples_are_numbered_from_one_without_a_gap() -> None:
    assert [int(example.name[:2]) for example in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))


def test_the_examples_page_shows_every_example() -> None:
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert re.findall(r"\{literalinclude\} \.\./examples/(\S+)", page) == [example.name for example in EXAMPLES]
