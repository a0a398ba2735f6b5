"""Preferences: which of many ways to take, when the goals leave a choice [K5.25-5.31]. They add up with ``+``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadInput
from supple.frame import Array

_TOWARDS, _AWAY, _DEXTERITY, _FUNCTION = 0, 1, 2, 3


@dataclass(frozen=True)
class Wish:
    """One preference: towards joint values, away from them, uphill in dexterity, or a function of q."""

    kind: int
    gain: tuple[float, ...]
    """One gain for all joints, or one for each."""
    value: tuple[float, ...] | None = None
    """Joint values (dof,); None: the middle of the limits."""
    width: float = 1.0
    function: Callable[[Array], ArrayLike] | None = None


@dataclass(frozen=True)
class Preference:
    """A sum of wishes: what the joints do with the freedom that the goals leave. It adds nothing to the hand."""

    wishes: tuple[Wish, ...] = ()

    def __add__(self, other: Preference) -> Preference:
        if not isinstance(other, Preference):
            return NotImplemented
        return Preference(self.wishes + other.wishes)

    def __repr__(self) -> str:
        return " + ".join(map(_said, self.wishes)) or "prefer.nothing"


nothing: Preference = Preference()
"""No preference: the smallest step."""


def rest(values: ArrayLike, gain: ArrayLike = 0.1) -> Preference:
    """Towards joint values (dof,), with one gain or one for each joint: the chapter's control expression [K5.27].

    A gain is the part of the way that a step goes if nothing else is asked; the higher, the stiffer the joint.
    """
    return Preference((Wish(_TOWARDS, _gains(gain), _values(values)),))


def centre(gain: ArrayLike = 0.1) -> Preference:
    """Towards the middle of each joint's limits; joints without limits wish nothing."""
    return Preference((Wish(_TOWARDS, _gains(gain)),))


def away(values: ArrayLike, gain: ArrayLike = 0.1, width: float = 1.0) -> Preference:
    """Away from joint values (dof,), felt within about ``width`` radians (metres) of them."""
    if not (isinstance(width, int | float) and 0 < width < float("inf")):
        raise BadInput(f"width must be a positive number, got {width!r}")
    return Preference((Wish(_AWAY, _gains(gain), _values(values), float(width)),))


def dexterity(gain: ArrayLike = 0.1) -> Preference:
    """Uphill in manipulability: away from where the Jacobian of the goals loses rank."""
    return Preference((Wish(_DEXTERITY, _gains(gain)),))


def function(wish: Callable[[Array], ArrayLike]) -> Preference:
    """Any Python function from q (dof,) to the change (dof,) it wishes; the loop then runs in Python, slower."""
    if not callable(wish):
        raise BadInput(f"a preference by function needs a function, got {wish!r}")
    return Preference((Wish(_FUNCTION, (1.0,), function=wish),))


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
    """An array of floats, or of nan where there are none, which is refused with the rest."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return np.array([np.nan])


def _said(wish: Wish) -> str:
    gain = repr(wish.gain[0]) if len(wish.gain) == 1 else str(list(wish.gain))
    if wish.kind == _FUNCTION:
        return f"prefer.function({getattr(wish.function, '__name__', '...')})"
    if wish.kind == _DEXTERITY:
        return f"prefer.dexterity({gain})"
    if wish.value is None:
        return f"prefer.centre({gain})"
    values = str(list(wish.value))
    if wish.kind == _AWAY:
        return f"prefer.away({values}, {gain}, {wish.width!r})"
    return f"prefer.rest({values}, {gain})"
