"""The README starts with a picture and the loop, and every link on a page leads somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from pages import PAGES, ROOT, blocks_of, name_of

TEXTS = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]


def test_the_readme_leads_with_a_picture_and_the_loop() -> None:
    text = PAGES[0].read_text(encoding="utf-8")
    first = blocks_of(PAGES[0])[0]
    assert text.index("![") < text.index("```")
    assert first.language == "python"
    assert "for " in first.code
    assert len(text.splitlines()) <= 170


FOR_DEVELOPERS = {"docs", "test", "dev", "bench", "gates"}


def test_every_extra_is_named_where_a_user_installs() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = project.split("[project.optional-dependencies]")[1].split("\n[")[0]
    extras = set(re.findall(r"^(\w+) = \[", section, re.MULTILINE))
    assert len(extras) > 12
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [extra for extra in sorted(extras) if f"`{extra}`" not in index] == []
    (line,) = (line for line in PAGES[0].read_text(encoding="utf-8").splitlines() if line.startswith("pip install '.["))
    assert [extra for extra in sorted(extras - FOR_DEVELOPERS) if not re.search(rf"\b{extra}\b", line)] == []


NAMED = re.compile(r"`((?:core|bind|src|tests|docs|benchmarks|examples)/[\w./-]+)`")


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    named = set(NAMED.findall(page.read_text(encoding="utf-8")))
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_every_place_to_add_something_exists() -> None:
    lines = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("<!-- places -->")[1].splitlines()
    rows = [line.split("|")[1:-1] for line in lines if line.startswith("| a")]
    assert len(rows) > 12
    for _, core, python, _ in rows:
        for cell, folders in ((core, ("core/supple", "")), (python, ("src/supple", ""))):
            for path in re.findall(r"`([\w./]+/|[\w./]+\.\w+)`", cell):
                assert any((ROOT / folder / path).exists() for folder in folders), path


def test_every_file_in_the_lists_of_places_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    places = text.split("<!-- places -->")[1].split("<!-- end of places -->")[0]
    items = re.findall(r"^- `([\w./]+/)`: (.+(?:\n  .+)*)", places, re.MULTILINE)
    assert len(items) > 20
    for folder, files in items:
        names = re.findall(r"`(\w+\.\w+)`", files)
        assert names
        assert [name for name in names if not (ROOT / folder / name).exists()] == [], folder


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings have."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    targets = re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)
    return set(targets) | {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
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


def test_the_design_page_names_every_header_of_the_core() -> None:
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    layout = text.split("## Layout")[1].split("### Core")[0]
    tables = text.split("### Core")[1].split("### Binding")[0]
    core = layout.split("core/supple/")[1].split("\nbind/")[0]
    lists = dict(re.findall(r"^  (\w+)/ +(.+(?:\n {8,}.+)*)", core, re.MULTILINE))
    folders = {folder.name: folder for folder in (ROOT / "core" / "supple").iterdir() if folder.is_dir()}
    assert set(lists) == set(folders)
    for name, folder in folders.items():
        headers = {file.name for file in folder.glob("*.h")}
        words = set(re.findall(r"\w+", lists[name]))
        assert [header for header in sorted(headers) if header.removesuffix(".h") not in words] == [], name
        shown = {header for header in headers if f"`{header}`" in tables}
        assert sorted(headers - shown - {"types.h"}) == [], name


def test_the_design_page_names_every_package_and_every_file_of_the_binding() -> None:
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    layout = text.split("## Layout")[1].split("### Core")[0]
    source = ROOT / "src" / "supple"
    packages = {path.name for path in source.iterdir() if (path / "__init__.py").exists()} | {"data"}
    assert [name for name in sorted(packages) if f"{name}/" not in layout] == []
    modules = {path.stem for path in source.glob("*.py")} - {"__init__", "__main__"}
    assert [name for name in sorted(modules) if not re.search(rf"\b{name}\b", layout)] == []
    binding = text.split("### Binding")[1].split("## Order")[0]
    files = {path.stem for path in (ROOT / "bind").glob("*.*")}
    assert [name for name in sorted(files) if not re.search(rf"`{name}(\.|`)", binding)] == []


def test_the_page_of_the_command_line_names_every_option_of_every_command() -> None:
    typer = pytest.importorskip("typer")
    from supple.cli import app

    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    for name, command in typer.main.get_command(app).commands.items():
        known = {each for option in command.params for each in option.opts if each.startswith("--")}
        known -= {"--help", "--search"}  # the section "show" describes --search for all commands
        named = set(re.findall(r"--[a-z][\w-]*", sections[name]))
        assert sorted(known - named) == [], name
