"""The documentation site builds without a warning, and its API reference has every public name."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import supple

sys.path.insert(0, str(Path(__file__).parent))
from pages import ROOT, blocks_of

MODULES = (
    "supple",
    "supple.analysis",
    "supple.damping",
    "supple.errors",
    "supple.gauntlet",
    "supple.integrations.lerobot",
    "supple.method",
    "supple.models",
    "supple.prefer",
    "supple.read",
    "supple.teleop",
    "supple.textbook",
    "supple.textbook.chapter",
    "supple.textbook.compare",
    "supple.textbook.figures",
    "supple.textbook.paper",
    "supple.view",
    "supple.workspace",
)


def built(out: Path) -> Path:
    """The built site."""
    for name in ("sphinx", "furo", "myst_parser", "sphinx_copybutton"):
        pytest.importorskip(name)
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(out / "doctrees"), "docs", str(out)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return out


def documented(site: Path) -> set[str]:
    """The Python names that the site describes, from Sphinx's inventory."""
    data = (site / "objects.inv").read_bytes()
    lines = zlib.decompress(data.split(b"\n", 4)[4]).decode().splitlines()
    return {line.split(" ")[0] for line in lines if " py:" in line}


def public(module: str) -> list[str]:
    """The public names of a module: its `__all__`, or the functions and classes that it defines."""
    there = importlib.import_module(module)
    if hasattr(there, "__all__"):
        return list(there.__all__)
    return [
        name for name, thing in vars(there).items() if name[0] != "_" and getattr(thing, "__module__", "") == module
    ]


def also_named(thing: object) -> set[str]:
    """Other public names of something: as a module, and directly in `supple`."""
    direct = {f"supple.{name}" for name in supple.__all__ if getattr(supple, name) is thing}
    return direct | ({thing.__name__} if inspect.ismodule(thing) else set())


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_is_whole(tmp_path: Path) -> None:
    """One test, so that the site is built once however many processes share the tests."""
    site = built(tmp_path)
    assert (site / "index.html").exists()
    found = documented(site)
    for module in MODULES:
        names = public(module)
        assert len(names) >= 3
        there = importlib.import_module(module)
        missing = [name for name in names if not {f"{module}.{name}", *also_named(getattr(there, name))} & found]
        assert missing == [], module
    assert tags_without_a_link(site) == []
    assert links_without_an_anchor(site) == []


@pytest.mark.parametrize("module", MODULES)
def test_every_public_function_and_class_has_an_example(module: str) -> None:
    blocks = [block for page in (ROOT / "docs" / "api").glob("*.md") for block in blocks_of(page)]
    used = set(re.findall(r"\w+", " ".join(block.code for block in blocks if block.language == "python")))
    things = {name: getattr(importlib.import_module(module), name) for name in public(module)}
    without = [name for name, thing in things.items() if callable(thing) and ">>>" not in (inspect.getdoc(thing) or "")]
    assert [name for name in without if name not in used] == []


def tags_without_a_link(site: Path) -> list[str]:
    """Tags of the source texts, such as [K 5.3], that are not links."""
    bare = []
    for page in site.rglob("*.html"):
        text = re.sub(r"<(pre|code|title|a)\b.*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        bare += [f"{page.name}: {tag}" for tag in re.findall(r"\[[KD]\d[^\]<]*\]", text)]
    return bare


def links_without_an_anchor(site: Path) -> list[str]:
    """Links inside the site that lead nowhere."""
    texts = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    lost = []
    for page, text in texts.items():
        for link in re.findall(r'href="([^"]+)"', text):
            if re.match(r"\w+:|#$", link) or link.startswith("//"):
                continue
            path, _, anchor = link.partition("#")
            path = path.partition("?")[0]
            there = (page.parent / path).resolve() if path else page
            if there not in texts:
                if not there.exists():
                    lost.append(f"{page.name}: {link}")
            elif anchor and f'id="{anchor}"' not in texts[there]:
                lost.append(f"{page.name}: {link}")
    return lost
