"""Every public name of supple with its signature, as text."""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any

import supple

MODULES = [
    "supple",
    "supple.analysis",
    "supple.damping",
    "supple.errors",
    "supple.animate",
    "supple.gauntlet",
    "supple.jobs",
    "supple.integrations.lerobot",
    "supple.method",
    "supple.models",
    "supple.prefer",
    "supple.read",
    "supple.teleop",
    "supple.view",
    "supple.view.animator",
    "supple.view.motion",
    "supple.view.player",
    "supple.workspace",
    "supple.write",
]


def exported() -> dict[str, Any]:
    """The public names of the public modules, each at the shortest dotted name that has it."""
    found: dict[str, Any] = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        names = getattr(module, "__all__", None) or [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module_name
        ]
        for name in names:
            value = getattr(module, name)
            if not isinstance(value, types.ModuleType) and not any(value is known for known in found.values()):
                found[f"{module_name}.{name}"] = value
    return found


def members(owner: str, cls: type) -> Iterator[tuple[str, Any]]:
    """The public attributes that a class of supple defines, inherited ones of private bases included."""
    seen: set[str] = set()
    for base in cls.__mro__:
        if not base.__module__.startswith("supple"):
            continue
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in seen and type(value).__name__ != "_OldName":
                seen.add(name)
                yield f"{owner}.{name}", value


def lines() -> list[str]:
    """One line for each public name: what it is, its signature or its type."""
    found: list[str] = []
    for name, value in exported().items():
        found.append(_line(name, value))
        if inspect.isclass(value):
            found += [_line(*member) for member in members(name, value)]
            found += [
                f"{name}.{field}: {kind}"
                for field, kind in _annotations(value).items()
                if not field.startswith("_") and not hasattr(value, field)
            ]
    return sorted(set(found))


def _annotations(cls: type) -> dict[str, str]:
    return {name: str(kind) for base in cls.__mro__ for name, kind in vars(base).get("__annotations__", {}).items()}


def _line(name: str, value: Any) -> str:
    if inspect.isclass(value):
        bases = ", ".join(base.__name__ for base in value.__bases__ if base.__module__ != "supple._core")
        bases = bases.removesuffix("object")
        kind = "enum" if issubclass(value, enum.Enum) else "dataclass" if dataclasses.is_dataclass(value) else "class"
        own = any("__init__" in vars(base) for base in value.__mro__ if base.__module__.startswith("supple"))
        signature = _signature(value) if own and kind != "enum" else ""
        return f"{kind} {name}{signature}" + (f" <- {bases}" if bases else "")
    if isinstance(value, property | functools.cached_property):
        getter = value.fget if isinstance(value, property) else value.func
        return f"property {name} -> {getattr(getter, '__annotations__', {}).get('return', '?')}"
    if isinstance(value, staticmethod | classmethod):
        return f"{type(value).__name__} {name}{_signature(value.__func__)}"
    if callable(value):
        return f"def {name}{_signature(value)}"
    return f"{name} = {type(value).__name__}" + (f" {value.value!r}" if isinstance(value, enum.Enum) else "")


def _signature(value: Any) -> str:
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(...)"
    return re.sub(r" at 0x[0-9a-f]+", "", text).replace("'", "")


def doctested() -> dict[str, Any]:
    """The public names and the public members of public classes that may have a docstring."""
    found = {"supple": supple}
    for name, value in exported().items():
        if inspect.isclass(value) or callable(value):
            found[name] = value
        if inspect.isclass(value):
            found |= {
                member: part
                for member, part in members(name, value)
                if isinstance(part, property | functools.cached_property | staticmethod | classmethod)
                or inspect.isfunction(part)
            }
    return found
