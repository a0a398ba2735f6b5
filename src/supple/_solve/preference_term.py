"""One term of a preference, as the core reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from numpy.typing import ArrayLike

from supple.frame import Array


class TermKind(IntEnum):
    """What a term does with the joints; the core knows the numbers."""

    TOWARDS = 0
    AWAY = 1
    DEXTERITY = 2
    FUNCTION = 3


@dataclass(frozen=True)
class Term:
    """One term of a preference: towards joint values, away from them, uphill in manipulability, or a function of q."""

    kind: TermKind
    gain: tuple[float, ...]
    """One gain for all joints, or one for each."""
    values: tuple[float, ...] | None = None
    """Joint values (dof,); None: the middle of the limits."""
    width: float = 1.0
    function: Callable[[Array], ArrayLike] | None = None
