"""Preferences: what the joints do with the freedom that the goals leave [K5.25-5.31]. They add up with ``+``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _renamed
from supple._solve import fields
from supple._solve.preference_term import Term, TermKind
from supple.errors import BadInput
from supple.frame import Array

__all__ = ["Preference", "away", "centre", "dexterity", "function", "nothing", "rest"]


@dataclass(frozen=True)
class Preference:
    """A sum of terms. Each adds a joint step in the null space of the goals, which moves no end effector.

    Made by the functions of `supple.prefer`. A frozen value.

    >>> from supple import prefer
    >>> prefer.centre() + prefer.dexterity(0.2)
    prefer.centre(0.1) + prefer.dexterity(0.2)
    """

    terms: tuple[Term, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The preference as plain data with explicit fields; functions are refused.

        >>> from supple import prefer
        >>> prefer.centre().to_dict()
        {'terms': [{'term': 'centre', 'gain': [0.1]}]}
        """
        return {"terms": [_term_to_dict(term) for term in self.terms]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Preference:
        """The preference that `to_dict` wrote.

        >>> from supple import prefer
        >>> prefer.Preference.from_dict({"terms": [{"term": "centre", "gain": [0.1]}]})
        prefer.centre(0.1)
        """
        terms = fields.listed(fields.checked(data, "prefer", ("terms",))["terms"], "terms of prefer")
        return sum(map(_term_from_dict, terms), nothing)

    def __add__(self, other: Preference) -> Preference:
        if not isinstance(other, Preference):
            return NotImplemented
        return Preference(self.terms + other.terms)

    def __repr__(self) -> str:
        return " + ".join(map(_term_text, self.terms)) or "prefer.nothing"


nothing: Preference = Preference()
"""No preference: the smallest step."""


def rest(values: ArrayLike, gain: ArrayLike = 0.1) -> Preference:
    """Towards joint values (dof,), with one gain or one for each joint: the chapter's control expression [K5.27].

    The gain is the fraction of the remaining distance covered in one step where the goals leave the joint free.

    >>> from supple import prefer
    >>> prefer.rest([0.0, 0.5], gain=0.2)
    prefer.rest([0.0, 0.5], 0.2)
    """
    return Preference((Term(TermKind.TOWARDS, _gains(gain), _values(values)),))


def centre(gain: ArrayLike = 0.1) -> Preference:
    """Towards the middle of each joint's limits; joints without limits are left alone.

    >>> from supple import prefer
    >>> prefer.centre()
    prefer.centre(0.1)
    """
    return Preference((Term(TermKind.TOWARDS, _gains(gain)),))


def away(values: ArrayLike, gain: ArrayLike = 0.1, width: float = 1.0) -> Preference:
    """Away from joint values (dof,), within about ``width`` radians (metres) of them.

    >>> from supple import prefer
    >>> prefer.away([0.0, 0.0], width=0.5)
    prefer.away([0.0, 0.0], 0.1, 0.5)
    """
    if not (isinstance(width, int | float) and 0 < width < float("inf")):
        raise BadInput(f"width must be a positive number, got {width!r}")
    return Preference((Term(TermKind.AWAY, _gains(gain), _values(values), float(width)),))


def dexterity(gain: ArrayLike = 0.1) -> Preference:
    """Uphill in manipulability: away from joint values where the Jacobian of the goals loses rank.

    >>> from supple import prefer
    >>> prefer.dexterity()
    prefer.dexterity(0.1)
    """
    return Preference((Term(TermKind.DEXTERITY, _gains(gain)),))


def function(step: Callable[[Array], ArrayLike]) -> Preference:
    """A Python function from q (dof,) to a preferred step (dof,), in radians or metres. It makes a solve slower.

    >>> from supple import prefer
    >>> def towards_zero(q):
    ...     return -0.1 * q
    >>> prefer.function(towards_zero)
    prefer.function(towards_zero)
    """
    if not callable(step):
        raise BadInput(f"a preference by function needs a function, got {step!r}")
    return Preference((Term(TermKind.FUNCTION, (1.0,), function=step),))


def _gains(gain: ArrayLike) -> tuple[float, ...]:
    array = np.atleast_1d(_numbers(gain))
    if array.ndim != 1 or not np.isfinite(array).all() or (array < 0).any():
        raise BadInput(f"gain must be one number or one for each joint, finite and not negative; got {gain!r}")
    return tuple(float(x) for x in array)


def _values(values: ArrayLike) -> tuple[float, ...]:
    array = _numbers(values)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise BadInput(f"joint values must be finite, of shape (dof,), got {values!r}")
    return tuple(float(x) for x in array)


def _numbers(value: ArrayLike) -> Array:
    """An array of floats, or of NaN where it has none, which the caller refuses."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return np.array([np.nan])


def _term_text(term: Term) -> str:
    gain = repr(term.gain[0]) if len(term.gain) == 1 else str(list(term.gain))
    if term.kind is TermKind.FUNCTION:
        return f"prefer.function({getattr(term.function, '__name__', '...')})"
    if term.kind is TermKind.DEXTERITY:
        return f"prefer.dexterity({gain})"
    if term.values is None:
        return f"prefer.centre({gain})"
    values = str(list(term.values))
    if term.kind is TermKind.AWAY:
        return f"prefer.away({values}, {gain}, {term.width!r})"
    return f"prefer.rest({values}, {gain})"


def _term_to_dict(term: Term) -> dict[str, Any]:
    gain = {"gain": list(term.gain)}
    if term.kind is TermKind.FUNCTION:
        raise BadInput(f"{_term_text(term)} cannot be written as data: it is a Python function")
    if term.kind is TermKind.DEXTERITY:
        return {"term": "dexterity", **gain}
    if term.values is None:
        return {"term": "centre", **gain}
    if term.kind is TermKind.AWAY:
        return {"term": "away", "values": list(term.values), **gain, "width": term.width}
    return {"term": "rest", "values": list(term.values), **gain}


def _term_from_dict(data: object) -> Preference:
    makers: dict[str, tuple[Callable[..., Preference], tuple[str, ...]]] = {
        "rest": (rest, ("values", "gain")),
        "centre": (centre, ("gain",)),
        "away": (away, ("values", "gain", "width")),
        "dexterity": (dexterity, ("gain",)),
    }
    name = fields.one_of(data, "a term of prefer", "term", makers)
    make, arguments = makers[name]
    values = fields.checked(data, f"prefer.{name}", ("term", *arguments))
    return make(**{argument: values[argument] for argument in arguments})


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _renamed.no_attribute("supple.prefer", name)
