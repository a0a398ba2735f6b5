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
    DIRECTION = 3
    POINT = 4
    FUNCTION = 5


@dataclass(frozen=True)
class Term:
    """One term of a preference: of joint values, of manipulability, of the place of a link, or by a function of q."""

    kind: TermKind
    gain: tuple[float, ...]
    """One gain for all joints, or one for each."""
    values: tuple[float, ...] | None = None
    """Joint values (dof,); None: the middle of the limits."""
    width: float = 1.0
    function: Callable[[Array], ArrayLike] | None = None
    link: str | None = None
    """The link of DIRECTION and POINT."""
    wanted: tuple[float, float, float] | None = None
    """Its direction, of length 1, or its point in metres, in the world."""
