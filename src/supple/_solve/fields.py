"""Fields of plain data: what `to_dict` wrote is checked before `from_dict` builds a value from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from supple import _check
from supple.errors import BadInput


def checked(data: object, what: str, names: Collection[str]) -> dict[str, Any]:
    """A dict with exactly these fields; otherwise a `BadInput` that names the ones missing or unknown."""
    if not isinstance(data, Mapping):
        raise BadInput(f"{what} must be a dict, got {_check.short(data)}")
    missing = [name for name in names if name not in data]
    extra = [_check.short(name).strip("'") for name in data if name not in names][:8]
    if missing or extra:
        parts = [f"lacks {', '.join(missing)}"] * bool(missing) + [f"has unknown {', '.join(extra)}"] * bool(extra)
        raise BadInput(f"{what} {' and '.join(parts)}")
    return dict(data)


def listed(data: object, what: str) -> list[Any]:
    """A list; otherwise a `BadInput`."""
    if not isinstance(data, list | tuple):
        raise BadInput(f"{what} must be a list, got {_check.short(data)}")
    return list(data)


def one_of(data: object, what: str, key: str, known: Collection[str]) -> str:
    """The value of ``key``, which must be one of the known names."""
    if not isinstance(data, Mapping):
        raise BadInput(f"{what} must be a dict, got {_check.short(data)}")
    name = data.get(key)
    if not isinstance(name, str) or name not in known:
        raise BadInput(f"{what}: {key} must be one of {', '.join(known)}, got {_check.short(name)}")
    return name
