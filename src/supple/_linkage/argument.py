"""The argument ``linkage`` of many functions: anything else is answered with the line to write."""

from __future__ import annotations

from supple import _check
from supple.errors import BadInput
from supple.linkage import Linkage


def checked_linkage(value: object, call: str = "") -> Linkage:
    """The linkage itself; ``call`` is the call with its arguments in order, such as ``solve(linkage, goals)``."""
    if isinstance(value, Linkage):
        return value
    raise BadInput(f"linkage must be a Linkage, got {_check.short(value)}{_remedy(value, call)}")


def _remedy(value: object, call: str) -> str:
    from supple import models
    from supple.goal import Goal

    if isinstance(value, str):
        name = value.lower()
        return f"; write supple.models.{name}()" if name in models.names() else "; supple.load(file) reads one"
    name = getattr(value, "__name__", "")
    if isinstance(name, str) and name in models.names() and callable(value):
        return f"; write models.{name}()"
    goals = isinstance(value, Goal) or (isinstance(value, list | tuple) and any(isinstance(one, Goal) for one in value))
    return f"; the linkage comes first: {call}" if goals and call else ""
