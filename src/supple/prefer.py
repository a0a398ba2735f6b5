"""Preferences: what the joints do with the freedom that the goals leave [K5.25-5.31]. They add up with ``+``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _renamed
from supple._solve import fields
from supple._solve.preference_term import Term, TermKind
from supple.errors import BadInput
from supple.frame import Array

__all__ = ["Preference", "away", "centre", "dexterity", "elbow", "function", "nothing", "rest"]


@dataclass(frozen=True)
class Preference:
    """A sum of preferences. Each term adds a joint step in the null space of the goals, which moves no end effector.

    Made by the functions of `supple.prefer`. A frozen value.

    >>> from supple import prefer
    >>> prefer.centre() + prefer.dexterity(0.2)
    prefer.centre(0.1) + prefer.dexterity(0.2)
    """

    terms: tuple[Term, ...] = ()

    def __post_init__(self) -> None:
        if not (isinstance(self.terms, tuple) and all(isinstance(term, Term) for term in self.terms)):
            raise BadInput(f"a preference is made by the functions of supple.prefer, got {_check.short(self.terms)}")

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


@_check.known_options()
def rest(values: ArrayLike, gain: ArrayLike = 0.1) -> Preference:
    """Move towards joint values (dof,), with one gain or one for each joint: the chapter's control expression [K5.27].

    One step covers this fraction of the remaining distance, as far as the goals leave the joint free.

    >>> from supple import prefer
    >>> prefer.rest([0.0, 0.5], gain=0.2)
    prefer.rest([0.0, 0.5], 0.2)
    """
    return Preference((Term(TermKind.TOWARDS, _gains(gain), _values(values)),))


@_check.known_options()
def centre(gain: ArrayLike = 0.1) -> Preference:
    """Move towards the middle of each joint's limits; it does not act on joints without limits.

    >>> from supple import prefer
    >>> prefer.centre()
    prefer.centre(0.1)
    """
    return Preference((Term(TermKind.TOWARDS, _gains(gain)),))


@_check.known_options()
def away(values: ArrayLike, gain: ArrayLike = 0.1, width: float = 1.0) -> Preference:
    """Move away from joint values (dof,) that are nearer than about ``width``, in radians or metres.

    >>> from supple import prefer
    >>> prefer.away([0.0, 0.0], width=0.5)
    prefer.away([0.0, 0.0], 0.1, 0.5)
    """
    return Preference((Term(TermKind.AWAY, _gains(gain), _values(values), _check.positive(width, "width")),))


@_check.known_options()
def dexterity(gain: ArrayLike = 0.1) -> Preference:
    """Move towards larger manipulability: away from joint values where the Jacobian of the goals loses rank.

    >>> from supple import prefer
    >>> prefer.dexterity()
    prefer.dexterity(0.1)
    """
    return Preference((Term(TermKind.DEXTERITY, _gains(gain)),))


@_check.known_options()
def elbow(
    link: str, direction: ArrayLike | None = None, gain: ArrayLike = 0.1, *, point: ArrayLike | None = None
) -> Preference:
    """Move a link, such as the elbow, as far as possible along a direction (3,), or as near as possible to a point.

    Both are in world axes, the point in metres. Without either the direction is upward, (0, 0, 1). The step is the gain
    times the gradient of d.p / L, for the origin p of the link and its reach L; towards a point d is
    (point - p) / max(L, |point - p|), so that a point far away acts as a direction.

    >>> from supple import prefer
    >>> prefer.elbow("panda_link4")
    prefer.elbow('panda_link4', [0.0, 0.0, 1.0], 0.1)
    """
    if not isinstance(link, str) or not link:
        raise BadInput(f"link must be the name of a link, got {_check.short(link)}")
    if point is None:
        wanted = _three((0.0, 0.0, 1.0) if direction is None else direction, "direction")
        return Preference((Term(TermKind.DIRECTION, _gains(gain), link=link, wanted=_unit(wanted)),))
    if direction is not None:
        raise BadInput("an elbow prefers a direction or a point, not both")
    return Preference((Term(TermKind.POINT, _gains(gain), link=link, wanted=_three(point, "point")),))


@_check.known_options()
def function(step: Callable[[Array], ArrayLike]) -> Preference:
    """A Python function from q (dof,) to a preferred step (dof,), in radians or metres. It makes a solve slower.

    >>> from supple import prefer
    >>> def towards_zero(q):
    ...     return -0.1 * q
    >>> prefer.function(towards_zero)
    prefer.function(towards_zero)
    """
    if not callable(step):
        raise BadInput(f"a preference by function needs a function, got {_check.short(step)}")
    return Preference((Term(TermKind.FUNCTION, (1.0,), function=step),))


def _gains(gain: ArrayLike) -> tuple[float, ...]:
    array = np.atleast_1d(_numbers(gain))
    if array.ndim != 1 or not np.isfinite(array).all() or (array < 0).any():
        raise BadInput(
            f"gain must be one number or one for each joint, finite and not negative; got {_check.short(gain)}"
        )
    if (array > _check.LARGEST).any():
        raise BadInput(f"gain must be at most {_check.LARGEST:g}, got {_check.short(gain)}")
    return tuple(float(x) for x in array)


def _values(values: ArrayLike) -> tuple[float, ...]:
    array = _numbers(values)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise BadInput(f"joint values must be finite, of shape (dof,), got {_check.short(values)}")
    if (np.abs(array) > _check.LARGEST).any():
        raise BadInput(f"joint values must be within {_check.LARGEST:g}, got {_check.short(values)}")
    return tuple(float(x) for x in array)


def _three(value: ArrayLike, what: str) -> tuple[float, float, float]:
    array = _numbers(value)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise BadInput(f"{what} must be three finite numbers, got {_check.short(value)}")
    x, y, z = (float(part) for part in array)
    return x, y, z


def _unit(direction: tuple[float, float, float]) -> tuple[float, float, float]:
    """The direction with length 1; one that has it already stays as it is, to the last bit."""
    largest = max(map(abs, direction))
    if largest == 0:
        raise BadInput(f"direction must not be zero, got {_check.short(list(direction))}")
    if abs(math.hypot(*direction) - 1) < 1e-12:
        return direction
    x, y, z = (part / largest for part in direction)  # the squares of very large or small numbers would overflow
    length = math.hypot(x, y, z)
    return x / length, y / length, z / length


def _numbers(value: ArrayLike) -> Array:
    """An array of floats; NaN for a value that is not numbers, which the caller refuses."""
    array = _check.numbers_or_none(value)
    return np.array([np.nan]) if array is None else array


def _term_text(term: Term) -> str:
    gain = repr(term.gain[0]) if len(term.gain) == 1 else str(list(term.gain))
    if term.kind is TermKind.FUNCTION:
        return f"prefer.function({getattr(term.function, '__name__', '...')})"
    if term.kind is TermKind.DEXTERITY:
        return f"prefer.dexterity({gain})"
    if term.wanted is not None:
        if term.kind is TermKind.POINT:
            return f"prefer.elbow({term.link!r}, gain={gain}, point={list(term.wanted)})"
        return f"prefer.elbow({term.link!r}, {list(term.wanted)}, {gain})"
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
    if term.wanted is not None:
        name = "point" if term.kind is TermKind.POINT else "direction"
        return {"term": f"elbow_{name}", "link": term.link, name: list(term.wanted), **gain}
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
        "elbow_direction": (elbow, ("link", "direction", "gain")),
        "elbow_point": (elbow, ("link", "point", "gain")),
    }
    name = fields.one_of(data, "a term of prefer", "term", makers)
    make, arguments = makers[name]
    values = fields.checked(data, f"prefer.{name}", ("term", *arguments))
    if any(values[argument] is None for argument in arguments):
        raise BadInput(f"no field of prefer.{name} may be null, got {_check.short(data)}")
    return make(**{argument: values[argument] for argument in arguments})


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _renamed.no_attribute("supple.prefer", name)
