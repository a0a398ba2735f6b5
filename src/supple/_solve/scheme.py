"""One damping scheme as numbers, with its text and its plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from supple._solve.singularity import ConditionBound, Singularity
from supple.errors import BadInput
from supple.frame import Array

DampingFunction: TypeAlias = Callable[[Array, Array, Array, float], "float | tuple[float, ArrayLike]"]
"""f(q, e, J, dt), which returns alpha, or alpha and joint weights (dof,)."""


class SchemeKind(IntEnum):
    """The schemes of `supple.damping`; the core knows the numbers."""

    CONSTANT = 0
    NAKAMURA_HANAFUSA = 1
    KELMAR_KHOSLA = 2
    MAYORGA = 3
    CHAN_LAWRENCE = 4
    NAMED_SINGULARITY = 5
    SINGULARITIES = 6
    LIMITS = 7
    FUNCTION = 8


@dataclass(frozen=True)
class Scheme:
    """One scheme; made by the functions of `supple.damping`."""

    kind: SchemeKind
    alpha0: float | ConditionBound = 1e-2
    region: float | None = None
    slide_region: float | None = None
    weight: float = 1.0
    rate: float = 0.0
    tiny: float = 0.0
    singularity: Singularity | None = None
    function: DampingFunction | None = None
    as_printed: bool = False


_ALPHA0 = ("alpha0", "alpha0", 1e-2)
_AS_PRINTED = ("as_printed", "as_printed", False)
_ARGUMENTS: dict[SchemeKind, tuple[tuple[str, str, object], ...]] = {
    SchemeKind.CONSTANT: (("alpha0", "alpha0", None),),
    SchemeKind.NAKAMURA_HANAFUSA: (_ALPHA0, ("below", "region", None), _AS_PRINTED),
    SchemeKind.KELMAR_KHOSLA: (_ALPHA0, ("below", "region", 0.98), _AS_PRINTED),
    SchemeKind.MAYORGA: (_ALPHA0, ("above", "region", 1e5), _AS_PRINTED),
    SchemeKind.CHAN_LAWRENCE: (("alpha0", "alpha0", 0.02),),
    SchemeKind.SINGULARITIES: (_ALPHA0, ("region", "region", 0.05)),
    SchemeKind.LIMITS: (
        _ALPHA0,
        ("region", "region", 0.2),
        ("weight", "weight", 0.01),
        ("rate", "rate", 6.0),
        ("slide_region", "slide_region", None),
        ("tiny", "tiny", 0.01),
        _AS_PRINTED,
    ),
}
"""For each kind, the arguments of the function that makes it: name, field of `Scheme`, default."""


def arguments(kind: SchemeKind) -> tuple[str, ...]:
    """The names of the arguments of the function of `supple.damping` that makes a scheme of this kind."""
    return tuple(name for name, _, _ in _ARGUMENTS[kind])


def schemes_text(schemes: frozenset[Scheme]) -> str:
    """The expression that makes these schemes, without arguments that are at their default."""
    named: dict[tuple[object, bool], list[str]] = {}
    parts = []
    for scheme in schemes:
        if scheme.singularity is None:
            parts.append(_text(scheme))
        else:
            named.setdefault((scheme.alpha0, scheme.as_printed), []).append(f"damping.{scheme.singularity!r}")
    for (alpha0, as_printed), names in named.items():
        options = [f"alpha0={_alpha_text(alpha0)}"] * (alpha0 != 1e-2) + ["as_printed=True"] * as_printed
        parts.append(f"damping.singularities({', '.join([*sorted(names), *options])})")
    return " | ".join(sorted(parts)) or "damping.none"


def _text(scheme: Scheme) -> str:
    if scheme.kind is SchemeKind.FUNCTION:
        return f"damping.function({getattr(scheme.function, '__name__', '...')})"
    if scheme.kind is SchemeKind.CONSTANT:
        return f"damping.constant({_alpha_text(scheme.alpha0)})"
    options = []
    for name, field, default in _ARGUMENTS[scheme.kind]:
        value = getattr(scheme, field)
        usual = 0.0 if name == "tiny" and scheme.as_printed else default
        if value != usual:
            options.append(f"{name}={_alpha_text(value)}")
    return f"damping.{scheme.kind.name.lower()}({', '.join(options)})"


def _alpha_text(value: object) -> str:
    return f"damping.{value!r}" if isinstance(value, ConditionBound) else repr(value)


def scheme_to_dict(scheme: Scheme) -> dict[str, Any]:
    """A scheme as plain data with every field; a function is refused."""
    if scheme.kind is SchemeKind.FUNCTION:
        raise BadInput(f"{_text(scheme)} cannot be written as data: it is a Python function")
    name: dict[str, Any] = {"scheme": scheme.kind.name.lower()}
    if scheme.singularity is not None:
        alpha0, named = _plain(scheme.alpha0), scheme.singularity.to_dict()
        return name | {"singularity": named, "alpha0": alpha0, "as_printed": scheme.as_printed}
    return name | {argument: _plain(getattr(scheme, field)) for argument, field, _ in _ARGUMENTS[scheme.kind]}


def _plain(value: object) -> object:
    return {"condition_bound": value.kappa} if isinstance(value, ConditionBound) else value
