"""Docstrings do what they show, and every public name has one."""

from __future__ import annotations

import doctest
import functools
import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

import pytest

import supple
import supple.view


def modules() -> list[str]:
    found = pkgutil.walk_packages(supple.__path__, "supple.")
    return ["supple", *sorted(module.name for module in found if not module.name.endswith(("__main__", "_core")))]


@pytest.mark.parametrize("name", modules())
def test_docstrings_of_a_module_do_what_they_show(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as missing:
        if (missing.name or "").startswith("supple"):
            raise
        pytest.skip(f"{missing.name} is not installed")
    assert module.__doc__, f"{name} does not say what it is"
    monkeypatch.chdir(tmp_path)  # some write files
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
