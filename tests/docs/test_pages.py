"""What a visitor reads and runs: the README, the docs, the examples and the docstrings do what they say."""

from __future__ import annotations

import contextlib
import doctest
import functools
import importlib
import inspect
import io
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import supple
import supple.view

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SKIP = "<!-- skip -->"
XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="joints" default="2"/>
  <link name="base"/>
  <link name="arm_of_$(arg joints)"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="arm_of_$(arg joints)"/></joint>
</robot>
"""


class Block(NamedTuple):
    language: str
    code: str
    line: int
    skipped: bool
    prints: str | None  # the text block right after it


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    text = page.read_text(encoding="utf-8")
    end = 0
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        between = text[end : match.start()]
        if match[1] == "text" and not between.strip() and found:
            found[-1] = found[-1]._replace(prints=match[2])
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(match[1], match[2], line, between.rstrip().endswith(SKIP), None))
        end = match.end()
    return found


def of(page: Path) -> str:
    return page.name


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages speak of."""
    shutil.copy(Path(supple.__file__).parent / "data" / "panda.urdf", tmp_path)
    (tmp_path / "arm.urdf.xacro").write_text(XACRO, encoding="utf-8")
    (tmp_path / "goals.csv").write_text("x,y,z,roll,pitch,yaw\n0.4,0,0.5,3.1416,0,0\n0.3,0.2,0.4,3.1416,0,0\n")
    np.savez(tmp_path / "goals.npz", position=[[0.4, 0, 0.5], [0.3, 0.2, 0.4]])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=of)
def test_code_on_a_page_runs_and_prints_what_the_page_says(page: Path, desk: Path) -> None:
    # blocks go on where the last one ended; the docs, unlike the README, may speak of supple and of an arm unasked
    names: dict[str, Any] = {} if page.name == "README.md" else {"supple": supple, "arm": supple.models.panda()}
    for block in blocks(page):
        if block.language != "python" or block.skipped:
            continue
        code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                exec(code, names)
            except supple.MissingExtra as missing:
                pytest.skip(str(missing))
        if block.prints is not None:
            assert printed.getvalue() == block.prints, f"{page.name}:{block.line}"


def test_only_code_that_opens_a_browser_is_skipped() -> None:
    skipped = [block for page in PAGES for block in blocks(page) if block.skipped]
    assert len(skipped) <= 2
    assert all("supple.view.show(" in block.code for block in skipped)


def test_the_readme_leads_with_a_picture_and_the_loop() -> None:
    text = PAGES[0].read_text(encoding="utf-8")
    first = blocks(PAGES[0])[0]
    assert text.index("![") < text.index("```")
    assert first.language == "python"
    assert "for " in first.code
    assert len(text.splitlines()) <= 150


def commands() -> list[str]:
    """Every command of supple that the pages show and that ends by itself."""
    found = []
    for page in PAGES:
        for block in blocks(page):
            if block.language in ("", "sh"):
                lines = [re.split(r"\s{2,}|\s#", line)[0] for line in block.code.splitlines()]
                found += [line for line in lines if re.match(r"supple \w", line)]
    stays = ("supple view", "supple teleop")
    return [line for line in dict.fromkeys(found) if not line.startswith(stays) and "<" not in line]


def test_the_pages_show_commands() -> None:
    assert len(commands()) >= 4


@pytest.mark.parametrize("command", commands())
def test_a_command_on_a_page_ends_well(command: str, desk: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("example", EXAMPLES, ids=of)
def test_an_example_is_short_runs_and_prints_a_number(example: Path, tmp_path: Path) -> None:
    source = example.read_text(encoding="utf-8")
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
    assert not re.search(r"\bnan\b", done.stdout)


def test_examples_are_numbered_from_one_without_a_gap() -> None:
    assert [int(example.name[:2]) for example in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))


def modules() -> list[str]:
    found = pkgutil.walk_packages(supple.__path__, "supple.")
    return ["supple", *sorted(module.name for module in found if not module.name.endswith(("__main__", "_core")))]


@pytest.mark.parametrize("name", modules())
def test_docstrings_of_a_module_do_what_they_show(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as missing:
        if (missing.name or "").startswith("supple"):
            raise
        pytest.skip(f"{missing.name} is not installed")
    assert module.__doc__, f"{name} does not say what it is"
    assert doctest.testmod(module).failed == 0


def test_some_docstrings_show_something() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    shown = [test for name in ("supple.frame", "supple.linkage") for test in finder.find(importlib.import_module(name))]
    assert sum(len(test.examples) for test in shown) >= 4


def public() -> dict[str, Any]:
    """All that a user may call, by its dotted name: public names, and the public methods of public classes."""
    found: dict[str, Any] = {f"supple.{name}": getattr(supple, name) for name in supple.__all__}
    for module in (supple.models, supple.view):
        found |= {f"{module.__name__}.{name}": getattr(module, name) for name in module.__all__}
    for name, thing in list(found.items()):
        if inspect.isclass(thing):
            for attribute, value in vars(thing).items():
                held = isinstance(value, property | functools.cached_property | classmethod | staticmethod)
                if not attribute.startswith("_") and (held or inspect.isfunction(value)):
                    found[f"{name}.{attribute}"] = value
    return found


def test_every_public_name_says_what_it_is() -> None:
    names = public()
    assert len(names) > 80
    silent = [name for name, thing in names.items() if not (inspect.getdoc(thing) or "").strip()]
    # a dataclass without a docstring gets its signature for one
    silent += [name for name, thing in names.items() if (thing.__doc__ or "").startswith(f"{name.split('.')[-1]}(")]
    assert silent == []


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings have."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", TEXTS, ids=of)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(\s*([^)\s]+)\s*\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    lost = []
    for link in links:
        if re.match(r"https?://|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            lost.append(link)
    assert lost == []
